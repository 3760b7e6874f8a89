/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* LIA (RFC 6356), by the law of crates/congestion/src/coupled/lia.rs. */
#include "law.h"
#include "shares.h"
#include "reno_like.h"

/* Section 3 (1) and (2): alpha / cwnd_total = MAX(w / rtt^2) / (SUM x)^2 = MAX(s_k^2 / w_k). */
inline_always void law_ack(struct law *l)
{
	u64 w = q16(l->now.w), own = rate(w, l->srtt_us);
	u64 alone = one_segment_per_round(w, l->acked);
	if (!own) {
		l->now.w += alone;
		return;
	}
	u64 all = all_rates(l, own), s = share(own, all);
	u64 linked = s * s / w;
	for (u32 i = 0; i < OTHERS; i++) {
		s = share(rate(l->other[i].w, l->other[i].rtt_us), all);
		linked = max64(linked, s * s / max64(l->other[i].w, 64));
	}
	l->term = linked;
	l->now.w += min64(linked * l->acked, alone);
}

inline_always u64 law_reduce(struct law *l, int timeout)
{
	(void)timeout;
	return l->base / 2;
}

#include "machine.h"
#define COUPLED 1
#define NAME "ab_lia"
#include "kernel.h"
