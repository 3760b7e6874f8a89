//! Segments that leave together, as Linux's segmentation offload makes them: one packet until the
//! device cuts it, with PSH on its last segment. A receiver that acknowledges what is pushed at once
//! then acknowledges a third segment by itself.

use anabranch_units::Span;

/// Segments of one packet, at least, where so many may leave (`tcp_min_tso_segs`).
const FEWEST: u64 = 2;
/// The largest packet, octets (`GSO_MAX_SIZE`).
const LARGEST: u64 = 65_536;

/// The packet that leaves at present.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Offload {
    /// Offset of the first octet behind it, as planned when its first segment left.
    end: u64,
    /// It has two segments or more: the last one has PSH.
    several: bool,
}

/// What decides how many segments a packet has, looked up when its first segment leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Payload of a full segment, octets.
    pub mss: u64,
    /// Octets that the windows let leave now.
    pub room: u64,
    /// Congestion window, octets.
    pub window: u64,
    /// The window is below half of the slow-start threshold.
    pub starts: bool,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Smallest round-trip time.
    pub min_rtt: Option<Span>,
}

impl Offload {
    /// A segment from `start` on leaves in order: it belongs to the packet, or begins the next.
    pub fn on_segment(&mut self, start: u64, bounds: impl FnOnce() -> Bounds) {
        if start >= self.end {
            let bounds = bounds();
            let segments = (bounds.room / bounds.mss).min(bounds.segments());
            self.end = start + segments.max(1) * bounds.mss;
            self.several = segments > 1;
        }
    }

    /// The segment that ends here is the last of several.
    pub fn ends_at(&self, end: u64) -> bool {
        self.several && end == self.end
    }
}

impl Bounds {
    /// Returns how many segments a packet has at most: what leaves in a millisecond at 1.2 windows a
    /// round trip, in slow start 2, and more where the round trip is short (`tcp_tso_autosize`); half
    /// a window at most.
    fn segments(&self) -> u64 {
        let micros = |span: Span| (span.as_secs_f64() * 1e6) as u64;
        let rate = match self.srtt.map(micros) {
            Some(srtt) if srtt > 0 => {
                let tenths = if self.starts { 20 } else { 12 };
                self.window as u128 * tenths * 100_000 / srtt as u128
            }
            _ => 0, // nothing was measured
        };
        let shift = self.min_rtt.map_or(u64::MAX, |rtt| micros(rtt) >> 9);
        let near = if shift < 32 { LARGEST >> shift } else { 0 };
        let octets = ((rate >> 10) as u64).saturating_add(near).min(LARGEST);
        (octets / self.mss).max(FEWEST).min((self.window / self.mss / 2).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A megabyte in flight over this round trip.
    fn segments(round_trip: Span) -> u64 {
        let rtt = Some(round_trip);
        let window = 1_000_000;
        let all =
            Bounds { mss: 1448, room: window, window, starts: false, srtt: rtt, min_rtt: rtt };
        all.segments()
    }

    /// `tcp_tso_autosize`: a millisecond at 1.2 windows a round trip, and within two milliseconds
    /// all that a packet holds.
    #[test]
    fn a_packet_has_what_leaves_in_a_millisecond() {
        let of = [100, 10, 1, 0].map(|ms| segments(Span::from_millis(ms)));
        assert_eq!(of, [8, 45, 45, 45]);
        let slow = segments(Span::from_secs(10));
        assert_eq!(slow, FEWEST);
    }

    #[test]
    fn a_packet_has_half_a_window_at_most() {
        let small = |window| Bounds {
            mss: 1000,
            room: window,
            window,
            starts: true,
            srtt: None,
            min_rtt: Some(Span::from_micros(100)),
        };
        assert_eq!([1000, 3000, 4000, 10_000].map(|window| small(window).segments()), [1, 1, 2, 5]);
    }

    #[test]
    fn the_last_of_several_ends_the_packet() {
        let mut offload = Offload::default();
        let room = |room| {
            let rtt = Some(Span::from_millis(100));
            move || Bounds {
                mss: 100,
                room,
                window: 10_000,
                starts: false,
                srtt: rtt,
                min_rtt: rtt,
            }
        };
        offload.on_segment(1, room(350));
        assert!(!offload.ends_at(101));
        offload.on_segment(101, room(250));
        assert!(offload.ends_at(201), "two at this rate");
        offload.on_segment(201, room(150));
        assert!(!offload.ends_at(301), "alone");
    }
}
