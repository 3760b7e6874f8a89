//! Records how many packets wait in front of a link, exact at every change.

use super::occupancy::Occupancy;
use super::recording::{Recording, Series};
use super::{Interests, Observer, PacketEvent, PacketEventKind, Place};
use anabranch_network::LinkId;
use anabranch_units::{Span, Time};
use anabranch_wire::Packet;

/// Records queue lengths, in packets, without the one being transmitted.
#[derive(Clone, Debug, Default)]
pub struct QueueRecorder {
    tracks: Vec<Option<Track>>,
}

#[derive(Clone, Debug)]
struct Track {
    recording: Recording,
    occupancy: Occupancy,
}

impl QueueRecorder {
    /// Makes a recorder that records nothing yet.
    pub fn new() -> QueueRecorder {
        QueueRecorder::default()
    }

    /// Also records this link: on change, or at every multiple of `every`.
    pub fn record(&mut self, link: LinkId, every: Option<Span>) {
        let index = link.0 as usize;
        if self.tracks.len() <= index {
            self.tracks.resize(index + 1, None);
        }
        let occupancy = Occupancy::default();
        let mut track = Track { recording: Recording::new(every), occupancy };
        track.recording.set(Time::ZERO, 0.0);
        self.tracks[index] = Some(track);
    }

    /// Returns the recorded series up to `end`.
    pub fn series(&self, link: LinkId, end: Time) -> Option<Series> {
        let mut track = self.tracks.get(link.0 as usize)?.clone()?;
        let Track { recording, occupancy } = &mut track;
        occupancy.advance(end, |at, packets| recording.set(at, packets as f64));
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
        if let PacketEventKind::Link(event) = event.kind {
            let Track { recording, occupancy } = track;
            occupancy.on_event(now, event, |at, packets| recording.set(at, packets as f64));
        }
    }
}
