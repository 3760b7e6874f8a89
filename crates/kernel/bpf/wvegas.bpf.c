/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* wVegas (Cao, Xu and Fu 2012), by the law of crates/congestion/src/coupled/wvegas.rs with its default options. */
#include "law.h"
#include "round.h"

#define BASE v[0]    /* the smallest round-trip time, 1/256 us; 0 at first */
#define SUM v[1]     /* of the round's samples, us */
#define SAMPLES v[2]
#define END v[3]
#define ALPHA v[4]   /* segments that the path keeps in queues, Q12; 0 stands for the first 2 */
#define RATE v[5]    /* segments a second when the queue was last that long, Q8; 0 before */
#define QUEUE v[6]   /* the smallest queueing delay since the last reduction, 1/256 us and one; 0 at first */

#define TOTAL_ALPHA (10ULL << 12)
#define LEAST_ALPHA (2ULL << 12)
#define GAMMA (1ULL << 12)

inline_always u64 law_told(struct law *l) { return l->now.RATE; }

/* This path's part of what is kept in queues. */
inline_always u64 weighted(struct law *l, u64 own)
{
	u64 all = own;
	for (u32 i = 0; i < OTHERS; i++) {
		u64 known = less(0, l->other[i].rtt_us);
		u64 x = min64(l->other[i].w >> 8, 1ULL << 28) * 1000000 / max64(l->other[i].rtt_us, 1);
		all += either(less(0, l->other[i].told), l->other[i].told, x) & opaque(0 - known);
	}
	return max64(TOTAL_ALPHA * min64(own, 1ULL << 47) / max64(all, 1), LEAST_ALPHA);
}

inline_always void drain(struct law *l, u64 rtt)
{
	u64 q = rtt - l->now.BASE;
	if (!l->now.QUEUE || q + 1 < l->now.QUEUE)
		l->now.QUEUE = q + 1;
	if (q && q >= 2 * (l->now.QUEUE - 1)) {
		l->now.w = max64(in_flight_of(l->now.w, l->now.BASE, rtt) / 2, 2 * ONE);
		l->now.QUEUE = 0;
	}
}

/* The round is over; its mean, 1/256 us. */
inline_always void decide(struct law *l, u64 rtt)
{
	u64 diff = queued(l->now.w, l->now.BASE, rtt), alpha;
	if (l->now.w < l->now.ssthresh) {
		if (diff > GAMMA * rtt) {
			u64 needed = in_flight_of(l->now.w, l->now.BASE, rtt);
			l->now.w = min64(l->now.w, max64(needed + ONE, 2 * ONE));
			l->now.ssthresh = max64(l->now.w, 2 * ONE);
		}
		return;
	}
	alpha = max64(l->now.ALPHA, LEAST_ALPHA) * rtt;
	if (diff >= alpha) {
		l->now.RATE = max64((l->now.w >> 24) * 256000000 / rtt, 1);
		l->now.ALPHA = weighted(l, l->now.RATE);
		alpha = l->now.ALPHA * rtt;
	}
	l->term = max64(l->now.ALPHA, LEAST_ALPHA);
	if (diff < alpha)
		l->now.w += ONE;
	else if (diff > alpha)
		l->now.w = l->now.w > 3 * ONE ? l->now.w - ONE : 2 * ONE;
	if (diff >= alpha)
		drain(l, rtt);
	l->now.ssthresh = max64(min64(l->now.ssthresh, l->now.w), 2 * ONE);
}

inline_always void see(struct law *l, u32 rtt_us)
{
	u64 rtt = min64(rtt_us, MOST_OF_ROUND) << FINE;
	if (rtt && (!l->now.BASE || rtt < l->now.BASE))
		l->now.BASE = rtt;
}

inline_always int law_steer(struct law *l)
{
	if (begins_round(l, &l->now.END) && l->now.SAMPLES) {
		u64 mean = (l->now.SUM << FINE) / l->now.SAMPLES;
		if (mean && mean >= l->now.BASE)
			decide(l, mean);
		l->now.SUM = l->now.SAMPLES = 0;
	}
	see(l, l->min_rtt_us);
	see(l, l->rtt_us);
	if (l->rtt_us) {
		l->now.SUM += min64(l->rtt_us, MOST_OF_ROUND);
		l->now.SAMPLES += 1;
	}
	return l->now.w >= l->now.ssthresh;
}

inline_always u64 law_reduce(struct law *l, int timeout)
{
	(void)timeout;
	l->now.QUEUE = 0;
	return l->base / 2;
}

inline_always void law_ack(struct law *l) { (void)l; } /* decided once in a round */
inline_always void law_undo(struct law *l) { (void)l; }
inline_always void law_other(struct law *l) { (void)l; }

#include "machine.h"
#define COUPLED 1
#define STEERS 1
#define NAME "ab_wvegas"
#include "kernel.h"
