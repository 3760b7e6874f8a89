//! Lists the recovery schemes with their options: descriptions of what
//! [`Active`](super::Active) does.

use super::detector::MakeDetector;
use anabranch_custom::Custom;
use anabranch_units::Span;

/// A `Recovery` describes a scheme with its options.
#[derive(Clone, PartialEq, Debug)]
pub enum Recovery {
    /// Fast retransmit is followed by slow start (Fall and Floyd 1996).
    Tahoe,
    /// RFC 5681 describes fast retransmit and fast recovery.
    Reno {
        /// The ACK that ends recovery opens the window too, as in ns-2;
        /// otherwise it deflates it only (RFC 5681 §3.2 step 6).
        exit_growth: bool,
    },
    /// RFC 6582 lets partial ACKs keep the recovery going.
    NewReno {
        /// `impatient` restarts the retransmission timer only at the first partial ACK (RFC 6582
        /// §4, "Impatient"); otherwise each does ("Slow-but-Steady").
        impatient: bool,
        /// The ACK that ends recovery opens the window too, as in ns-2;
        /// otherwise it deflates it only (RFC 6582 §3.2 step 3).
        exit_growth: bool,
    },
    /// RFC 6675 counts the pipe from the scoreboard; there are also the pipe rules of ns-2.
    Sack {
        /// `pipe` says how the pipe is counted.
        pipe: Pipe,
        /// `prr` paces by proportional rate reduction (RFC 9937); it needs the pipe of RFC 6675.
        prr: bool,
    },
    /// Forward acknowledgment takes every hole below the forward ACK for lost (Mathis and Mahdavi
    /// 1996).
    Fack {
        /// `prr` paces by proportional rate reduction (RFC 9937).
        prr: bool,
    },
    /// RACK-TLP tells losses by the time of sending (RFC 8985).
    Rack(RackOptions),
    /// Recovery is decoupled from congestion control (Hwang, Yoo and Yoo).
    Decoupled {
        /// The ACK after the one that detects a loss is the first to move
        /// `moment_ack` to the forward ACK, which is the pseudo-code to the
        /// letter; otherwise the one that detects it, which is the text.
        opens_late: bool,
    },
    /// [`Recovery::Decoupled`] works on RACK-TLP's detection.
    DecoupledRack(DecoupledRackOptions),
    /// The scheme is one of the user's own.
    Custom(Box<Custom<MakeDetector>>),
}

/// A `SchemeInfo` is a line of the catalogue: what is known of a scheme by its name.
#[derive(Clone, Copy, Debug)]
pub struct SchemeInfo {
    /// `name` is the scheme's name in scenarios.
    pub name: &'static str,
    /// `summary` says what the scheme does, in one line.
    pub summary: &'static str,
    /// `reference` is the document that defines the scheme.
    pub reference: &'static str,
    /// `needs_sack` says that the scheme reads SACK blocks, and cannot work without them.
    needs_sack: bool,
    /// `needs_log` says that the scheme reads the send log.
    needs_log: bool,
    /// `default` describes the scheme with its default options.
    default: fn() -> Recovery,
}

/// The catalogue has all schemes but those of the user's own.
pub const SCHEMES: &[SchemeInfo] = &[
    SchemeInfo {
        name: "tahoe",
        summary: "fast retransmit, then slow start from one segment",
        reference: "Fall, Floyd: Simulation-based Comparisons of Tahoe, Reno, and SACK TCP (CCR 1996)",
        needs_sack: false,
        needs_log: false,
        default: || Recovery::Tahoe,
    },
    SchemeInfo {
        name: "reno",
        summary: "fast retransmit and fast recovery; one loss per window",
        reference: "RFC 5681 §3.2",
        needs_sack: false,
        needs_log: false,
        default: || Recovery::Reno { exit_growth: false },
    },
    SchemeInfo {
        name: "newreno",
        summary: "partial ACKs repair one loss per round trip; slow-but-steady or impatient",
        reference: "RFC 6582",
        needs_sack: false,
        needs_log: false,
        default: || Recovery::NewReno { impatient: false, exit_growth: false },
    },
    SchemeInfo {
        name: "sack",
        summary: "scoreboard and pipe; also with the pipe rules of ns-2",
        reference: "RFC 6675; ns-2 Sack1",
        needs_sack: true,
        needs_log: false,
        default: || Recovery::Sack { pipe: Pipe::Rfc6675, prr: false },
    },
    SchemeInfo {
        name: "fack",
        summary: "every hole below the forward ACK is lost",
        reference: "Mathis, Mahdavi: Forward Acknowledgement (SIGCOMM 1996)",
        needs_sack: true,
        needs_log: false,
        default: || Recovery::Fack { prr: false },
    },
    SchemeInfo {
        name: "rack",
        summary: "losses told by time of sending; reordering window, tail loss probes",
        reference: "RFC 8985",
        needs_sack: true,
        needs_log: true,
        default: || Recovery::Rack(RackOptions::default()),
    },
    SchemeInfo {
        name: "decoupled",
        summary: "no recovery phase: congestion avoidance goes on from the detection",
        reference: "Hwang, Yoo, Yoo: An Efficient Loss Recovery Algorithm for TCP with SACK",
        needs_sack: true,
        needs_log: false,
        default: || Recovery::Decoupled { opens_late: false },
    },
    SchemeInfo {
        name: "decoupled-rack",
        summary: "losses told as by rack; congestion avoidance goes on from the detection",
        reference: "Hwang, Yoo, Yoo, §4; RFC 8985",
        needs_sack: true,
        needs_log: true,
        default: || Recovery::DecoupledRack(DecoupledRackOptions::default()),
    },
];

