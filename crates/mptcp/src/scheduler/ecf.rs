//! ECF: earliest completion first (Lim, Nahum, Towsley and Gibbens, "ECF: An MPTCP
//! Path Scheduler to Manage Heterogeneous Paths", CoNEXT 2017, algorithm 1).
//!
//! With `k` segments waiting, the fastest subflow `f` full and the default
//! scheduler's choice `s`:
//!
//! ```text
//! n = 1 + k / cwnd_f;  delta = max(sigma_f, sigma_s)
//! if n RTT_f < (1 + waiting beta) (RTT_s + delta)
//!     if k / cwnd_s RTT_s >= 2 RTT_f + delta    waiting = 1, nothing is sent
//!     else                                      s
//! else                                          waiting = 0, s
//! ```
//!
//! `sigma` is the deviation of the round-trip time, here RTTVAR of RFC 6298;
//! `beta` is 0.25 (section 4).

use super::{Candidate, Choice, Scheduler, Stream, fastest};

/// What can be chosen about [`Ecf`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EcfOptions {
    /// Hysteresis: how much longer the scheduler goes on waiting once it waits; 0.25.
    pub beta: f64,
}

impl Default for EcfOptions {
    fn default() -> EcfOptions {
        EcfOptions { beta: 0.25 }
    }
}

/// The ECF scheduler; it remembers whether it waits for the fastest subflow.
#[derive(Clone, Copy, Debug)]
pub struct Ecf {
    options: EcfOptions,
    waiting: bool,
}

impl Ecf {
    /// Makes a scheduler that is not waiting.
    pub fn new(options: EcfOptions) -> Ecf {
        Ecf { options, waiting: false }
    }
}

impl Scheduler for Ecf {
    fn choose(&mut self, candidates: &[Candidate], stream: &Stream) -> Choice {
        let Some(f) = fastest(candidates.iter()) else { return Choice::Wait };
        if f.has_room {
            return Choice::New(f.id);
        }
        let Some(s) = fastest(candidates.iter().filter(|candidate| candidate.has_room)) else {
            return Choice::Wait;
        };
        let k = stream.unsent as f64;
        let (rtt_f, rtt_s) = (f.srtt.as_secs_f64(), s.srtt.as_secs_f64());
        let delta = f.rttvar.max(s.rttvar).as_secs_f64();
        let n = 1.0 + k / f.cwnd.max(1) as f64;
        let beta = if self.waiting { self.options.beta } else { 0.0 };
        if n * rtt_f < (1.0 + beta) * (rtt_s + delta) {
            if k / s.cwnd.max(1) as f64 * rtt_s >= 2.0 * rtt_f + delta {
                self.waiting = true;
                return Choice::Wait;
            }
        } else {
            self.waiting = false;
        }
        Choice::New(s.id)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidate, full, stream};
    use super::*;

    /// Windows of ten segments of 1000 octets; 10 ms and 100 ms.
    #[test]
    fn algorithm_1_by_hand() {
        let all = [full(0, 10), candidate(1, 100)];
        let mut s = Ecf::new(EcfOptions::default());
        // k = 50: n RTT_f = 60 ms < 100 ms; 50/10 x 100 = 500 ms >= 20 ms: wait.
        assert_eq!(s.choose(&all, &stream(50_000)), Choice::Wait);
        // k = 100: 110 ms < 1.25 x 100 ms: it goes on waiting.
        assert_eq!(s.choose(&all, &stream(100_000)), Choice::Wait);
        // k = 120: 130 ms: the slow one, and no hysteresis any more.
        assert_eq!(s.choose(&all, &stream(120_000)), Choice::New(1));
        assert_eq!(s.choose(&all, &stream(100_000)), Choice::New(1));
        // k = 1: 11 ms < 100 ms, but 1/10 x 100 = 10 ms < 20 ms: the slow one.
        assert_eq!(s.choose(&all, &stream(1000)), Choice::New(1));
        assert_eq!(s.choose(&[candidate(0, 10), all[1]], &stream(50_000)), Choice::New(0));
    }
}
