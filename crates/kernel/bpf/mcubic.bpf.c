/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* MCubic, by the law of crates/congestion/src/coupled/mcubic.rs with its default options. */
#include "law.h"
#include "cube.h"

#define W_MAX v[0]   /* Q16; 0 when unknown */
#define K v[1]       /* microseconds; 0 when there is no plateau above */
#define EPOCH v[2]   /* start of the stage, microseconds; 0 before its first ACK */
#define LAST v[3]    /* the last ACK, or data sent after idleness */

inline_always u64 law_told(struct law *l) { return l->now.K; }

/* A K counts as a round-trip time of its path at least. */
inline_always u64 floored(u64 k_us, u32 rtt_us) { return max64(max64(k_us, rtt_us), 1); }

/* (7) and (8): K'_i = K_i^2 SUM_j 1 / K_j, microseconds. */
inline_always u64 k_prime(struct law *l)
{
	if (!l->now.K)
		return 0;
	u64 k = min64(floored(l->now.K, l->srtt_us), 1ULL << 31), sum = k;
	for (u32 i = 0; i < OTHERS; i++)
		sum += k * k / floored(l->other[i].told, l->other[i].rtt_us)
			& opaque(0 - less(0, l->other[i].rtt_us));
	return sum;
}

inline_always void skip(struct law *l)
{
	if (l->now.EPOCH && l->now_us > l->now.LAST)
		l->now.EPOCH += l->now_us - l->now.LAST;
}

inline_always int law_steer(struct law *l)
{
	l->now.LAST = l->now_us;
	return 0;
}

inline_always void law_ack(struct law *l)
{
	u64 w = q16(l->now.w);
	if (!l->now.EPOCH) {
		l->now.EPOCH = l->now_us;
		l->now.W_MAX = max64(l->now.W_MAX, w);
		l->now.K = plateau_us(l->now.W_MAX - w);
	}
	u64 since = l->now_us > l->now.EPOCH ? l->now_us - l->now.EPOCH : 0;
	l->term = k_prime(l);
	follow(l, l->now.W_MAX, since + (l->srtt_us ? l->srtt_us : l->rtt_us), l->term);
}

inline_always u64 law_reduce(struct law *l, int timeout)
{
	l->now.W_MAX = timeout ? 0 : plateau_after(q16(l->now.w), l->now.W_MAX);
	l->now.EPOCH = 0;
	return seven_tenths(l->base);
}

inline_always void law_undo(struct law *l)
{
	l->now.W_MAX = l->before.W_MAX;
	l->now.K = l->before.K;
	l->now.EPOCH = l->before.EPOCH;
}

inline_always void law_other(struct law *l)
{
	if (l->event == EVENT_IDLE)
		l->now.EPOCH = 0;
	if (l->event == EVENT_SENT || l->event == EVENT_LIMITED) {
		skip(l);
		l->now.LAST = l->now_us;
	}
}

#include "machine.h"
#define COUPLED 1
#define NAME "ab_mcubic"
#include "kernel.h"
