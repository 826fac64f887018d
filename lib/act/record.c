/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "act/record.h"
#include "base/parse.h"

#define CRC_DIGITS 8u

static const char *const kind_names[_HN_RECORD_MAX] = {
        [HN_RECORD_HEADER] = "homenode-ledger",
        [HN_RECORD_PIN] = "pin",
        [HN_RECORD_REPIN] = "repin",
        [HN_RECORD_OK] = "ok",
        [HN_RECORD_NO] = "no",
        [HN_RECORD_DONE] = "done",
        [HN_RECORD_MARK] = "mark",
};

static uint32_t crc32_feed(uint32_t crc, const char *data, size_t n) {
        for (size_t i = 0; i < n; i++) {
                crc ^= (unsigned char) data[i];
                for (unsigned bit = 0; bit < 8; bit++)
                        crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
        }
        return crc;
}

static uint32_t checksum(const char *boot_id, const char *line, size_t n) {
        uint32_t crc = crc32_feed(UINT32_MAX, boot_id, strnlen(boot_id, HN_BOOT_ID_MAX));

        return ~crc32_feed(crc, line, n);
}

/* What may stand in a line as it is: one word, and nothing that could look like an escape. */
static bool is_plain(char c) {
        return c > ' ' && c < 0x7f && c != '\\';
}

/* writing */

struct sink {
        char *buf;
        size_t at, size; /* at == size: it did not fit */
};

static void put(struct sink *s, const char *text, size_t n) {
        if (n >= s->size - s->at) {
                s->at = s->size;
                return;
        }
        memcpy(s->buf + s->at, text, n);
        s->at += n;
}

static void put_word(struct sink *s, const char *word) {
        if (s->at > 0)
                put(s, " ", 1);
        put(s, word, strlen(word));
}

static void put_u64(struct sink *s, uint64_t v) {
        char digits[24];

        (void) snprintf(digits, sizeof(digits), "%" PRIu64, v);
        put_word(s, digits);
}

static void put_text(struct sink *s, const char *text, size_t max) {
        size_t n = strnlen(text, max);

        put(s, " ", 1);
        /* A text that is a single dash would read as no text. */
        if (n == 0 || (n == 1 && text[0] == '-')) {
                put(s, n == 0 ? "-" : "\\x2d", n == 0 ? 1 : 4);
                return;
        }
        for (size_t i = 0; i < n; i++) {
                char hex[5];

                if (is_plain(text[i])) {
                        put(s, &text[i], 1);
                        continue;
                }
                (void) snprintf(hex, sizeof(hex), "\\x%02x", (unsigned) (unsigned char) text[i]);
                put(s, hex, 4);
        }
}

static void put_mask(struct sink *s, const struct hn_mask *mask) {
        int n;

        put(s, " ", 1);
        if (hn_mask_empty(mask)) {
                put(s, "-", 1);
                return;
        }
        n = hn_mask_print_list(mask, s->buf + s->at, s->size - s->at);
        s->at = n < 0 ? s->size : s->at + (size_t) n;
}

static void put_old(struct sink *s, const struct hn_record *rec) {
        if (rec->unrestricted)
                put_word(s, "unrestricted");
        else
                put_mask(s, &rec->old);
}

static void put_key(struct sink *s, const struct hn_task_key *key) {
        put_u64(s, (uint64_t) key->tid);
        put_u64(s, key->start);
}

int hn_record_print(const struct hn_record *rec, const char *boot_id, char *buf, size_t size) {
        struct sink s = { .buf = buf, .size = size };
        char tail[CRC_DIGITS + 3];

        if (size == 0)
                return -ENOBUFS;
        put_word(&s, kind_names[rec->kind]);
        switch (rec->kind) {
        case HN_RECORD_HEADER:
                put_word(&s, "1");
                put_text(&s, boot_id, HN_BOOT_ID_MAX);
                break;
        case HN_RECORD_PIN:
        case HN_RECORD_REPIN:
                put_key(&s, &rec->key);
                put_u64(&s, (uint64_t) rec->tgid);
                put_old(&s, rec);
                put_mask(&s, &rec->before);
                put_mask(&s, &rec->want);
                put_u64(&s, rec->boot_usec);
                put_u64(&s, rec->real_usec);
                put_text(&s, rec->reason, sizeof(rec->reason));
                put_text(&s, rec->cgroup, sizeof(rec->cgroup));
                break;
        case HN_RECORD_OK:
        case HN_RECORD_NO:
        case HN_RECORD_DONE: put_key(&s, &rec->key); break;
        case HN_RECORD_MARK:
                put_u64(&s, (uint64_t) rec->tgid);
                put_old(&s, rec);
                put_mask(&s, &rec->want);
                put_u64(&s, rec->boot_usec);
                put_text(&s, rec->cgroup, sizeof(rec->cgroup));
                break;
        case _HN_RECORD_MAX: return -EINVAL;
        }
        if (s.at >= size)
                return -ENOBUFS;
        (void) snprintf(tail, sizeof(tail), " %08" PRIx32 "\n", checksum(boot_id, buf, s.at));
        put(&s, tail, CRC_DIGITS + 2);
        if (s.at >= size)
                return -ENOBUFS;
        buf[s.at] = '\0';
        return (int) s.at;
}

/* reading */

struct source {
        const char *text;
        size_t n;
        bool bad;
};

