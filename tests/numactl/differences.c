/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* clang-format off */

#include "rows.h"

/* A line of three: where, what beside 2.0.16, what beside later ones; the arguments and what each says; why. */
#define DIFFERENT(on_, want_, later_, args_, numactl_, ours_, why_) \
        { .on = (on_), .want = (want_), .later = (later_), .args = (args_), .numactl = (numactl_), .ours = (ours_), .why = (why_) }

#define USAGE "usage: numactl"
#define NO_NODE_0 "numactl asks the kernel by trying node 0, and takes its no for an old kernel"

const struct row differences[] = {
        /* What the kernel's lists have and numactl's have not. */
        DIFFERENT(ON_FOUR, WANT_OURS, WANT_OURS, "-C 0-7:2", USAGE, "cpus=0,2,4,6 ", "strides are ours"),
        DIFFERENT(ON_FOUR, WANT_OURS, WANT_OURS, "-N 0-3:2", USAGE, "cpus=0-1,4-5 ", "strides are ours"),
        DIFFERENT(ON_FOUR, WANT_OURS, WANT_OURS, "-m 0-3:1/2", USAGE, "nodes=0,2 ", "strides are ours"),
        DIFFERENT(ON_FOUR, WANT_OURS, WANT_OURS, "-C 0-7:2/4,7", USAGE, "cpus=0-1,4-5,7 ", "strides are ours"),
        DIFFERENT(ON_FOUR, WANT_OURS, WANT_OURS, "-C !0-7:2", USAGE, "cpus=1,3,5,7 ", "strides are ours"),
        DIFFERENT(ON_FOUR, WANT_OURS, WANT_OURS, "-i +1-3:2", USAGE, "nodes=1,3 ", "strides are ours"),
        DIFFERENT(ON_FOUR | ON_CPUSET, WANT_OURS, WANT_OURS, "-C 2-7:4", USAGE, "cpus=2,6 ", "strides are ours"),

        /* numactl says yes and does something else. */
        DIFFERENT(ON_FOUR | ON_CPUSET, WANT_THEIRS, WANT_THEIRS, "-m 3-1", "policy=bind nodes=3 ", "runs backwards",
                  "numactl takes a range that runs backwards for its first number"),
        DIFFERENT(ON_FOUR, WANT_THEIRS, WANT_THEIRS, "-C 5-2", "cpus=5 ", "runs backwards",
                  "numactl takes a range that runs backwards for its first number"),
        DIFFERENT(ON_FOUR | ON_CPUSET, WANT_THEIRS, WANT_THEIRS, "-C 7-6", "cpus=7 ", "runs backwards",
                  "numactl takes a range that runs backwards for its first number"),
        DIFFERENT(ON_FREE, WANT_THEIRS, WANT_THEIRS, "-m 4294967296", "policy=bind nodes=0 ", "there is no node 4294967296",
                  "numactl drops the upper half of a number: node 0"),
        DIFFERENT(ON_FOUR | ON_CPUSET, WANT_THEIRS, WANT_THEIRS, "-m 4294967297", "policy=bind nodes=1 ", "there is no node 4294967297",
                  "numactl drops the upper half of a number: node 1"),
        DIFFERENT(ON_FREE, WANT_THEIRS, WANT_THEIRS, "-C 4294967296", "cpus=0 ", "there is no CPU 4294967296",
                  "numactl drops the upper half of a number: CPU 0"),
        DIFFERENT(ON_ALL, WANT_THEIRS, WANT_THEIRS, "--length 4kilo --file @F -l @0", "file=local: x1", "not a number of bytes",
                  "numactl ignores what stands behind the unit"),
        DIFFERENT(ON_ALL, WANT_THEIRS, WANT_THEIRS, "--length '4k ' --shm @K -l @0", "shm=local: x1", "not a number of bytes",
                  "numactl ignores what stands behind the unit"),
        DIFFERENT(ON_ALL, WANT_THEIRS, WANT_THEIRS, "--length 4k --offset x --file @F -l @0", "file=local: x1", "not a number of bytes",
                  "numactl takes what is no number for 0"),
        DIFFERENT(ON_ALL, WANT_THEIRS, WANT_THEIRS, "--length 4k --offset '' --file @F -l @0", "file=local: x1", "not a number of bytes",
                  "numactl takes what is no number for 0"),
        DIFFERENT(ON_ALL, WANT_THEIRS, WANT_THEIRS, "--length 4k --shmmode 10600 --file @F -l @0", "file=local: x1", "not an octal number up to 7777",
                  "numactl takes modes that there are not"),
        DIFFERENT(ON_ALL, WANT_THEIRS, WANT_THEIRS, "--length 4k --shmmode -1 --file @F -l @0", "file=local: x1", "not an octal number up to 7777",
                  "numactl takes modes that there are not"),
        DIFFERENT(ON_ALL, WANT_THEIRS, WANT_THEIRS, "--length 4k --file @F --file @F -l @0", "file=local: x1", "one shared memory at a time",
                  "one shared memory at a time"),
        DIFFERENT(ON_ALL, WANT_THEIRS, WANT_THEIRS, "--length 4k --shm @K @0 ; --shm @K -C +0 @0", "shm=default: x1", "cannot be bound to CPUs",
                  "numactl binds itself and ends"),

        /* --show. */
        DIFFERENT(ON_ALL, WANT_OTHERWISE, WANT_OTHERWISE, "-l -s @0", "preferred node: physcpubind:", "preferred node: current\n",
                  "numactl says no preferred node for local, and no end of line"),
        DIFFERENT(ON_ALL, WANT_OTHERWISE, WANT_OTHERWISE, "-b -m +0 -s @0", "policy: [8194]\npreferred node: physcpubind:", "policy: bind balancing\n",
                  "numactl has no name for a policy with a flag"),
        DIFFERENT(ON_FOUR, WANT_OTHERWISE, WANT_OTHERWISE, "-P 1,2 -s @0", "preferred node: 0 (preferred-many)", "preferred node: 1 (preferred-many)",
                  "numactl's preferred node is 0 whatever is preferred"),

        /* In a cpuset without node 0. */
        DIFFERENT(ON_CPUSET, WANT_OURS, WANT_OURS, "-P 1", "without kernel support", "policy=preferred-many nodes=1 ", NO_NODE_0),
        DIFFERENT(ON_CPUSET | ON_ONLY, WANT_OURS, WANT_OURS, "--preferred-many all", "without kernel support", "policy=preferred-many nodes=1,3 ", NO_NODE_0),
        DIFFERENT(ON_CPUSET | ON_ONLY, WANT_OURS, WANT_OURS, "-P +0", "without kernel support", "policy=preferred-many nodes=1 ", NO_NODE_0),
        DIFFERENT(ON_CPUSET | ON_ONLY, WANT_OURS, WANT_OURS, "-a -P all", "without kernel support", "policy=preferred-many nodes=1,3 ", NO_NODE_0),
        DIFFERENT(ON_CPUSET | ON_ONLY, WANT_OURS, WANT_OURS, "-N +0 -P same", "without kernel support", "policy=preferred-many nodes=1 cpus=2-3 ", NO_NODE_0),
        DIFFERENT(ON_CPUSET | ON_ONLY, WANT_OTHERWISE, WANT_OTHERWISE, "--length 4k --file @F -p +0 @0", "file=local: x1", "file=preferred:1 x1", NO_NODE_0),
        DIFFERENT(ON_FREE | ON_ONLY, WANT_OURS, WANT_OTHERWISE, "--length 4k --file @F -p +0 @0", "setting preferred node: Invalid argument",
                  "file=preferred:0 x1", "numactl 2.0.16 forgets the node, later ones set preferred-many"),

        /* Mistakes of numactl's about shared memory, some of them mended later. */
        DIFFERENT(ON_FREE, WANT_OURS, WANT_OTHERWISE, "--length 4k --file @F -p 0 @0", "setting preferred node: Invalid argument", "file=preferred:0 x1",
                  "numactl 2.0.16 forgets the node, later ones set preferred-many"),
        DIFFERENT(ON_FREE, WANT_OURS, WANT_OTHERWISE, "--length 4k --shm @K -p 0 @0", "setting preferred node: Invalid argument", "shm=preferred:0 x1",
                  "numactl 2.0.16 forgets the node, later ones set preferred-many"),
        DIFFERENT(ON_FREE, WANT_OURS, WANT_ALIKE, "--length 4k --file @F -P 0 -d @0", "setting preferred node: Invalid argument", "file=preferred-many:0 x1",
                  "numactl 2.0.16 forgets the nodes"),
        DIFFERENT(ON_FOUR, WANT_OURS, WANT_OTHERWISE, "--length 4k --file @F -P 1,2 -T -V @0", "setting preferred node: Invalid argument",
                  "file=preferred-many:1-2 x1", "numactl 2.0.16 forgets the nodes, later ones all but the first"),
        DIFFERENT(ON_FREE, WANT_OURS, WANT_OURS, "--length 4k --offset 8k --file @F -m 0 --touch @0", "beyond its length", "file=default: x2, bind:0 x1",
                  "numactl takes the offset for one inside the length"),
        DIFFERENT(ON_FREE, WANT_OURS, WANT_OURS, "--length 4k --offset 4k --shm @K -m 0 --verify @0", "beyond its length", "shm=default: x1, bind:0 x1",
                  "numactl takes the offset for one inside the length"),
        DIFFERENT(ON_FREE, WANT_OURS, WANT_OURS, "--length 4k --shmid 200 --shm @K -m 0 @0", "cannot get key", "shm=bind:0 x1",
                  "numactl takes a key with the highest bit for none"),

        DIFFERENT(ON_ALL, WANT_OTHERWISE, WANT_OTHERWISE, "-L 16k -f @F -m +0 @0 ; -L 32k -f @F -d @0", "0000000000000000-0000000000004000: bind :\n",
                  "0000000000000000-0000000000004000: bind : ", "numactl dumps each policy with the nodes of the next one"),
        DIFFERENT(ON_FOUR, WANT_OTHERWISE, WANT_OTHERWISE, "-L 16k -S @K -i 1,3 @0 ; -o 12k -S @K -m 2 @0 ; -S @K -d @0",
                  "0000000000000000-0000000000003000: interleave : 2\n", "0000000000000000-0000000000003000: interleave : 1 3\n",
                  "numactl dumps each policy with the nodes of the next one"),
        DIFFERENT(ON_ALL, WANT_THEIRS, WANT_THEIRS, "-L 4k -S @K @0 ; -o 64k -S @K -l @0", "shm=default: x1", "before the --offset",
                  "numactl does nothing behind the end of a segment"),

        /* What is asked about the program itself. */
        DIFFERENT(ON_ALL, WANT_THEIRS, WANT_ALIKE, "-H --no-such-option @0", "available: ", "no-such-option", "numactl 2.0.16 ends at --hardware"),
        DIFFERENT(ON_ALL, WANT_THEIRS, WANT_ALIKE, "--hardware -m 99 @0", "available: ", "there is no node 99", "numactl 2.0.16 ends at --hardware"),
        DIFFERENT(ON_ALL, WANT_OTHERWISE, WANT_ALIKE, "-H -s @0", "available: ", "policy: default\n", "numactl 2.0.16 ends at --hardware"),
        DIFFERENT(ON_ALL, WANT_OTHERWISE, WANT_ALIKE, "-H --cpu-compress @0", "node 0 cpus: 0", "node 0 cpus: 0", "numactl 2.0.16 ends at --hardware"),
        DIFFERENT(ON_ALL, WANT_OURS, WANT_ALIKE, "--cpu-compress -H @0", "unrecognized option", "node 0 cpus: 0", "not in numactl 2.0.16"),
        DIFFERENT(ON_ALL, WANT_OURS, WANT_OTHERWISE, "--version @0", "unrecognized option", "homenode ", "each says its own"),
        DIFFERENT(ON_ALL, WANT_OURS, WANT_OURS, "--help @0", "unrecognized option", "Usage: homenode run", "asking for help is no mistake"),
        DIFFERENT(ON_ALL, WANT_OURS, WANT_OURS, "--he @0", "unrecognized option", "Usage: homenode run", "asking for help is no mistake"),
        DIFFERENT(ON_ALL, WANT_THEIRS, WANT_ALIKE, "--length 4k --file @F -m +0 --ver @0", "file=bind:", "ambiguous", "numactl 2.0.16 has no --version"),
        DIFFERENT(ON_ALL, WANT_OURS, WANT_OURS, "-h @0", "invalid option", "Usage: homenode run", "asking for help is no mistake"),

        /* Policies of later numactls and of ours. */
        DIFFERENT(ON_ANY | ON_FOUR | ON_WEIGHTED, WANT_OURS, WANT_ALIKE, "-w 0", "invalid option", "policy=weighted-interleave nodes=0 ",
                  "not in numactl 2.0.16"),
        DIFFERENT(ON_ANY | ON_FOUR | ON_WEIGHTED, WANT_OURS, WANT_ALIKE, "--weighted-interleave=all", "unrecognized option",
                  "policy=weighted-interleave nodes=0", "not in numactl 2.0.16"),
        DIFFERENT(ON_ALL, WANT_OURS, WANT_ALIKE, "-w ''", "invalid option", "policy=default ", "not in numactl 2.0.16"),
        DIFFERENT(ON_ANY | ON_FOUR | ON_WEIGHTED, WANT_OURS, WANT_OTHERWISE, "-w 0 -s @0", "invalid option", "policy: weighted-interleave\n",
                  "numactl has no name for it"),
        DIFFERENT(ON_ANY | ON_FOUR | ON_WEIGHTED, WANT_OURS, WANT_OTHERWISE, "--length 4k --file @F -w 0 @0", "invalid option",
                  "file=weighted-interleave:0 x1", "numactl 2.0.19 sets interleave"),
};

const size_t n_differences = sizeof(differences) / sizeof(differences[0]);
