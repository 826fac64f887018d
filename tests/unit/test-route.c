/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "base/macro.h"
#include "route.h"
#include "rows.h"

/* An answer with up to two attributes. */
struct answer {
        struct nlmsghdr head;
        struct rtmsg route;
        struct {
                struct rtattr attr;
                unsigned value;
        } a[2];
};

static const struct {
        unsigned short type, length[2], kind[2];
        unsigned total; /* nlmsg_len */
        size_t n;
        int r;
} rows[] = {
        { RTM_NEWROUTE, { 8, 8 }, { RTA_OIF, RTA_TABLE }, sizeof(struct answer), 0, -EBADMSG },
        { RTM_NEWROUTE, { 8, 8 }, { RTA_OIF, RTA_TABLE }, sizeof(struct answer), 15, -EBADMSG },
        { RTM_NEWROUTE, { 8, 8 }, { RTA_OIF, RTA_TABLE }, sizeof(struct answer), 16, -EBADMSG },
        { RTM_NEWROUTE, { 8, 8 }, { RTA_OIF, RTA_TABLE }, UINT32_MAX, sizeof(struct answer), -EBADMSG },
        { RTM_NEWROUTE, { 8, 8 }, { RTA_OIF, RTA_TABLE }, 0, sizeof(struct answer), -EBADMSG },
        { RTM_NEWROUTE, { 8, 8 }, { RTA_OIF, RTA_TABLE }, 29, sizeof(struct answer), -EBADMSG },
        { RTM_NEWROUTE,
          { 0, 8 },
          { RTA_TABLE, RTA_OIF },
          sizeof(struct answer),
          sizeof(struct answer),
          -EBADMSG },
        { RTM_NEWROUTE,
          { 3, 8 },
          { RTA_TABLE, RTA_OIF },
          sizeof(struct answer),
          sizeof(struct answer),
          -EBADMSG },
        { RTM_NEWROUTE,
          { 17, 8 },
          { RTA_TABLE, RTA_OIF },
          sizeof(struct answer),
          sizeof(struct answer),
          -EBADMSG },
        { RTM_NEWROUTE,
          { 65535, 8 },
          { RTA_TABLE, RTA_OIF },
          sizeof(struct answer),
          sizeof(struct answer),
          -EBADMSG },
        { RTM_NEWROUTE,
          { 8, 8 },
          { RTA_TABLE, RTA_DST },
          sizeof(struct answer),
          sizeof(struct answer),
          -EBADMSG },
        { RTM_NEWROUTE,
          { 5, 8 },
          { RTA_OIF, RTA_DST },
          sizeof(struct answer),
          sizeof(struct answer),
          -EBADMSG },
        { RTM_NEWLINK,
          { 8, 8 },
          { RTA_OIF, RTA_TABLE },
          sizeof(struct answer),
          sizeof(struct answer),
          -EBADMSG },
        { RTM_NEWROUTE, { 8, 8 }, { RTA_OIF, RTA_TABLE }, sizeof(struct answer), sizeof(struct answer), 0 },
        { RTM_NEWROUTE, { 8, 8 }, { RTA_TABLE, RTA_OIF }, sizeof(struct answer), sizeof(struct answer), 0 },
        { RTM_NEWROUTE, { 5, 8 }, { RTA_TABLE, RTA_OIF }, sizeof(struct answer), sizeof(struct answer), 0 },
};

static void answers_are_read(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct answer a = { .head = { .nlmsg_type = rows[i].type, .nlmsg_len = rows[i].total } };
                unsigned index = 0;

                for (size_t k = 0; k < 2; k++) {
                        a.a[k].attr = (struct rtattr){ .rta_len = rows[i].length[k],
                                                       .rta_type = rows[i].kind[k] };
                        a.a[k].value = 77;
                }
                ROW_EQUAL(i, hn_route_parse(&a, rows[i].n, &index), rows[i].r);
                ROW_EQUAL(i, index, rows[i].r == 0 ? 77 : 0);
        }
}

static void a_refusal_is_handed_on(void **state) {
        struct {
                struct nlmsghdr head;
                struct nlmsgerr error;
        } a = { .head = { .nlmsg_type = NLMSG_ERROR, .nlmsg_len = sizeof(a) },
                .error = { .error = -ENETUNREACH } };
        unsigned index = 0;

        (void) state;
        assert_int_equal(hn_route_parse(&a, sizeof(a), &index), -ENETUNREACH);
        a.error.error = 5;
        assert_int_equal(hn_route_parse(&a, sizeof(a), &index), -EBADMSG);
        assert_int_equal(hn_route_parse(&a, sizeof(a) - 1, &index), -EBADMSG);
        a.head.nlmsg_len = sizeof(a.head);
        assert_int_equal(hn_route_parse(&a, sizeof(a), &index), -EBADMSG);
}

static void this_host_is_reached_over_itself(void **state) {
        char name[IF_NAMESIZE] = "";
        struct hn_why why = HN_WHY_NULL;

        (void) state;
        assert_int_equal(hn_route_interface("127.0.0.1", name, &why), 0);
        assert_string_equal(name, "lo");
        assert_int_equal(hn_route_interface("127.0.0.1.1.1.", name, &why), -ENOENT);
        assert_non_null(strstr(why.text, "no such host"));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(answers_are_read),
                cmocka_unit_test(a_refusal_is_handed_on),
                cmocka_unit_test(this_host_is_reached_over_itself),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
