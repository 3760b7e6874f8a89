/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* HighSpeed TCP (RFC 3649 section 5), by the law of crates/congestion/src/highspeed.rs with the RFC's parameters. */
#include "law.h"

#define SEGMENTS v[0] /* whole segments of the window for which A was computed */
#define A v[1]        /* segments more in a round trip, Q16; 0 stands for 1 */

/* Logarithms to base 2 are Q24. */
#define LOW_WINDOW 38ULL
#define LOG_LOW_WINDOW 88045613ULL /* log 38 */
#define LOG_WINDOWS 186107916ULL   /* log 83000 - log 38 */
#define LOG_LOW_P 167198116ULL     /* - log 1e-3 */
#define LOG_PS 222930821ULL        /* log 1e-3 - log 1e-7 */
#define HALF (1ULL << 23)
#define FALL 6710886ULL            /* 0.5 - High_Decrease */

/* log x of x >= 1, Q16: the highest digit, then digits of the fraction by squaring. */
inline_always u64 logarithm(u64 x_q16)
{
	u64 whole = 0, y = x_q16, log;
#pragma unroll
	for (u32 step = 32; step; step /= 2) {
		u64 high = 1 - less(y, 1ULL << step);
		whole += step * high;
		y >>= step * high;
	}
	/* y of [1, 2), Q31 */
	y = either(less(whole, 32), x_q16 << ((31 - whole) & 63), x_q16 >> ((whole - 31) & 63));
	log = (whole - 16) << 24;
	for (u32 digit = 0; digit < 24; digit++) {
		u64 square = (y * y) >> 31, two = square >> 32;
		y = square >> two;
		log += two << (23 - digit);
	}
	return log;
}

/* 2^x of x < 32, Q24, as Q16: the fraction by the series of e^(x ln 2), to 2e-5. */
inline_always u64 power_of_two(u64 x_q24)
{
	u64 f = (x_q24 & ((1 << 24) - 1)) << 6, y = 165394;
	y = ((y * f) >> 30) + 1431680;
	y = ((y * f) >> 30) + 10327391;
	y = ((y * f) >> 30) + 59597083;
	y = ((y * f) >> 30) + 257941248;
	y = ((y * f) >> 30) + 744261118;
	y = ((y * f) >> 30) + (1 << 30);
	return (y << (min64(x_q24 >> 24, 31) & 31)) >> 14;
}

/* How far from Low_Window to High_Window, Q24. */
inline_always u64 along(u64 w_q16)
{
	return ((logarithm(w_q16) - LOG_LOW_WINDOW) << 24) / LOG_WINDOWS;
}

/* b(w), Q24, of a window above Low_Window. */
inline_always u64 part_of_loss(u64 far) { return HALF - ((FALL * min64(far, 1 << 24)) >> 24); }

/* a(w) = w^2 p(w) 2 b / (2 - b), Q16. */
inline_always u64 step_of(u64 w_q16)
{
	u64 far = along(w_q16), b = part_of_loss(far);
	u64 log = 2 * logarithm(w_q16) - LOG_LOW_P - ((far * LOG_PS) >> 24);
	return power_of_two(log) * (2 * b) / ((2 << 24) - b);
}

inline_always void law_ack(struct law *l)
{
	u64 w = q16(l->now.w);
	if ((w >> 16) != l->now.SEGMENTS) {
		l->now.SEGMENTS = w >> 16;
		l->now.A = w > LOW_WINDOW << 16 ? step_of(w) : 1 << 16;
	}
	l->now.w += (max64(l->now.A, 1) * one_segment_per_round(w, l->acked)) >> 16;
}

inline_always u64 law_reduce(struct law *l, int timeout)
{
	u64 w = q16(l->now.w), b = HALF;
	(void)timeout;
	if (w > LOW_WINDOW << 16)
		b = part_of_loss(along(w));
	return l->base - ((l->base >> 12) * b >> 12);
}

inline_always int law_steer(struct law *l) { (void)l; return 0; }
inline_always void law_undo(struct law *l)
{
	l->now.SEGMENTS = 0; /* computed anew */
}
inline_always void law_other(struct law *l) { (void)l; }
inline_always u64 law_told(struct law *l) { (void)l; return 0; }

#include "machine.h"
#define NAME "ab_highspeed"
#include "kernel.h"