impl Recovery {
    /// Returns the scheme of that name with its default options.
    pub fn from_name(name: &str) -> Option<Recovery> {
        SCHEMES.iter().find(|scheme| scheme.name == name).map(|scheme| (scheme.default)())
    }

    /// Returns the scheme's line of the catalogue; `None` for schemes of the user's own.
    fn info(&self) -> Option<&'static SchemeInfo> {
        SCHEMES.iter().find(|scheme| scheme.name == self.name())
    }

    /// Returns the scheme's name in scenarios.
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

    /// The scheme reads SACK blocks, and cannot work without them.
    pub fn needs_sack(&self) -> bool {
        self.info().is_none_or(|scheme| scheme.needs_sack)
    }

    /// The scheme reads the send log.
    pub(crate) fn needs_log(&self) -> bool {
        self.info().is_some_and(|scheme| scheme.needs_log)
    }

    /// ACKs count as duplicates, too, that acknowledge something in order and SACK something new
    /// (RFC 6675 §2).
    pub(crate) fn counts_progress(&self) -> bool {
        matches!(self, Recovery::Sack { pipe: Pipe::Rfc6675, .. })
    }

    /// Returns the scheme without what it does to the window in a recovery beyond the reduction at
    /// its entry: for window algorithms that own the window there.
    pub(crate) fn without_own_window(&self) -> Recovery {
        match self {
            Recovery::Sack { pipe, .. } => Recovery::Sack { pipe: *pipe, prr: false },
            Recovery::Fack { .. } => Recovery::Fack { prr: false },
            Recovery::Rack(options) => {
                Recovery::Rack(RackOptions { prr: false, reduce_again: false, ..*options })
            }
            Recovery::DecoupledRack(options) => {
                Recovery::DecoupledRack(DecoupledRackOptions { reduce_again: false, ..*options })
            }
            other => other.clone(),
        }
    }

    /// Finds the option that cannot be as it is, and says what is allowed.
    pub(crate) fn validate(&self) -> Result<(), (&'static str, &'static str)> {
        match self {
            Recovery::Sack { pipe, prr: true } if *pipe != Pipe::Rfc6675 => {
                Err(("recovery.prr", "false, or pipe = \"rfc6675\""))
            }
            _ => Ok(()),
        }
    }
}

/// A `Pipe` says how the SACK scheme counts what is in the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pipe {
    /// The scoreboard is counted (RFC 6675 §4, `SetPipe`).
    #[default]
    Rfc6675,
    /// Lost packets count until partial ACKs remove them, as by default in ns-2.35.
    Ns2,
    /// The count starts from cwnd, as in ns-2 with `oldCode_`.
    Ns2Old,
}

/// `RackOptions` are the options of RACK-TLP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RackOptions {
    /// `prr` paces by proportional rate reduction (RFC 9937).
    pub prr: bool,
    /// `tlp` sends tail loss probes (§7).
    pub tlp: bool,
    /// `max_ack_delay` is the peer's longest delay of ACKs (`TLP.max_ack_delay`, §7.2).
    pub max_ack_delay: Span,
    /// `reduce_again` lets the loss of a retransmission reduce the window again (RFC 5681 §4.3).
    pub reduce_again: bool,
    /// `prr_in_segments` reduces in whole segments, in proportion to the window before the loss, as
    /// Linux does; else in octets, in proportion to what was in flight (RFC 9937 §6).
    pub prr_in_segments: bool,
    /// `linux_probes` sends tail loss probes by Linux's rules. A probe needs no round trip measured since
    /// the one before (RFC 8985 §7.3 asks for it). The probe timer also runs while a probe is on its way;
    /// when it expires then, the retransmission timeout counts from when the oldest outstanding segment
    /// was sent, and so may follow at once.
    pub linux_probes: bool,
}

impl Default for RackOptions {
    fn default() -> RackOptions {
        RackOptions {
            prr: true,
            tlp: true,
            max_ack_delay: Span::from_millis(200),
            reduce_again: true,
            prr_in_segments: false,
            linux_probes: false,
        }
    }
}

/// `DecoupledRackOptions` are the options of the decoupled scheme on RACK-TLP's detection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecoupledRackOptions {
    /// `fast_retransmit` lets the first retransmission leave with the detection, whatever is in
    /// flight (RFC 5681 §3.2 step 3); otherwise it leaves when the halved window has room, as the
    /// paper has it.
    pub fast_retransmit: bool,
    /// `tlp` sends tail loss probes (RFC 8985 §7).
    pub tlp: bool,
    /// `max_ack_delay` is the peer's longest delay of ACKs (`TLP.max_ack_delay`, §7.2).
    pub max_ack_delay: Span,
    /// `reduce_again` lets the loss of a segment sent since the last reduction, a retransmission's
    /// too, reduce the window again (RFC 5681 §4.3).
    pub reduce_again: bool,
}

impl Default for DecoupledRackOptions {
    fn default() -> DecoupledRackOptions {
        let RackOptions { tlp, max_ack_delay, reduce_again, .. } = RackOptions::default();
        DecoupledRackOptions { fast_retransmit: true, tlp, max_ack_delay, reduce_again }
    }
}
