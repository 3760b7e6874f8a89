/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the laws of window algorithms share, in integers: a law is a function of the state of a path
 * and of one event. It calls nothing of the kernel, so that the same instructions run in the kernel and
 * in a machine in user space, where a test holds them against crates/congestion.
 *
 * Windows are segments. "Q32" means that the lowest 32 bits are a fraction. A window is below 2^20
 * segments, a round-trip time below 2^26 us, so that no product here is above 2^64.
 */
#ifndef ANABRANCH_LAW_H
#define ANABRANCH_LAW_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;
typedef int s32;

#define inline_always static inline __attribute__((always_inline))

/* Most siblings of a path; crates/kernel/src/law.rs has the layout of what follows. */
#define OTHERS 7
#define WORDS 8

#define ONE (1ULL << 32)               /* a segment, Q32 */
#define MOST_SEGMENTS (1ULL << 20)
#define MOST_RTT_US (1U << 26)
#define INFINITE (~0ULL)
#define KERNEL_INFINITE 0x7fffffff     /* TCP_INFINITE_SSTHRESH */

enum event {
	EVENT_ACK = 1,     /* `acked` segments, the window may grow */
	EVENT_LOSS = 2,    /* once in a window of data; a mark of ECN too */
	EVENT_TIMEOUT = 3,
	EVENT_UNDO = 4,    /* the last reduction was spurious */
	EVENT_IDLE = 5,    /* the window restarts after idleness */
	EVENT_SENT = 6,    /* data leaves while nothing is in flight */
	EVENT_LIMITED = 7, /* an ACK with which the window must not grow */
	EVENT_FEEDBACK = 8 /* any ACK, in recovery too: `delivered` is new */
};

/* Another path of the same connection. */
struct sibling {
	u64 w;      /* window, Q16 */
	u64 told;   /* what its law tells */
	u32 rtt_us; /* smoothed round-trip time; 0 where there is no such path */
	u32 unused;
};

/* What a reduction may take back. */
struct path {
	u64 w;           /* window, Q32 */
	u64 ssthresh;    /* Q32, or INFINITE */
	u64 v[WORDS];    /* the law's own, 0 at first */
};

struct law {
	/* the event */
	u32 event;
	u32 acked;        /* segments newly acknowledged */
	u64 now_us;
	u64 base;         /* what a reduction takes a part of, Q32; 0: the window */
	u64 sent;         /* octets sent and acknowledged so far, for rounds */
	u64 received;
	u32 delivered;    /* segments newly delivered, with EVENT_FEEDBACK */
	u32 rtt_us;       /* a sample; 0 without */
	u32 srtt_us;      /* 0 before it is known */
	u32 min_rtt_us;   /* 0 before it is known */
	u32 mss;          /* octets */
	u32 cwnd;         /* the kernel's window and threshold, whole segments; 0 where nobody tells them */
	u32 cwnd_ssthresh;
	u32 unused;
	/* the path */
	struct path now;
	struct path before;   /* before the last reduction */
	u32 can_undo;
	u32 backed_off;       /* the timer expired and no ACK has come since */
	u64 told;             /* what siblings should know */
	u64 term;             /* the coupling at the last ACK, for observers */
	struct sibling other[OTHERS];
};

/* What each law defines before it includes machine.h. */
inline_always void law_ack(struct law *l);             /* congestion avoidance: opens the window */
inline_always int law_steer(struct law *l);            /* 1: it has set the window itself */
inline_always u64 law_reduce(struct law *l, int timeout); /* what a signal leaves of l->base, Q32 */
inline_always void law_undo(struct law *l);            /* l->now is as after, l->before as before */
inline_always void law_other(struct law *l);           /* IDLE, SENT, LIMITED, FEEDBACK */
inline_always u64 law_told(struct law *l);

/*
 * Comparisons without branches. The kernel's verifier follows every branch, and of what it knows after a
 * branch it makes a state of its own: a loop with one would be more than it goes through.
 */
inline_always u64 opaque(u64 x)
{
	__asm__ volatile("" : "+r"(x)); /* or the compiler would make a branch of it */
	return x;
}

/* 1 where a < b, else 0: the borrow of a - b. */
inline_always u64 less(u64 a, u64 b) { return opaque(((~a & b) | (~(a ^ b) & (a - b))) >> 63); }
/* `a` where `yes` is 1, `b` where it is 0. */
inline_always u64 either(u64 yes, u64 a, u64 b) { return b ^ ((a ^ b) & opaque(0 - yes)); }
inline_always u64 min64(u64 a, u64 b) { return either(less(a, b), a, b); }
inline_always u64 max64(u64 a, u64 b) { return either(less(a, b), b, a); }

/* A window as Q16, at least a thousandth of a segment, so that it may divide. */
inline_always u64 q16(u64 q32)
{
	return max64(min64(q32 >> 16, MOST_SEGMENTS << 16), 64);
}

inline_always u64 rtt_of(u32 rtt_us) { return min64(rtt_us, MOST_RTT_US); }

/* A rate in segments a microsecond, Q32; 0 where the round-trip time is unknown. 2^39 at most. */
inline_always u64 rate(u64 w_q16, u32 rtt_us)
{
	u64 known = less(0, rtt_us);
	return min64((w_q16 << 16) / max64(rtt_of(rtt_us), 1), 1ULL << 39) & opaque(0 - known);
}

/* One segment in a round trip (RFC 5681 (3)): acked / w, one at most. Q32. */
inline_always u64 one_segment_per_round(u64 w_q16, u64 acked)
{
	return min64((min64(acked, 1 << 15) << 48) / w_q16, ONE);
}

/* The cube root of x, rounded down: digit by digit in base 2. */
inline_always u64 cube_root(u64 x)
{
	u64 y = 0;
	for (int shift = 63; shift >= 0; shift -= 3) {
		u64 step = 6 * y * (2 * y + 1) + 1; /* (2 y + 1)^3 - (2 y)^3 */
		u64 fits = 1 - less(x >> shift, step);
		x -= (step << shift) & opaque(0 - fits);
		y = 2 * y + fits;
	}
	return y;
}

/* Whether a b < c d, exactly, in 128 bits. */
inline_always u64 product_is_less(u64 a, u64 b, u64 c, u64 d)
{
	u64 low[2], high[2];
	u64 x[2] = { a, c }, y[2] = { b, d };
#pragma unroll
	for (int i = 0; i < 2; i++) {
		u64 xl = x[i] & 0xffffffff, xh = x[i] >> 32, yl = y[i] & 0xffffffff, yh = y[i] >> 32;
		u64 middle = xh * yl + ((xl * yl) >> 32);
		u64 second = xl * yh + (middle & 0xffffffff);
		low[i] = x[i] * y[i];
		high[i] = xh * yh + (middle >> 32) + (second >> 32);
	}
	return either(less(high[0], high[1]) | less(high[1], high[0]), less(high[0], high[1]), less(low[0], low[1]));
}

#endif
