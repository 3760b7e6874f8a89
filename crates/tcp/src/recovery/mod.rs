//! Loss recovery: which segments are lost and what to send next. One scheme a
//! file, behind `Scheme`; how much may be in flight is the window
//! algorithm's business (`anabranch-congestion`).
//!
//! Common to all schemes but RACK, and kept in `Sender`: after a timeout the
//! sender goes back to SND.UNA and sends in order, around what was SACKed, until
//! all that was outstanding is acknowledged; no fast retransmit happens
//! meanwhile. A retransmission that is lost again is repaired by the timeout.
//!
//! A new scheme is one file here, one variant of `Active`, and in
//! `catalogue.rs` one variant of [`Recovery`] and one line of [`SCHEMES`].

pub(crate) mod catalogue;
mod decoupled;
mod detector;
mod fack;
mod newreno;
mod own;
mod prr;
mod rack;
mod reno;
mod sack;
mod tahoe;

pub use catalogue::{DecoupledRackOptions, Pipe, RackOptions, Recovery, SCHEMES, SchemeInfo};
pub use detector::{AckView, LossDetector, MakeDetector};

use crate::range_set::Range;
use crate::sender::{Ack, Sender};
use crate::undo::Allowed;
use anabranch_congestion::{Congestion, Controller};
use anabranch_units::Time;

/// What the sender may do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Send this range again.
    Retransmit(Range),
    /// Send this range, the next in order: new data, or what was outstanding
    /// at a timeout. Or new data out of turn, where F-RTO lets it leave.
    InOrder(Range),
    /// There is something to send, but the window is full.
    WindowFull,
    /// There is nothing to send, or the receiver's window forbids it.
    Nothing,
}

/// Whether an ACK of new data restarts the retransmission timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rto {
    /// RFC 6298 §5.3.
    Restart,
    /// Leave the timer running.
    Keep,
}

/// The seam. The connection updates sequence variables, scoreboard and the
/// count of duplicate ACKs first, then asks the scheme.
pub(crate) trait Scheme {
    /// An ACK arrived that acknowledges or SACKs something new, or is a
    /// duplicate. Decides about entering and leaving recovery, and grows the
    /// window where the scheme lets it.
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto;

    /// The retransmission timer expired, and the sender went back.
    fn on_timeout(&mut self, s: &mut Sender);

    /// The last reduction was needless and is undone: nothing is in repair.
    fn on_undo(&mut self, s: &mut Sender) {
        self.on_timeout(s);
    }

    /// What may be sent now.
    fn next(&self, s: &Sender) -> Next;

    /// `range` was sent again, as [`Next::Retransmit`] asked.
    fn on_retransmit(&mut self, s: &mut Sender, range: Range);

    /// `range` was sent in order.
    fn on_in_order(&mut self, _s: &Sender, _range: Range, _now: Time) {}

    /// Octets in the network, as the scheme estimates them.
    fn in_flight(&self, s: &Sender) -> u64;

    /// Between the detection of a loss and the end of its repair.
    fn in_recovery(&self) -> bool;
}

/// A segment of `len` octets may leave. With nothing in flight it always may: a window is one segment
/// at least (RFC 5681 §3.1, LW), also where segments have become larger than the window was, and no
/// ACK is to come that would open it.
fn fits(len: u64, in_flight: u64, window: u64) -> bool {
    in_flight + len <= window || in_flight == 0
}

/// The next segment in order, if `in_flight` and it fit into `window`.
fn in_order(s: &Sender, in_flight: u64, window: u64) -> Next {
    match s.next_in_order() {
        None => Next::Nothing,
        Some(range) if fits(range.len(), in_flight, window) => Next::InOrder(range),
        Some(_) => Next::WindowFull,
    }
}

/// `range` again, if `in_flight` and it fit into `window`.
fn again(range: Range, in_flight: u64, window: u64) -> Next {
    match fits(range.len(), in_flight, window) {
        true => Next::Retransmit(range),
        false => Next::WindowFull,
    }
}

/// Outside recovery, for schemes that count duplicate ACKs: RFC 3042 lets each
/// of the first two release one new segment beyond the window.
fn limited_transmit(s: &Sender) -> u64 {
    if s.limited_transmit { s.dupacks.min(s.dup_thresh - 1) as u64 * s.mss } else { 0 }
}

/// Sending while the sender goes back after a timeout.
#[inline(never)]
fn going_back(s: &Sender) -> Next {
    let allowed = s.undo.as_ref().map_or(Allowed::Usual, |undo| undo.allowed());
    match allowed {
        Allowed::Usual => {
            let extra = if s.transmits_going_back() { limited_transmit(s) } else { 0 };
            in_order(s, s.flight_going_back(), s.cwnd() + extra)
        }
        Allowed::NewSegment => s.next_new().map_or(Next::Nothing, Next::InOrder),
        Allowed::Wait => Next::WindowFull,
    }
}

