#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# selftest.sh: every check of this folder passes a small sound tree and fails that tree with one fault in it. A check
# that cannot fail says nothing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
n=0
spdx='/* SPDX-License-Identifier: LGPL-2.1-or-later */'

# A fresh sound tree in $work/t.
sound() {
        rm -rf "$work/t"
        mkdir -p "$work/t/lib/base" "$work/t/lib/policy" "$work/t/lib/sample" "$work/t/daemon/ctl" "$work/t/tests" \
                "$work/t/man" "$work/t/conf" "$work/t/build" "$work/t/systemd"
        cd "$work/t"
        printf '%s\n#pragma once\n\nint hn_one(void);\n' "$spdx" >lib/base/one.h
        printf '%s\n#include "base/one.h"\n\nint hn_one(void) {\n        return 1;\n}\n' "$spdx" >lib/base/one.c
        printf '%s\n#include <stdlib.h>\n#include "base/one.h"\n\nint hn_two(void);\n' "$spdx" >lib/policy/two.c
        printf '%s\n#include <fcntl.h>\n#include "policy/two.h"\n' "$spdx" >lib/sample/three.c
        printf '%s\n#pragma once\n#include <stdint.h>\n' "$spdx" >lib/homenode.h
        printf 'int hn_shown(int a);\n/* int hn_unshown(void); */\n' >>lib/homenode.h
        printf '#include "homenode.h"\nint hn_shown(int a) { return a; }\nint hn_hidden(void);\n' >show.c
        printf '__attribute__((visibility("hidden"))) int hn_hidden(void) { return 1; }\n' >>show.c
        printf '%s\nstatic const struct x t[] = {\n        { "Mode", parse_mode },\n};\n' "$spdx" >daemon/config.c
        printf '        { "help", no_argument, NULL, 104 },\n' >>daemon/config.c
        printf '        { "help", no_argument, NULL, 104 },\n' >daemon/ctl/main.c
        printf '#!/bin/sh\necho "  --help  this"\n' >homenoded
        # shellcheck disable=SC2016  # the script's own $
        printf '#!/bin/sh\n[ "$1" = nodes ] || echo "  nodes [--help]  shows nodes"\n' >homenode
        chmod +x homenode homenoded
        printf '# SPDX-License-Identifier: LGPL-2.1-or-later\n#Mode=observe\n' >conf/homenode.conf
        page HOMENODED 8 '.Bl -tag -width Ds' '.It Fl -help' 'This.' '.El'
        page HOMENODE 1 '.Bl -tag -width Ds' '.It Cm nodes' 'Shows with' '.Fl -help .' '.El'
        page HOMENODE.CONF 5 '.Bl -tag -width Ds' '.It Va Mode Ns =' 'The mode.' '.El'
}

# page NAME SECTION LINE...
page() {
        name=$(echo "$1" | tr '[:upper:]' '[:lower:]')
        section=$2
        {
                printf '.\\" SPDX-License-Identifier: LGPL-2.1-or-later\n.Dd January 1, 2026\n.Dt %s %s\n.Os\n' "$1" "$2"
                printf '.Sh NAME\n.Nm %s\n.Nd a page\n.Sh DESCRIPTION\n' "$name"
                shift 2
                printf '%s\n' "$@"
        } >"$work/t/man/$name.$section"
}

# expect pass|fail WHAT COMMAND...
expect() {
        want=$1 what=$2
        shift 2
        n=$((n + 1))
        rc=0
        "$@" >"$work/out" 2>&1 || rc=$?
        case $want:$rc in
        *:77) echo "skipped: $what: $(cat "$work/out")" ;;
        pass:0 | fail:[!0]*) ;;
        *)
                echo "selftest: $what: wanted to $want, got $rc:"
                cat "$work/out"
                bad=1
                ;;
        esac
}

