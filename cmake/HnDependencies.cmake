# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What we link. Minimum versions are those of Debian 12, on which everything here is tested.
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc>=2.9)            # topology: the machine as a value
pkg_check_modules(CAP REQUIRED IMPORTED_TARGET libcap>=2.66)            # capabilities, raised around single calls
pkg_check_modules(SYSTEMD REQUIRED IMPORTED_TARGET libsystemd>=252)     # event loop, journal, notify
pkg_check_modules(INIH REQUIRED IMPORTED_TARGET inih>=55)               # configuration files
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson>=2.14)       # state file, -J output
if(BUILD_TESTING)
        pkg_check_modules(NUMA REQUIRED IMPORTED_TARGET numa>=2.0.16)   # loads in the guest
        pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka>=1.1.5)
endif()