/// A scheme at work.
#[derive(Debug)]
pub(crate) enum Active {
    Tahoe(tahoe::Tahoe),
    Reno(reno::Reno),
    NewReno(newreno::NewReno),
    Sack(sack::Sack),
    Fack(fack::Fack),
    Rack(Box<rack::Rack>),
    Decoupled(decoupled::Decoupled),
    Own(Box<own::Own>),
}

macro_rules! dispatch {
    ($self:expr, $scheme:ident => $call:expr) => {
        match $self {
            Active::Tahoe($scheme) => $call,
            Active::Reno($scheme) => $call,
            Active::NewReno($scheme) => $call,
            Active::Sack($scheme) => $call,
            Active::Fack($scheme) => $call,
            Active::Rack($scheme) => $call,
            Active::Decoupled($scheme) => $call,
            Active::Own($scheme) => $call,
        }
    };
}

impl Scheme for Active {
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto {
        dispatch!(self, scheme => scheme.on_ack(s, ack))
    }
    fn on_timeout(&mut self, s: &mut Sender) {
        dispatch!(self, scheme => scheme.on_timeout(s))
    }
    fn on_undo(&mut self, s: &mut Sender) {
        dispatch!(self, scheme => scheme.on_undo(s))
    }
    fn next(&self, s: &Sender) -> Next {
        if s.is_going_back() {
            return going_back(s);
        }
        dispatch!(self, scheme => scheme.next(s))
    }
    fn on_retransmit(&mut self, s: &mut Sender, range: Range) {
        dispatch!(self, scheme => scheme.on_retransmit(s, range))
    }
    #[inline]
    fn on_in_order(&mut self, s: &Sender, range: Range, now: Time) {
        dispatch!(self, scheme => scheme.on_in_order(s, range, now))
    }
    fn in_flight(&self, s: &Sender) -> u64 {
        if s.is_going_back() {
            return s.flight_going_back();
        }
        dispatch!(self, scheme => scheme.in_flight(s))
    }
    fn in_recovery(&self) -> bool {
        dispatch!(self, scheme => scheme.in_recovery())
    }
}

impl Active {
    /// As [`Active::new`], beside a window algorithm: one that owns the window in a recovery is left
    /// alone (as in Linux, where such algorithms replace proportional rate reduction).
    pub fn beside(scheme: &Recovery, window: &Congestion) -> Active {
        match scheme {
            _ if !window.owns_recovery() => Active::new(scheme),
            Recovery::Rack(options) => {
                let own = RackOptions { prr: false, reduce_again: false, ..*options };
                Active::new(&Recovery::Rack(own))
            }
            Recovery::DecoupledRack(options) => {
                let own = DecoupledRackOptions { reduce_again: false, ..*options };
                Active::new(&Recovery::DecoupledRack(own))
            }
            Recovery::Sack { pipe, .. } => Active::new(&Recovery::Sack { pipe: *pipe, prr: false }),
            Recovery::Fack { .. } => Active::new(&Recovery::Fack { prr: false }),
            other => Active::new(other),
        }
    }

    /// The scheme of that description, before the first segment.
    pub fn new(scheme: &Recovery) -> Active {
        match scheme {
            Recovery::Tahoe => Active::Tahoe(Default::default()),
            Recovery::Reno { exit_growth } => Active::Reno(reno::Reno::new(*exit_growth)),
            Recovery::NewReno { impatient, exit_growth } => {
                Active::NewReno(newreno::NewReno::new(*impatient, *exit_growth))
            }
            Recovery::Sack { pipe, prr } => Active::Sack(sack::Sack::new(*pipe, *prr)),
            Recovery::Fack { prr } => Active::Fack(fack::Fack::new(*prr)),
            Recovery::Rack(options) => Active::Rack(Box::new(rack::Rack::new(*options))),
            Recovery::DecoupledRack(options) => {
                Active::Rack(Box::new(rack::Rack::decoupled(*options)))
            }
            Recovery::Decoupled { opens_late } => {
                Active::Decoupled(decoupled::Decoupled::new(*opens_late))
            }
            Recovery::Custom(custom) => {
                Active::Own(Box::new(own::Own::new(custom.maker()(custom.place()))))
            }
        }
    }
}