check_layers() { expect "$1" "layers: $2" "$here/layers.sh" "$work/t"; }
sound
check_layers pass "sound tree"
echo '#include "sample/three.h"' >>lib/policy/two.c
check_layers fail "an include that points up"
sound
echo '#include "two.h"' >>lib/policy/two.c
check_layers fail "an include without its folder"
sound
echo '#include "../base/one.h"' >>lib/policy/two.c
check_layers fail "an include by .."
sound
echo '#include <unistd.h>' >>lib/base/one.c
check_layers fail "a pure layer with unistd.h"
sound
echo '#include <systemd/sd-journal.h>' >>lib/sample/three.c
check_layers fail "a library that logs"
sound
echo '#include "daemon/manager.h"' >>daemon/ctl/main.c
check_layers fail "homenode with the daemon's header"
sound
echo '#include "daemon/config.h"' >>daemon/ctl/main.c
check_layers pass "homenode with the configuration"
sound
echo '#include "base/one.h"' >>lib/homenode.h
check_layers fail "a public header with a private one"

compile() { cc -c -O1 -o "$work/$1.o" "$work/$1.c" && rm -f "$work/$1.a" && ar rc "$work/$1.a" "$work/$1.o"; }
# shellcheck disable=SC2016
printf '#include <string.h>\nsize_t hn_a(const char *s) { return strlen(s); }\n' >"$work/clean.c"
printf '#include <unistd.h>\nint hn_b(void) { return getpid(); }\n' >"$work/dirty.c"
printf '#include <time.h>\nlong hn_c(void) { return (long) time(NULL); }\n' >"$work/clock.c"
for lib in clean dirty clock; do
        compile "$lib"
done
expect pass "pure: strlen" "$here/pure.sh" "$work/clean.a"
expect fail "pure: getpid" "$here/pure.sh" "$work/clean.a" "$work/dirty.a"
expect fail "pure: time" "$here/pure.sh" "$work/clock.a"

check_text() { expect "$1" "text: $2" "$here/text.sh" "$work/t"; }
sound
rm -f show.c homenode homenoded daemon/ctl/main.c
mkdir -p lib/keep && mv lib lib.sound
keep() {
        rm -rf lib
        cp -r lib.sound lib
}
keep
check_text pass "sound tree"
echo 'int x; // desk' >>lib/base/one.c
check_text fail "a // comment"
keep
# The word in two parts, so that this very file does not hold it.
printf '/* %s: later */\n' "TO""DO" >>lib/base/one.c
check_text fail "work left undone"
keep
printf 'int x;  \n' >>lib/base/one.c
check_text fail "blanks at the end"
keep
printf '#pragma once\n' >lib/base/bare.h
check_text fail "no licence line"
keep
yes 'int f(void);' | head -n 501 >>lib/base/one.h
check_text fail "a file of 501 lines"

sound
cp "$here/../../.clang-format" .
rm -f lib/policy/two.c lib/homenode.h daemon/config.c daemon/ctl/main.c show.c
expect pass "format: sound tree" "$here/format.sh" "$work/t"
printf '\nint hn_one(void)\n{\n  return 1;\n}\n' >>lib/base/one.c
expect fail "format: brace on a line of its own" "$here/format.sh" "$work/t"

sound
cp "$here/../../.clang-tidy" .
printf '[\n{\n  "directory": "%s",\n  "command": "cc -I%s/lib -c %s/lib/base/one.c",\n  "file": "%s/lib/base/one.c"\n}\n]\n' \
        "$work/t" "$work/t" "$work/t" "$work/t" >build/compile_commands.json
expect pass "tidy: sound tree" "$here/tidy.sh" "$work/t/build" "$work/t/lib/base"
printf '\nint hn_null(int *p) {\n        if (!p)\n                return *p;\n        return 0;\n}\n' >>lib/base/one.c
expect fail "tidy: a null pointer followed" "$here/tidy.sh" "$work/t/build" "$work/t/lib/base"

sound
rm -f daemon/config.c daemon/ctl/main.c
expect pass "cppcheck: sound tree" "$here/cppcheck.sh" "$work/t"
printf '\nint hn_past(void) {\n        int a[2] = { 1, 2 };\n        return a[2];\n}\n' >>lib/base/one.c
expect fail "cppcheck: an index past the end" "$here/cppcheck.sh" "$work/t"

