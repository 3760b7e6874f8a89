//! Records how many packets each regulator holds, and how long it has held
//! each.

use super::recording::{Recording, Series};
use super::{Interests, Observer, PacketEvent, PacketEventKind, Place};
use anabranch_network::LinkId;
use anabranch_units::{Span, Time};
use anabranch_wire::Packet;

/// Records the packets held, and the delay given to each that is released.
#[derive(Clone, Debug, Default)]
pub struct RegulatorRecorder {
    tracks: Vec<Option<Track>>,
}

#[derive(Clone, Debug)]
struct Track {
    held: u64,
    recording: Recording,
    delays: Series,
}

impl RegulatorRecorder {
    /// Makes a recorder that records nothing yet.
    pub fn new() -> RegulatorRecorder {
        RegulatorRecorder::default()
    }

    /// Also records the regulator of this forward link: packets held on change,
    /// or at every multiple of `every`; delays always at each release.
    pub fn record(&mut self, link: LinkId, every: Option<Span>) {
        let index = link.0 as usize;
        if self.tracks.len() <= index {
            self.tracks.resize(index + 1, None);
        }
        let mut recording = Recording::new(every);
        recording.set(Time::ZERO, 0.0);
        self.tracks[index] = Some(Track { held: 0, recording, delays: Series::default() });
    }

    /// Packets held, up to `end`.
    pub fn held(&self, link: LinkId, end: Time) -> Option<Series> {
        Some(self.track(link)?.recording.series(end))
    }

    /// Dates of releases, and how long each packet had been held, in seconds.
    pub fn delays(&self, link: LinkId) -> Option<&Series> {
        Some(&self.track(link)?.delays)
    }

    fn track(&self, link: LinkId) -> Option<&Track> {
        self.tracks.get(link.0 as usize)?.as_ref()
    }
}

impl Observer for RegulatorRecorder {
    fn interests(&self) -> Interests {
        Interests { packets: true, ..Interests::default() }
    }

    fn packet(&mut self, now: Time, event: &PacketEvent, _packet: &Packet) {
        let Place::Link(link) = event.place else { return };
        let Some(Some(track)) = self.tracks.get_mut(link.0 as usize) else { return };
        match event.kind {
            PacketEventKind::Held => track.held += 1,
            PacketEventKind::Released { waited } => {
                track.held -= 1;
                track.delays.time.push(now);
                track.delays.value.push(waited.as_secs_f64());
            }
            PacketEventKind::Refused => track.held -= 1,
            _ => return,
        }
        track.recording.set(now, track.held as f64);
    }
}
