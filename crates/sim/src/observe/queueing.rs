//! Distributions of a link's queue: its length over time, and the time that each packet that was
//! sent has waited in it.

use super::occupancy::Occupancy;
use super::{Interests, Observer, PacketEvent, PacketEventKind, Place};
use crate::quantiles::{Distribution, Level, Times};
use anabranch_network::{LinkEvent, LinkId};
use anabranch_units::Time;
use anabranch_wire::Packet;

/// Keeps the distributions of the links that it is told of, some hundred kilobytes for each.
#[derive(Clone, Debug, Default)]
pub struct QueueingRecorder {
    tracks: Vec<Option<Box<Track>>>,
}

/// The distributions of a queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Queueing {
    /// Packets that wait, without the one being transmitted, weighted by time.
    pub packets: Option<Distribution>,
    /// Seconds from joining the queue to the start of the transmission, of each packet.
    pub delay: Option<Distribution>,
}

#[derive(Clone, Debug)]
struct Track {
    occupancy: Occupancy,
    level: Level,
    delays: Times,
    /// Time since which so many packets have waited.
    since: Time,
    packets: u64,
}

impl Track {
    fn hear(&mut self, now: Time, event: LinkEvent) {
        let Track { occupancy, level, since, packets, .. } = self;
        occupancy.on_event(now, event, |at, number| {
            level.add(*packets, at.saturating_since(*since));
            (*since, *packets) = (at, number);
        });
        match event {
            LinkEvent::Enqueued { starts, .. } => self.delays.add(starts.saturating_since(now)),
            LinkEvent::Starts { since, .. } => self.delays.add(now.saturating_since(since)),
            _ => {}
        }
    }
}

impl QueueingRecorder {
    /// Makes a recorder that keeps nothing yet.
    pub fn new() -> QueueingRecorder {
        QueueingRecorder::default()
    }

    /// Also keeps those of this link.
    pub fn record(&mut self, link: LinkId) {
        let index = link.0 as usize;
        if self.tracks.len() <= index {
            self.tracks.resize(index + 1, None);
        }
        self.tracks[index] = Some(Box::new(Track {
            occupancy: Occupancy::default(),
            level: Level::new(),
            delays: Times::new(),
            since: Time::ZERO,
            packets: 0,
        }));
    }

    /// The distributions up to `end`; `None` of a link that is not recorded.
    pub fn queueing(&self, link: LinkId, end: Time) -> Option<Queueing> {
        let mut track = self.tracks.get(link.0 as usize)?.clone()?;
        let Track { occupancy, level, since, packets, .. } = &mut *track;
        occupancy.advance(end, |at, number| {
            level.add(*packets, at.saturating_since(*since));
            (*since, *packets) = (at, number);
        });
        level.add(*packets, end.saturating_since(*since));
        Some(Queueing { packets: level.distribution(), delay: track.delays.distribution() })
    }
}

impl Observer for QueueingRecorder {
    fn interests(&self) -> Interests {
        Interests { packets: true, ..Interests::default() }
    }

    fn packet(&mut self, now: Time, event: &PacketEvent, _packet: &Packet) {
        let (Place::Link(link), PacketEventKind::Link(kind)) = (event.place, event.kind) else {
            return;
        };
        if let Some(Some(track)) = self.tracks.get_mut(link.0 as usize) {
            track.hear(now, kind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn track() -> Track {
        let mut recorder = QueueingRecorder::new();
        recorder.record(LinkId(0));
        *recorder.tracks.remove(0).expect("it was just made")
    }

    fn end(track: Track, ms: u64) -> Queueing {
        let recorder = QueueingRecorder { tracks: vec![Some(Box::new(track))] };
        recorder.queueing(LinkId(0), at(ms)).expect("it is recorded")
    }

    /// Three packets at once, each 10 ms on the line: two wait, for 10 and 20 ms.
    #[test]
    fn a_queue_first_in_first_out_is_known_at_arrival() {
        let mut track = track();
        for n in 0..3 {
            let (starts, departs) = (at(10 * n), at(10 * n + 10));
            track.hear(at(0), LinkEvent::Enqueued { starts, departs });
        }
        let of = end(track, 100);
        let packets = of.packets.expect("time has passed");
        // Two for 10 ms, one for 10 ms, none for 80 ms.
        assert!((packets.mean - 0.3).abs() < 1e-9, "{packets:?}");
        assert_eq!((packets.p50, packets.p95, packets.max), (0.0, 2.0, 2.0));
        let delay = of.delay.expect("packets were sent");
        assert!((delay.mean - 0.01).abs() < 1e-9 && delay.max == 0.02, "{delay:?}");
    }

    #[test]
    fn a_queue_that_decides_later_tells_when_each_leaves() {
        let mut track = track();
        track.hear(at(0), LinkEvent::Waits);
        track.hear(at(0), LinkEvent::Starts { since: at(0), departs: at(10) });
        track.hear(at(4), LinkEvent::Waits);
        track.hear(at(10), LinkEvent::Starts { since: at(4), departs: at(20) });
        let of = end(track, 60);
        let (packets, delay) = (of.packets.expect("time has passed"), of.delay.expect("sent"));
        assert!((packets.mean - 0.1).abs() < 1e-9, "{packets:?}");
        assert!((delay.mean - 0.003).abs() < 1e-9 && delay.max == 0.006, "{delay:?}");
    }
}
