/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Westwood+ (Grieco and Mascolo 2004), by the law of crates/congestion/src/westwood.rs. */
#include "law.h"
#include "round.h"

#define BANDWIDTH v[0]  /* filtered, segments a microsecond, Q32; 0 before the first sample */
#define SINCE v[1]      /* start of the round; 0 before the first */
#define DELIVERED v[2]  /* segments in it */
#define END v[3]

#define MOST_BANDWIDTH (1ULL << 37)

inline_always void law_ack(struct law *l)
{
	l->now.w += one_segment_per_round(q16(l->now.w), l->acked);
}

inline_always u64 law_reduce(struct law *l, int timeout)
{
	(void)timeout;
	if (!l->min_rtt_us || !l->now.BANDWIDTH)
		return l->base / 2;
	return min64(l->now.BANDWIDTH * rtt_of(l->min_rtt_us), MOST_SEGMENTS << 32);
}

inline_always void law_other(struct law *l)
{
	u64 elapsed, sample;
	if (l->event != EVENT_FEEDBACK)
		return;
	l->now.DELIVERED += l->delivered;
	if (!begins_round(l, &l->now.END))
		return;
	elapsed = l->now.SINCE && l->now_us > l->now.SINCE ? l->now_us - l->now.SINCE : 0;
	if (elapsed) {
		sample = min64((min64(l->now.DELIVERED, 1 << 30) << 32) / elapsed, MOST_BANDWIDTH);
		/* The filter keeps 0.9 of its value. */
		l->now.BANDWIDTH = l->now.BANDWIDTH ? (9 * l->now.BANDWIDTH + sample) / 10 : sample;
	}
	l->now.SINCE = l->now_us;
	l->now.DELIVERED = 0;
}

inline_always int law_steer(struct law *l) { (void)l; return 0; }
inline_always void law_undo(struct law *l) { (void)l; }
inline_always u64 law_told(struct law *l) { (void)l; return 0; }

#include "machine.h"
#define FEEDBACK 1
#define NAME "ab_westwood"
#include "kernel.h"
