/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* CUBIC's curve (RFC 9438 section 4.2) in integers. */
#ifndef ANABRANCH_CUBE_H
#define ANABRANCH_CUBE_H

/* Clocks of curves tick 2^14 times a second, so that 2^20 segments are 2^21 ticks of 0.4 t^3. */
#define TICKS 14
#define MOST_TICKS (1ULL << 21)

inline_always u64 ticks(u64 us) { return (min64(us, 1ULL << 28) << TICKS) / 1000000; }

/* cbrt(segments / 0.4) seconds, in microseconds; segments as Q16. */
inline_always u64 plateau_us(u64 q16_segments)
{
	return (cube_root((min64(q16_segments, MOST_SEGMENTS << 16) * 5 / 2) << 26) * 1000000) >> TICKS;
}

/* 0.4 |d|^3 segments, Q16; d in microseconds. */
inline_always u64 cube(u64 d_us)
{
	u64 d = min64(ticks(d_us), MOST_TICKS - 1);
	return (d * d * d / 5 * 2) >> 26;
}

/* Opens the window towards w_max + 0.4 (t - k)^3, 1.5 times itself at most; below the curve by a segment in a
 * hundred windows. Windows are Q16, times microseconds. */
inline_always void follow(struct law *l, u64 w_max, u64 t, u64 k)
{
	u64 w = q16(l->now.w), acked = min64(l->acked, 1 << 15), target;
	if (t >= k) {
		target = w_max + cube(t - k);
	} else {
		u64 below = cube(k - t);
		target = w_max > below ? w_max - below : 0;
	}
	target = min64(target, w + w / 2);
	/* At equality too: what the curve rises in a round trip may be less than a digit. */
	if (target >= w)
		l->now.w += min64((((target - w) << 24) / w * acked) << 8, (target - w) << 16);
	else
		l->now.w += one_segment_per_round(w, acked) / 100;
}

/* 0.7 of a window of any Q. */
inline_always u64 seven_tenths(u64 w) { return w / 10 * 7 + w % 10 * 7 / 10; }

/* The plateau after a reduction, with fast convergence (section 4.7): 0.85 of a window that is below it. */
inline_always u64 plateau_after(u64 w, u64 w_max)
{
	return w < w_max ? w / 20 * 17 + w % 20 * 17 / 20 : w;
}

#endif
