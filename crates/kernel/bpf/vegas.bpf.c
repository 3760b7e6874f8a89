/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Vegas (Brakmo and Peterson 1995), by the law of crates/congestion/src/vegas.rs with its default options. */
#include "law.h"
#include "round.h"

#define BASE v[0]      /* the smallest round-trip time, us; 0 at first */
#define LEAST v[1]     /* the smallest of the round, us; 0 without */
#define END v[2]
#define STANDS v[3]    /* in slow start: the window stands still in this round */

#define ALPHA (2ULL << 12)
#define BETA (4ULL << 12)
#define GAMMA (1ULL << 12)

/* The round is over. */
inline_always void decide(struct law *l, u64 rtt)
{
	u64 diff = queued(l->now.w, l->now.BASE, rtt);
	if (l->now.w >= l->now.ssthresh) {
		if (diff < ALPHA * rtt) {
			l->now.w += ONE;
		} else if (diff > BETA * rtt) {
			l->now.w = min64(l->now.w, max64(l->now.w > ONE ? l->now.w - ONE : 0, 2 * ONE));
			l->now.ssthresh = max64(l->now.w, 2 * ONE);
		}
		return;
	}
	if (l->now.STANDS && diff > GAMMA * rtt) {
		u64 needed = in_flight_of(l->now.w, l->now.BASE, rtt);
		l->now.w = min64(l->now.w, max64(needed + ONE, 2 * ONE));
		l->now.ssthresh = max64(l->now.w, 2 * ONE);
	}
	l->now.STANDS = !l->now.STANDS;
}

inline_always void least(u64 *of, u32 rtt_us)
{
	u64 rtt = rtt_of(rtt_us);
	if (rtt && (!*of || rtt < *of))
		*of = rtt;
}

inline_always int law_steer(struct law *l)
{
	if (begins_round(l, &l->now.END) && l->now.LEAST) {
		if (l->now.LEAST >= l->now.BASE)
			decide(l, l->now.LEAST);
		l->now.LEAST = 0;
	}
	least(&l->now.BASE, l->min_rtt_us);
	least(&l->now.BASE, l->rtt_us);
	least(&l->now.LEAST, l->rtt_us);
	return l->now.w >= l->now.ssthresh || l->now.STANDS;
}

inline_always u64 law_reduce(struct law *l, int timeout)
{
	return timeout ? l->base / 2 : l->base / 4 * 3;
}

inline_always void law_ack(struct law *l) { (void)l; } /* decided once in a round */
inline_always void law_undo(struct law *l) { (void)l; }
inline_always void law_other(struct law *l) { (void)l; }
inline_always u64 law_told(struct law *l) { (void)l; return 0; }

#include "machine.h"
#define STEERS 1
#define NAME "ab_vegas"
#include "kernel.h"
