/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The guest's machinery: commands, small files, and the line to the outside on the second serial port. */

/* Monotonic microseconds. */
uint64_t guest_now(void);

/* Sleeps until `until` on the same clock. */
void guest_sleep_until(uint64_t until);

/* Opens the line to the outside. Each message is a line, its first word the kind. Without it, what is said
 * goes to standard output. */
int guest_line_open(const char *path);
void guest_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void guest_json(const char *name, const char *text);

/* Runs a program found on PATH, waits up to 90 s and kills it then. Returns its exit status, or 128 + signal,
 * or a negative errno. Standard output goes into `out` (NUL terminated, cut at `size`) when given, else to
 * the console. */
int guest_run(char *const argv[], char *out, size_t size);

/* guest_run("systemctl", verb, unit), and the same without waiting for what it began. */
int guest_systemctl(const char *verb, const char *unit);
int guest_systemctl_begin(const char *verb, const char *unit);

/* The process that a running service is, to systemd. */
int guest_main_pid(const char *unit, pid_t *ret);

/* Whole small files. Reading cuts at `size` - 1 and terminates with NUL. */
int guest_file_write(const char *path, const char *text);
int guest_file_read(const char *path, char *buf, size_t size);

/* "usage_usec" of a service's cpu.stat, or a named field of /proc/vmstat; 0 when there is none. */
uint64_t guest_cpu_usec(const char *unit);
uint64_t guest_vmstat(const char *key);
