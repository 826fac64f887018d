# SPDX-License-Identifier: LGPL-2.1-or-later
#
# hn-warnings: what we ask of the compiler, each flag with its reason.
add_library(hn-warnings INTERFACE)
target_compile_options(hn-warnings INTERFACE
        # The common mistakes every compiler knows.
        -Wall
        # The next ring: unused parameters, comparisons of mixed signs, missing initialisers.
        -Wextra
        # An inner variable which hides an outer one makes the reader change the wrong one.
        -Wshadow
        # Page counts and CPU times are 64 bits wide; a silent narrowing turns a big host into a wrong number.
        -Wconversion
        # `f()` says nothing about its arguments; `f(void)` does.
        -Wstrict-prototypes
        # A function is either static or has its contract in a header; a third kind is a forgotten static.
        -Wmissing-prototypes
        # A misspelt macro in #if is 0 without a word.
        -Wundef
        # String literals are const; who writes to one crashes.
        -Wwrite-strings
        # The size of a machine is input, and input on the stack is a crash somebody else chooses.
        -Wvla
        # printf formats are checked, and a format which is not a literal is refused.
        -Wformat=2
        # __DATE__ and __TIME__ make two builds of the same source differ.
        -Wdate-time)
target_compile_features(hn-warnings INTERFACE c_std_17)
# Linux is the only target. Empty, so that a file may say it again for itself without a redefinition.
target_compile_definitions(hn-warnings INTERFACE _GNU_SOURCE=)
# Assertions stay in every build: a daemon that finds itself mistaken ends, and the masks go back to what they were.
target_compile_options(hn-warnings INTERFACE -UNDEBUG)
if(HN_WERROR)
        target_compile_options(hn-warnings INTERFACE -Werror)
endif()
