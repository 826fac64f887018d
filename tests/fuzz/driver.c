/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Feeds each file of each folder in argv to a fuzz target once: the corpus as an ordinary test. */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int run_file(const char *path) {
        FILE *f = fopen(path, "re");
        struct stat st;
        uint8_t *data;
        size_t n;

        if (!f || fstat(fileno(f), &st) < 0) {
                perror(path);
                if (f)
                        (void) fclose(f);
                return -1;
        }

        /* Exactly as large as the input, so that ASan sees the first byte read beyond it. */
        data = malloc(st.st_size > 0 ? (size_t) st.st_size : 1);
        if (!data) {
                (void) fclose(f);
                return -1;
        }
        n = fread(data, 1, (size_t) st.st_size, f);
        (void) fclose(f);
        if (n == (size_t) st.st_size)
                (void) LLVMFuzzerTestOneInput(data, n);
        else
                fprintf(stderr, "%s: short read\n", path);
        free(data);
        return n == (size_t) st.st_size ? 0 : -1;
}

/* Returns the number of inputs run, or -1. */
static long run_folder(const char *path) {
        DIR *dir = opendir(path);
        long n_run = 0;

        if (!dir) {
                perror(path);
                return -1;
        }
        for (const struct dirent *de; (de = readdir(dir));) {
                char file[4096];
                int k;

                if (de->d_name[0] == '.')
                        continue;
                k = snprintf(file, sizeof(file), "%s/%s", path, de->d_name);
                if (k < 0 || (size_t) k >= sizeof(file) || run_file(file) < 0) {
                        n_run = -1;
                        break;
                }
                n_run++;
        }
        (void) closedir(dir);
        return n_run;
}

int main(int argc, char **argv) {
        long n_run = 0;

        /* libFuzzer always tries the empty input first; so do we. */
        (void) LLVMFuzzerTestOneInput((const uint8_t *) "", 0);

        for (int i = 1; i < argc; i++) {
                long n = run_folder(argv[i]);

                if (n < 0)
                        return EXIT_FAILURE;
                n_run += n;
        }
        if (n_run == 0) {
                fprintf(stderr, "No inputs: an empty corpus tests nothing\n");
                return EXIT_FAILURE;
        }
        printf("%ld inputs\n", n_run);
        return EXIT_SUCCESS;
}
