//! Time series of the paths of endpoints that have several.

use super::recording::{Recording, Series, next_multiple};
use super::{Interests, Observer};
use crate::flow::{FlowId, Side};
use anabranch_endpoint::{PathId, PathObservation, PathState};
use anabranch_units::{Span, Time};
use std::any::Any;

/// A quantity of a path that can be recorded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PathQuantity {
    /// Congestion window, in octets.
    Cwnd,
    /// Slow-start threshold, in octets; infinite when there is none.
    Ssthresh,
    /// Outstanding octets, chunk headers included.
    InFlight,
    /// Smoothed round-trip time, in seconds; absent until measured.
    Srtt,
    /// Retransmission timeout in force, in seconds.
    Rto,
    /// Errors in a row, which an answer clears.
    Errors,
    /// 0 unconfirmed, 1 active, 2 potentially failed, 3 inactive.
    State,
    /// What couples its window to those of the other paths; absent where nothing does.
    Coupling,
}

impl PathQuantity {
    fn of(self, path: &PathObservation) -> Option<f64> {
        match self {
            PathQuantity::Cwnd => Some(path.cwnd as f64),
            PathQuantity::Ssthresh if path.ssthresh == u64::MAX => Some(f64::INFINITY),
            PathQuantity::Ssthresh => Some(path.ssthresh as f64),
            PathQuantity::InFlight => Some(path.in_flight as f64),
            PathQuantity::Srtt => path.srtt.map(|span| span.as_secs_f64()),
            PathQuantity::Rto => Some(path.rto.as_secs_f64()),
            PathQuantity::Errors => Some(path.errors.into()),
            PathQuantity::State => Some(match path.state {
                PathState::Unconfirmed => 0.0,
                PathState::Active => 1.0,
                PathState::PotentiallyFailed => 2.0,
                PathState::Inactive => 3.0,
            }),
            PathQuantity::Coupling => path.coupling,
        }
    }
}

/// Records chosen quantities of all paths of chosen endpoints. A path that ends
/// and is opened again goes on in the same series.
#[derive(Clone, Debug, Default)]
pub struct PathRecorder {
    tracks: Vec<Vec<Track>>,
}

#[derive(Clone, Debug)]
struct Track {
    side: Side,
    quantity: PathQuantity,
    every: Option<Span>,
    paths: Vec<(PathId, Recording)>,
}

impl PathRecorder {
    /// Makes a recorder that records nothing yet.
    pub fn new() -> PathRecorder {
        PathRecorder::default()
    }

    /// Also records this quantity of each path: on change, or at every
    /// multiple of `every`.
    pub fn record(
        &mut self,
        flow: FlowId,
        side: Side,
        quantity: PathQuantity,
        every: Option<Span>,
    ) {
        let index = flow.0 as usize;
        if self.tracks.len() <= index {
            self.tracks.resize(index + 1, Vec::new());
        }
        self.tracks[index].push(Track { side, quantity, every, paths: Vec::new() });
    }

    fn all(&self) -> impl Iterator<Item = &Track> {
        self.tracks.iter().flatten()
    }

    /// Returns the recorded series up to `end`, path by path.
    pub fn series(
        &self,
        flow: FlowId,
        side: Side,
        quantity: PathQuantity,
        end: Time,
    ) -> Vec<(PathId, Series)> {
        let tracks = self.tracks.get(flow.0 as usize).into_iter().flatten();
        let tracks = tracks.filter(|track| (track.side, track.quantity) == (side, quantity));
        let paths = tracks.flat_map(|track| &track.paths);
        paths.map(|(id, recording)| (*id, recording.series(end))).collect()
    }
}

impl Observer for PathRecorder {
    fn interests(&self) -> Interests {
        let looks = self.all().all(|track| track.every.is_some());
        Interests { paths: true, looks, ..Interests::default() }
    }

    fn next_look(&self, from: Time) -> Time {
        let every = self.all().filter_map(|track| track.every);
        every.map(|every| next_multiple(every, from)).min().unwrap_or(Time::NEVER)
    }

    fn is_divisible(&self) -> bool {
        true
    }

    fn absorb(&mut self, other: &mut dyn Any) {
        let Some(other) = other.downcast_mut::<PathRecorder>() else { return };
        let all = self.tracks.iter_mut().flatten();
        for (mine, theirs) in all.zip(other.tracks.iter_mut().flatten()) {
            if !theirs.paths.is_empty() {
                std::mem::swap(&mut mine.paths, &mut theirs.paths);
            }
        }
    }

    fn path(&mut self, now: Time, flow: FlowId, side: Side, path: &PathObservation) {
        let Some(tracks) = self.tracks.get_mut(flow.0 as usize) else { return };
        for track in tracks.iter_mut().filter(|track| track.side == side) {
            let Some(value) = track.quantity.of(path) else { continue };
            match track.paths.iter_mut().find(|known| known.0 == path.id()) {
                Some((_, recording)) => recording.set(now, value),
                None => {
                    let mut recording = Recording::new(track.every);
                    recording.set(now, value);
                    track.paths.push((path.id(), recording));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::Addr;

    #[test]
    fn each_path_has_a_series_of_its_own() {
        let mut recorder = PathRecorder::new();
        recorder.record(FlowId(0), Side::Client, PathQuantity::Rto, None);
        recorder.record(FlowId(0), Side::Client, PathQuantity::State, None);
        let mut hear = |ms, side, remote, rto, state| {
            let path = PathObservation {
                local: Addr(0),
                remote: Addr(remote),
                subflow: None,
                state,
                cwnd: 1,
                ssthresh: 1,
                in_flight: 0,
                srtt: None,
                rto: Span::from_secs(rto),
                errors: 0,
                timeouts: 0,
                fast_retransmits: 0,
                ecn_reductions: 0,
                packets: 0,
                retransmitted: 0,
                bytes_acked: 0,
                bytes_received: None,
                heartbeats: 0,
                coupling: None,
            };
            recorder.path(Time::ZERO + Span::from_millis(ms), FlowId(0), side, &path);
        };
        hear(1, Side::Client, 7, 1, PathState::Active);
        hear(1, Side::Client, 8, 3, PathState::Unconfirmed);
        hear(2, Side::Server, 7, 9, PathState::Active);
        hear(3, Side::Client, 7, 1, PathState::PotentiallyFailed);
        hear(3, Side::Client, 8, 1, PathState::Active);
        let series = |what| -> Vec<(u32, Vec<f64>)> {
            let all = recorder.series(FlowId(0), Side::Client, what, Time::NEVER);
            all.into_iter().map(|(id, series)| (id.remote.0, series.value)).collect()
        };
        assert_eq!(series(PathQuantity::Rto), [(7, vec![1.0]), (8, vec![3.0, 1.0])]);
        assert_eq!(series(PathQuantity::State), [(7, vec![1.0, 2.0]), (8, vec![0.0, 1.0])]);
        assert_eq!(series(PathQuantity::Cwnd), []);
    }
}
