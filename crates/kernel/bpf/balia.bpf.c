/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* BALIA (Peng, Walid, Hwang and Low 2016), by the law of crates/congestion/src/coupled/balia.rs. */
#include "law.h"
#include "shares.h"
#include "reno_like.h"

/*
 * With alpha = s_max / s_r:
 * s_r^2 / w_r (1 + alpha) / 2 (4 + alpha) / 5 = (s_r + s_max) (4 s_r + s_max) / (10 w_r).
 */
inline_always void law_ack(struct law *l)
{
	u64 w = q16(l->now.w), own = rate(w, l->srtt_us);
	if (!own) {
		l->now.w += one_segment_per_round(w, l->acked);
		return;
	}
	u64 all = all_rates(l, own), s = share(own, all), most = share(best_rate(l, own), all);
	l->term = (s + most) * (4 * s + most) / 10 / w;
	l->now.w += l->term * l->acked;
}

/* w / 2 min(alpha, 1.5) less; a timeout halves. */
inline_always u64 law_reduce(struct law *l, int timeout)
{
	u64 own = rate(q16(l->now.w), l->srtt_us);
	u64 alpha = 1 << 16;
	if (own && !timeout)
		alpha = min64((best_rate(l, own) << 16) / own, 3 << 15);
	return l->base - ((l->base >> 16) * alpha >> 1);
}

#include "machine.h"
#define COUPLED 1
#define NAME "ab_balia"
#include "kernel.h"
