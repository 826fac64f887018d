#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# bus.sh SOURCE: the bus policy and the polkit actions are sound XML, and the actions are those that the code asks for,
# each open to an administrator with a password and to nobody else, and each homenoded's to ask about.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
cd "$1"
exec python3 - <<'END'
import re, sys
import xml.etree.ElementTree as xml

bad = 0
def complain(text):
    global bad
    print("bus:", text)
    bad = 1

policy = xml.parse("conf/org.homenode1.conf").getroot()
if [p.get("user") for p in policy.findall("policy") if p.find("allow[@own]") is not None] != ["homenode", "root"]:
    complain("conf/org.homenode1.conf: the name is homenode's and root's")
if policy.find("policy[@context='default']/allow[@own]") is not None:
    complain("conf/org.homenode1.conf: anybody may own the name")

code = set(re.findall(r'= "(org\.homenode1\.[a-z-]+)",$', open("daemon/bus-access.c").read(), re.M))
shipped = xml.parse("conf/org.homenode1.policy").getroot().findall("action")
names = {a.get("id") for a in shipped}
for name in code ^ names:
    complain(f"{name}: in daemon/bus-access.c or in conf/org.homenode1.policy, not in both")
if not code:
    complain("no actions in daemon/bus-access.c")
for a in shipped:
    name = a.get("id")
    if {d.text for d in a.find("defaults")} != {"auth_admin_keep"} or len(a.find("defaults")) != 3:
        complain(f"{name}: open to others than an administrator")
    notes = {n.get("key"): n.text for n in a.findall("annotate")}
    if notes.get("org.freedesktop.policykit.owner") != "unix-user:homenode":
        complain(f"{name}: homenoded, which is not root, may not ask about it")
    if not a.findtext("description") or not a.findtext("message"):
        complain(f"{name}: says nothing to the administrator")
sys.exit(bad)
END
