//! Loss recovery: which segments are lost and what to send next. One scheme a
//! file, behind `Scheme`; how much may be in flight is the window
//! algorithm's business (`anabranch-congestion`).
//!
//! Common to all schemes but RACK, and kept in `Sender`: after a timeout the
//! sender goes back to SND.UNA and sends in order, around what was SACKed, until
//! all that was outstanding is acknowledged; no fast retransmit happens
//! meanwhile. A retransmission that is lost again is repaired by the timeout.
//!
//! A new scheme is one file here and its registration: a line of `schemes!`, which
//! says how it is made of its description, and in `catalogue.rs` the description, a
//! variant of [`Recovery`] and an entry of [`SCHEMES`]. Nothing outside of this folder
//! asks which scheme is at work.

pub(crate) mod catalogue;
mod custom;
mod decoupled;
mod detector;
mod fack;
mod newreno;
mod prr;
mod rack;
mod reno;
mod sack;
mod tahoe;

pub use catalogue::{DecoupledRackOptions, Pipe, RackOptions, Recovery, SCHEMES, SchemeInfo};
pub use detector::{AckView, LossDetector, MakeDetector};

use crate::ack::Ack;
use crate::range_set::Range;
use crate::sender::Sender;
use crate::undo::Allowed;
use anabranch_congestion::Driver;
use anabranch_units::Time;

/// A `Next` is what the sender may do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// This range may be sent again.
    Retransmit(Range),
    /// This range, the next in order, may be sent: new data, or what was outstanding at a timeout.
    /// Or it is new data out of turn, where F-RTO lets that leave.
    InOrder(Range),
    /// There is something to send, but the window is full.
    WindowFull,
    /// There is nothing to send, or the receiver's window forbids it.
    Nothing,
}

/// An `Rto` says whether an ACK of new data restarts the retransmission timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rto {
    /// The timer is restarted (RFC 6298 §5.3).
    Restart,
    /// The timer goes on running.
    Keep,
}

/// A `Scheme` is a recovery scheme at work: the seam. The connection updates sequence variables,
/// scoreboard and the count of duplicate ACKs first, then asks the scheme. What only some schemes
/// have (timers, probes, a window of their own) has a default that stands for not having it.
pub(crate) trait Scheme {
    /// An ACK arrived that acknowledges or SACKs something new, or is a duplicate. The scheme
    /// decides about entering and leaving recovery, and lets the window grow where it may.
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto;

    /// The retransmission timer expired, and the sender went back.
    fn on_timeout(&mut self, s: &mut Sender);

    /// The last reduction was spurious and is undone: nothing is in repair.
    fn on_undo(&mut self, s: &mut Sender) {
        self.on_timeout(s);
    }

    /// Returns what may be sent now.
    fn next(&self, s: &Sender) -> Next;

    /// `range` was sent again, as [`Next::Retransmit`] asked.
    fn on_retransmit(&mut self, s: &mut Sender, range: Range, now: Time);

    /// `range` was sent in order.
    fn on_in_order(&mut self, _s: &Sender, _range: Range, _now: Time) {}

    /// Returns the octets in the network, as the scheme estimates them.
    fn in_flight(&self, s: &Sender) -> u64;

    /// The scheme is between the detection of a loss and the end of its repair.
    fn in_recovery(&self) -> bool;

    /// Returns the octets that the ACK at hand made the scheme believe lost, for window algorithms
    /// that want to know. `was_in_recovery` says whether a repair was under way before that ACK.
    fn newly_lost(&self, s: &mut Sender, was_in_recovery: bool, ack: &Ack) -> u64;

    /// The retransmission timer expired: the scheme shrinks the window, and decides what is to be
    /// sent again. It returns false when a probe leaves instead, which is no timeout.
    fn on_rto(&mut self, s: &mut Sender, now: Time) -> bool {
        s.go_back(now);
        self.on_timeout(s);
        true
    }

    /// Segments outstanding of more than `size` octets are too big for the path, and `mss` is smaller
    /// now: they are sent again, if they are not SACKed. Schemes that know no segments send all again.
    fn on_too_big(&mut self, s: &mut Sender, _size: u64) {
        s.resend_smaller();
        self.on_timeout(s);
    }

