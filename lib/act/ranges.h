/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The part of an address space whose pages may be moved: private, writable, of no file, and under no explicit
 * memory policy. Bytes, end excluded, ascending and without overlap. */
struct hn_page_range {
        uint64_t start, end;
};

/* From the texts of /proc/PID/maps and /proc/PID/numa_maps, which tell extent and policy. Mappings that only
 * one of them knows (they are read one after the other) and those without a page are left out. The caller
 * frees. Returns 0 or -ENOMEM. */
int hn_page_ranges_parse(const char *maps, size_t n_maps, const char *numa_maps, size_t n_numa_maps,
                         struct hn_page_range **ret, size_t *ret_n);

/* Reads both, CAP_SYS_PTRACE raised. numa_maps walks all page tables of the process and holds up its mmap()
 * meanwhile: once a job, not more. Returns 0, -ENOENT or -ESRCH for a process that is gone, -EACCES or -EPERM
 * where it may not be looked at, -ENOBUFS for more mappings than we want to read. */
int hn_page_ranges_read(int proc_fd, pid_t pid, struct hn_page_range **ret, size_t *ret_n);
