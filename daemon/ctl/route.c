/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/macro.h"
#include "route.h"

static void closep(int *fd) {
        if (*fd >= 0)
                (void) close(*fd);
}

static struct addrinfo *info_free(struct addrinfo *ai) {
        freeaddrinfo(ai);
        return NULL;
}

HN_DEFINE_CLEANUP(struct addrinfo *, info_free);

int hn_route_parse(const void *answer, size_t n, unsigned *ret_index) {
        const char *p = answer;
        struct nlmsghdr head;
        struct nlmsgerr error;
        struct rtattr attr;
        size_t at = NLMSG_LENGTH(sizeof(struct rtmsg));

        if (n < sizeof(head))
                return -EBADMSG;
        memcpy(&head, p, sizeof(head));
        if (head.nlmsg_len > n)
                return -EBADMSG;
        n = head.nlmsg_len;
        if (head.nlmsg_type == NLMSG_ERROR && n >= NLMSG_LENGTH(sizeof(error))) {
                memcpy(&error, p + NLMSG_HDRLEN, sizeof(error));
                return error.error < 0 ? error.error : -EBADMSG;
        }
        if (head.nlmsg_type != RTM_NEWROUTE)
                return -EBADMSG;
        while (at + sizeof(attr) <= n) {
                memcpy(&attr, p + at, sizeof(attr));
                if (attr.rta_len < sizeof(attr) || attr.rta_len > n - at)
                        return -EBADMSG;
                if (attr.rta_type == RTA_OIF && attr.rta_len == RTA_LENGTH(sizeof(unsigned))) {
                        memcpy(ret_index, p + at + RTA_LENGTH(0), sizeof(unsigned));
                        return 0;
                }
                at += RTA_ALIGN(attr.rta_len);
        }
        return -EBADMSG;
}

/* The kernel is asked as ip-route(8) asks it for "get". */
static int ask(const struct sockaddr *to, unsigned *ret_index) {
        struct {
                struct nlmsghdr head;
                struct rtmsg route;
                struct rtattr attr;
                unsigned char address[16];
        } question = {
                .head = { .nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST },
                .route = { .rtm_family = (unsigned char) to->sa_family },
                .attr = { .rta_type = RTA_DST },
        };
        const struct timeval patience = { .tv_sec = 5 };
        _hn_cleanup_(closep) int fd = -1;
        char answer[8192];
        size_t length;
        ssize_t n;

        if (to->sa_family == AF_INET) {
                length = 4;
                memcpy(question.address, &((const struct sockaddr_in *) (const void *) to)->sin_addr, length);
        } else if (to->sa_family == AF_INET6) {
                length = 16;
                memcpy(question.address, &((const struct sockaddr_in6 *) (const void *) to)->sin6_addr,
                       length);
        } else
                return -EAFNOSUPPORT;
        question.route.rtm_dst_len = (unsigned char) (8 * length);
        question.attr.rta_len = (unsigned short) RTA_LENGTH(length);
        question.head.nlmsg_len = (unsigned) (NLMSG_LENGTH(sizeof(question.route)) + RTA_LENGTH(length));
        fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
            send(fd, &question, question.head.nlmsg_len, 0) < 0)
                return -errno;
        n = recv(fd, answer, sizeof(answer), 0);
        return n < 0 ? -errno : hn_route_parse(answer, (size_t) n, ret_index);
}

int hn_route_interface(const char *host, char ret_name[IF_NAMESIZE], struct hn_why *why) {
        _hn_cleanup_(info_freep) struct addrinfo *ai = NULL;
        unsigned index = 0;
        int r;

        r = getaddrinfo(host, NULL, NULL, &ai);
        if (r != 0)
                return hn_why(why, -ENOENT, "ip:%s: no such host: %s", host, gai_strerror(r));
        r = ask(ai->ai_addr, &index);
        if (r < 0)
                return hn_why_errno(why, r, "ip:%s: the kernel tells no way to it", host);
        if (!if_indextoname(index, ret_name))
                return hn_why_errno(why, -errno, "ip:%s: interface %u has no name", host, index);
        return 0;
}
