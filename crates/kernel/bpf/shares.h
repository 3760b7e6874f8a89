/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the linked increases share. With x = w / rtt and s_r = x_r / SUM_k x_k the terms of their papers
 * are products of shares: (w_r / rtt_r^2) / (SUM_k x_k)^2 = s_r^2 / w_r, which needs 64 bits alone.
 */
#ifndef ANABRANCH_SHARES_H
#define ANABRANCH_SHARES_H

/* SUM_k x_k, this path's included. */
inline_always u64 all_rates(struct law *l, u64 own)
{
	u64 sum = own;
	for (u32 i = 0; i < OTHERS; i++)
		sum += rate(l->other[i].w, l->other[i].rtt_us);
	return max64(sum, 1);
}

/* max_k x_k, this path's included. */
inline_always u64 best_rate(struct law *l, u64 own)
{
	u64 best = own;
	for (u32 i = 0; i < OTHERS; i++)
		best = max64(best, rate(l->other[i].w, l->other[i].rtt_us));
	return best;
}

/* A part of the rates, Q24. */
inline_always u64 share(u64 x, u64 all) { return (x << 24) / all; }

#endif
