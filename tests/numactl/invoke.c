/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "invoke.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#define WORDS_MAX   64
#define SECONDS_MAX 60

struct paths {
        const char *self;
        char out[256], err[256], file[256], key[256], folder[256];
};

/* Takes the next word off, into `buf`. Returns false at the end. */
static bool next_word(const char **text, const struct paths *p, char *buf, size_t size) {
        size_t used = 0;
        bool quoted = false;

        while (**text == ' ')
                (*text)++;
        if (**text == '\0')
                return false;
        for (; **text && (quoted || **text != ' '); (*text)++) {
                const char *put = NULL;
                char one[2] = { **text, '\0' };

                if (**text == '\'') {
                        quoted = !quoted;
                        continue;
                }
                if (strncmp(*text, "@F", 2) == 0)
                        put = p->file;
                else if (strncmp(*text, "@K", 2) == 0)
                        put = p->key;
                else if (strncmp(*text, "@D", 2) == 0)
                        put = p->folder;
                *text += put != NULL;
                used += (size_t) snprintf(buf + used, size - used, "%s", put ? put : one);
                if (used >= size)
                        abort();
        }
        buf[used] = '\0';
        return true;
}

/* The words of the next invocation. `argv` is of pointers into `room`. Returns false if there is none. */
static bool next_invocation(const char **text, const struct side *side, const struct paths *p,
                            char room[WORDS_MAX][512], char *argv[WORDS_MAX + 4]) {
        static char probe[] = "--probe";
        size_t n = 0, used = 0;
        bool bare = false, probed = false;

        if (!*text)
                return false;
        for (size_t i = 0; i < 2 && side->words[i]; i++)
                argv[n++] = (char *) (uintptr_t) side->words[i];
        for (;;) {
                char *word = room[used];

                if (!next_word(text, p, word, sizeof(room[used]))) {
                        *text = NULL;
                        break;
                }
                if (strcmp(word, ";") == 0)
                        break;
                if (strcmp(word, "@0") == 0) {
                        bare = true;
                        continue;
                }
                if (strcmp(word, "@P") == 0) {
                        argv[n++] = (char *) (uintptr_t) p->self;
                        argv[n++] = probe;
                        probed = true;
                        continue;
                }
                if (++used == WORDS_MAX)
                        abort();
                argv[n++] = word;
        }
        if (!bare && !probed) {
                argv[n++] = (char *) (uintptr_t) p->self;
                argv[n++] = probe;
        }
        argv[n] = NULL;
        return true;
}

/* Exit status, 128 + signal, -EUCLEAN where the affinity cannot be had, or -errno. */
static int spawn(char **argv, const struct row *row, const struct paths *p) {
        struct hn_mask cpus, got = HN_MASK_NULL;
        int status = 0, out, err, null;
        pid_t pid = fork();

        if (pid < 0)
                return -errno;
        if (pid == 0) {
                out = open(p->out, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
                err = open(p->err, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
                null = open("/dev/null", O_RDONLY | O_CLOEXEC);
                if (out < 0 || err < 0 || null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
                    dup2(err, 2) < 0)
                        _exit(125);
                if (row->cpus && (hn_mask_parse_list(row->cpus, strlen(row->cpus), &cpus) < 0 ||
                                  syscall(SYS_sched_setaffinity, 0, sizeof(cpus.word), cpus.word) < 0 ||
                                  syscall(SYS_sched_getaffinity, 0, sizeof(got.word), got.word) < 0 ||
                                  !hn_mask_equal(&cpus, &got)))
                        _exit(124);
                (void) alarm(SECONDS_MAX);
                (void) execvp(argv[0], argv);
                _exit(125);
        }
        if (waitpid(pid, &status, 0) < 0)
                return -errno;
        if (WIFSIGNALED(status))
                return 128 + WTERMSIG(status);
        return WEXITSTATUS(status) == 124   ? -EUCLEAN
               : WEXITSTATUS(status) == 125 ? -ENOEXEC
                                            : WEXITSTATUS(status);
}

/* Blanks of a line made one, none at its end; lines that change from one look to the next left out: free
 * memory, and where the next page of an interleaving process goes, which has had some by then. */
static void normalise(const char *path, char *buf, size_t size) {
        FILE *f = fopen(path, "re");
        char line[2048];
        size_t used = strlen(buf);

        while (f && fgets(line, sizeof(line), f)) {
                size_t n = 0;
                bool blank = false;

                for (const char *c = line; *c && *c != '\n'; c++) {
                        if (*c == ' ') {
                                blank = true;
                                continue;
                        }
                        if (blank && n > 0)
                                line[n++] = ' ';
                        blank = false;
                        line[n++] = *c;
                }
                line[n] = '\0';
                if ((strncmp(line, "node ", 5) == 0 && strstr(line, " free: ")) ||
                    strncmp(line, "interleavenode:", 15) == 0 || strstr(line, "(interleave next)"))
                        continue;
                if (used + n + 2 > size)
                        break;
                used += (size_t) snprintf(buf + used, size - used, "%s\n", line);
        }
        if (f)
                (void) fclose(f);
}

/* Every id that a row uses for its segment. */
static void state(const struct paths *p, struct outcome *o) {
        static const int ids[] = { 0, 5, 200 };
        char path[300];
        FILE *f;

        (void) snprintf(path, sizeof(path), "%s/state", p->folder);
        f = fopen(path, "we");
        if (!f)
                return;
        probe_file(f, p->file);
        for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
                probe_shm(f, p->key, ids[i]);
        (void) fclose(f);
        normalise(path, o->text, sizeof(o->text));
        (void) unlink(path);
}

int invoke(const struct side *side, const struct row *row, const char *self, const char *folder,
           struct outcome *ret) {
        struct outcome *o = ret;
        struct paths p = { .self = self };
        char room[WORDS_MAX][512], *argv[WORDS_MAX + 4];
        const char *text = row->args;
        int r = 0;

        *o = (struct outcome){ .started = true, .good = true };
        (void) snprintf(p.folder, sizeof(p.folder), "%.200s", folder);
        (void) snprintf(p.out, sizeof(p.out), "%.200s/out", folder);
        (void) snprintf(p.err, sizeof(p.err), "%.200s/err", folder);
        (void) snprintf(p.file, sizeof(p.file), "%.200s/f", folder);
        (void) snprintf(p.key, sizeof(p.key), "%.200s/k", folder);
        while (o->started && r >= 0 && next_invocation(&text, side, &p, room, argv)) {
                size_t used = strlen(o->codes);

                r = spawn(argv, row, &p);
                if (r == -EUCLEAN) {
                        o->started = false;
                        r = 0;
                }
                o->good = o->good && r == 0;
                (void) snprintf(o->codes + used, sizeof(o->codes) - used, "%s%d", used > 0 ? " " : "", r);
        }
        normalise(p.out, o->text, sizeof(o->text));
        normalise(p.err, o->errors, sizeof(o->errors));
        state(&p, o);
        (void) unlink(p.out);
        (void) unlink(p.err);
        (void) unlink(p.file);
        (void) unlink(p.key);
        return r < 0 ? r : 0;
}
