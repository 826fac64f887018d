#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# completion.sh SOURCE HOMENODE: what the completion for bash offers for some command lines; and the one for zsh is
# sound zsh that offers the same verbs, where there is a zsh.
set -u
source=$1 homenode=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
complain() {
        echo "completion: $*"
        bad=1
}

# shellcheck source=/dev/null
. "$source/conf/completions/homenode.bash" || exit 1
complete -p homenode | grep -q '_homenode' || complain "nothing is registered for homenode"
mkdir -p "$work/m/proc/17" "$work/m/proc/1702" "$work/m/proc/self" "$work/m/sys/devices/system/node/node0" \
        "$work/m/sys/devices/system/node/node3" "$work/files/sub"
touch "$work/files/a.conf"
cd "$work/files" || exit 1

# offers WORD...: what is offered for the last one of the words, sorted, in one line
offers() {
        COMP_WORDS=("$homenode" "$@")
        COMP_CWORD=$#
        COMPREPLY=()
        _homenode
        printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ' | sed 's/ *$//'
}

# is WANT WORD...
is() {
        local want=$1 got
        shift
        got=$(offers "$@")
        [[ $got == "$want" ]] || complain "for \"$*\": \"$got\", not \"$want\""
}

# has WANT WORD...: among others
has() {
        local want=$1
        shift
        [[ " $(offers "$@") " == *" $want "* ]] || complain "for \"$*\": no $want"
}

# hasnt WORD WORD...
hasnt() {
        local want=$1
        shift
        [[ " $(offers "$@") " != *" $want "* ]] || complain "for \"$*\": $want"
}

# Every verb of --help, and only those that begin so.
"$homenode" --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p' >"$work/verbs"
[[ -s $work/verbs ]] || complain "homenode --help names no verb"
while read -r verb; do
        has "$verb" ''
        has --help "$verb" -
done <"$work/verbs"
has --version ''
is 'pin ps' p
is 'check-config' ch
is '' nosuch
is '--help' --h

# Options of the verb.
has --threads ps --
has -T ps -
hasnt --threads nodes --
is '--noheadings' ps --no
is '--root' match --ro

# Their values.
is 'sub' match --root ''
is 'a.conf sub' match --config ''
is 'a.conf' match --config = a
is 'NEAREST NODE' nodes -o N
is '+NEAREST +NODE' nodes -o +N
is 'NODE,MEMORY' nodes --output NODE,ME
is 'CPUS' nodes -o = CP
has CGROUP status -o ''
has 0 match --sysroot "$work/m" -N ''
is '0,3' match --sysroot "$work/m" --nodes 0,3
is '' cat-config -o ''

# Processes, of the machine that is looked at.
has "$$" ps ''
is '17 1702' ps --sysroot "$work/m" ''
is '1702' match --sysroot = "$work/m" 170
is '' nodes ''
is 'a.conf sub' check-config ''

if command -v zsh >/dev/null; then
        zsh -n "$source/conf/completions/_homenode" || complain "_homenode is no sound zsh"
        # The completion system needs a terminal; its functions stand in for it here.
        cat >"$work/zsh" <<-'END'
		_call_program() { shift; "$@" }
		_describe() { print -l -- ${(P)2} }
		compadd() { print -l -- $@ }
		compset() { return 1 }
		_files() { print files }
		words=("$2" "${@:3}") CURRENT=$(( $# - 1 )) PREFIX=${@[-1]}
		. "$1"
	END
        zsh "$work/zsh" "$source/conf/completions/_homenode" "$homenode" '' >"$work/offered" ||
                complain "_homenode fails in zsh"
        while read -r verb; do
                grep -q "^$verb:" "$work/offered" || complain "zsh: no $verb"
        done <"$work/verbs"
        zsh "$work/zsh" "$source/conf/completions/_homenode" "$homenode" ps -- >"$work/offered"
        grep -qx -e --threads "$work/offered" || complain "zsh: no --threads of ps"
        zsh "$work/zsh" "$source/conf/completions/_homenode" "$homenode" nodes -o '' >"$work/offered"
        grep -qx NEAREST "$work/offered" || complain "zsh: no column NEAREST"
fi
exit "$bad"
