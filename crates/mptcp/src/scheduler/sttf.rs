//! STTF: the shortest transfer time first (Hurtig et al., "Low-Latency Scheduling in MPTCP", IEEE/ACM Transactions on
//! Networking 27(1), 2019, section III), as the authors' kernel has it (net/mptcp/mptcp_sttf.c).
//!
//! The segments that wait are given to subflows in turn, each to the one that transfers it first. A subflow sends in
//! rounds of one round-trip time: at once what its congestion window has room for, and in the rounds after it the window,
//! which doubles up to its slow-start threshold and then grows by a segment. A segment that leaves in round `r`, counted
//! from 0, takes
//!
//! ```text
//! tt = (r + 1/2) rtt
//! ```
//!
//! Only the segments of round 0 leave, and the rest goes on waiting with the connection. So the schedule is made anew with
//! each segment, and what arrives first may lie behind what waits for a faster subflow ([`Choice::Ahead`]). A segment
//! that no subflow transfers earlier than a full one waits for that one.

use super::{Candidate, Choice, Scheduler, Stream};
use anabranch_units::Span;

/// The STTF scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Sttf;

/// The window, in segments, in the round after one of `cwnd` segments.
fn next_window(cwnd: u64, ssthresh: u64) -> u64 {
    match cwnd < ssthresh {
        true => (2 * cwnd).min(ssthresh),
        false => cwnd + 1,
    }
}

/// Octets, `most` at most, that a subflow sends in rounds whose transfer time is below `tt`, or no longer where `or_equal`.
fn sent_before(subflow: &Candidate, (tt, or_equal): (Span, bool), most: u64) -> u64 {
    let in_time = |time: Span| if or_equal { time <= tt } else { time < tt };
    let mss = subflow.mss.max(1);
    let ssthresh = subflow.ssthresh / mss;
    let mut cwnd = (subflow.cwnd / mss).max(1);
    let mut time = subflow.srtt / 2;
    let mut octets = match subflow.has_room && in_time(time) {
        true => room(subflow),
        false => 0,
    };
    loop {
        time += subflow.srtt;
        if octets >= most || !in_time(time) {
            return octets.min(most);
        }
        cwnd = next_window(cwnd, ssthresh);
        octets += cwnd * mss;
    }
}

/// Octets of the full segments, at least one, that a subflow with room sends in round 0.
fn room(subflow: &Candidate) -> u64 {
    let mss = subflow.mss.max(1);
    (subflow.cwnd.saturating_sub(subflow.in_flight) / mss).max(1) * mss
}

impl Scheduler for Sttf {
    fn choose(&mut self, candidates: &[Candidate], stream: &Stream) -> Choice {
        // Of the subflows with room the fastest has the shortest transfer time, so that it gets the earliest segment.
        let roomy = candidates.iter().enumerate().filter(|(_, subflow)| subflow.has_room);
        let Some((at, chosen)) = roomy.min_by_key(|(_, subflow)| subflow.srtt) else {
            return Choice::Wait;
        };
        let new = stream.unsent.saturating_sub(stream.skipped).min(stream.window_left);
        let mut left = stream.skipped + new;
        let waiting = left;
        for (i, other) in candidates.iter().enumerate().filter(|(i, _)| *i != at) {
            left -= sent_before(other, (chosen.srtt / 2, i < at), left);
        }
        match waiting - left {
            _ if left == 0 => Choice::Wait,
            0 => Choice::New(chosen.id),
            after => Choice::Ahead { id: chosen.id, after },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidate, full, stream};
    use super::*;

    /// Full, of a window of ten segments and this threshold, in segments.
    fn avoiding(id: u32, rtt_ms: u64, ssthresh: u64) -> Candidate {
        Candidate { ssthresh: 1000 * ssthresh, ..full(id, rtt_ms) }
    }

    /// Segments by hand for a round trip of 10 ms: what rounds of 15, 25, 35... ms bring before a date, after 5 ms for
    /// round 0.
    #[test]
    fn rounds_by_hand() {
        let sent = |subflow: Candidate, ms: u64, or_equal: bool| {
            sent_before(&subflow, (Span::from_millis(ms), or_equal), 1 << 30) / 1000
        };
        // The slow start: 20, 40, 80.
        assert_eq!([5, 15, 16, 25, 36].map(|ms| sent(full(0, 10), ms, false)), [0, 0, 20, 20, 140]);
        assert_eq!(sent(full(0, 10), 15, true), 20);
        // Round 0 has ten segments, or what the window leaves of them.
        assert_eq!([5, 6, 16].map(|ms| sent(candidate(0, 10), ms, false)), [0, 10, 30]);
        let seven = Candidate { in_flight: 3500, ..candidate(0, 10) };
        assert_eq!(sent(seven, 6, false), 6, "full segments");
        // It ends at the threshold: 15, 16, 17; and from there on: 11, 12, 13.
        assert_eq!([16, 26, 36].map(|ms| sent(avoiding(0, 10, 15), ms, false)), [15, 31, 48]);
        assert_eq!([16, 26, 36].map(|ms| sent(avoiding(0, 10, 5), ms, false)), [11, 23, 36]);
        assert_eq!(sent_before(&full(0, 10), (Span::from_millis(36), false), 25_000), 25_000);
    }

    /// 10 ms in congestion avoidance, full, beside 100 ms: until 50 ms it sends 11 + 12 + 13 + 14 segments, so that the
    /// 51st is the first that arrives earlier over the slow one.
    #[test]
    fn a_slow_subflow_sends_what_lies_behind_the_rounds_of_the_fast() {
        let all = [avoiding(0, 10, 5), candidate(1, 100)];
        let choose = |stream: &Stream| Sttf.choose(&all, stream);
        let ahead = Choice::Ahead { id: 1, after: 50_000 };
        assert_eq!(choose(&stream(60_000)), ahead);
        assert_eq!(choose(&stream(50_001)), ahead);
        assert_eq!(choose(&stream(50_000)), Choice::Wait, "all of it is earlier over the fast one");
        // Of 60 segments that wait 30 were skipped before, and the receiver takes 20 more, or 21.
        let narrow = |segments: u64| {
            let window_left = 1000 * segments;
            Stream { skipped: 30_000, window_left, ..stream(60_000) }
        };
        assert_eq!(choose(&narrow(20)), Choice::Wait);
        assert_eq!(choose(&narrow(21)), ahead);
    }

    #[test]
    fn the_fastest_with_room_sends_the_next() {
        let choose = |all: &[Candidate]| Sttf.choose(all, &stream(1 << 20));
        assert_eq!(choose(&[candidate(0, 30), candidate(1, 10)]), Choice::New(1));
        assert_eq!(choose(&[candidate(0, 10), candidate(1, 10)]), Choice::New(0), "the older");
        // Half a round trip of the second is no longer than the next round of the full one.
        assert_eq!(choose(&[full(0, 10), candidate(1, 29)]), Choice::New(1));
        assert_eq!(
            choose(&[full(0, 10), candidate(1, 30)]),
            Choice::Ahead { id: 1, after: 20_000 }
        );
        assert_eq!(choose(&[candidate(0, 30), full(1, 10)]), Choice::New(0), "the older of equals");
        assert_eq!(choose(&[full(0, 10), full(1, 20)]), Choice::Wait);
    }
}
