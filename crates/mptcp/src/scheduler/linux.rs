//! The default of upstream Linux: the subflow whose queue is gone the soonest, and 64 kB there before another choice.
//!
//! As net/mptcp/protocol.c of the kernel has it (since 5.16; here 6.18), after an idea of BLEST (Ferlin et al., IFIP Networking
//! 2016): the *linger time* of a subflow is what is queued there over its pacing rate,
//!
//! ```text
//! linger = queued / pace
//! ```
//!
//! with `queued` all that the subflow was given and the peer has not acknowledged, and `pace` a mean of the rate at
//! which it paces. A choice is for a burst of 64 kB, and with each the mean moves on: what is queued has the weight of
//! the past, the burst that of the present,
//!
//! ```text
//! pace = (pace queued + rate burst) / (queued + burst)
//! ```
//!
//! The rate is Linux's: cwnd / srtt, doubled while the window is below half of its threshold, else 1.2 times that.
//!
//! Data is given to a subflow whatever its window, and waits there as long as the subflow's send buffer has room: one
//! that has none is not passed over, but waited for. That buffer has grown with the largest window (tcp_sndbuf_expand
//! of net/ipv4/tcp_input.c; `send_buffer.rs`), and so does the connection's. The stream is kept in pieces of 32 kB, at whose
//! ends the kernel asks whether the burst is over and a buffer full.

use super::send_buffer::{Writer, buffer};
use super::{Candidate, Choice, Scheduler, Stream};

/// Octets of a burst, which ends with the piece that reaches them.
const BURST: u64 = 64 << 10;
/// The stream's data is kept in pieces of so many octets, each of which a subflow gets as a whole.
const PIECE: u64 = 32 << 10;

/// The default scheduler of upstream Linux, with what it keeps of each subflow.
#[derive(Clone, Debug, Default)]
pub struct Linux {
    known: Vec<Known>,
    writer: Writer,
}

/// What the scheduler keeps of a subflow.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Known {
    id: u32,
    /// Mean of its pacing rates, in octets a second.
    pace: f64,
    /// Octets that its send buffer holds.
    buffer: u64,
}

impl Linux {
    /// What is known of a subflow, whose send buffer grows with its window.
    fn know(&mut self, subflow: &Candidate) -> &mut Known {
        let known = self.known.iter().position(|known| known.id == subflow.id);
        let at = known.unwrap_or_else(|| {
            self.known.push(Known { id: subflow.id, pace: rate(subflow), buffer: 0 });
            self.known.len() - 1
        });
        let known = &mut self.known[at];
        known.buffer = known.buffer.max(buffer(subflow.cwnd, subflow.mss));
        known
    }

    /// Gives a burst to a subflow whose buffer has room, as has the connection's of `size` octets.
    fn burst(&mut self, subflow: &Candidate, stream: &Stream, size: u64) -> Choice {
        let burst = BURST.min(stream.window_left);
        let (queued, new) = (subflow.queued as f64, burst as f64);
        let known = self.know(subflow);
        if queued + new > 0.0 {
            known.pace = (known.pace * queued + rate(subflow) * new) / (queued + new);
        }
        let room = (known.buffer - subflow.queued).min(size - (stream.nxt - stream.una));
        // The end of the piece that reaches whichever comes first.
        let from = stream.nxt - 1;
        let end = (from + burst.min(room)).next_multiple_of(PIECE);
        Choice::Assign { id: subflow.id, len: (end - from).min(stream.window_left) }
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
        let mut best: Option<(f64, u64, &Candidate)> = None;
        let mut size = 0;
        for candidate in candidates {
            let known = self.know(candidate);
            size += known.buffer;
            let linger = candidate.queued as f64 / known.pace.max(1.0);
            if best.is_none_or(|(least, ..)| linger < least) {
                best = Some((linger, known.buffer, candidate));
            }
        }
        match best {
            Some((_, buffer, subflow))
                if self.writer.may_write(stream, size) && subflow.queued < buffer =>
            {
                self.burst(subflow, stream, size)
            }
            _ => Choice::Wait,
        }
    }

    fn assigns(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidate, full, stream};
    use super::*;

    fn queueing(id: u32, rtt_ms: u64, queued: u64) -> Candidate {
        Candidate { queued, ssthresh: 10_000, ..candidate(id, rtt_ms) }
    }

    fn choose(all: &[Candidate], stream: &Stream) -> Choice {
        Linux::default().choose(all, stream)
    }