static bool take_word(struct source *s, const char **ret, size_t *ret_n) {
        if (!s->bad && hn_next_word(&s->text, &s->n, ret, ret_n))
                return true;
        s->bad = true;
        return false;
}

static uint64_t take_u64(struct source *s, uint64_t max) {
        const char *word;
        uint64_t v;
        size_t n;

        if (take_word(s, &word, &n) && hn_parse_u64(word, n, &v) == 0 && v <= max)
                return v;
        s->bad = true;
        return 0;
}

static int hex_digit(char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void take_text(struct source *s, char *buf, size_t size) {
        const char *word;
        size_t n, at = 0;

        if (!take_word(s, &word, &n))
                return;
        if (n == 1 && word[0] == '-')
                n = 0;
        for (size_t i = 0; i < n; i++) {
                char c = word[i];

                if (c == '\\') {
                        int high = n - i > 3 ? hex_digit(word[i + 2]) : -1;
                        int low = high >= 0 ? hex_digit(word[i + 3]) : -1;

                        if (low < 0 || word[i + 1] != 'x' || (high == 0 && low == 0)) {
                                s->bad = true;
                                return;
                        }
                        c = (char) (high * 16 + low);
                        i += 3;
                } else if (!is_plain(c)) {
                        s->bad = true;
                        return;
                }
                if (at + 1 >= size) {
                        s->bad = true;
                        return;
                }
                buf[at++] = c;
        }
        buf[at] = '\0';
}

static void take_mask(struct source *s, struct hn_mask *ret) {
        const char *word;
        size_t n;

        if (!take_word(s, &word, &n))
                return;
        if (n == 1 && word[0] == '-')
                *ret = HN_MASK_NULL;
        else if (hn_mask_parse_list(word, n, ret) < 0 || hn_mask_empty(ret))
                s->bad = true;
}

static void take_old(struct source *s, struct hn_record *rec) {
        static const char unrestricted[] = "unrestricted";
        struct source ahead = *s;
        const char *word;
        size_t n;

        if (take_word(&ahead, &word, &n) && n == sizeof(unrestricted) - 1 &&
            memcmp(word, unrestricted, n) == 0) {
                rec->unrestricted = true;
                *s = ahead;
                return;
        }
        take_mask(s, &rec->old);
}

static void take_key(struct source *s, struct hn_task_key *key) {
        key->tid = (pid_t) take_u64(s, INT32_MAX);
        key->start = take_u64(s, UINT64_MAX);
        if (key->tid == 0)
                s->bad = true;
}

static enum hn_record_kind kind_of(const char *word, size_t n) {
        for (enum hn_record_kind k = 0; k < _HN_RECORD_MAX; k++)
                if (strlen(kind_names[k]) == n && memcmp(kind_names[k], word, n) == 0)
                        return k;
        return _HN_RECORD_MAX;
}

/* Splits the checksum off. Returns false where there is none. */
static bool split(const char *line, size_t *n, uint32_t *ret_crc) {
        uint32_t crc = 0;

        if (*n < CRC_DIGITS + 2 || line[*n - CRC_DIGITS - 1] != ' ')
                return false;
        for (size_t i = *n - CRC_DIGITS; i < *n; i++) {
                int digit = hex_digit(line[i]);

                if (digit < 0)
                        return false;
                crc = crc << 4 | (uint32_t) digit;
        }
        *n -= CRC_DIGITS + 1;
        *ret_crc = crc;
        return true;
}

int hn_record_parse(const char *line, size_t n, const char *boot_id, struct hn_record *ret) {
        struct hn_record rec = {};
        struct source s;
        const char *word;
        uint32_t crc;
        size_t k;

        if (!split(line, &n, &crc))
                return -EBADMSG;
        s = (struct source){ .text = line, .n = n };
        if (!take_word(&s, &word, &k))
                return -EBADMSG;
        rec.kind = kind_of(word, k);

        switch (rec.kind) {
        case HN_RECORD_HEADER:
                if (take_u64(&s, 1) != 1)
                        return -EBADMSG;
                take_text(&s, rec.boot_id, sizeof(rec.boot_id));
                boot_id = rec.boot_id;
                break;
        case HN_RECORD_PIN:
        case HN_RECORD_REPIN:
                take_key(&s, &rec.key);
                rec.tgid = (pid_t) take_u64(&s, INT32_MAX);
                take_old(&s, &rec);
                take_mask(&s, &rec.before);
                take_mask(&s, &rec.want);
                rec.boot_usec = take_u64(&s, UINT64_MAX);
                rec.real_usec = take_u64(&s, UINT64_MAX);
                take_text(&s, rec.reason, sizeof(rec.reason));
                take_text(&s, rec.cgroup, sizeof(rec.cgroup));
                break;
        case HN_RECORD_OK:
        case HN_RECORD_NO:
        case HN_RECORD_DONE: take_key(&s, &rec.key); break;
        case HN_RECORD_MARK:
                rec.tgid = (pid_t) take_u64(&s, INT32_MAX);
                take_old(&s, &rec);
                take_mask(&s, &rec.want);
                rec.boot_usec = take_u64(&s, UINT64_MAX);
                take_text(&s, rec.cgroup, sizeof(rec.cgroup));
                break;
        case _HN_RECORD_MAX: return -EBADMSG;
        }
        hn_trim(&s.text, &s.n);
        if (s.bad || s.n > 0 || checksum(boot_id, line, n) != crc)
                return -EBADMSG;
        *ret = rec;
        return 0;
}
