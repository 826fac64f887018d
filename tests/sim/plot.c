/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/macro.h"
#include "plot.h"
#include "runs.h"

/* The picture, and in it the field of the curves; what is right of that is the legend. */
#define WIDTH      760
#define HEIGHT     400
#define LEFT       64.0
#define RIGHT      566.0
#define TOP        52.0
#define BOTTOM     342.0
#define LINE       24.0 /* from one name in the legend to the next */
#define POINTS_MAX 24u

struct plot {
        const char *name, *title, *along;
        const char *prefix; /* of the scenarios */
        unsigned points[POINTS_MAX];
        size_t n_points;
};

static const struct plot plots[] = {
        {
                .name = "jbb",
                .title = "Two JVMs on two nodes of 12 cores and 24 CPUs",
                .along = "warehouses (threads) of each JVM",
                .prefix = "jbb2x24-",
                .points = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                            13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24 },
                .n_points = 24,
        },
        {
                .name = "schedbench",
                .title = "Processes with an array each, on four nodes of four CPUs",
                .along = "processes",
                .prefix = "schedbench-",
                .points = { 4, 8, 16, 32, 64 },
                .n_points = 5,
        },
};

/* Colours that those who see fewer of them can tell apart (Okabe and Ito), and dashes for curves that lie on
 * top of each other. Later ones are drawn over earlier ones. */
static const struct style {
        const struct hn_sim_policy *policy;
        const char *colour, *dashes;
        double width;
} styles[] = {
        { &hn_sim_policy_none, "#aaaaaa", NULL, 4 },
        { &hn_sim_policy_numad, "#cc79a7", "7 4", 2 },
        { &hn_sim_policy_kernel, "#0072b2", NULL, 2 },
        { &hn_sim_policy_shortcut, "#d55e00", "7 4", 2 },
        { &hn_sim_policy_homenode_kernel, "#009e73", NULL, 4 },
        { &hn_sim_policy_homenode, "#000000", "2 4", 2 },
};

struct values {
        double percent[HN_ELEMENTS(styles)][POINTS_MAX];
        double floor; /* of the vertical axis: the ten below the least */
};

static int measure(const struct plot *p, unsigned n_seeds, unsigned seconds, struct values *ret) {
        struct values v = { .floor = 90 };
        struct hn_sim_runs runs;
        int r;

        r = hn_sim_runs_init(&runs, n_seeds, seconds);
        if (r < 0)
                return r;
        for (size_t k = 0; k < p->n_points; k++) {
                const struct hn_sim_scenario *s;
                char name[24];
                double bound;

                (void) snprintf(name, sizeof(name), "%s%u", p->prefix, p->points[k]);
                s = hn_sim_scenario_find(name);
                bound = hn_sim_runs_rate(&runs, s, &hn_sim_policy_oracle);
                for (size_t i = 0; i < HN_ELEMENTS(styles); i++) {
                        v.percent[i][k] = 100 * hn_sim_runs_rate(&runs, s, styles[i].policy) / bound;
                        v.floor = fmin(v.floor, 10 * floor(v.percent[i][k] / 10));
                }
        }
        r = runs.error;
        hn_sim_runs_deinit(&runs);
        if (r < 0)
                return r;
        *ret = v;
        return 0;
}

static double x_of(const struct plot *p, size_t point) {
        double step = (RIGHT - LEFT) / (double) (unsigned) p->n_points;

        return LEFT + step * ((double) (unsigned) point + 0.5);
}

/* A little room above the oracle, as chance may take a run beyond it. */
static double y_of(const struct values *v, double percent) {
        return BOTTOM - (percent - v->floor) / (102 - v->floor) * (BOTTOM - TOP);
}

static void draw_axes(const struct plot *p, const struct values *v, FILE *f) {
        for (double percent = v->floor; percent <= 100; percent += 10) {
                double y = y_of(v, percent);

                fprintf(f, "<line x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\" stroke=\"%s\"/>\n", LEFT, y,
                        RIGHT, y, percent > v->floor ? "#dddddd" : "#333333");
                fprintf(f, "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%.0f</text>\n", LEFT - 8, y + 4,
                        percent);
        }
        for (size_t k = 0; k < p->n_points; k++)
                fprintf(f, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%u</text>\n", x_of(p, k),
                        BOTTOM + 18, p->points[k]);
        fprintf(f, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n", (LEFT + RIGHT) / 2,
                BOTTOM + 42, p->along);
        fprintf(f,
                "<text transform=\"translate(20 %.0f) rotate(-90)\" text-anchor=\"middle\">work done, %% of the "
                "oracle</text>\n",
                (TOP + BOTTOM) / 2);
}

static void draw_stroke(const struct style *s, FILE *f) {
        fprintf(f, "fill=\"none\" stroke=\"%s\" stroke-width=\"%.0f\" stroke-linejoin=\"round\"", s->colour,
                s->width);
        if (s->dashes)
                fprintf(f, " stroke-dasharray=\"%s\"", s->dashes);
        fprintf(f, "/>\n");
}

static void draw_curve(const struct plot *p, const struct values *v, size_t i, FILE *f) {
        double y = TOP + LINE * (double) (unsigned) i + 10;

        fprintf(f, "<polyline points=\"");
        for (size_t k = 0; k < p->n_points; k++)
                fprintf(f, "%s%.1f,%.1f", k > 0 ? " " : "", x_of(p, k), y_of(v, v->percent[i][k]));
        fprintf(f, "\" ");
        draw_stroke(&styles[i], f);
        for (size_t k = 0; k < p->n_points; k++)
                fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x_of(p, k),
                        y_of(v, v->percent[i][k]), styles[i].width / 2 + 1.5, styles[i].colour);

        fprintf(f, "<path d=\"M%.0f %.1fh34\" ", RIGHT + 16, y);
        draw_stroke(&styles[i], f);
        fprintf(f, "<text x=\"%.0f\" y=\"%.1f\">%s</text>\n", RIGHT + 58, y + 4, styles[i].policy->name);
}

static void draw(const struct plot *p, const struct values *v, unsigned n_seeds, FILE *f) {
        fprintf(f,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222222\">\n"
                "<title>%s</title>\n"
                "<desc>homenode-sim --plot %s --seeds %u</desc>\n"
                "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n"
                "<text x=\"%.0f\" y=\"30\" font-size=\"16\">%s</text>\n",
                WIDTH, HEIGHT, WIDTH, HEIGHT, p->title, p->name, n_seeds, WIDTH, HEIGHT, LEFT, p->title);
        draw_axes(p, v, f);
        for (size_t i = 0; i < HN_ELEMENTS(styles); i++)
                draw_curve(p, v, i, f);
        fprintf(f, "</svg>\n");
}

int hn_sim_plot(const char *name, unsigned n_seeds, unsigned seconds, FILE *file) {
        for (size_t i = 0; i < HN_ELEMENTS(plots); i++) {
                struct values v;
                int r;

                if (strcmp(plots[i].name, name) != 0)
                        continue;
                r = measure(&plots[i], n_seeds, seconds, &v);
                if (r < 0)
                        return r;
                draw(&plots[i], &v, n_seeds, file);
                return fflush(file) == EOF || ferror(file) ? -EIO : 0;
        }
        fprintf(stderr, "No such plot: \"%s\"\n", name);
        return -EINVAL;
}
