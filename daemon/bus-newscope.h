/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

struct hn_bus;
struct hn_news;

/* The scopes' part of bus-news.h: ScopeAdded, ScopeRemoved, and what changed of those that stay. At most
 * HN_NEWS_SCOPES signals; the rest is seen again the next time. */
void hn_news_scopes(struct hn_bus *b);
void hn_news_scopes_deinit(struct hn_news *n);
