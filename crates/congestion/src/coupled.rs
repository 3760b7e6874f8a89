//! Coupled algorithms: the windows of one connection's paths grow together, so
//! that the connection takes no more of a bottleneck than a single path would,
//! and leaves the congested paths. One algorithm a file; they see their siblings
//! through [`Controller::on_siblings`](crate::Controller::on_siblings), read only.
//!
//! Without siblings each is the single-path algorithm that it was made of: LIA,
//! OLIA and BALIA are Reno, wVegas is Vegas with one bound, MCubic is CUBIC
//! without the Reno-friendly region, coupled BBR is BBR version 1, and D-LIA is
//! Reno with reductions of its own.
//!
//! *Uncoupled* is no algorithm: any single-path one, on each path by itself.

pub mod balia;
pub mod coupled_bbr;
pub mod d_lia;
pub mod lia;
pub mod mcubic;
pub mod mcubic_share;
pub mod olia;
pub mod wvegas;

#[cfg(test)]
mod tests;

use crate::{PathView, Sibling};

/// `Others` are the siblings, as they were before the acknowledgment at hand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Others(Vec<Sibling>);

/// `Term` is a path in the papers' terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    /// `w` is the congestion window, in segments.
    pub w: f64,
    /// `rtt` is the smoothed round-trip time, in seconds.
    pub rtt: f64,
}

impl Term {
    /// Returns the rate `w / rtt`, in segments per second.
    pub fn x(self) -> f64 {
        self.w / self.rtt
    }
}

impl Others {
    pub fn set(&mut self, siblings: &[Sibling]) {
        self.0.clear();
        self.0.extend_from_slice(siblings);
    }

    pub fn iter(&self) -> impl Iterator<Item = &Sibling> {
        self.0.iter()
    }

    /// Goes through the siblings whose round-trip time is known.
    pub fn terms(&self) -> impl Iterator<Item = Term> + '_ {
        self.0.iter().filter_map(term_of)
    }
}

/// Returns a sibling in the papers' terms; `None` before its first round-trip sample.
pub(crate) fn term_of(sibling: &Sibling) -> Option<Term> {
    let rtt = sibling.srtt?.as_secs_f64();
    (rtt > 0.0).then(|| Term { w: sibling.window as f64 / sibling.mss as f64, rtt })
}

/// Returns the path itself in the papers' terms; `None` before its first round-trip sample.
pub(crate) fn own(cwnd: f64, path: &PathView) -> Option<Term> {
    let rtt = path.srtt?.as_secs_f64();
    (rtt > 0.0).then(|| Term { w: cwnd / path.mss as f64, rtt })
}
