//! How many packets wait in front of a link, exact at every change.
//!
//! A link with a queue first in, first out computes departures at arrival and
//! has no event for them, so the recorder keeps the dates at which waiting
//! packets start, and writes those that have passed before the next arrival.
//! Other queues tell of what joins and leaves them.

use super::recording::{Recording, Series};
use super::{Interests, Observer, PacketEvent, PacketEventKind, Place};
use anabranch_network::{LinkEvent, LinkId};
use anabranch_units::{Span, Time};
use anabranch_wire::Packet;
use std::collections::VecDeque;

/// Records queue lengths, in packets, without the one being transmitted.
#[derive(Clone, Debug, Default)]
pub struct QueueRecorder {
    tracks: Vec<Option<Track>>,
}

#[derive(Clone, Debug)]
struct Track {
    recording: Recording,
    starts: VecDeque<Time>,
    /// Packets in a queue that tells of what leaves it.
    held: u64,
}

impl Track {
    fn advance(&mut self, now: Time) {
        while let Some(start) = self.starts.front().copied().filter(|start| *start <= now) {
            self.starts.pop_front();
            self.recording.set(start, self.starts.len() as f64);
        }
    }

    fn hold(&mut self, now: Time, held: u64) {
        self.held = held;
        self.recording.set(now, held as f64);
    }
}

impl QueueRecorder {
    /// Records nothing yet.
    pub fn new() -> QueueRecorder {
        QueueRecorder::default()
    }

    /// Also records this link: on change, or at every multiple of `every`.
    pub fn record(&mut self, link: LinkId, every: Option<Span>) {
        let index = link.0 as usize;
        if self.tracks.len() <= index {
            self.tracks.resize(index + 1, None);
        }
        let mut track =
            Track { recording: Recording::new(every), starts: VecDeque::new(), held: 0 };
        track.recording.set(Time::ZERO, 0.0);
        self.tracks[index] = Some(track);
    }

    /// What was recorded, up to `end`.
    pub fn series(&self, link: LinkId, end: Time) -> Option<Series> {
        let mut track = self.tracks.get(link.0 as usize)?.clone()?;
        track.advance(end);
        Some(track.recording.series(end))
    }
}

impl Observer for QueueRecorder {
    fn interests(&self) -> Interests {
        Interests { packets: true, ..Interests::default() }
    }

    fn packet(&mut self, now: Time, event: &PacketEvent, _packet: &Packet) {
        let Place::Link(link) = event.place else { return };
        let Some(Some(track)) = self.tracks.get_mut(link.0 as usize) else { return };
        match event.kind {
            PacketEventKind::Link(LinkEvent::Enqueued { starts, .. }) => {
                track.advance(now);
                if starts > now {
                    track.starts.push_back(starts);
                    track.recording.set(now, track.starts.len() as f64);
                }
            }
            PacketEventKind::Link(LinkEvent::Waits) => track.hold(now, track.held + 1),
            PacketEventKind::Link(LinkEvent::Starts { .. })
            | PacketEventKind::Link(LinkEvent::Removed(_)) => {
                track.hold(now, track.held - 1);
            }
            _ => {}
        }
    }
}