    /// Windows of 10,000 octets: 1.2 MB/s over 10 ms, 0.3 MB/s over 40 ms. 8000 octets leave the fast one in 6.7 ms,
    /// 1000 the slow one in 3.3 ms.
    #[test]
    fn the_queue_that_is_gone_first_gets_the_burst() {
        let stream = stream(1 << 20);
        let chosen = |all: &[Candidate]| match choose(all, &stream) {
            Choice::Assign { id, .. } => Some(id),
            _ => None,
        };
        assert_eq!(chosen(&[queueing(0, 10, 8000), queueing(1, 40, 1000)]), Some(1));
        assert_eq!(chosen(&[queueing(0, 10, 3000), queueing(1, 40, 1000)]), Some(0));
        assert_eq!(chosen(&[queueing(0, 10, 0), queueing(1, 40, 0)]), Some(0), "the older");
        let waiting = Candidate { queued: 3000, ..full(0, 10) };
        assert_eq!(chosen(&[waiting, queueing(1, 40, 1000)]), Some(0), "its window may be full");
    }

    /// Ten segments of 1000 octets take 2048 + 256 octets each, twice: 46,080. A subflow without memory is waited for.
    #[test]
    fn a_subflow_takes_what_its_send_buffer_holds() {
        let stream = stream(1 << 20);
        assert_eq!(
            choose(&[queueing(0, 10, 46_079)], &stream),
            Choice::Assign { id: 0, len: PIECE }
        );
        assert_eq!(choose(&[queueing(0, 10, 46_080)], &stream), Choice::Wait);
        let (fast, slow) = (queueing(0, 1, 46_080), queueing(1, 40, 40_000));
        assert_eq!(choose(&[fast, slow], &stream), Choice::Wait, "the fast one is still the best");
    }

    /// It has grown with the largest window, and does not shrink with it.
    #[test]
    fn a_send_buffer_does_not_shrink() {
        let mut s = Linux::default();
        let large = Candidate { cwnd: 40_000, ..queueing(0, 10, 100_000) };
        let first = s.choose(&[large], &stream(1 << 20));
        assert_ne!(first, Choice::Wait);
        assert_eq!(s.choose(&[queueing(0, 10, 100_000)], &stream(1 << 20)), first);
    }

    /// What is not acknowledged as data takes the connection's send buffer, of 46,080 octets for each subflow. Its
    /// writer writes on when a third of it is free.
    #[test]
    fn the_connection_keeps_what_all_subflows_could_hold() {
        let mut s = Linux::default();
        let all = [queueing(0, 10, 0), queueing(1, 10, 40_000)];
        let mut at = |nxt| s.choose(&all, &Stream { nxt, ..stream(1 << 20) });
        assert_eq!(at(92_160), Choice::Assign { id: 0, len: 98_304 - 92_159 });
        assert_eq!(at(92_161), Choice::Wait);
        assert_eq!(at(61_441), Choice::Wait);
        assert_eq!(at(61_440), Choice::Assign { id: 0, len: 98_304 - 61_439 });
    }

    /// A burst reaches 64 kB, or the peer's window, and ends where a piece does.
    #[test]
    fn a_burst_is_of_whole_pieces() {
        let large = [Candidate { cwnd: 100_000, ..queueing(0, 10, 0) }];
        let burst = |nxt, window_left| {
            choose(&large, &Stream { nxt, una: nxt, window_left, ..stream(1 << 20) })
        };
        let assigned = |len| Choice::Assign { id: 0, len };
        assert_eq!(burst(1, 1 << 20), assigned(2 * PIECE));
        assert_eq!(burst(1001, 1 << 20), assigned(3 * PIECE - 1000), "the third piece reaches it");
        assert_eq!(burst(1001, 1500), assigned(1500));
    }

    /// Below half of the threshold the rate is 2 cwnd / srtt: 2 MB/s over 10 ms. After 6400 octets of queue and
    /// 57,600 of window that falls to 1.2 MB/s: (2 x 6400 + 1.2 x 57,600) / 64,000 = 1.28.
    #[test]
    fn the_pace_is_a_mean_of_what_was_and_what_is() {
        let mut s = Linux::default();
        let slow_start = [Candidate { ssthresh: u64::MAX, ..queueing(0, 10, 0) }];
        s.choose(&slow_start, &Stream { window_left: 1000, ..stream(9000) });
        assert_eq!(s.known[0].pace, 2e6);
        let later = Stream { nxt: 1001, window_left: 57_600, ..stream(9000) };
        s.choose(&[queueing(0, 10, 6400)], &later);
        assert!((s.known[0].pace - 1.28e6).abs() < 1.0, "{:?}", s.known);
    }
}
