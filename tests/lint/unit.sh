#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# unit.sh SOURCE BUILD: the unit as installed is sound, its programs and manual pages exist, and its exposure is at most
# 1.5 of 10. The limit is lowered when the unit gets better and is never raised.
set -eu
command -v systemd-analyze >/dev/null || { echo "systemd-analyze is not installed"; exit 77; }
source=$1 build=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
DESTDIR=$root cmake --install "$build" >/dev/null

unit=$(find "$root" -name homenoded.service)
[ -f "$unit" ] || { echo "unit: homenoded.service is not installed"; exit 1; }
mkdir "$root/check"
# The installed text, with its programs looked for where this test installed them.
sed "s#=/usr/sbin/#=$root/usr/sbin/#" "$unit" >"$root/check/homenoded.service"

bad=0
# Verify forgives what it does not understand ("ignoring"), so what it says counts, not its exit status alone.
systemd-analyze verify --man=no "$root/check/homenoded.service" >"$root/verify" 2>&1 || bad=1
! grep homenoded.service "$root/verify" || bad=1
systemd-analyze security --no-pager --offline=yes --threshold=15 "$root/check/homenoded.service" >"$root/score" || {
        grep -v '✓' "$root/score"
        bad=1
}
tail -n 1 "$root/score"

for page in $(sed -n 's/^Documentation=//p' "$unit" | tr ' ' '\n' | sed -n 's/^man:\(.*\)(\(.\))$/\1.\2/p'); do
        [ -f "$source/man/$page" ] || { echo "unit: Documentation= names $page, which does not exist"; bad=1; }
done
# sysusers and tmpfiles are checked by their own programs, on a root of their own.
for tool in sysusers tmpfiles; do
        command -v "systemd-$tool" >/dev/null || { echo "systemd-$tool is not installed"; exit 77; }
done
mkdir -p "$root/etc" "$root/run"
systemd-sysusers --root="$root" homenode.conf || bad=1
grep -q '^homenode:' "$root/etc/passwd" || { echo "unit: sysusers made no user homenode"; bad=1; }
systemd-tmpfiles --root="$root" --create homenode.conf || bad=1
[ -d "$root/run/homenode" ] || { echo "unit: tmpfiles made no /run/homenode"; bad=1; }
exit "$bad"
