//! Random events of a path.

use anabranch_congestion::Cause;
use anabranch_endpoint::Generator;
use std::fmt;

/// Payload of a segment, octets.
pub(crate) const MSS: u64 = 1460;

/// What stays the same in a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    /// Initial window in segments.
    pub initial: u64,
    /// Initial threshold in segments, if there is one.
    pub ssthresh: Option<u64>,
    /// Round-trip time in milliseconds.
    pub rtt_ms: u64,
}

impl Setting {
    pub(crate) fn random(generator: &mut Generator) -> Setting {
        Setting {
            initial: 1 + generator.below(20),
            ssthresh: generator.chance(0.5).then(|| 2 + generator.below(100)),
            rtt_ms: 1 + generator.below(300),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setting { initial, ssthresh, rtt_ms } = self;
        write!(f, "segments of {MSS} octets, initial window {initial} segments, ")?;
        match ssthresh {
            Some(n) => write!(f, "threshold {n} segments, ")?,
            None => write!(f, "no threshold, ")?,
        }
        write!(f, "round-trip time {rtt_ms} ms")
    }
}

/// An event, how long after the one before, and how full the window is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The event that happens in this step.
    pub event: Event,
    /// Milliseconds since the step before.
    pub after_ms: u64,
    /// Octets in flight, in percent of the window.
    pub in_flight: u64,
}

/// Something that happens to a controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A segment leaves the sender.
    Sent,
    /// An ACK for so many octets; the application may be what limits sending.
    Ack {
        /// Octets newly acknowledged.
        octets: u64,
        /// The application limits sending.
        app_limited: bool,
    },
    /// A signal of congestion with its cause.
    Congestion(Cause),
    /// The last reduction was spurious.
    Undo,
    /// Nothing was sent for a retransmission timeout; restart from so many
    /// segments.
    Idle {
        /// Segments of the restart window.
        segments: u64,
    },
}

impl Step {
    pub(crate) fn random(generator: &mut Generator) -> Step {
        let event = match generator.below(24) {
            0..2 => Event::Sent,
            2..17 => Event::Ack {
                octets: match generator.below(4) {
                    0 => 1 + generator.below(20 * MSS),
                    n => n.min(2) * MSS,
                },
                app_limited: generator.chance(0.2),
            },
            17..19 => Event::Congestion(Cause::Loss),
            19..21 => Event::Congestion(Cause::Timeout),
            21 => Event::Congestion(Cause::EcnMark),
            22 => Event::Undo,
            _ => Event::Idle { segments: 1 + generator.below(20) },
        };
        let after_ms = match generator.below(20) {
            0 => generator.below(600_000),
            _ => generator.below(200),
        };
        let in_flight = match generator.below(3) {
            0 => 100,
            _ => generator.below(200),
        };
        Step { event, after_ms, in_flight }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Step { event, after_ms, in_flight } = self;
        write!(f, "{after_ms} ms later, {in_flight} % of the window in flight: ")?;
        match event {
            Event::Sent => write!(f, "a segment leaves"),
            Event::Ack { octets, app_limited: false } => write!(f, "ACK of {octets} octets"),
            Event::Ack { octets, app_limited: true } => {
                write!(f, "ACK of {octets} octets, the application limits sending")
            }
            Event::Congestion(Cause::Loss) => write!(f, "loss"),
            Event::Congestion(Cause::Timeout) => write!(f, "timeout"),
            Event::Congestion(Cause::EcnMark) => write!(f, "ECN mark"),
            Event::Undo => write!(f, "the last reduction is undone"),
            Event::Idle { segments } => write!(f, "idle, restart from {segments} segments"),
        }
    }
}
