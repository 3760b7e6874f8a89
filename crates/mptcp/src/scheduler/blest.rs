//! BLEST: blocking estimation (Ferlin, Alay, Mehani and Boreli, "BLEST: Blocking
//! Estimation-based MPTCP Scheduler for Heterogeneous Networks", IFIP Networking
//! 2016, section IV).
//!
//! When only a slow subflow S has room, the fast one F could send, in the time
//! that S takes for a segment,
//!
//! ```text
//! X = MSS_F (cwnd_F + (RTT_S / RTT_F - 1) / 2) RTT_S / RTT_F      (1), (2)
//! ```
//!
//! octets, if its window, in segments, grows by one each round trip. S carries
//! the segment only where the receiver's window has room for that beside what S
//! has:
//!
//! ```text
//! X lambda <= |window| - MSS_S (inflight_S + 1)                   (3)
//! ```
//!
//! `lambda` learns from its errors: each round trip of S in which the window
//! blocked all the same, it grows by `delta`, each other one it shrinks by it
//! (section IV-B), to no less than 1.
//!
//! Choices that the paper leaves open: `lambda` starts at 1, `delta` is 0.01,
//! and at most one step is made in a round trip of S.

use super::{Candidate, Choice, Scheduler, Stream, fastest};
use anabranch_units::Time;

/// What can be chosen about [`Blest`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BlestOptions {
    /// Change of `lambda` in a round trip; 0.01.
    pub delta: f64,
}

impl Default for BlestOptions {
    fn default() -> BlestOptions {
        BlestOptions { delta: 0.01 }
    }
}

/// The BLEST scheduler; `lambda` scales its estimate of what the fast subflow could send.
#[derive(Clone, Copy, Debug)]
pub struct Blest {
    options: BlestOptions,
    lambda: f64,
    /// The window blocked since the last step.
    blocked: bool,
    /// The time from which `lambda` may change again.
    next_step: Time,
}

impl Blest {
    /// Makes a scheduler whose `lambda` is 1.
    pub fn new(options: BlestOptions) -> Blest {
        Blest { options, lambda: 1.0, blocked: false, next_step: Time::ZERO }
    }

    fn step(&mut self, now: Time, slow: &Candidate) {
        if now < self.next_step {
            return;
        }
        let delta = self.options.delta;
        self.lambda = (self.lambda + if self.blocked { delta } else { -delta }).max(1.0);
        self.blocked = false;
        self.next_step = now + slow.srtt;
    }

    /// (3) does not hold: S would block the window.
    fn would_block(&self, fast: &Candidate, slow: &Candidate, window: u64) -> bool {
        let rtts = slow.srtt.as_secs_f64() / fast.srtt.as_secs_f64().max(1e-9);
        let cwnd = fast.cwnd as f64 / fast.mss as f64;
        let x = fast.mss as f64 * (cwnd + (rtts - 1.0) / 2.0) * rtts;
        let beside = window as f64 - (slow.in_flight + slow.mss) as f64;
        x * self.lambda > beside
    }
}

impl Scheduler for Blest {
    fn choose(&mut self, candidates: &[Candidate], stream: &Stream) -> Choice {
        let Some(fast) = fastest(candidates.iter()) else { return Choice::Wait };
        if fast.has_room {
            return Choice::New(fast.id);
        }
        let Some(slow) = fastest(candidates.iter().filter(|candidate| candidate.has_room)) else {
            return Choice::Wait;
        };
        self.step(stream.now, slow);
        // |window|: all that the receiver lets this side have outstanding.
        let window = stream.nxt - stream.una + stream.window_left;
        if self.would_block(fast, slow, window) { Choice::Wait } else { Choice::New(slow.id) }
    }

    fn on_window_blocked(&mut self, _now: Time) {
        self.blocked = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidate, full, stream};
    use super::*;
    use anabranch_units::Span;

    /// F: 10 segments of 1000 octets in 10 ms; S takes 40 ms: X = 1000 (10 +
    /// 1.5) 4 = 46,000 octets; S itself takes one segment.
    #[test]
    fn the_slow_one_is_used_where_the_window_leaves_room_for_the_fast_one() {
        let all = [full(0, 10), candidate(1, 40)];
        for (window_left, choice) in
            [(46_999, Choice::Wait), (47_000, Choice::New(1)), (100_000, Choice::New(1))]
        {
            let mut s = Blest::new(BlestOptions::default());
            let stream = Stream { window_left, ..stream(1 << 20) };
            assert_eq!(s.choose(&all, &stream), choice, "{window_left}");
        }
        let mut s = Blest::new(BlestOptions::default());
        assert_eq!(s.choose(&[candidate(0, 10), all[1]], &stream(1000)), Choice::New(0));
    }

    #[test]
    fn lambda_learns_once_a_round_trip_of_the_slow_one() {
        let all = [full(0, 10), candidate(1, 40)];
        let mut s = Blest::new(BlestOptions { delta: 0.1 });
        let at = |ms| Stream { now: Time::ZERO + Span::from_millis(ms), ..stream(1 << 20) };
        let mut lambdas = Vec::new();
        for (ms, blocked) in
            [(0, false), (10, true), (40, false), (60, true), (80, false), (120, false)]
        {
            if blocked {
                s.on_window_blocked(Time::ZERO);
            }
            s.choose(&all, &at(ms));
            lambdas.push((s.lambda * 10.0).round() as u32);
        }
        assert_eq!(lambdas, [10, 10, 11, 11, 12, 11]);
    }
}
