/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/macro.h"
#include "busclient.h"
#include "sample/clock.h"
#include "verb.h"

#define ERROR "org.homenode1.Error."

/* sd-bus answers before it is connected; a bus that takes the connection and then says nothing is bounded
 * here. */
static int wait_ready(sd_bus *bus, hn_usec_t bound) {
        hn_usec_t end = hn_usec_add(hn_clock(CLOCK_MONOTONIC), bound);
        int r;

        for (;;) {
                hn_usec_t now = hn_clock(CLOCK_MONOTONIC);

                r = sd_bus_is_ready(bus);
                if (r != 0)
                        return HN_MIN(r, 0);
                if (sd_bus_is_open(bus) <= 0)
                        return -ECONNRESET;
                r = sd_bus_process(bus, NULL);
                if (r < 0)
                        return r;
                if (r > 0)
                        continue;
                if (now >= end)
                        return -ETIMEDOUT;
                r = sd_bus_wait(bus, end - now);
                if (r < 0 && r != -EINTR)
                        return r;
        }
}

int hn_busclient_open(const char *address, sd_bus **ret) {
        return hn_busclient_open_within(address, HN_BUSCLIENT_CONNECT, ret);
}

int hn_busclient_open_within(const char *address, hn_usec_t bound, sd_bus **ret) {
        _hn_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        int r;

        if (!address)
                r = sd_bus_open_system(&bus);
        else {
                r = sd_bus_new(&bus);
                if (r >= 0)
                        r = sd_bus_set_address(bus, address);
                if (r >= 0)
                        r = sd_bus_set_bus_client(bus, true);
                if (r >= 0)
                        r = sd_bus_start(bus);
        }
        if (r >= 0)
                r = wait_ready(bus, bound);
        if (r < 0)
                return r;
        *ret = HN_TAKE_PTR(bus);
        return 0;
}

int hn_busclient_complain_open(int r, const char *address) {
        if (address)
                hn_complain("cannot reach the bus at %s (%s): is it the address that homenoded was given by "
                            "--bus-address?",
                            address, strerror(-r));
        else
                hn_complain(
                        "cannot reach the system bus (%s), by which homenoded is asked: on a machine without "
                        "one, give homenoded and homenode the same --bus-address",
                        strerror(-r));
        return EX_UNAVAILABLE;
}

int hn_busclient_call(sd_bus *bus, hn_usec_t bound, sd_bus_error *error, sd_bus_message **ret,
                      const char *member, const char *types, ...) {
        _hn_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        va_list ap;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, HN_BUS_NAME, HN_BUS_PATH, HN_BUS_INTERFACE, member);
        if (r >= 0)
                r = sd_bus_message_set_auto_start(m, false);
        if (r >= 0 && isatty(STDIN_FILENO))
                r = sd_bus_message_set_allow_interactive_authorization(m, true);
        if (r >= 0 && types && *types) {
                va_start(ap, types);
                r = sd_bus_message_appendv(m, types, ap);
                va_end(ap);
        }
        if (r >= 0)
                r = sd_bus_call(bus, m, bound, error, ret);
        return HN_MIN(r, 0);
}

bool hn_busclient_is_absent(int r, const sd_bus_error *e) {
        if (e && e->name)
                return sd_bus_error_has_name(e, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
                       sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER) ||
                       sd_bus_error_has_name(e, "org.freedesktop.systemd1.NoSuchUnit");
        return r == -ENOENT || r == -ECONNREFUSED || r == -ENOTDIR || r == -EHOSTDOWN;
}

static int exit_code(const sd_bus_error *e) {
        static const struct {
                const char *name;
                int status;
        } codes[] = {
                { SD_BUS_ERROR_ACCESS_DENIED, EX_NOPERM },
                { SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED, EX_NOPERM },
                { SD_BUS_ERROR_LIMITS_EXCEEDED, EX_TEMPFAIL },
                { SD_BUS_ERROR_INVALID_ARGS, EX_DATAERR },
                { ERROR "Conflict", EX_NOPERM },
                { ERROR "Full", EX_TEMPFAIL },
        };

        for (size_t i = 0; i < HN_ELEMENTS(codes); i++)
                if (sd_bus_error_has_name(e, codes[i].name))
                        return codes[i].status;
        if (strncmp(e->name, ERROR "NoSuch", strlen(ERROR "NoSuch")) == 0)
                return EX_NOINPUT;
        return strncmp(e->name, ERROR, strlen(ERROR)) == 0 ? EX_DATAERR : EX_SOFTWARE;
}

int hn_busclient_complain(int r, const sd_bus_error *error, const char *what) {
        const char *before = what ? what : "", *colon = what ? ": " : "";
        char text[HN_ESCAPE_SIZE(1024)];

        if (hn_busclient_is_absent(r, error)) {
                hn_complain("%s%shomenoded is not on the bus: start it with \"systemctl start homenoded\"",
                            before, colon);
                return EX_UNAVAILABLE;
        }
        if (r == -ETIMEDOUT || r == -ECONNRESET || r == -ENOTCONN) {
                hn_complain("%s%shomenoded does not answer (%s): see \"homenode status\" and \"journalctl -u "
                            "homenoded\"",
                            before, colon, strerror(-r));
                return EX_TEMPFAIL;
        }
        if (!error || !error->name)
                return hn_complain_errno(r, "%s", what ? what : "cannot ask homenoded");
        (void) hn_escape_text(error->message ? error->message : error->name, 1024, text, sizeof(text));
        hn_complain("%s%s%s", before, colon, text);
        return exit_code(error);
}
