/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macro.h"
#include "base/mask.h"
#include "base/usec.h"
#include "policy/snapshot.h"

/* One line of the ledger, as text and as a value. Pure: no file, no clock.
 *
 *     homenode-ledger 1 BOOT-ID CRC
 *     pin TID START TGID OLD BEFORE WANT BOOT-USEC REAL-USEC REASON CGROUP CRC
 *     repin (the same; the mask before was ours already)
 *     ok TID START CRC            the act of the last pin was done
 *     no TID START CRC            it was not
 *     done TID START CRC          restored, or handed over to whoever changed it, or gone
 *     mark TGID OLD WANT BOOT-USEC CGROUP CRC
 *
 * Masks are lists as the kernel prints them, "-" the empty one; OLD may be the word "unrestricted". In texts
 * every byte outside of printable ASCII, space and backslash is \xNN; an empty text is "-". CRC is CRC-32
 * (IEEE 802.3) over the boot id and the line up to the blank before it, eight hex digits: a line that is
 * torn, damaged or of another boot does not fit. */
enum hn_record_kind {
        HN_RECORD_HEADER,
        HN_RECORD_PIN,
        HN_RECORD_REPIN,
        HN_RECORD_OK,
        HN_RECORD_NO,
        HN_RECORD_DONE,
        HN_RECORD_MARK,
        _HN_RECORD_MAX,
};

#define HN_BOOT_ID_MAX       40 /* a UUID of 36 characters, its NUL, and some room */
#define HN_RECORD_REASON_MAX 64
#define HN_RECORD_CGROUP_MAX 4096

struct hn_record {
        enum hn_record_kind kind;
        struct hn_task_key key;
        pid_t tgid;         /* pin, mark; 0 in a mark that stands for the whole cgroup */
        bool unrestricted;  /* `old` was all that the cpuset allowed, isolated CPUs aside; `old` is then empty
                             */
        struct hn_mask old; /* what the task had before homenode came */
        struct hn_mask before; /* what it had just before this act */
        struct hn_mask want;   /* what we set */
        hn_usec_t boot_usec;   /* CLOCK_BOOTTIME: what start times are compared with */
        hn_usec_t real_usec;   /* CLOCK_REALTIME: for people */
        char reason[HN_RECORD_REASON_MAX];
        char cgroup[HN_RECORD_CGROUP_MAX];
        char boot_id[HN_BOOT_ID_MAX]; /* header */
};

/* Room for any line: four masks' worth and two texts, escaped. */
#define HN_RECORD_LINE_MAX (3 * HN_MASK_LIST_MAX + 4 * (HN_RECORD_CGROUP_MAX + HN_RECORD_REASON_MAX) + 512)

/* Prints the line with its newline. Returns its length, or -ENOBUFS. */
int hn_record_print(const struct hn_record *rec, const char *boot_id, char *buf, size_t size);

/* Reads a line without its newline. A header's checksum is over the boot id that it names itself.
 * Returns 0 or -EBADMSG for a line that is torn, damaged, or of another boot. */
int hn_record_parse(const char *line, size_t n, const char *boot_id, struct hn_record *ret);
