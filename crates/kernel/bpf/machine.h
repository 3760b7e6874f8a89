/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The moments at which a window that is driven by ACKs grows, shrinks and is restored: what
 * crates/congestion/src/ack_clocked.rs is, with Linux's counting (no limit in slow start).
 */
#ifndef ANABRANCH_MACHINE_H
#define ANABRANCH_MACHINE_H

inline_always void grow(struct law *l)
{
	l->backed_off = 0;
	if (law_steer(l))
		return;
	if (l->now.w < l->now.ssthresh)
		l->now.w += (u64)l->acked << 32;
	else
		law_ack(l);
	l->now.w = min64(l->now.w, MOST_SEGMENTS << 32);
}

inline_always void shrink(struct law *l, int timeout)
{
	if (!l->base)
		l->base = l->now.w;
	/* RFC 5681 section 3.1: a segment that times out again holds the threshold. */
	if (!(timeout && l->backed_off)) {
		l->before = l->now;
		l->can_undo = 1;
		u64 left = law_reduce(l, timeout);
		l->now.w = max64(min64(l->now.w, max64(left, 2 * ONE)), ONE);
		l->now.ssthresh = max64(left, 2 * ONE);
	}
	if (timeout) {
		l->now.w = ONE; /* the loss window */
		l->backed_off = 1;
	}
}

inline_always void restore(struct law *l)
{
	if (l->can_undo && l->now.w <= l->before.w) {
		l->now.w = l->before.w;
		l->now.ssthresh = l->before.ssthresh;
		l->backed_off = 0;
		law_undo(l);
	}
	l->can_undo = 0;
}

/*
 * What the kernel did to the window by itself holds; else our fraction does. At the end of a recovery it sets the
 * window to the threshold that we gave it in whole segments: that is ours with its fraction.
 */
inline_always void adopt(struct law *l)
{
	u64 cwnd = min64(l->cwnd, MOST_SEGMENTS), ssthresh = l->cwnd_ssthresh;
	if (!l->cwnd)
		return;
	if (ssthresh >= KERNEL_INFINITE)
		l->now.ssthresh = INFINITE;
	else if ((l->now.ssthresh >> 32) != ssthresh)
		l->now.ssthresh = ssthresh << 32;
	if ((l->now.w >> 32) != cwnd)
		l->now.w = cwnd == ssthresh ? l->now.ssthresh : cwnd << 32;
}

/* One event. The only symbol of .text, which the test runs by itself. */
__attribute__((noinline, section(".text"))) int anabranch_law(struct law *l)
{
	if (!l)
		return 0;
	adopt(l);
	switch (l->event) {
	case EVENT_ACK: grow(l); break;
	case EVENT_LOSS: shrink(l, 0); break;
	case EVENT_TIMEOUT: shrink(l, 1); break;
	case EVENT_UNDO: restore(l); break;
	case EVENT_IDLE: l->can_undo = 0; law_other(l); break;
	case EVENT_LIMITED: l->backed_off = 0; law_other(l); break;
	default: law_other(l);
	}
	l->told = law_told(l);
	return 0;
}

#endif