    /// Returns when the scheme wants to hear [`Scheme::on_deadline`]; a scheme without timers never
    /// does.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// A deadline of the scheme may have passed. Returns from when the retransmission timeout counts
    /// anew, if its timer is to be restarted.
    fn on_deadline(&mut self, _s: &mut Sender, _now: Time) -> Option<Time> {
        None
    }

    /// The connection is over: the scheme's timers stop.
    fn stop(&mut self) {}

    /// The scheme hears ACKs that tell nothing new, too.
    fn hears_all(&self) -> bool {
        false
    }

    /// A tail loss probe is due, which leaves whatever the window.
    fn is_probe_due(&self) -> bool {
        false
    }

    /// What the scheme sends next may be something again: in a repair, or as a tail loss probe.
    fn may_resend(&self) -> bool {
        self.in_recovery() || self.is_probe_due()
    }

    /// What a timeout found missing is being repaired, where the sender does not go back.
    fn repairs_timeout(&self) -> bool {
        false
    }

    /// Returns the octets that may be in flight: the window, or what the scheme makes of it in a
    /// repair.
    fn window(&self, s: &Sender) -> u64 {
        s.cwnd()
    }

    /// Returns the octets that are believed lost and not acknowledged since, sent again or not.
    fn lost(&self, s: &Sender) -> u64 {
        self.resent(s)
    }

    /// Returns the octets outstanding that were sent again.
    fn resent(&self, s: &Sender) -> u64 {
        s.board.retransmitted()
    }

    /// Returns how many tail loss probes were sent.
    fn tail_loss_probes(&self) -> u32 {
        0
    }
}

/// A segment of `len` octets may leave. With nothing in flight it always may: a window is one segment
/// at least (RFC 5681 §3.1, LW), also where segments have become larger than the window was, and no
/// ACK is to come that would open it.
fn fits(len: u64, in_flight: u64, window: u64) -> bool {
    in_flight + len <= window || in_flight == 0
}

/// Returns the next segment in order, if `in_flight` and it fit into `window`.
fn in_order(s: &Sender, in_flight: u64, window: u64) -> Next {
    match s.next_in_order() {
        None => Next::Nothing,
        Some(range) if fits(range.len(), in_flight, window) => Next::InOrder(range),
        Some(_) => Next::WindowFull,
    }
}

/// Returns `range` again, if `in_flight` and it fit into `window`.
fn again(range: Range, in_flight: u64, window: u64) -> Next {
    match fits(range.len(), in_flight, window) {
        true => Next::Retransmit(range),
        false => Next::WindowFull,
    }
}

/// Returns what RFC 3042 lets leave beyond the window: outside recovery, for schemes that count
/// duplicate ACKs, one new segment for each of the first two.
fn limited_transmit(s: &Sender) -> u64 {
    s.dup_acks.extra(s.mss)
}

/// Returns the octets newly lost, for schemes that know of one loss at a time, the segment at
/// SND.UNA: it is lost at the entry into recovery, and at partial ACKs.
fn first_unacknowledged_lost(now: bool, s: &Sender, before: bool, ack: &Ack) -> u64 {
    let partial = before && ack.acked > 0;
    if now && (partial || !before) { s.mss } else { 0 }
}

/// Returns what may be sent while the sender goes back after a timeout.
#[inline(never)]
fn going_back(s: &Sender) -> Next {
    let allowed = s.watch.undo.as_ref().map_or(Allowed::Usual, |undo| undo.allowed());
    match allowed {
        Allowed::Usual => {
            let extra = if s.sack.transmits_going_back() { limited_transmit(s) } else { 0 };
            in_order(s, s.flight_going_back(), s.cwnd() + extra)
        }
        Allowed::NewSegment => s.next_new().map_or(Next::Nothing, Next::InOrder),
        Allowed::Wait => Next::WindowFull,
    }
}

