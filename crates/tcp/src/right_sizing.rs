//! A receive buffer that grows with what the connection moves, by dynamic
//! right-sizing: M. Fisk, W. Feng, "Dynamic Right-Sizing in TCP", LACSI
//! Symposium, 2001.
//!
//! What came within a round trip had been allowed by the sender's congestion
//! window, which doubles in slow start: the buffer is to hold more, so that it is
//! not what limits the sender. Octets are counted from one round trip to the next.
//! What a count of one round makes of the window is told with the ACKs of the
//! next, and used by the data of the one after it: in two rounds the sender may
//! double twice. So the buffer becomes four times the octets of a round, and
//! doubles per round trip while the window is used up. 16 segments more are for
//! those that were not read yet when their ACK left, and for delayed ACKs. It never
//! shrinks.
//!
//! As in Linux (`tcp_rcv_space_adjust`) what counts is what the application has
//! read: the buffer does not grow for one that does not. Deviation: the paper takes
//! twice the octets of a round, Linux twice, the 16 segments, and more by as much as the
//! round had more than the one before; Linux looks when the application reads, here it
//! is looked when data comes.
//!
//! A receiver knows the round-trip time from the handshake, and from what it sends
//! itself. Without a sample (a SYN that was sent again has none, RFC 6298 §3) it
//! takes the least time in which a whole buffer came, as the paper has it: the last
//! of it was allowed by an ACK that left when the first had come.

use anabranch_units::{Span, Time};

/// Segments beyond what was counted, as in Linux.
const SLACK: u64 = 16;

/// The state of dynamic right-sizing in the present round.
#[derive(Clone, Debug)]
pub(crate) struct RightSizing {
    /// The most octets that the buffer grows to.
    most: u64,
    /// Start of the round, and the offset that had been read by then.
    round: Option<(Time, u64)>,
    /// A date, and an offset that nobody could send then.
    beyond: Option<(Time, u64)>,
    /// The least time in which a buffer came.
    least: Option<Span>,
}

/// The receiver as data comes, before the application reads it. Offsets count
/// from the peer's SYN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub now: Time,
    /// Smoothed round-trip time of what this side sends, once measured.
    pub srtt: Option<Span>,
    /// Next offset expected (RCV.NXT).
    pub nxt: u64,
    /// The offset up to which the application has read.
    pub read: u64,
    /// Size of the receive buffer in octets.
    pub capacity: u64,
    /// Payload of a full segment of this side, in octets.
    pub mss: u64,
}

impl RightSizing {
    /// Lets the buffer grow up to `most` octets.
    pub fn new(most: u64) -> RightSizing {
        RightSizing { most, round: None, beyond: None, least: None }
    }

    /// Data came: what the buffer is to be, if it grows.
    pub fn on_data(&mut self, view: &View) -> Option<u64> {
        self.measure(view);
        let rtt = view.srtt.or(self.least)?;
        let (began, before) = *self.round.get_or_insert((view.now, view.read));
        if view.now.saturating_since(began) < rtt {
            return None;
        }
        self.round = Some((view.now, view.read));
        let wanted = (4 * (view.read - before) + SLACK * view.mss).min(self.most);
        (wanted > view.capacity).then_some(wanted)
    }

    fn measure(&mut self, view: &View) {
        if let Some((since, beyond)) = self.beyond {
            if view.nxt < beyond {
                return;
            }
            let took = view.now.saturating_since(since);
            self.least = Some(self.least.map_or(took, |least| least.min(took)));
        }
        self.beyond = Some((view.now, view.nxt + view.capacity));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// A sender fills the window each 100 ms, from 10,000 octets on, and the application
    /// reads `share` of a hundred: the buffer after each round.
    fn rounds(srtt: Option<Span>, share: u64) -> Vec<u64> {
        let mut sizing = RightSizing::new(1_000_000);
        let (mut capacity, mut nxt, mut read, mut edge) = (10_000, 1, 1, 10_001);
        let mut sizes = Vec::new();
        for round in 0..7 {
            // Two halves a millisecond apart, each looked at before it is read.
            let half = (edge - nxt) / 2;
            for ms in 0..2 {
                nxt += half;
                let view = View { now: at(round * 100 + ms), srtt, nxt, read, capacity, mss: 10 };
                capacity = sizing.on_data(&view).unwrap_or(capacity);
                read += half * share / 100;
            }
            edge = read + capacity;
            sizes.push(capacity);
        }
        sizes
    }

    const ROUND: Option<Span> = Some(Span::from_millis(100));

    #[test]
    fn the_buffer_doubles_per_round_up_to_its_most() {
        // 4 n + 160
        let sizes = [10_000, 40_160, 40_160, 160_800, 160_800, 643_360, 643_360];
        assert_eq!(rounds(ROUND, 100), sizes);
        let mut sizing = RightSizing::new(70_000);
        let view = View { now: at(0), srtt: ROUND, nxt: 1, read: 1, capacity: 50_000, mss: 10 };
        assert_eq!(sizing.on_data(&view), None);
        let later = View { now: at(100), nxt: 50_001, read: 50_001, ..view };
        assert_eq!(sizing.on_data(&later), Some(70_000));
        assert_eq!(
            sizing.on_data(&View { now: at(150), read: 90_001, ..later }),
            None,
            "no round yet"
        );
    }

    /// The first buffer shows how long a round is, and then it grows likewise.
    #[test]
    fn without_a_sample_a_buffer_is_a_round() {
        let sizes = [10_000, 10_000, 40_160, 40_160, 160_800, 160_800, 643_360];
        assert_eq!(rounds(None, 100), sizes);
    }

    #[test]
    fn it_does_not_grow_for_who_does_not_read() {
        assert_eq!(rounds(ROUND, 20), [10_000; 7]);
    }
}
