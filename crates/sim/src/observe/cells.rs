//! Records how many cells wait at each port of an ATM line, and what sources of cells
//! may send.
//!
//! As in front of a link: departures are known on arrival, so that the recorder keeps the dates at
//! which waiting cells start, and writes those that have passed before the next arrival.

use super::recording::{Recording, Series};
use super::{Interests, Observer};
use anabranch_network::LinkId;
use anabranch_network::abr::CellNote;
use anabranch_units::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// Records queues in cells, without the one on the line, and allowed rates in cells a second.
#[derive(Clone, Debug, Default)]
pub struct CellRecorder {
    queues: BTreeMap<(usize, usize), Track>,
    rates: BTreeMap<LinkId, Recording>,
}

#[derive(Clone, Debug)]
struct Track {
    recording: Recording,
    starts: VecDeque<Time>,
}

impl Track {
    fn advance(&mut self, now: Time) {
        while let Some(start) = self.starts.front().copied().filter(|start| *start <= now) {
            self.starts.pop_front();
            self.recording.set(start, self.starts.len() as f64);
        }
    }
}

impl CellRecorder {
    /// Makes a recorder that records nothing yet.
    pub fn new() -> CellRecorder {
        CellRecorder::default()
    }

    /// Also records the queue of a line's port, by direction: on change, or at every multiple of
    /// `every`.
    pub fn record_queue(&mut self, line: usize, direction: usize, every: Option<Span>) {
        let mut recording = Recording::new(every);
        recording.set(Time::ZERO, 0.0);
        self.queues.insert((line, direction), Track { recording, starts: VecDeque::new() });
    }

    /// Also records the allowed cell rate of a link's source, which begins with `initial`.
    pub fn record_rate(&mut self, link: LinkId, initial: f64, every: Option<Span>) {
        let mut recording = Recording::new(every);
        recording.set(Time::ZERO, initial);
        self.rates.insert(link, recording);
    }

    /// Cells that waited, up to `end`.
    pub fn queue(&self, line: usize, direction: usize, end: Time) -> Option<Series> {
        let mut track = self.queues.get(&(line, direction))?.clone();
        track.advance(end);
        Some(track.recording.series(end))
    }

    /// Cells a second, up to `end`.
    pub fn rate(&self, link: LinkId, end: Time) -> Option<Series> {
        Some(self.rates.get(&link)?.series(end))
    }
}

impl Observer for CellRecorder {
    fn interests(&self) -> Interests {
        Interests { cells: true, ..Interests::default() }
    }

    fn cell(&mut self, note: &CellNote) {
        match *note {
            CellNote::Queued { line, direction, at, starts } => {
                let Some(track) = self.queues.get_mut(&(line, direction)) else { return };
                track.advance(at);
                if starts > at {
                    track.starts.push_back(starts);
                    track.recording.set(at, track.starts.len() as f64);
                }
            }
            CellNote::Rate { link, at, cells } => {
                if let Some(recording) = self.rates.get_mut(&link) {
                    recording.set(at, cells);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn a_queue_is_counted_as_cells_start() {
        let mut cell_recorder = CellRecorder::new();
        cell_recorder.record_queue(3, 1, None);
        for (came, starts) in [(0, 0), (1, 10), (2, 20), (25, 30)] {
            let (line, direction) = (3, 1);
            cell_recorder.cell(&CellNote::Queued {
                line,
                direction,
                at: at(came),
                starts: at(starts),
            });
        }
        let series = cell_recorder.queue(3, 1, at(100)).unwrap();
        assert_eq!(series.time, [0, 1, 2, 10, 20, 25, 30].map(at));
        assert_eq!(series.value, [0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 0.0]);
        assert!(
            cell_recorder.queue(3, 0, at(100)).is_none()
                && cell_recorder.rate(LinkId(0), at(1)).is_none()
        );
    }
}
