# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Completion of homenode(1) for bash. Verbs, options and columns are asked of the program itself, by --help.

# __homenode_options PROGRAM [VERB]: long and short options.
__homenode_options() {
        "$@" --help 2>/dev/null |
                sed -n 's/^ \{2,6\}\(-[^- ]\), \(--[a-z][a-z-]*\).*/\1\n\2/p; s/^ \{2,6\}\(--[a-z][a-z-]*\).*/\1/p'
}

# __homenode_verbs PROGRAM
__homenode_verbs() {
        "$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'
}

# __homenode_columns PROGRAM VERB
__homenode_columns() {
        "$1" "$2" --help 2>/dev/null | sed -n '/^Columns/,/^$/s/^ [ *] \([A-Z][A-Z%-]*\) .*/\1/p'
}

# Numbers of the nodes, of this machine or of the captured one in $1.
__homenode_nodes() {
        local folder
        for folder in "$1"/sys/devices/system/node/node[0-9]*; do
                [[ -d $folder ]] && echo "${folder##*/node}"
        done
}

__homenode_pids() {
        local folder
        for folder in "$1"/proc/[0-9]*; do
                [[ -d $folder ]] && echo "${folder##*/}"
        done
}

# Cgroups that begin with $1, as paths below the root of the hierarchy.
__homenode_cgroups() {
        local root=/sys/fs/cgroup
        [[ -d $root/unified ]] && root=$root/unified
        [[ -d $root/systemd ]] && root=$root/systemd
        compgen -d -S / -- "$root/${1#/}" | sed "s#^$root/##"
}

__homenode_units() {
        systemctl list-units --plain --no-legend --no-pager --type=service,scope,slice 2>/dev/null | cut -d' ' -f1
}

# __homenode_list PREFIX WORD...: the last part of a list with commas.
__homenode_list() {
        local cur=$1 head=''
        shift
        [[ $cur == *,* ]] && head=${cur%,*},
        [[ $cur == +* && $cur != *,* ]] && head=+
        mapfile -t COMPREPLY < <(compgen -P "$head" -W "$*" -- "${cur#"$head"}")
        compopt -o nospace 2>/dev/null
}

_homenode() {
        local program=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} prev='' verb='' root='' i words
        COMPREPLY=()
        (( COMP_CWORD > 0 )) && prev=${COMP_WORDS[COMP_CWORD - 1]}
        # --option=value comes as three words.
        if [[ $cur == '=' ]]; then
                cur=''
        elif [[ $prev == '=' ]]; then
                prev=${COMP_WORDS[COMP_CWORD - 2]}
        fi
        for (( i = 1; i < COMP_CWORD; i++ )); do
                case ${COMP_WORDS[i]} in
                --sysroot)
                        root=${COMP_WORDS[i + 1]}
                        [[ $root == '=' ]] && root=${COMP_WORDS[i + 2]-}
                        ;;
                -*) ;;
                *) [[ $verb ]] || verb=${COMP_WORDS[i]} ;;
                esac
        done

        if [[ ! $verb ]]; then
                mapfile -t COMPREPLY < <(compgen -W "$(__homenode_verbs "$program") --help --version" -- "$cur")
                return
        fi
        case $prev in
        --sysroot | --root | --run-dir)
                mapfile -t COMPREPLY < <(compgen -d -- "$cur")
                compopt -o filenames 2>/dev/null
                return
                ;;
        --config | --machine)
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                compopt -o filenames 2>/dev/null
                return
                ;;
        -o | --output)
                words=$(__homenode_columns "$program" "$verb")
                [[ $words ]] && __homenode_list "$cur" "$words"
                return
                ;;
        -N | -i | -w | -p | -P | -m | --nodes | --interleave | --weighted-interleave | --preferred | \
                --preferred-many | --membind | --cpunodebind)
                __homenode_list "$cur" "$(__homenode_nodes "$root")"
                return
                ;;
        --cgroup)
                mapfile -t COMPREPLY < <(__homenode_cgroups "$cur")
                compopt -o nospace 2>/dev/null
                return
                ;;
        --unit)
                mapfile -t COMPREPLY < <(compgen -W "$(__homenode_units)" -- "$cur")
                return
                ;;
        esac
        if [[ $cur == -* ]]; then
                mapfile -t COMPREPLY < <(compgen -W "$(__homenode_options "$program" "$verb")" -- "$cur")
                return
        fi
        case $verb in
        ps | match | pin | unpin | explain | move-pages)
                mapfile -t COMPREPLY < <(compgen -W "$(__homenode_pids "$root")" -- "$cur")
                ;;
        check-config)
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                compopt -o filenames 2>/dev/null
                ;;
        run)
                mapfile -t COMPREPLY < <(compgen -c -- "$cur")
                ;;
        esac
}

complete -F _homenode homenode
