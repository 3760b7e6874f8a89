/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Whether this ACK begins a round trip: the first beyond what had been sent when the last one began. */
inline_always int begins_round(struct law *l, u64 *end)
{
	if (l->received <= *end)
		return 0;
	*end = l->sent;
	return 1;
}

/* Round-trip times of rounds are 1/256 us where a mean is to keep its fraction, and 8 s at most, 2^31 of these. */
#define FINE 8
#define MOST_OF_ROUND (1U << 23)

/* What of a window is in no queue: w base / rtt. w is Q32. */
inline_always u64 in_flight_of(u64 w, u64 base, u64 rtt) { return ((w >> 20) * base / rtt) << 20; }

/* The segments in queues, w (1 - base / rtt), times rtt: Q12. What they are compared with has to be, too. */
inline_always u64 queued(u64 w, u64 base, u64 rtt) { return (w >> 20) * (rtt - base); }
