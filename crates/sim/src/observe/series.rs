//! Time series of an endpoint's state, recorded on change or at intervals.

use super::recording::{Recording, Series};
use super::{Interests, Observer};
use crate::flow::{FlowId, Side};
use anabranch_endpoint::Observation;
use anabranch_units::{Span, Time};
use std::any::Any;

/// A quantity of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Quantity {
    /// Congestion window, in octets.
    Cwnd,
    /// Slow-start threshold, in octets; infinite when there is none.
    Ssthresh,
    /// Smoothed round-trip time, in seconds; absent until measured.
    Srtt,
    /// Estimate of what is in the network, in octets.
    InFlight,
    /// Octets received in order.
    Received,
}

impl Quantity {
    fn of(self, state: &Observation) -> Option<f64> {
        match self {
            Quantity::Cwnd => Some(state.cwnd as f64),
            Quantity::Ssthresh if state.ssthresh == u64::MAX => Some(f64::INFINITY),
            Quantity::Ssthresh => Some(state.ssthresh as f64),
            Quantity::Srtt => state.srtt.map(|span| span.as_secs_f64()),
            Quantity::InFlight => Some(state.in_flight as f64),
            Quantity::Received => Some(state.bytes_received as f64),
        }
    }
}

/// Records chosen quantities of chosen endpoints.
#[derive(Clone, Debug, Default)]
pub struct SeriesRecorder {
    tracks: Vec<Vec<(Side, Quantity, Recording)>>,
    /// Something is recorded on change.
    on_change: bool,
}

impl SeriesRecorder {
    /// Makes a recorder that records nothing yet.
    pub fn new() -> SeriesRecorder {
        SeriesRecorder::default()
    }

    /// Also records this quantity: on change, or at every multiple of `every`.
    pub fn record(&mut self, flow: FlowId, side: Side, quantity: Quantity, every: Option<Span>) {
        self.on_change |= every.is_none();
        let index = flow.0 as usize;
        if self.tracks.len() <= index {
            self.tracks.resize(index + 1, Vec::new());
        }
        self.tracks[index].push((side, quantity, Recording::new(every)));
    }

    /// Returns the recorded series up to `end`.
    pub fn series(
        &self,
        flow: FlowId,
        side: Side,
        quantity: Quantity,
        end: Time,
    ) -> Option<Series> {
        let tracks = self.tracks.get(flow.0 as usize)?;
        let track = tracks.iter().find(|track| (track.0, track.1) == (side, quantity))?;
        Some(track.2.series(end))
    }
}

impl Observer for SeriesRecorder {
    fn interests(&self) -> Interests {
        Interests { endpoints: true, looks: !self.on_change, ..Interests::default() }
    }

    fn next_look(&self, from: Time) -> Time {
        let all = self.tracks.iter().flatten();
        all.filter_map(|track| track.2.next_look(from)).min().unwrap_or(Time::NEVER)
    }

    fn is_divisible(&self) -> bool {
        true
    }

    fn absorb(&mut self, other: &mut dyn Any) {
        let Some(other) = other.downcast_mut::<SeriesRecorder>() else { return };
        let all = self.tracks.iter_mut().flatten();
        for ((.., mine), (.., theirs)) in all.zip(other.tracks.iter_mut().flatten()) {
            if !theirs.is_empty() {
                std::mem::swap(mine, theirs);
            }
        }
    }

    fn endpoint(&mut self, now: Time, flow: FlowId, side: Side, state: &Observation) {
        let Some(tracks) = self.tracks.get_mut(flow.0 as usize) else { return };
        for (_, quantity, recording) in tracks.iter_mut().filter(|track| track.0 == side) {
            if let Some(value) = quantity.of(state) {
                recording.set(now, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_changes_of_what_was_asked_for() {
        let mut recorder = SeriesRecorder::new();
        recorder.record(FlowId(1), Side::Client, Quantity::Cwnd, None);
        let mut hear = |ps, flow, side, cwnd| {
            let state = Observation { cwnd, ..Observation::default() };
            recorder.endpoint(Time::from_picos(ps), FlowId(flow), side, &state);
        };
        hear(1, 1, Side::Client, 10);
        hear(2, 1, Side::Client, 10);
        hear(3, 1, Side::Server, 99);
        hear(3, 0, Side::Client, 99);
        hear(4, 1, Side::Client, 20);
        hear(5, 1, Side::Client, 30);
        hear(5, 1, Side::Client, 20); // back, at the same date
        let recorded = |what| recorder.series(FlowId(1), Side::Client, what, Time::NEVER);
        let series = recorded(Quantity::Cwnd).unwrap();
        assert_eq!(series.time, [1, 4].map(Time::from_picos));
        assert_eq!(series.value, [10.0, 20.0]);
        assert_eq!(recorded(Quantity::Srtt), None);
    }
}
