#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# layers.sh SOURCE: includes point down, base <- policy <- sample <- act <- daemon, and name the folder. The two pure
# layers see no header through which the world could come in; the others see only what is their business.
set -eu
cd "$1"

files=$(find lib daemon -name '*.[ch]' | sort)
[ -n "$files" ] || { echo "layers: no sources below $1"; exit 1; }

# shellcheck disable=SC2086  # one word a file: our own names have no spaces
awk '
function complain(why) {
        printf "%s:%d: %s: %s\n", FILENAME, FNR, $0, why
        bad = 1
}
BEGIN {
        rank["base"] = 1; rank["policy"] = 2; rank["sample"] = 3; rank["act"] = 4
        n = split("assert ctype errno inttypes limits stdarg stdbool stddef stdint stdio stdlib string sys/types", pure)
        for (i = 1; i <= n; i++)
                is_pure[pure[i] ".h"] = 1
}
FNR == 1 {
        n = split(FILENAME, part, "/")
        layer = part[1] == "lib" && n > 2 ? part[2] : n > 2 ? "ctl" : part[1]
        file = part[n]
        here = layer in rank ? rank[layer] : 5
        if (layer != "lib" && part[1] == "lib" && !(layer in rank)) {
                printf "%s: %s is no layer\n", FILENAME, layer
                bad = 1
        }
}
/^[ \t]*#[ \t]*include/ {
        if (match($0, /"[^"]*"/)) {
                name = substr($0, RSTART + 1, RLENGTH - 2)
                folder = name
                if (!sub(/\/.*/, "", folder))
                        folder = ""
                if (name ~ /\.\./)
                        complain("include from the root, not by ..")
                else if (file == "homenode.h")
                        complain("the public header stands alone")
                else if (folder in rank) {
                        if (rank[folder] > here)
                                complain("includes point down, and " folder " is above " layer)
                } else if (name == "homenode.h") {
                        if (layer in rank)
                                complain("the layers are below the public header")
                } else if (folder == "") {
                        # daemon/ and daemon/ctl/ are at the end of the line: their own headers go by their names.
                        if (layer != "daemon" && layer != "ctl")
                                complain("name the folder")
                        else if ((getline line <(part[1] (n > 2 ? "/ctl/" : "/") name)) < 0)
                                complain("not in this folder")
                } else if (folder == "daemon") {
                        # What is known of the configuration, and how an advice is put, are libraries that both programs link.
                        if (layer != "daemon" &&
                            !(layer == "ctl" && name ~ /^daemon\/(conf(files|ig|item)|rule(match|s)|words|advicejson)\.h$/))
                                complain("only the daemon sees daemon/")
                } else if (!(folder == "ctl" && layer == "ctl"))
                        complain("no such layer")
        } else if (match($0, /<[^>]*>/)) {
                name = substr($0, RSTART + 1, RLENGTH - 2)
                if (here <= 2 && !(name in is_pure))
                        complain("not a header for a pure layer")
                if (here <= 5 && layer != "daemon" && layer != "ctl" && name ~ /^(systemd\/|ini\.h|getopt\.h|syslog\.h)/)
                        complain("only daemon/ talks to systemd, reads configuration and has options")
                if (layer != "sample" && name ~ /^hwloc/)
                        complain("only sample/ knows hwloc")
                if (layer != "act" && layer != "daemon" && name ~ /^sys\/capability/)
                        complain("only act/ and the daemon deal in capabilities")
        } else
                complain("cannot read this include")
}
END { exit bad }
' $files