/// Writes [`Active`], the closed set of schemes: for each its variant with the type at work, the
/// description that it is made of, and how. Calls are dispatched by `match`, not by pointers, since
/// several are made for each segment.
macro_rules! schemes {
    ($($name:ident($scheme:ty): $description:pat => $make:expr,)*) => {
        /// A recovery scheme at work, one variant for each.
        #[derive(Debug)]
        pub(crate) enum Active {
            $($name($scheme),)*
        }

        impl Active {
            /// The scheme of that description, before the first segment.
            pub fn new(description: &Recovery) -> Active {
                match description {
                    $($description => Active::$name($make),)*
                }
            }
        }

        impl Scheme for Active {
            schemes! { @forward [$($name)*]
                mut on_ack(s: &mut Sender, ack: &Ack) -> Rto;
                mut on_timeout(s: &mut Sender);
                mut on_undo(s: &mut Sender);
                mut on_retransmit(s: &mut Sender, range: Range, now: Time);
                mut on_in_order(s: &Sender, range: Range, now: Time);
                mut on_rto(s: &mut Sender, now: Time) -> bool;
                mut on_too_big(s: &mut Sender, size: u64);
                mut on_deadline(s: &mut Sender, now: Time) -> Option<Time>;
                mut stop();
                ref in_recovery() -> bool;
                ref newly_lost(s: &mut Sender, was_in_recovery: bool, ack: &Ack) -> u64;
                ref deadline() -> Time;
                ref hears_all() -> bool;
                ref is_probe_due() -> bool;
                ref repairs_timeout() -> bool;
                ref window(s: &Sender) -> u64;
                ref lost(s: &Sender) -> u64;
                ref resent(s: &Sender) -> u64;
                ref tail_loss_probes() -> u32;
            }

            // What is outstanding at a timeout is sent again in the same way by all schemes.
            fn next(&self, s: &Sender) -> Next {
                if s.recovery_point.is_going_back() {
                    return going_back(s);
                }
                match self {
                    $(Active::$name(scheme) => scheme.next(s),)*
                }
            }

            fn in_flight(&self, s: &Sender) -> u64 {
                if s.recovery_point.is_going_back() {
                    return s.flight_going_back();
                }
                match self {
                    $(Active::$name(scheme) => scheme.in_flight(s),)*
                }
            }
        }
    };
    (@forward $names:tt) => {};
    (@forward $names:tt mut $method:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?; $($more:tt)*) => {
        #[inline]
        fn $method(&mut self, $($arg: $type),*) $(-> $out)? {
            schemes! { @match self, $method, ($($arg),*), $names }
        }
        schemes! { @forward $names $($more)* }
    };
    (@forward $names:tt ref $method:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?; $($more:tt)*) => {
        #[inline]
        fn $method(&self, $($arg: $type),*) $(-> $out)? {
            schemes! { @match self, $method, ($($arg),*), $names }
        }
        schemes! { @forward $names $($more)* }
    };
    (@match $self:ident, $method:ident, $args:tt, [$($name:ident)*]) => {
        match $self {
            $(Active::$name(scheme) => scheme.$method $args,)*
        }
    };
}

schemes! {
    Tahoe(tahoe::Tahoe): Recovery::Tahoe => tahoe::Tahoe::default(),
    Reno(reno::Reno): Recovery::Reno { exit_growth } => reno::Reno::new(*exit_growth),
    NewReno(newreno::NewReno): Recovery::NewReno { impatient, exit_growth } =>
        newreno::NewReno::new(*impatient, *exit_growth),
    Sack(sack::Sack): Recovery::Sack { pipe, prr } => sack::Sack::new(*pipe, *prr),
    Fack(fack::Fack): Recovery::Fack { prr } => fack::Fack::new(*prr),
    Rack(Box<rack::Rack>): Recovery::Rack(options) => Box::new(rack::Rack::new(*options)),
    DecoupledRack(Box<rack::Rack>): Recovery::DecoupledRack(options) =>
        Box::new(rack::Rack::decoupled(*options)),
    Decoupled(decoupled::Decoupled): Recovery::Decoupled { opens_late } =>
        decoupled::Decoupled::new(*opens_late),
    Custom(Box<custom::Custom>): Recovery::Custom(custom) =>
        Box::new(custom::Custom::new(custom.maker()(custom.place()))),
}

impl Active {
    /// Makes a scheme beside a window algorithm: as [`Active::new`], but without a window of its
    /// own where the algorithm owns the window in a recovery (as in Linux, where such algorithms
    /// replace proportional rate reduction).
    pub fn beside(description: &Recovery, window: &Driver) -> Active {
        match window.owns_recovery() {
            true => Active::new(&description.without_own_window()),
            false => Active::new(description),
        }
    }
}
