/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* MCubic by shares, by the law of crates/congestion/src/coupled/mcubic_share.rs with its default options. */
#include "law.h"
#include "cube.h"
#include "shares.h"

#define W_MAX v[0]   /* Q16; 0 when unknown */
#define K v[1]       /* microseconds of the path's clock */
#define TAU v[2]     /* the path's clock, microseconds, Q20 */
#define RUNS v[3]    /* 1 once a stage has begun */
#define LAST v[4]    /* until when the clock has run */

#define LEAST_SHARE ((1ULL << 24) / 10)

/* s^(4/3), Q20. */
inline_always u64 speed(struct law *l)
{
	u64 own = rate(q16(l->now.w), l->srtt_us);
	u64 s = own ? max64(share(own, all_rates(l, own)), LEAST_SHARE) : 1ULL << 24;
	l->term = s;
	return (s * cube_root(s << 36)) >> 24;
}

inline_always void law_ack(struct law *l)
{
	u64 w = q16(l->now.w);
	if (!l->now.RUNS) {
		l->now.RUNS = 1;
		l->now.TAU = 0;
		l->now.W_MAX = max64(l->now.W_MAX, w);
		l->now.K = plateau_us(l->now.W_MAX - w);
		l->now.LAST = l->now_us;
	}
	u64 fast = speed(l), since = l->now_us > l->now.LAST ? l->now_us - l->now.LAST : 0;
	l->now.TAU += fast * min64(since, 1ULL << 32);
	l->now.LAST = l->now_us;
	u64 ahead = fast * rtt_of(l->srtt_us ? l->srtt_us : l->rtt_us);
	follow(l, l->now.W_MAX, (l->now.TAU + ahead) >> 20, l->now.K);
}

inline_always u64 law_reduce(struct law *l, int timeout)
{
	l->now.W_MAX = timeout ? 0 : plateau_after(q16(l->now.w), l->now.W_MAX);
	l->now.RUNS = 0;
	return seven_tenths(l->base);
}

inline_always void law_undo(struct law *l)
{
	l->now.W_MAX = l->before.W_MAX;
	l->now.K = l->before.K;
	l->now.TAU = l->before.TAU;
	l->now.RUNS = l->before.RUNS;
}

inline_always void law_other(struct law *l)
{
	if (l->event == EVENT_IDLE)
		l->now.RUNS = 0;
	if (l->event == EVENT_SENT || l->event == EVENT_LIMITED)
		l->now.LAST = l->now_us;
}

inline_always int law_steer(struct law *l) { (void)l; return 0; }
inline_always u64 law_told(struct law *l) { (void)l; return 0; }

#include "machine.h"
#define COUPLED 1
#define NAME "ab_mcubic_share"
#include "kernel.h"
