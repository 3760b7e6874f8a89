//! Which schemes there are, and their options: descriptions of what
//! [`Active`](super::Active) does.

use super::detector::MakeDetector;
use anabranch_custom::Custom;
use anabranch_units::Span;

/// Which scheme, with its options: a description.
#[derive(Clone, PartialEq, Debug)]
pub enum Recovery {
    /// Fast retransmit, then slow start (Fall and Floyd 1996).
    Tahoe,
    /// RFC 5681 fast retransmit and fast recovery.
    Reno {
        /// The ACK that ends recovery opens the window too, as in ns-2;
        /// otherwise it deflates it only (RFC 5681 §3.2 step 6).
        exit_growth: bool,
    },
    /// RFC 6582.
    NewReno {
        /// Restart the retransmission timer only at the first partial ACK
        /// (RFC 6582 §4, "Impatient"); otherwise at each ("Slow-but-Steady").
        impatient: bool,
        /// The ACK that ends recovery opens the window too, as in ns-2;
        /// otherwise it deflates it only (RFC 6582 §3.2 step 3).
        exit_growth: bool,
    },
    /// RFC 6675, or the pipe rules of ns-2.
    Sack {
        /// How the pipe is counted.
        pipe: Pipe,
        /// Proportional rate reduction (RFC 9937); with the pipe of RFC 6675.
        prr: bool,
    },
    /// Forward acknowledgment (Mathis and Mahdavi 1996).
    Fack {
        /// Proportional rate reduction (RFC 9937).
        prr: bool,
    },
    /// RACK-TLP (RFC 8985).
    Rack(RackOptions),
    /// Recovery decoupled from congestion control (Hwang, Yoo and Yoo).
    Decoupled {
        /// The ACK after the one that detects a loss is the first to move
        /// `moment_ack` to the forward ACK, which is the pseudo-code to the
        /// letter; otherwise the one that detects it, which is the text.
        opens_late: bool,
    },
    /// The same on RACK-TLP's detection.
    DecoupledRack(DecoupledRackOptions),
    /// One of the user's own.
    Custom(Box<Custom<MakeDetector>>),
}

/// A line of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct SchemeInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Where it is defined.
    pub reference: &'static str,
}

/// All schemes.
pub const SCHEMES: &[SchemeInfo] = &[
    SchemeInfo {
        name: "tahoe",
        summary: "fast retransmit, then slow start from one segment",
        reference: "Fall, Floyd: Simulation-based Comparisons of Tahoe, Reno, and SACK TCP (CCR 1996)",
    },
    SchemeInfo {
        name: "reno",
        summary: "fast retransmit and fast recovery; one loss per window",
        reference: "RFC 5681 §3.2",
    },
    SchemeInfo {
        name: "newreno",
        summary: "partial ACKs repair one loss per round trip; slow-but-steady or impatient",
        reference: "RFC 6582",
    },
    SchemeInfo {
        name: "sack",
        summary: "scoreboard and pipe; also with the pipe rules of ns-2",
        reference: "RFC 6675; ns-2 Sack1",
    },
    SchemeInfo {
        name: "fack",
        summary: "every hole below the forward ACK is lost",
        reference: "Mathis, Mahdavi: Forward Acknowledgement (SIGCOMM 1996)",
    },
    SchemeInfo {
        name: "rack",
        summary: "losses told by time of sending; reordering window, tail loss probes",
        reference: "RFC 8985",
    },
    SchemeInfo {
        name: "decoupled",
        summary: "no recovery phase: congestion avoidance goes on from the detection",
        reference: "Hwang, Yoo, Yoo: An Efficient Loss Recovery Algorithm for TCP with SACK",
    },
    SchemeInfo {
        name: "decoupled-rack",
        summary: "losses told as by rack; congestion avoidance goes on from the detection",
        reference: "Hwang, Yoo, Yoo, §4; RFC 8985",
    },
];

