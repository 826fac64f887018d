# SPDX-License-Identifier: LGPL-2.1-or-later
#
# hn-sanitize: run-time checks and counters, for every target alike: a half instrumented program misleads.
add_library(hn-sanitize INTERFACE)
if(HN_SANITIZE)
        target_compile_options(hn-sanitize INTERFACE
                -fsanitize=${HN_SANITIZE}
                # The first finding ends the program, otherwise a test would pass with a report on its screen.
                -fno-sanitize-recover=all
                # Whole call chains in the reports.
                -fno-omit-frame-pointer)
        target_link_options(hn-sanitize INTERFACE -fsanitize=${HN_SANITIZE})
endif()
if(HN_FUZZ)
        if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
                message(FATAL_ERROR "HN_FUZZ needs clang: libFuzzer is a part of it")
        endif()
        # Coverage feedback in the code under test; the fuzz targets add the main function.
        target_compile_options(hn-sanitize INTERFACE -fsanitize=fuzzer-no-link)
        target_link_options(hn-sanitize INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(HN_COVERAGE)
        target_compile_options(hn-sanitize INTERFACE --coverage -fprofile-abs-path)
        target_link_options(hn-sanitize INTERFACE --coverage)
        find_program(GCOVR gcovr REQUIRED)
        add_custom_target(coverage-report
                COMMAND ${GCOVR} --root ${PROJECT_SOURCE_DIR} --filter lib/ --filter daemon/
                        --html-details ${PROJECT_BINARY_DIR}/coverage.html --print-summary ${PROJECT_BINARY_DIR}
                COMMENT "Lines and branches the tests ran" VERBATIM)
endif()
