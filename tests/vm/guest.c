/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define COMMAND_USEC_MAX 90000000ULL

static FILE *line;

uint64_t guest_now(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * 1000000ULL + (uint64_t) ts.tv_nsec / 1000ULL;
}

void guest_sleep_until(uint64_t until) {
        struct timespec ts = { .tv_sec = (time_t) (until / 1000000ULL),
                               .tv_nsec = (long) (until % 1000000ULL) * 1000 };

        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
                ;
}

int guest_line_open(const char *path) {
        struct termios raw;
        int fd;

        fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (tcgetattr(fd, &raw) == 0) {
                cfmakeraw(&raw);
                (void) tcsetattr(fd, TCSANOW, &raw);
        }
        line = fdopen(fd, "w");
        return line ? 0 : -errno;
}

void guest_say(const char *format, ...) {
        FILE *to = line ? line : stdout;
        va_list ap;

        if (line)
                fputs("say ", to);
        va_start(ap, format);
        (void) vfprintf(to, format, ap);
        va_end(ap);
        fputc('\n', to);
        (void) fflush(to);
}

void guest_json(const char *name, const char *text) {
        fprintf(line, "json %s %s\n", name, text);
        (void) fflush(line);
}

static int child_wait(pid_t pid, uint64_t deadline) {
        int status;

        for (;;) {
                pid_t r = waitpid(pid, &status, WNOHANG);

                if (r < 0)
                        return -errno;
                if (r == pid)
                        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
                if (guest_now() > deadline) {
                        (void) kill(pid, SIGKILL);
                        (void) waitpid(pid, &status, 0);
                        return -ETIMEDOUT;
                }
                guest_sleep_until(guest_now() + 10000);
        }
}

/* Collects what the child writes until it closes the pipe or time is up; what does not fit is read and
 * dropped. */
static void output_collect(int fd, char *out, size_t size, uint64_t deadline) {
        struct pollfd pfd = { .fd = fd, .events = POLLIN };
        char dropped[512];
        size_t used = 0;

        while (guest_now() < deadline && poll(&pfd, 1, 1000) >= 0) {
                bool room = used + 1 < size;
                ssize_t n;

                if (pfd.revents == 0)
                        continue;
                n = room ? read(fd, out + used, size - 1 - used) : read(fd, dropped, sizeof(dropped));
                if (n <= 0)
                        break;
                if (room)
                        used += (size_t) n;
        }
        out[used] = 0;
}

int guest_run(char *const argv[], char *out, size_t size) {
        uint64_t deadline = guest_now() + COMMAND_USEC_MAX;
        int fds[2] = { -1, -1 };
        pid_t pid;

        if (out && pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        pid = fork();
        if (pid < 0)
                return -errno;
        if (pid == 0) {
                if (out && dup2(fds[1], STDOUT_FILENO) < 0)
                        _exit(126);
                (void) execvp(argv[0], argv);
                _exit(127);
        }
        if (out) {
                (void) close(fds[1]);
                output_collect(fds[0], out, size, deadline);
                (void) close(fds[0]);
        }
        return child_wait(pid, deadline);
}

int guest_systemctl(const char *verb, const char *unit) {
        char *const argv[] = { (char *) "systemctl", (char *) (uintptr_t) verb, (char *) (uintptr_t) unit,
                               NULL };

        return guest_run(argv, NULL, 0);
}

int guest_main_pid(const char *unit, pid_t *ret) {
        char *const argv[] = { (char *) "systemctl", (char *) "show",           (char *) "--property=MainPID",
                               (char *) "--value",   (char *) (uintptr_t) unit, NULL };
        char text[64];
        int r;

        r = guest_run(argv, text, sizeof(text));
        if (r != 0)
                return r < 0 ? r : -ECHILD;
        *ret = (pid_t) strtol(text, NULL, 10);
        return *ret > 0 ? 0 : -ESRCH;
}

int guest_systemctl_begin(const char *verb, const char *unit) {
        char *const argv[] = { (char *) "systemctl", (char *) "--no-block", (char *) (uintptr_t) verb,
                               (char *) (uintptr_t) unit, NULL };

        return guest_run(argv, NULL, 0);
}

int guest_file_write(const char *path, const char *text) {
        size_t n = strlen(text);
        ssize_t written;
        int fd, r;

        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd < 0)
                return -errno;
        written = write(fd, text, n);
        r = written < 0 ? -errno : (size_t) written == n ? 0 : -EIO;
        (void) close(fd);
        return r;
}

int guest_file_read(const char *path, char *buf, size_t size) {
        size_t used = 0;
        ssize_t n;
        int fd;

        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        while (used + 1 < size && (n = read(fd, buf + used, size - 1 - used)) > 0)
                used += (size_t) n;
        (void) close(fd);
        buf[used] = 0;
        return 0;
}

/* A line "KEY VALUE" of a file of such lines. */
static uint64_t keyed(const char *path, const char *key) {
        char buf[16384];
        size_t n = strlen(key);

        if (guest_file_read(path, buf, sizeof(buf)) < 0)
                return 0;
        for (const char *p = buf; p; p = strchr(p, '\n')) {
                p += *p == '\n';
                if (strncmp(p, key, n) == 0 && p[n] == ' ')
                        return strtoull(p + n, NULL, 10);
        }
        return 0;
}

uint64_t guest_cpu_usec(const char *unit) {
        char path[256];

        (void) snprintf(path, sizeof(path), "/sys/fs/cgroup/system.slice/%s/cpu.stat", unit);
        return keyed(path, "usage_usec");
}

uint64_t guest_vmstat(const char *key) {
        return keyed("/proc/vmstat", key);
}
