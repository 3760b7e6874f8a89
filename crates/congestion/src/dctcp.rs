//! DCTCP: a reduction in proportion to the marks (RFC 8257).
//!
//! §3.3: once per window of data the fraction `M` of octets that were reported
//! as marked moves the average `alpha`; a mark leaves `1 - alpha / 2` of the
//! window, at most once per window. §3.5: a loss is answered as by Reno, which
//! the growth is too. The receiver must echo marks exactly (§3.2), which is
//! the protocol engine's part.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::reno::one_segment_per_round;
use crate::round::Round;
use crate::{Acked, Cause, Feedback, PathView};

/// `DctcpOptions` are the settings of [`Dctcp`].
#[derive(Clone, PartialEq, Debug)]
pub struct DctcpOptions {
    /// `g`, the weight of a window's fraction in the average; 1/16 (§4.2).
    pub g: f64,
    /// `DCTCP.Alpha` at first; 1 (§4.2).
    pub initial_alpha: f64,
    /// Options shared with other algorithms; `ecn_beta` has no part here.
    pub common: Common,
}

impl Default for DctcpOptions {
    fn default() -> DctcpOptions {
        DctcpOptions { g: 1.0 / 16.0, initial_alpha: 1.0, common: Common::default() }
    }
}

impl crate::Options for DctcpOptions {
    const ANSWERS_MARKS: bool = true;

    fn common_mut(&mut self) -> Option<&mut Common> {
        Some(&mut self.common)
    }

    fn own<F: crate::OptionForm>(&mut self, form: &mut F) -> Result<(), F::Error> {
        form.says("weight of a window's marks in `alpha`").probability("g", &mut self.g)?;
        form.says("first value of `alpha`, from 0 to 1")
            .probability("initial_alpha", &mut self.initial_alpha)
    }
}

/// The controller of DCTCP: [`DctcpLaw`] driven by ACKs.
pub type Dctcp = AckClocked<DctcpLaw>;

/// `DctcpLaw` is DCTCP's growth and reduction; names are those of RFC 8257 §3.3.
#[derive(Clone, Copy, Debug)]
pub struct DctcpLaw {
    g: f64,
    /// `DCTCP.Alpha`: how much of what is sent meets congestion.
    alpha: f64,
    /// `DCTCP.BytesAcked` and `DCTCP.BytesMarked` of this window.
    bytes_acked: u64,
    bytes_marked: u64,
    /// `DCTCP.WindowEnd`: the end of the window over which marks are counted.
    window: Round,
}

impl Law for DctcpLaw {
    type Options = DctcpOptions;

    const ANSWERS_MARKS: bool = true;

    fn new(options: &DctcpOptions) -> DctcpLaw {
        DctcpLaw {
            g: options.g,
            alpha: options.initial_alpha,
            bytes_acked: 0,
            bytes_marked: 0,
            window: Round::default(),
        }
    }

    fn common(options: &DctcpOptions) -> &Common {
        &options.common
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        one_segment_per_round(cwnd, acked, path)
    }

    fn reduce(&mut self, cwnd: f64, base: f64, cause: Cause, _path: &PathView) -> f64 {
        match cause {
            Cause::EcnMark => cwnd * (1.0 - self.alpha / 2.0),
            Cause::Loss | Cause::Timeout => base / 2.0,
        }
    }

    fn wants_feedback(&self) -> bool {
        true
    }

    fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
        self.bytes_acked += feedback.delivered;
        self.bytes_marked += feedback.marked;
        if !self.window.begins(path) || self.bytes_acked == 0 {
            return;
        }
        // A report of marks may come later than that of the delivery.
        let m = self.bytes_marked.min(self.bytes_acked) as f64 / self.bytes_acked as f64;
        self.alpha = self.alpha * (1.0 - self.g) + self.g * m;
        self.bytes_acked = 0;
        self.bytes_marked = 0;
    }
}

#[cfg(test)]
mod tests;