sound
expect pass "shell: sound tree" "$here/shell.sh" "$work/t"
# shellcheck disable=SC2016
printf '#!/bin/sh\nrm -r $1\n' >tests/bad
expect fail "shell: a variable without quotes" "$here/shell.sh" "$work/t"

sound
expect pass "manual: sound tree" "$here/manual.sh" "$work/t"
page HOMENODE 1 '.Bl -tag' '.It Fl x'
expect fail "manual: a list without an end" "$here/manual.sh" "$work/t"
sound
page HOMENODE 1 '.Xr homenode-nowhere 7'
expect fail "manual: a page that is not there" "$here/manual.sh" "$work/t"

check_usage() { expect "$1" "usage: $2" "$here/usage.sh" "$work/t" "$work/t/homenoded" "$work/t/homenode"; }
sound
check_usage pass "sound tree"
echo 'echo "  --quiet"' >>homenoded
check_usage fail "an option the manual and the table lack"
sound
printf '        { "quiet", no_argument, NULL, 113 },\n' >>daemon/ctl/main.c
check_usage fail "an option that help lacks"
sound
page HOMENODE 1 '.Bl -tag -width Ds' '.It Cm nodes' 'With' '.Fl -help .' '.It Cm ps' 'Gone.' '.El'
check_usage fail "a verb that help lacks"
sound
echo '#Speed=1' >>conf/homenode.conf
check_usage fail "a key the manual and the table lack"

# Two programs with one verb, one option with a letter, one table and two exit codes.
pages_tree() {
        sound
        printf '#include <sysexits.h>\nint code(int r) { return r ? EX_USAGE : EX_OK; }\n' >daemon/ctl/main.c
        cp daemon/ctl/main.c daemon/config.c
        cat >homenode <<-'END'
		#!/bin/sh
		[ "$1" = nodes ] || { echo "  nodes  shows nodes"; exit; }
		printf '  -J, --json  JSON\n      --root DIR  root\n  -h, --help  this\n\nColumns:\n * NODE  its number\n'
	END
        page HOMENODE 1 '.Sh EXIT STATUS' '.Bl -tag -width Ds' '.It 0' 'Fine.' '.It 64' 'Wrong.' '.El'
        page HOMENODED 8 '.Sh EXIT STATUS' '.Bl -tag -width Ds' '.It 0' 'Fine.' '.It 64' 'Wrong.' '.El'
        sed -i 's/^\.Sh DESCRIPTION/.Sh SYNOPSIS\n.Nm\n.Cm nodes\n.Op Fl J\n.Op Fl -root Ar dir\n&\n.Ss Columns of nodes\n.Bl -tag -width Ds\n.It NODE\nits number\n.El/' \
                man/homenode.1
}
check_pages() { expect "$1" "pages: $2" "$here/pages.sh" "$work/t" "$work/t/homenoded" "$work/t/homenode"; }
pages_tree
check_pages pass "sound tree"
sed -i 's/^\.Op Fl J/.Op Fl Jx/' man/homenode.1
check_pages fail "a letter that help lacks"
pages_tree
sed -i '/^\.Op Fl -root/d' man/homenode.1
check_pages fail "an option that the synopsis lacks"
pages_tree
sed -i 's/^\.Op Fl -root.*/.Op Ar option .../' man/homenode.1
check_pages pass "a synopsis that names no single option"
pages_tree
sed -i 's/^\.It NODE/.It NODE , SIZE/' man/homenode.1
check_pages fail "a column that help lacks"
pages_tree
sed -i 's/EX_USAGE/EX_NOPERM/' daemon/ctl/main.c
check_pages fail "an exit code that the page lacks"
pages_tree
echo '.It 70' >>man/homenoded.8
check_pages fail "an exit code that the sources lack"
pages_tree
printf 'yes "  text" | head -n 41\n' >>homenode
check_pages fail "a help text of more than a screen"
pages_tree
printf 'printf "%%081d\\n" 0\n' >>homenoded
check_pages fail "a help text that is too wide"

