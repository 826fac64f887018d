/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "judge.h"

#include <string.h>
#include <sysexits.h>

#include "rows.h"

static bool is_difference(const struct row *row) {
        return row->why != NULL;
}

bool judge_runs(const struct machine *m, const struct row *row) {
        /* A machine that is not known is like one without limits, or it is not. */
        return !(row->on & ON_ONLY) || (row->on & (m->on ? m->on : ON_ANY));
}

bool judge_tells(const struct machine *m, const struct row *row) {
        return (row->on & m->on) && !(row->on & ON_ANY);
}

static bool alike(const struct outcome *numactl, const struct outcome *ours) {
        return numactl->good == ours->good && (!ours->good || strcmp(numactl->text, ours->text) == 0);
}

/* Of sysexits.h, or what env(1) has for a command that cannot be started. */
static bool is_own(int code) {
        return (code >= EX__BASE && code <= EX__MAX) || code == 126 || code == 127;
}

/* homenode tells kinds of failures apart, numactl does not: the one difference that is in every row. */
static const char *judge_codes(const struct outcome *numactl, const struct outcome *ours) {
        for (unsigned i = 0; i < ours->n_codes && i < numactl->n_codes; i++) {
                int theirs = numactl->code[i], own = ours->code[i];

                if (theirs == own || theirs == 0 || own == 0)
                        continue;
                if (theirs != 1)
                        return "numactl fails with an exit status other than 1";
                if (!is_own(own))
                        return "homenode fails with an exit status that is not of sysexits.h, 126 or 127";
        }
        return NULL;
}

/* A refusal says why, and a wrong argument is found before anything is done, but for what only the kernel can
 * say. */
static const char *judge_refusal(const struct outcome *ours) {
        if (ours->good)
                return NULL;
        if (ours->n_codes == 1 && is_own(ours->code[0]) && ours->errors[0] == '\0')
                return "homenode fails without a word";
        if (ours->n_codes == 1 && ours->code[0] == EX_USAGE && ours->text[0] != '\0' &&
            !strstr(ours->errors, "the kernel takes none"))
                return "homenode refuses the arguments and yet prints or leaves something";
        return NULL;
}

static bool says(const struct outcome *o, const char *part) {
        return strstr(o->good ? o->text : o->errors, part) != NULL;
}

static const char *judge_want(enum want want, const struct outcome *numactl, const struct outcome *ours) {
        switch (want) {
        case WANT_ALIKE: return alike(numactl, ours) ? NULL : "they should do the same";
        case WANT_GOOD:
                if (!numactl->good || !ours->good)
                        return "both should succeed";
                return alike(numactl, ours) ? NULL : "both succeed, with another effect or output";
        case WANT_BAD: return numactl->good || ours->good ? "both should fail" : NULL;
        case WANT_ENDS:
                return numactl->good || ours->good || numactl->code[0] != ours->code[0]
                               ? "the command's exit status should be that of both"
                               : NULL;
        case WANT_OURS: return ours->good && !numactl->good ? NULL : "homenode alone should succeed";
        case WANT_THEIRS: return numactl->good && !ours->good ? NULL : "numactl alone should succeed";
        case WANT_OTHERWISE:
                return numactl->good && ours->good && !alike(numactl, ours)
                               ? NULL
                               : "both should succeed, each in its way";
        }
        return "the row wants what there is not";
}

/* A known difference, where and with which numactl it is known: exactly as it is told. */
static const char *judge_difference(const struct machine *m, const struct row *row,
                                    const struct outcome *numactl, const struct outcome *ours) {
        const char *wrong;

        if ((row->on & ON_WEIGHTED) && !m->weighted)
                return judge_want(WANT_BAD, numactl, ours);
        if (!(row->on & m->on)) {
                /* Machines of one's own are only told apart roughly. */
                wrong = judge_want(WANT_ALIKE, numactl, ours);
                return wrong && !(m->on & (ON_FOUR | ON_CPUSET)) ? judge_want(row->want, numactl, ours)
                                                                 : wrong;
        }
        wrong = judge_want(m->later ? row->later : row->want, numactl, ours);
        if (wrong || m->later)
                return wrong;
        if (!says(numactl, row->numactl))
                return "numactl does not what the table says of it";
        return says(ours, row->ours) ? NULL : "homenode does not what the table says of it";
}

const char *judge(const struct machine *m, const struct row *row, const struct outcome *numactl,
                  const struct outcome *ours) {
        const char *wrong;

        if (is_difference(row))
                wrong = judge_difference(m, row, numactl, ours);
        else
                wrong = judge_want(row->on & m->on ? row->want : WANT_ALIKE, numactl, ours);
        if (!wrong && !is_difference(row) && row->ours && (row->on & m->on & (ON_FOUR | ON_CPUSET)) &&
            !says(ours, row->ours))
                wrong = "not the effect that the row asks for";
        if (!wrong)
                wrong = judge_codes(numactl, ours);
        return wrong ? wrong : judge_refusal(ours);
}

static unsigned covered(const char *args) {
        unsigned on = 0;

        for (size_t i = 0; i < rows_count(); i++)
                if (strcmp(rows_at(i)->args, args) == 0)
                        on |= rows_at(i)->on & ON_ALL;
        return on;
}

const char *judge_tables(void) {
        for (size_t i = 0; i < rows_count(); i++) {
                const struct row *row = rows_at(i);
                bool different = row->want >= WANT_OURS;

                if (different != is_difference(row) || (different && (!row->numactl || !row->ours)) ||
                    ((row->on & ON_ONLY) && covered(row->args) != ON_ALL))
                        return row->args;
        }
        return NULL;
}