/// RACK-TLP has timers and its own way after a timeout; the other schemes
/// are asked nothing.
impl Active {
    /// `range` was sent again; for schemes of the user's own.
    #[inline]
    pub fn on_resent(&mut self, now: Time, range: Range) {
        if let Active::Own(own) = self {
            own.on_resent(now, range);
        }
    }

    /// What it sends next may be something again: in a repair, or as a tail loss
    /// probe.
    #[inline(always)]
    pub fn may_resend(&self) -> bool {
        self.in_recovery() || self.is_probe_due()
    }

    /// A tail loss probe is due.
    #[inline(always)]
    pub fn is_probe_due(&self) -> bool {
        matches!(self, Active::Rack(rack) if rack.is_probe_due())
    }

    /// When the scheme wants to hear [`Active::on_deadline`].
    #[inline]
    pub fn deadline(&self) -> Time {
        match self {
            Active::Rack(rack) => rack.deadline(),
            _ => Time::NEVER,
        }
    }

    /// A deadline of the scheme may have passed; true when the retransmission
    /// timer is to be restarted.
    pub fn on_deadline(&mut self, s: &mut Sender, now: Time) -> bool {
        match self {
            Active::Rack(rack) => rack.on_deadline(s, now),
            _ => false,
        }
    }

    /// The retransmission timer expired: shrinks the window, and decides what
    /// is to be sent again. False when a probe leaves instead.
    pub fn on_rto(&mut self, s: &mut Sender, now: Time) -> bool {
        match self {
            Active::Rack(rack) => rack.on_rto(s, now),
            scheme => {
                s.go_back(now);
                scheme.on_timeout(s);
                true
            }
        }
    }

    /// The segments outstanding are too big for the path, and `mss` is smaller
    /// now: all that is not SACKed is sent again.
    pub fn on_too_big(&mut self, s: &mut Sender) {
        match self {
            Active::Rack(rack) => rack.on_too_big(s),
            scheme => {
                s.resend_smaller();
                scheme.on_timeout(s);
            }
        }
    }

    /// Tail loss probes sent.
    pub fn tail_loss_probes(&self) -> u32 {
        match self {
            Active::Rack(rack) => rack.tail_loss_probes(),
            _ => 0,
        }
    }

    /// Octets believed lost and not acknowledged since, sent again or not.
    pub fn lost(&self, s: &Sender) -> u64 {
        match (self, &s.log) {
            (Active::Rack(_), Some(log)) => log.lost().total() + log.resent(),
            _ => self.resent(s),
        }
    }

    /// Octets outstanding that were sent again.
    pub fn resent(&self, s: &Sender) -> u64 {
        match (self, &s.log) {
            (Active::Rack(_), Some(log)) => log.resent(),
            _ => s.board.retransmitted(),
        }
    }

    /// What may be in flight: the window, or what proportional rate reduction
    /// makes of it.
    pub fn window(&self, s: &Sender) -> u64 {
        match self {
            Active::Rack(rack) => rack.window(s),
            _ => s.cwnd(),
        }
    }

    /// What a timeout found missing is repaired.
    pub fn repairs_timeout(&self) -> bool {
        matches!(self, Active::Rack(rack) if rack.repairs_timeout())
    }

    /// The connection is over.
    pub fn stop(&mut self) {
        if let Active::Rack(rack) = self {
            rack.stop();
        }
    }

    /// It hears ACKs that tell nothing new, too.
    #[inline]
    pub fn hears_all(&self) -> bool {
        matches!(self, Active::Rack(_))
    }

    /// Octets that the ACK in hand made the scheme believe lost, for window
    /// algorithms that want to know.
    pub fn newly_lost(&self, s: &mut Sender, was_in_recovery: bool, ack: &Ack) -> u64 {
        match self {
            Active::Rack(rack) => rack.newly_lost(),
            Active::Own(own) => own.newly_lost(),
            Active::Tahoe(tahoe) if tahoe.in_recovery() && !was_in_recovery => s.mss, // at SND.UNA
            Active::Tahoe(_) => 0,
            Active::Reno(_) | Active::NewReno(_) => {
                // The segment at SND.UNA: at the entry, and at partial ACKs.
                let partial = was_in_recovery && ack.acked > 0;
                let told = self.in_recovery() && (partial || !was_in_recovery);
                if told { s.mss } else { 0 }
            }
            Active::Fack(_) | Active::Decoupled(_) if !self.in_recovery() => 0,
            Active::Fack(_) | Active::Decoupled(_) => {
                let edge = s.board.fack(s.una);
                s.lost_below(edge)
            }
            Active::Sack(_) => {
                let edge = s.board.loss_edge(s.dup_thresh, s.mss).map_or(s.una, |e| e.at);
                s.lost_below(edge)
            }
        }
    }
}
