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

/* One program to be started. */
struct call {
        char room[WORDS_MAX][512]; /* what the others point into */
        char *argv[WORDS_MAX + 4];
        char *environment; /* NULL, or what goes into it besides */
};

/* The words of the next invocation. Returns false if there is none. */
static bool next_invocation(const char **text, const struct side *side, const struct paths *p,
                            struct call *call) {
        static char probe[] = "--probe";
        bool bare = false, probed = false;
        size_t n = 0, used = 0;
        char **argv = call->argv;

        if (!*text)
                return false;
        call->environment = NULL;
        for (size_t i = 0; i < 2 && side->words[i]; i++)
                argv[n++] = (char *) (uintptr_t) side->words[i];
        for (;;) {
                char *word = call->room[used];

                if (!next_word(text, p, word, sizeof(call->room[used]))) {
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
                if (strncmp(word, "@E", 2) == 0)
                        call->environment = word + 2;
                else
                        argv[n++] = word;
        }
        if (!bare && !probed) {
                argv[n++] = (char *) (uintptr_t) p->self;
                argv[n++] = probe;
        }
        argv[n] = NULL;
        return true;
}

/* In an environment of its own, in which it is not looked for. */
static void execute(const struct call *call) {
        char parent[64], *environment[256] = { parent, call->environment };
        size_t n = call->environment ? 2 : 1, length;

        (void) snprintf(parent, sizeof(parent), PROBE_PARENT "=%d", (int) getppid());
        length = call->environment ? strcspn(call->environment, "=") + 1 : 0;
        for (char **e = environ; *e && n < 255; e++)
                if (length == 0 || strncmp(*e, call->environment, length) != 0)
                        environment[n++] = *e;
        environment[n] = NULL;
        (void) execvpe(call->argv[0], call->argv, environment);
}

/* Exit status, 128 + signal, -EUCLEAN where the affinity cannot be had, or -errno. */
static int spawn(const struct call *call, const struct row *row, const struct paths *p) {
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
                execute(call);
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
        static struct call call;
        const char *text = row->args;
        int r = 0;

        *o = (struct outcome){ .started = true, .good = true };
        (void) snprintf(p.folder, sizeof(p.folder), "%.200s", folder);
        (void) snprintf(p.out, sizeof(p.out), "%.200s/out", folder);
        (void) snprintf(p.err, sizeof(p.err), "%.200s/err", folder);
        (void) snprintf(p.file, sizeof(p.file), "%.200s/f", folder);
        (void) snprintf(p.key, sizeof(p.key), "%.200s/k", folder);
        while (o->started && r >= 0 && next_invocation(&text, side, &p, &call)) {
                if (o->n_codes == INVOCATIONS_MAX)
                        abort();
                r = spawn(&call, row, &p);
                if (r == -EUCLEAN) {
                        o->started = false;
                        r = 0;
                }
                o->good = o->good && r == 0;
                o->code[o->n_codes++] = r;
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