sound
cc -shared -fPIC -Ilib -o "$work/shown.so" show.c
expect pass "exports: sound library" "$here/exports.sh" "$work/t/lib/homenode.h" "$work/shown.so"
sed 's/__attribute__.*hidden")))//' show.c >open.c
cc -shared -fPIC -Ilib -o "$work/open.so" open.c
expect fail "exports: a function shown by mistake" "$here/exports.sh" "$work/t/lib/homenode.h" "$work/open.so"

# The unit check installs a build; here a two line project is one.
check_unit() {
        rm -rf build
        cmake -S . -B build -DCMAKE_INSTALL_PREFIX=/usr >/dev/null
        expect "$1" "unit: $2" "$here/unit.sh" "$work/t" "$work/t/build"
}
unit_tree() {
        sound
        cp "$here"/../../systemd/homenode* systemd/
        sed 's#@CMAKE_INSTALL_FULL_SBINDIR@#/usr/sbin#' systemd/homenoded.service.in >systemd/homenoded.service
        cat >CMakeLists.txt <<-'END'
		cmake_minimum_required(VERSION 3.25)
		project(x LANGUAGES NONE)
		install(FILES systemd/homenoded.service DESTINATION lib/systemd/system)
		install(PROGRAMS homenoded DESTINATION sbin)
		install(FILES systemd/homenode.sysusers DESTINATION lib/sysusers.d RENAME homenode.conf)
		install(FILES systemd/homenode.tmpfiles DESTINATION lib/tmpfiles.d RENAME homenode.conf)
	END
}
unit_tree
check_unit pass "sound tree"
sed -i '/^Protect/d; /^Private/d' systemd/homenoded.service
check_unit fail "an exposed unit"
unit_tree
sed -i 's/^Type=notify/Type=loud/' systemd/homenoded.service
check_unit fail "a unit systemd does not understand"
unit_tree
rm man/homenode.conf.5
check_unit fail "a manual page that is not there"

