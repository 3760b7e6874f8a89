//! The default of upstream Linux: the subflow whose queue is gone the soonest, and 64 kB there before another choice.
//!
//! As net/mptcp/protocol.c of the kernel has it since 5.16, after an idea of BLEST (Ferlin et al., IFIP Networking
//! 2016): the *linger time* of a subflow is what is queued there over its pacing rate,
//!
//! ```text
//! linger = queued / pace
//! ```
//!
//! with `queued` all that the subflow was given and the peer has not acknowledged, and `pace` a mean of the rate at
//! which it paces. A choice holds for a burst of at most 64 kB, and with each the mean moves on: what is queued has
//! the weight of the past, the burst that of the present,
//!
//! ```text
//! pace = (pace queued + rate burst) / (queued + burst)
//! ```
//!
//! The rate is Linux's: cwnd / srtt, doubled while the window is below half of its threshold, else 1.2 times that.
//!
//! Deviation: a subflow of the kernel takes what its send buffer holds, sent or not. Here nothing waits in a subflow,
//! so that `queued` is what is in the network, and the choice is among subflows that have room.

use super::{Candidate, Choice, Scheduler, Stream};

/// Octets for which a choice holds.
const BURST: u64 = 64 << 10;

/// The default scheduler of upstream Linux, with its means of pacing rates.
#[derive(Clone, Debug, Default)]
pub struct Linux {
    /// Means of pacing rates, in octets a second, by the subflow's number.
    pace: Vec<(u32, f64)>,
    chosen: Option<Burst>,
}

/// A chosen subflow, which gets what follows up to a data offset.
#[derive(Clone, Copy, Debug)]
struct Burst {
    id: u32,
    /// The stream's data offset at which it ends.
    until: u64,
}

impl Linux {
    fn pace_of(&mut self, subflow: &Candidate) -> &mut f64 {
        let known = self.pace.iter().position(|(id, _)| *id == subflow.id);
        let at = known.unwrap_or_else(|| {
            self.pace.push((subflow.id, rate(subflow)));
            self.pace.len() - 1
        });
        &mut self.pace[at].1
    }

    fn linger(&mut self, subflow: &Candidate) -> f64 {
        subflow.in_flight as f64 / self.pace_of(subflow).max(1.0)
    }

    /// The choice that holds, where its subflow is among them.
    fn held(&self, candidates: &[Candidate], stream: &Stream) -> Option<u32> {
        let burst = self.chosen.filter(|burst| stream.nxt < burst.until)?;
        candidates.iter().any(|it| it.id == burst.id && it.has_room).then_some(burst.id)
    }

    fn begin_burst(&mut self, subflow: &Candidate, stream: &Stream) {
        let burst = BURST.min(stream.window_left);
        let (queued, new) = (subflow.in_flight as f64, burst as f64);
        let now = rate(subflow);
        let pace = self.pace_of(subflow);
        if queued + new > 0.0 {
            *pace = (*pace * queued + now * new) / (queued + new);
        }
        self.chosen = Some(Burst { id: subflow.id, until: stream.nxt + burst });
    }
}

/// Returns the rate at which Linux would pace, in octets a second.
fn rate(subflow: &Candidate) -> f64 {
    let factor = if subflow.cwnd < subflow.ssthresh / 2 { 2.0 } else { 1.2 };
    let window = subflow.cwnd.max(subflow.in_flight) as f64;
    factor * window / subflow.srtt.as_secs_f64().max(1e-6)
}

impl Scheduler for Linux {
    fn choose(&mut self, candidates: &[Candidate], stream: &Stream) -> Choice {
        if let Some(id) = self.held(candidates, stream) {
            return Choice::New(id);
        }
        let mut best: Option<(f64, &Candidate)> = None;
        for candidate in candidates.iter().filter(|candidate| candidate.has_room) {
            let linger = self.linger(candidate);
            if best.is_none_or(|(least, _)| linger < least) {
                best = Some((linger, candidate));
            }
        }
        let Some((_, subflow)) = best else { return Choice::Wait };
        self.begin_burst(subflow, stream);
        Choice::New(subflow.id)
    }

    fn needs_room(&self) -> bool {
        true
    }

    /// It was given a segment while the burst of another may go on: that choice is no longer the last.
    fn on_only(&mut self, id: u32) {
        if self.chosen.is_some_and(|burst| burst.id != id) {
            self.chosen = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidate, full, stream};
    use super::*;

    fn flying(id: u32, rtt_ms: u64, in_flight: u64) -> Candidate {
        Candidate { in_flight, ssthresh: 10_000, ..candidate(id, rtt_ms) }
    }

    /// Windows of 10,000 octets: 1.2 MB/s over 10 ms, 0.3 MB/s over 40 ms. 8000 octets leave the fast one in 6.7 ms,
    /// 1000 the slow one in 3.3 ms.
    #[test]
    fn the_queue_that_is_gone_first_gets_the_segment() {
        let choose = |all: &[Candidate]| Linux::default().choose(all, &stream(1 << 20));
        assert_eq!(choose(&[flying(0, 10, 8000), flying(1, 40, 1000)]), Choice::New(1));
        assert_eq!(choose(&[flying(0, 10, 3000), flying(1, 40, 1000)]), Choice::New(0));
        assert_eq!(
            choose(&[full(0, 10), flying(1, 40, 9000)]),
            Choice::New(1),
            "the other is full"
        );
        assert_eq!(
            choose(&[flying(0, 10, 0), flying(1, 40, 0)]),
            Choice::New(0),
            "the older of equals"
        );
    }

    /// What has become longer meanwhile does not matter until 64 kB are given, or the subflow is full.
    #[test]
    fn a_choice_holds_for_a_burst() {
        let mut s = Linux::default();
        let at = |nxt| Stream { nxt, ..stream(1 << 20) };
        let before = [flying(0, 10, 0), flying(1, 10, 1000)];
        let after = [flying(0, 10, 9000), flying(1, 10, 1000)];
        assert_eq!(s.choose(&before, &at(1)), Choice::New(0));
        assert_eq!(s.choose(&after, &at(BURST)), Choice::New(0));
        assert_eq!(s.choose(&after, &at(BURST + 1)), Choice::New(1));
        let filled = [flying(0, 10, 0), full(1, 10)];
        assert_eq!(s.choose(&filled, &at(BURST + 1001)), Choice::New(0));
    }

    /// Below half of the threshold the rate is 2 cwnd / srtt: 2 MB/s over 10 ms. After 6400 octets of queue and
    /// 57,600 of window that falls to 1.2 MB/s: (2 x 6400 + 1.2 x 57,600) / 64,000 = 1.28.
    #[test]
    fn the_pace_is_a_mean_of_what_was_and_what_is() {
        let mut s = Linux::default();
        let slow_start = [Candidate { ssthresh: u64::MAX, ..flying(0, 10, 0) }];
        s.choose(&slow_start, &Stream { window_left: 1000, ..stream(9000) });
        assert_eq!(s.pace, [(0, 2e6)]);
        let later = Stream { nxt: 1001, window_left: 57_600, ..stream(9000) };
        s.choose(&[flying(0, 10, 6400)], &later);
        assert!((s.pace[0].1 - 1.28e6).abs() < 1.0, "{:?}", s.pace);
    }
}
