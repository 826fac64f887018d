#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# install.sh BUILD: what cmake --install leaves is complete, and a program of somebody else's, which knows pkg-config
# only, compiles and links with every function of the public header, shared and static.
set -eu
build=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
DESTDIR=$root cmake --install "$build" >/dev/null
bad=0

for file in usr/sbin/homenoded usr/bin/homenode usr/include/homenode.h etc/homenode/homenode.conf \
        usr/lib/systemd/system/homenoded.service usr/lib/systemd/system-preset/80-homenode.preset \
        usr/share/dbus-1/system.d/org.homenode1.conf usr/share/dbus-1/system-services/org.homenode1.service \
        usr/share/polkit-1/actions/org.homenode1.policy usr/lib/sysusers.d/homenode.conf usr/lib/tmpfiles.d/homenode.conf \
        usr/share/man/man1/homenode.1 usr/share/man/man3/libhomenode.3 usr/share/man/man5/homenode.conf.5 \
        usr/share/man/man5/org.homenode1.5 usr/share/man/man7/homenode-concepts.7 usr/share/man/man8/homenoded.8 \
        usr/share/man/man8/homenode-numad.8 usr/libexec/homenode/numad usr/share/bash-completion/completions/homenode; do
        [ -f "$root/$file" ] || { echo "install: no /$file"; bad=1; }
done
find "$root" -path '*/zsh/*/_homenode' | grep -q . || { echo "install: no completion for zsh"; bad=1; }
[ -d "$root/etc/homenode/homenode.conf.d" ] || { echo "install: no folder for drop-ins"; bad=1; }

# An administrator's file survives the next installation.
echo '# mine' >>"$root/etc/homenode/homenode.conf"
DESTDIR=$root cmake --install "$build" >/dev/null
grep -q '^# mine$' "$root/etc/homenode/homenode.conf" || { echo "install: homenode.conf was overwritten"; bad=1; }

pc=$(find "$root" -name libhomenode.pc)
[ -f "$pc" ] || { echo "install: no libhomenode.pc"; exit 1; }
# Only our own paths lie below the root; those of the libraries we need are the system's.
of_ours() {
        PKG_CONFIG_PATH=$(dirname "$pc") pkg-config "$@" libhomenode |
                sed "s#-I/usr/include\b#-I$root/usr/include#g; s#-L/usr#-L$root/usr#g"
}
flags="-I$root/usr/include $(of_ours --cflags)"
libdir=$(dirname "$(dirname "$pc")")

{
        echo '#include <homenode.h>'
        echo 'typedef void (*any)(void);'
        echo 'extern any volatile all[];'
        echo 'any volatile all[] = {'
        ${CC:-cc} -fpreprocessed -dD -E -P "$root/usr/include/homenode.h" 2>/dev/null |
                grep -oE '\bhn_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u | sed 's/.*/        (any) &,/'
        echo '};'
        echo 'int main(void) { return all[0] ? 0 : 1; }'
} >"$root/user.c"
# shellcheck disable=SC2046,SC2086  # words: flags
if ${CC:-cc} -std=c11 -Wall -Werror $flags -o "$root/shared" "$root/user.c" -L"$libdir" $(of_ours --libs); then
        LD_LIBRARY_PATH=$libdir "$root/shared" || { echo "install: the shared library does not load"; bad=1; }
        LD_LIBRARY_PATH=$libdir ldd "$root/shared" | grep -q 'libhomenode\.so\.[0-9]' ||
                { echo "install: the program does not ask for a versioned library"; bad=1; }
else
        bad=1
fi
# Our archive; the libraries it needs, which libhomenode.pc names, stay shared.
needs=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --print-requires-private libhomenode)
# shellcheck disable=SC2046,SC2086
if ! ${CC:-cc} -std=c11 -Wall -Werror $flags -o "$root/static" "$root/user.c" "$libdir/libhomenode.a" \
        $(pkg-config --libs $needs) || ! "$root/static"; then
        echo "install: no program links with the static library"
        bad=1
fi
exit "$bad"
