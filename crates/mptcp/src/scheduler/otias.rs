//! OTIAS: segments leave out of order so that they arrive in order (Yang, Wang and Amer, "Out-of-Order Transmission
//! for In-Order Arrival Scheduling for Multipath TCP", WAINA 2014).
//!
//! Each segment in turn goes to the subflow `j` on which it would arrive first, whatever that subflow's window, and
//! waits there:
//!
//! ```text
//! can_be_sent_j = cwnd_j - unacked_j
//! RTT_to_wait_j = (not_yet_sent_j - can_be_sent_j) / cwnd_j, at least 0
//! T_j           = (RTT_to_wait_j + 1/2) srtt_j
//! ```
//!
//! `unacked` is what is in the network, `not_yet_sent` what waits in the subflow. What was given to a subflow stays
//! there. The choices are those of `docs/algorithms/schedulers/otias.md`: in particular a connection gives its subflows
//! no more than Linux's send buffer holds (`send_buffer.rs`).

use super::send_buffer::{Writer, buffer};
use super::{Candidate, Choice, Scheduler, Stream};

/// The OTIAS scheduler, with the send buffers of its subflows.
#[derive(Clone, Debug, Default)]
pub struct Otias {
    /// Subflows by number, with the octets that their send buffers hold.
    buffers: Vec<(u32, u64)>,
    writer: Writer,
}

impl Otias {
    /// The octets that the send buffer of a subflow holds; it grows with the subflow's window.
    fn buffer(&mut self, subflow: &Candidate) -> u64 {
        let now = buffer(subflow.cwnd, subflow.mss);
        match self.buffers.iter_mut().find(|(id, _)| *id == subflow.id) {
            Some((_, known)) => {
                *known = now.max(*known);
                *known
            }
            None => {
                self.buffers.push((subflow.id, now));
                now
            }
        }
    }
}

/// `T_j`: how long until the next segment given to this subflow would arrive, in seconds.
fn arrival(subflow: &Candidate) -> f64 {
    let not_yet_sent = subflow.queued.saturating_sub(subflow.in_flight) as f64;
    let can_be_sent = subflow.cwnd as f64 - subflow.in_flight as f64;
    let rounds = (not_yet_sent - can_be_sent) / subflow.cwnd.max(1) as f64;
    (rounds.max(0.0) + 0.5) * subflow.srtt.as_secs_f64()
}

impl Scheduler for Otias {
    fn choose(&mut self, candidates: &[Candidate], stream: &Stream) -> Choice {
        let size = candidates.iter().map(|candidate| self.buffer(candidate)).sum();
        if !self.writer.may_write(stream, size) {
            return Choice::Wait;
        }
        let first = candidates.iter().min_by(|a, b| arrival(a).total_cmp(&arrival(b)));
        match first {
            Some(subflow) if stream.window_left > 0 => {
                Choice::Assign { id: subflow.id, len: subflow.mss.min(stream.window_left) }
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
    use super::super::testing::{candidate, stream};
    use super::*;

    /// A subflow of a window of ten segments of 1000 octets, of which it was given `given`: ten at most are in the
    /// network, and the rest waits.
    fn given(id: u32, rtt_ms: u64, given: u64) -> Candidate {
        let queued = 1000 * given;
        let in_flight = queued.min(10_000);
        Candidate { has_room: given < 10, queued, in_flight, ..candidate(id, rtt_ms) }
    }

    /// T in milliseconds by hand: half a round trip while the window has room, and 1/10 of one more for each segment
    /// beyond it.
    #[test]
    fn the_earliest_arrival_by_hand() {
        for (rtt_ms, segments, t_ms) in [
            (10, 0, 5.0),
            (10, 9, 5.0),
            (10, 10, 5.0),
            (10, 15, 10.0),
            (10, 30, 25.0),
            (100, 10, 50.0),
        ] {
            let t = 1e3 * arrival(&given(0, rtt_ms, segments));
            assert!((t - t_ms).abs() < 1e-9, "{rtt_ms} ms, {segments} segments: {t}");
        }
        // Of 20 segments unacknowledged on the subflow 4 are in the network: 16 wait, 6 can be sent.
        let t = 1e3 * arrival(&Candidate { in_flight: 4000, ..given(0, 10, 20) });
        assert!((t - 15.0).abs() < 1e-9, "{t}");
    }

    /// 10 ms beside 100 ms: T of the fast one is 5 ms plus 1 ms for each segment that waits, so that 45 wait there when
    /// the slow one gets its first; of equals the older.
    #[test]
    fn a_slow_subflow_gets_what_would_arrive_later_on_the_fast_one() {
        let mut s = Otias::default();
        let mut all = [given(0, 10, 0), given(1, 100, 0)];
        let mut chosen = Vec::new();
        for _ in 0..60 {
            let Choice::Assign { id, len } = s.choose(&all, &stream(1 << 20)) else {
                panic!("it waits")
            };
            assert_eq!(len, 1000);
            chosen.push(id);
            let i = id as usize;
            all[i] = given(id, [10, 100][i], all[i].queued / 1000 + 1);
        }
        assert_eq!(chosen.iter().position(|id| *id == 1), Some(56));
        assert_eq!(chosen[56..], [1, 1, 1, 1]);
        let equal = [given(3, 10, 0), given(4, 10, 0)];
        assert_eq!(s.choose(&equal, &stream(1)), Choice::Assign { id: 3, len: 1000 });
    }

    /// Buffers of 46,080 octets each (ten segments of 2304, twice), and the receiver's window.
    #[test]
    fn no_more_waits_than_the_send_buffer_holds_or_the_receiver_takes() {
        let mut s = Otias::default();
        let all = [given(0, 10, 0), given(1, 100, 0)];
        let mut at =
            |nxt, window_left| s.choose(&all, &Stream { nxt, window_left, ..stream(1 << 20) });
        assert_eq!(at(92_160, 1 << 20), Choice::Assign { id: 0, len: 1000 });
        assert_eq!(at(92_161, 1 << 20), Choice::Wait);
        assert_eq!(at(61_440, 700), Choice::Assign { id: 0, len: 700 });
        assert_eq!(at(61_440, 0), Choice::Wait);
    }
}
