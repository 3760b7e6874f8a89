/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* OLIA (Khalili et al. 2012), by the law of crates/congestion/src/coupled/olia.rs. */
#include "law.h"
#include "shares.h"

#define BETWEEN l->now.v[0] /* octets between the last two losses */
#define SINCE l->now.v[1]   /* and since the last */

#define MOST_OCTETS (1ULL << 44)

inline_always u64 law_told(struct law *l) { return max64(BETWEEN, SINCE); }

/* An order of paths by l / rtt^2: whether the first is worse. */
inline_always u64 is_worse(u64 octets, u32 rtt_us, u64 than_octets, u32 than_rtt_us)
{
	u64 rtt = rtt_of(rtt_us), than = rtt_of(than_rtt_us);
	return product_is_less(octets, than * than, than_octets, rtt * rtt);
}

inline_always void law_ack(struct law *l)
{
	u64 w = q16(l->now.w), own = rate(w, l->srtt_us);
	if (!own) {
		l->now.w += one_segment_per_round(w, l->acked);
		return;
	}
	u64 s = share(own, all_rates(l, own));
	/* The best path, and the largest window in whole segments. */
	u64 mine = law_told(l), best = mine, best_rtt = l->srtt_us, largest = w >> 16;
	for (u32 i = 0; i < OTHERS; i++) {
		u64 known = less(0, l->other[i].rtt_us);
		u64 better = known & is_worse(best, best_rtt, l->other[i].told, l->other[i].rtt_us);
		best = either(better, l->other[i].told, best);
		best_rtt = either(better, l->other[i].rtt_us, best_rtt);
		largest = max64(largest, either(known, l->other[i].w >> 16, 0));
	}
	u64 in_m = 1 - less(w >> 16, largest), in_b = 1 - is_worse(mine, l->srtt_us, best, best_rtt);
	u64 paths = 1, large = in_m, best_but_small = in_b & (1 - in_m);
	for (u32 i = 0; i < OTHERS; i++) {
		u64 known = less(0, l->other[i].rtt_us);
		u64 is_large = known & (1 - less(l->other[i].w >> 16, largest));
		u64 is_best = known & (1 - is_worse(l->other[i].told, l->other[i].rtt_us, best, best_rtt));
		paths += known;
		large += is_large;
		best_but_small += is_best & (1 - is_large);
	}
	/* (5) and (6). */
	u64 step = s * s / w, alpha = 0;
	if (best_but_small && in_m)
		alpha = (1ULL << 48) / (paths * large) / w * l->acked;
	else if (best_but_small && in_b)
		step += (1ULL << 48) / (paths * best_but_small) / w;
	l->term = step;
	l->now.w = l->now.w + step * l->acked;
	l->now.w = l->now.w > ONE + alpha ? l->now.w - alpha : ONE;
}

inline_always int law_steer(struct law *l)
{
	SINCE = min64(SINCE + (u64)l->acked * l->mss, MOST_OCTETS);
	return 0;
}

inline_always u64 law_reduce(struct law *l, int timeout)
{
	(void)timeout;
	BETWEEN = SINCE;
	SINCE = 0;
	return l->base / 2;
}

inline_always void law_undo(struct law *l)
{
	BETWEEN = l->before.v[0];
	SINCE = min64(l->before.v[1] + SINCE, MOST_OCTETS);
}

inline_always void law_other(struct law *l) { (void)l; }

#include "machine.h"
#define COUPLED 1
#define NAME "ab_olia"
#include "kernel.h"
