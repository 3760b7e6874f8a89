/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Of laws that have no more than a growth and a reduction. */
inline_always int law_steer(struct law *l) { (void)l; return 0; }
inline_always void law_undo(struct law *l) { (void)l; }
inline_always void law_other(struct law *l) { (void)l; }
inline_always u64 law_told(struct law *l) { (void)l; return 0; }