# The installation check, with a library of one function.
check_install() {
        rm -rf build
        cmake -S . -B build -DCMAKE_INSTALL_PREFIX=/usr >/dev/null
        expect "$1" "install: $2" "$here/install.sh" "$work/t/build"
}
install_tree() {
        unit_tree
        cc -shared -fPIC -Ilib -Wl,-soname,libhomenode.so.0 -o libhomenode.so.0 show.c
        cc -c -Ilib -o show.o show.c
        ar rc libhomenode.a show.o
        ln -s libhomenode.so.0 libhomenode.so
        printf 'libdir=/usr/lib\nName: x\nDescription: x\nVersion: 0\nRequires.private: libcap\n' >libhomenode.pc
        # shellcheck disable=SC2016  # pkg-config's variable
        printf 'Libs: -L${libdir} -lhomenode\nCflags: -I/usr/include\n' >>libhomenode.pc
        cp "$here/../../systemd/80-homenode.preset" "$here/../../systemd/org.homenode1.service" \
                "$here/../../conf/org.homenode1.conf" "$here/../../conf/org.homenode1.policy" .
        page ORG.HOMENODE1 5 'A bus.'
        page HOMENODE-NUMAD 8 'One that looks like another.'
        cat >>CMakeLists.txt <<-'END'
		install(FILES libhomenode.so.0 libhomenode.so libhomenode.a DESTINATION lib)
		install(FILES libhomenode.pc DESTINATION lib/pkgconfig)
		install(FILES lib/homenode.h DESTINATION include)
		install(PROGRAMS homenode DESTINATION bin)
		install(FILES 80-homenode.preset DESTINATION lib/systemd/system-preset)
		install(FILES org.homenode1.conf DESTINATION share/dbus-1/system.d)
		install(FILES org.homenode1.service DESTINATION share/dbus-1/system-services)
		install(FILES org.homenode1.policy DESTINATION share/polkit-1/actions)
		install(FILES man/org.homenode1.5 DESTINATION share/man/man5)
		install(FILES man/homenode.1 DESTINATION share/man/man1)
		install(FILES man/homenode.conf.5 DESTINATION share/man/man5)
		install(FILES man/homenoded.8 man/homenode-numad.8 DESTINATION share/man/man8)
		install(PROGRAMS homenode DESTINATION libexec/homenode RENAME numad)
		install(FILES man/homenode.1 DESTINATION share/man/man3 RENAME libhomenode.3)
		install(FILES man/homenode.1 DESTINATION share/man/man7 RENAME homenode-concepts.7)
		install(FILES homenode DESTINATION share/bash-completion/completions)
		install(FILES homenode DESTINATION share/zsh/site-functions RENAME _homenode)
		install(DIRECTORY DESTINATION /etc/homenode/homenode.conf.d)
		install(CODE "if(NOT EXISTS \"\$ENV{DESTDIR}/etc/homenode/homenode.conf\")
		        file(INSTALL \"${CMAKE_SOURCE_DIR}/conf/homenode.conf\" DESTINATION /etc/homenode)
		endif()")
	END
}
install_tree
check_install pass "sound tree"
sed -i '/man8/d' CMakeLists.txt
check_install fail "a file which is not installed"
install_tree
sed -i 's/if(NOT EXISTS.*/if(TRUE)/; s/^install(CODE "if(NOT.*/install(CODE "if(TRUE)/' CMakeLists.txt
check_install fail "an administrator's file overwritten"
install_tree
echo 'int hn_lost(void);' >>lib/homenode.h
check_install fail "a function the library lacks"

check_bus() { expect "$1" "bus: $2" "$here/bus.sh" "$work/t"; }
bus_tree() {
        sound
        cp "$here/../../conf/org.homenode1.conf" "$here/../../conf/org.homenode1.policy" conf
        cp "$here/../../daemon/bus-access.c" daemon
}
bus_tree
check_bus pass "sound tree"
sed -i 's/homenode1.reload"/homenode1.restart"/' daemon/bus-access.c
check_bus fail "an action that is not shipped"
bus_tree
sed -i 's/auth_admin_keep</yes</' conf/org.homenode1.policy
check_bus fail "an action open to all"
bus_tree
sed -i '/policykit.owner/d' conf/org.homenode1.policy
check_bus fail "an action that only root may ask about"
bus_tree
sed -i 's/send_destination/own/' conf/org.homenode1.conf
check_bus fail "a name that anybody may own"
bus_tree
sed -i 's/<\/busconfig>//' conf/org.homenode1.conf
check_bus fail "a policy that is no XML"

# The completion, with a program that knows the verbs and options which that check asks for.
completion_tree() {
        sound
        mkdir conf/completions
        cp "$here"/../../conf/completions/* conf/completions/
        cat >homenode <<-'END'
		#!/bin/sh
		printf '  -h, --help  this\n      --version  that\n'
		case $1 in
		--help) printf '  %s  a verb\n' nodes ps pin status match check-config cat-config ;;
		ps) printf '  -T, --threads  a\n  -n, --noheadings  b\n' ;;
		match) printf '      --root DIR  c\n' ;;
		nodes) printf '\nColumns:\n * NODE  a\n * NEAREST  b\n   CPUS  c\n   MEMORY  d\n' ;;
		status) printf '\nColumns:\n * CGROUP  a\n' ;;
		esac
	END
}
check_completion() { expect "$1" "completion: $2" "$here/completion.sh" "$work/t" "$work/t/homenode"; }
completion_tree
check_completion pass "sound tree"
sed -i 's/ps | match | pin/ps | pin/' conf/completions/homenode.bash
check_completion fail "a verb without its process ids"
completion_tree
sed -i '/^complete/d' conf/completions/homenode.bash
check_completion fail "nothing registered"
completion_tree
sed -i 's/-o | --output)/--output)/' conf/completions/homenode.bash
check_completion fail "an option without its columns"

cd "$here"
echo "$n checks of the checks"
exit "$bad"