impl Recovery {
    /// The scheme of that name with its default options.
    pub fn from_name(name: &str) -> Option<Recovery> {
        Some(match name {
            "tahoe" => Recovery::Tahoe,
            "reno" => Recovery::Reno { exit_growth: false },
            "newreno" => Recovery::NewReno { impatient: false, exit_growth: false },
            "sack" => Recovery::Sack { pipe: Pipe::Rfc6675, prr: false },
            "fack" => Recovery::Fack { prr: false },
            "rack" => Recovery::Rack(RackOptions::default()),
            "decoupled" => Recovery::Decoupled { opens_late: false },
            "decoupled-rack" => Recovery::DecoupledRack(DecoupledRackOptions::default()),
            _ => return None,
        })
    }
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Recovery::Tahoe => "tahoe",
            Recovery::Reno { .. } => "reno",
            Recovery::NewReno { .. } => "newreno",
            Recovery::Sack { .. } => "sack",
            Recovery::Fack { .. } => "fack",
            Recovery::Rack(_) => "rack",
            Recovery::Decoupled { .. } => "decoupled",
            Recovery::DecoupledRack(_) => "decoupled-rack",
            Recovery::Custom(custom) => custom.name(),
        }
    }
    /// It reads SACK blocks, and cannot work without them.
    pub fn needs_sack(&self) -> bool {
        !matches!(self, Recovery::Tahoe | Recovery::Reno { .. } | Recovery::NewReno { .. })
    }
    /// It reads the send log.
    pub(crate) fn needs_log(&self) -> bool {
        matches!(self, Recovery::Rack(_) | Recovery::DecoupledRack(_))
    }
    /// The option that cannot be as it is, and what is allowed.
    pub(crate) fn validate(&self) -> Result<(), (&'static str, &'static str)> {
        match self {
            Recovery::Sack { pipe, prr: true } if *pipe != Pipe::Rfc6675 => {
                Err(("recovery.prr", "false, or pipe = \"rfc6675\""))
            }
            _ => Ok(()),
        }
    }
}

/// How the SACK scheme counts what is in the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pipe {
    /// RFC 6675 §4, `SetPipe`.
    #[default]
    Rfc6675,
    /// ns-2.35's default: lost packets count until partial ACKs remove them.
    Ns2,
    /// ns-2 with `oldCode_`: starts from cwnd.
    Ns2Old,
}

/// Options of RACK-TLP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RackOptions {
    /// Proportional rate reduction (RFC 9937).
    pub prr: bool,
    /// Tail loss probes (§7).
    pub tlp: bool,
    /// The peer's longest delay of ACKs (`TLP.max_ack_delay`, §7.2).
    pub max_ack_delay: Span,
    /// The loss of a retransmission reduces the window again (RFC 5681 §4.3).
    pub reduce_again: bool,
}

impl Default for RackOptions {
    fn default() -> RackOptions {
        RackOptions {
            prr: true,
            tlp: true,
            max_ack_delay: Span::from_millis(200),
            reduce_again: true,
        }
    }
}

/// Options of the decoupled scheme on RACK-TLP's detection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecoupledRackOptions {
    /// The first retransmission leaves with the detection, whatever is in flight
    /// (RFC 5681 §3.2 step 3); otherwise when the halved window has room, as the
    /// paper has it.
    pub fast_retransmit: bool,
    /// Tail loss probes (RFC 8985 §7).
    pub tlp: bool,
    /// The peer's longest delay of ACKs (`TLP.max_ack_delay`, §7.2).
    pub max_ack_delay: Span,
    /// The loss of a segment sent since the last reduction, a retransmission's
    /// too, reduces the window again (RFC 5681 §4.3).
    pub reduce_again: bool,
}

impl Default for DecoupledRackOptions {
    fn default() -> DecoupledRackOptions {
        let RackOptions { prr: _, tlp, max_ack_delay, reduce_again } = RackOptions::default();
        DecoupledRackOptions { fast_retransmit: true, tlp, max_ack_delay, reduce_again }
    }
}
