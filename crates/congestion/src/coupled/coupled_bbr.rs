//! Coupled BBR: BBR on each path, whose bandwidth is divided among the paths that seem to share a bottleneck (Mahmud,
//! Lubna, Song and Cho, "Coupled Multipath BBR (C-MPBBR)", IEEE Access 8, 2020).
//!
//! As the authors' kernel module has it (mptcp_c-mpbbr.c): paths are taken to share a bottleneck where their bandwidths are
//! alike,
//!
//! ```text
//! n_i = |{ j : 0.8 BtlBw_i <= BtlBw_j <= 1.2 BtlBw_i }|, the path itself included
//! ```
//!
//! which is counted with each ACK of phase 3 of ProbeBW's gain cycle. One count above 1 is not believed before the next, nor a
//! count of 1 after others. In phases 2 to 7, where the gain is 1, pacing rate and window are those of BBR for `BtlBw_i /
//! n_i`; in phases 0 and 1, which probe and drain, and in the other states, for `BtlBw_i`.
//!
//! BBR is version 1, [`bbr`](crate::bbr), on which the module is built. Left out: a path that adds too little is not closed
//! (`mpbbr_check_multipath_benefit`); a window algorithm has no say in that.

use super::Others;
use crate::bbr::{Bbr, BbrOptions};
use crate::{
    Acked, CongestionEvent, Controller, Feedback, OptionForm, Options, PathView, Shared, Sibling,
};
use anabranch_units::{Rate, Span, Time};

/// `CoupledBbrOptions` are the settings of [`CoupledBbr`].
#[derive(Clone, PartialEq, Debug)]
pub struct CoupledBbrOptions {
    /// `likeness` is how far the bandwidth of another path may be from this one's, in percent, for both to count as sharing a
    /// bottleneck; 20.
    pub likeness: u32,
    /// `bbr` has the options of BBR.
    pub bbr: BbrOptions,
}

impl Default for CoupledBbrOptions {
    fn default() -> CoupledBbrOptions {
        CoupledBbrOptions { likeness: 20, bbr: BbrOptions::default() }
    }
}

impl Options for CoupledBbrOptions {
    fn own<F: OptionForm>(&mut self, form: &mut F) -> Result<(), F::Error> {
        form.says(
            "paths whose bandwidths differ by at most so much share a bottleneck, in percent",
        )
        .integer("likeness", 0..=100, &mut self.likeness)?;
        self.bbr.own(form)
    }
}

/// The first phase of ProbeBW's cycle in which the bandwidth is divided.
const FIRST_DIVIDED: usize = 2;
/// The phase in which paths are counted.
const COUNTED: usize = 3;

/// The controller of one path under coupled BBR.
#[derive(Clone, Debug)]
pub struct CoupledBbr {
    bbr: Bbr,
    coupling: Box<Coupling>,
}

/// `Coupling` is what a path knows of those that share its bottleneck.
#[derive(Clone, Debug)]
struct Coupling {
    others: Others,
    /// How far bandwidths that are alike differ, as a part.
    likeness: f64,
    /// How many paths were alike at the last count.
    last: u32,
    /// `n_i`: among how many paths the bandwidth is divided.
    paths: u32,
    /// Segment payload, in octets.
    mss: u64,
}

impl CoupledBbr {
    /// Makes a window of `initial_window` octets; BBR has no slow-start threshold.
    pub fn new(
        options: &CoupledBbrOptions,
        initial_window: u64,
        initial_ssthresh: u64,
    ) -> CoupledBbr {
        CoupledBbr {
            bbr: Bbr::new(&options.bbr, initial_window, initial_ssthresh),
            coupling: Box::new(Coupling {
                others: Others::default(),
                likeness: f64::from(options.likeness) / 100.0,
                last: 1,
                paths: 1,
                mss: 0,
            }),
        }
    }
}

impl Coupling {
    /// Counts the paths, of which this one has so much bandwidth, in octets per second.
    fn count(&mut self, bandwidth: f64) {
        let is_alike = |other: &&Sibling| {
            let other = other.state.rate * other.mss as f64;
            other > 0.0 && (other - bandwidth).abs() <= self.likeness * bandwidth
        };
        let alike = 1 + self.others.iter().filter(is_alike).count() as u32;
        self.paths = match (alike, self.last) {
            (_, 1) => 1,
            (1, last) => last,
            _ => alike,
        };
        self.last = alike;
    }

    /// The part of the bandwidth that the path follows, in a phase of ProbeBW or in another state.
    fn part(&mut self, bandwidth: f64, phase: Option<usize>) -> f64 {
        if phase == Some(COUNTED) {
            self.count(bandwidth);
        }
        match phase {
            Some(FIRST_DIVIDED..) => 1.0 / f64::from(self.paths),
            _ => 1.0,
        }
    }
}

impl Controller for CoupledBbr {
    fn on_sent(&mut self, now: Time, bytes: u64, path: &PathView) {
        self.bbr.on_sent(now, bytes, path);
    }

    fn on_ack(&mut self, acked: &Acked, path: &PathView) {
        self.bbr.on_ack(acked, path);
    }

    fn wants_feedback(&self) -> bool {
        self.bbr.wants_feedback()
    }

    fn owns_recovery(&self) -> bool {
        self.bbr.owns_recovery()
    }

    fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
        let coupling = &mut *self.coupling;
        coupling.mss = path.mss;
        self.bbr
            .on_shared_feedback(feedback, path, |bandwidth, phase| coupling.part(bandwidth, phase));
    }

    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
        self.bbr.on_congestion(event, path);
    }

    fn on_undo(&mut self) {
        self.bbr.on_undo();
    }

    fn on_idle(&mut self, initial: u64) {
        self.bbr.on_idle(initial);
    }

    fn is_coupled(&self) -> bool {
        true
    }

    fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.coupling.others.set(siblings);
    }

    fn shared(&self) -> Shared {
        let mss = self.coupling.mss.max(1) as f64;
        Shared { rate: self.bbr.bandwidth() / mss, ..Shared::default() }
    }

    /// `n_i`: among how many paths the bandwidth is divided.
    fn coupling(&self, _path: &Sibling) -> Option<f64> {
        Some(f64::from(self.coupling.paths))
    }

    fn window(&self) -> u64 {
        self.bbr.window()
    }

    fn ssthresh(&self) -> u64 {
        self.bbr.ssthresh()
    }

    fn pacing_rate(&self, srtt: Option<Span>) -> Option<Rate> {
        self.bbr.pacing_rate(srtt)
    }
}

#[cfg(test)]
mod tests;
