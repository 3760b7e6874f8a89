//! One side of a TCP connection.
//!
//! The procedures are in files of their own: [`handshake`] (opening),
//! [`input`] (segments in the synchronized states), [`acknowledgment`] (their
//! ACK field), [`output`] (what leaves),
//! [`timeout`] (what the connection does by itself). This file holds the
//! state they share; the user's commands and all that a host may call are in [`contract`].
//!
//! What few connections use has a file each and one box together
//! ([`extras`]): ECN, Fast Open, pacing, Nagle and corking, urgent data, keep-alive and
//! user timeout, the limit of challenge ACKs; and what a connection needs that
//! carries a part of a stream ([`subflow`]).

mod acknowledgment;
mod challenge;
mod contract;
mod device;
mod ecn;
mod ends;
mod extras;
mod fast_open;
mod handshake;
mod icmp;
mod info;
mod input;
pub(crate) mod isn;
mod keep_alive;
mod limits;
mod mtu_probe;
mod nagle;
mod offload;
mod output;
mod pacing;
mod paws;
mod persist;
mod phase;
mod push;
mod retransmission;
mod subflow;
mod time_wait;
mod timeout;
mod urgent;
mod writing;

#[cfg(test)]
mod tests;

pub use info::{Info, Repair, SegmentCounts};
pub use limits::LimitTimes;

use crate::config::Config;
use crate::receiver::Receiver;
use crate::recovery::{Active, Scheme};
use crate::sender::Sender;
use crate::state::State;
use anabranch_endpoint::{CloseReason, Generator, PendingEvents};
use anabranch_units::{Serial32, Time};
use anabranch_wire::{Addr, TcpFlags, TcpSegment};
use ends::Ends;
use extras::Extras;
use fast_open::FastOpen;
use offload::Offload;
use paws::TsRecent;
use persist::Persist;
use phase::Phase;
use retransmission::Retransmission;
use std::sync::Arc;
use writing::Writing;

/// A stream carries at most so many octets: far more than any run sends, and far from overflow.
const STREAM_LIMIT: u64 = 1 << 60;

/// `Agreed` is what both SYNs agreed on.
#[derive(Clone, Copy, Debug, Default)]
struct Agreed {
    /// `peer_shift` is the shift of the windows that the peer advertises, 0 to 14 (RFC 7323 §2).
    peer_shift: u8,
    /// `own_shift` is the shift of the windows that this side advertises.
    own_shift: u8,
    /// `scale` says that both sides scale windows, be it by nothing.
    scale: bool,
    /// `timestamps` is the peer's latest timestamp, where both sides use them.
    timestamps: Option<TsRecent>,
    /// `sack` says that both sides speak SACK.
    sack: bool,
}

/// A `Past` is what is left of a connection in TIME-WAIT for the one that takes over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Past {
    /// `remote` is the peer's address and port.
    pub(crate) remote: (Addr, u16),
    /// `next` is the number after the last that this side has used.
    pub(crate) next: Serial32,
}

/// A `Reset` is to be sent.
#[derive(Clone, Copy, Debug)]
struct Reset {
    /// `seq` is its sequence number.
    seq: Serial32,
    /// `ack` is its acknowledgment number, where it has one.
    ack: Option<Serial32>,
    /// `answers` is the segment that it answers; `None` where this side ends the connection by itself.
    answers: Option<Refused>,
}

/// A segment was `Refused`.
#[derive(Clone, Copy, Debug)]
struct Refused {
    /// `stamp` is its timestamp, where it has one.
    stamp: Option<u32>,
}

impl Reset {
    /// Returns the reset that answers `segment`, which acknowledges what was not sent, or reached
    /// no connection (RFC 9293 §3.5.2).
    fn answering(segment: &TcpSegment) -> Reset {
        let answers = Some(Refused { stamp: segment.options.timestamps.map(|ts| ts.value) });
        if segment.flags.contains(TcpFlags::ACK) {
            return Reset { seq: segment.ack, ack: None, answers };
        }
        Reset { seq: Serial32(0), ack: Some(segment.seq.add(segment.seq_len())), answers }
    }
}

/// A `Connection` is one side of a TCP connection (RFC 9293), without I/O.
///
/// Drive it through [`Endpoint`](anabranch_endpoint::Endpoint) and
/// [`ByteStream`](anabranch_endpoint::ByteStream); see the former for the order of polling. `now`
/// never decreases.
#[derive(Debug)]
pub struct Connection {
    /// `config` holds the settings; [`Connection::reconfigure`] changes them.
    config: Arc<Config>,
    /// `phase` is where the connection is in the diagram of RFC 9293, with what exists only there.
    phase: Phase,
    /// `ends` are the addresses and ports of both sides.
    ends: Ends,
    /// `iss` is ISS, the number of our SYN; it is chosen when that leaves or is answered.
    iss: Serial32,
    /// `agreed` is what both SYNs agreed on; it is empty before.
    agreed: Agreed,
    /// `extras` hold what few connections need.
    extras: Extras,
    /// `sender` is the sending half, without its recovery scheme.
    sender: Sender,
    /// `scheme` is the recovery scheme at work.
    scheme: Active,
    /// `receiver` is the receiving half.
    receiver: Receiver,
    /// `retransmission` has the retransmission timer, and what is timed.
    retransmission: Retransmission,
    /// `persist` says when a closed window is probed.
    persist: Persist,
    /// `writing` is the stream that the user writes.
    writing: Writing,
    /// `reset_due` is the reset that leaves with the next poll, whatever the state.
    reset_due: Option<Reset>,
    /// `pending` are the events that the application has not heard.
    pending: PendingEvents,
    /// `passed` says that the segment that came last passed the checks of its numbers; see
    /// [`Connection::has_passed`].
    passed: bool,
}

impl Connection {
    /// Makes the active side, which opens with [`ByteStream::connect`](anabranch_endpoint::ByteStream::connect).
    pub fn client(
        config: impl Into<Arc<Config>>,
        local: (Addr, u16),
        remote: (Addr, u16),
        generator: Generator,
    ) -> Connection {
        Connection::new(config.into(), Phase::Closed, local, remote, generator)
    }

    /// Makes the passive side, which listens for a SYN from `remote`.
    pub fn server(
        config: impl Into<Arc<Config>>,
        local: (Addr, u16),
        remote: (Addr, u16),
        generator: Generator,
    ) -> Connection {
        Connection::new(config.into(), Phase::Listen, local, remote, generator)
    }

    fn new(
        config: Arc<Config>,
        phase: Phase,
        local: (Addr, u16),
        remote: (Addr, u16),
        mut generator: Generator,
    ) -> Connection {
        let ends = Ends::new([generator.next_u64(), generator.next_u64()], local, remote);
        let mut extras = Extras::default();
        if config.fast_open.is_some() {
            let key = [generator.next_u64(), generator.next_u64()];
            extras.get().fast_open = Some(Box::new(FastOpen::new(key)));
        }
        if config.segmentation_offload {
            extras.get().offload = Some(Offload::default());
        }
        let sender = Sender::new(&config);
        Connection {
            phase,
            ends,
            iss: Serial32(0),
            agreed: Agreed::default(),
            extras,
            scheme: Active::beside(&config.recovery, &sender.congestion),
            sender,
            receiver: Receiver::new(&config),
            retransmission: Retransmission::default(),
            persist: Persist::default(),
            writing: Writing::default(),
            reset_due: None,
            pending: PendingEvents::default(),
            passed: false,
            config,
        }
    }

    /// Returns where the connection is in RFC 9293's diagram.
    #[inline]
    pub fn state(&self) -> State {
        self.phase.state()
    }

    /// Returns the peer's address and port.
    pub fn remote(&self) -> (Addr, u16) {
        self.ends.remote
    }

    /// Sets the secret of initial sequence numbers and timestamps, before the connection opens.
    /// Connections of a host should have the same: a second one between the same addresses and ports
    /// goes on where the clocks of the first stand (RFC 9293 §3.4.1, RFC 7323 §5.4).
    pub fn set_number_key(&mut self, key: [u64; 2]) {
        self.ends = Ends::new(key, self.ends.local, self.ends.remote);
    }

    /// Begins with a number that is not below `floor`: those an earlier connection between the same
    /// ends has used (RFC 9293 §3.6.1).
    pub(crate) fn begin_above(&mut self, now: Time, floor: Serial32) {
        self.ends.lift(now, floor);
    }

    /// Returns what a connection that [takes over](Connection::gives_way_to) must know of this one.
    pub fn past(&self) -> Past {
        Past { remote: self.ends.remote, next: self.iss.at(self.sender.max) }
    }

    /// Returns the offset after the last octet of data that the user gave.
    fn data_end(&self) -> u64 {
        self.sender.end - self.writing.is_closed() as u64
    }

    /// Stops all timers but that of TIME-WAIT and the scheme's.
    fn stop_timers(&mut self) {
        self.retransmission.timer.stop();
        self.persist.stop();
        self.receiver.delayed_ack.stop();
        self.extras.stop_timers();
    }

    /// Returns the next deadline of the connection itself.
    #[inline]
    fn own_deadline(&self) -> Time {
        let sending = self.retransmission.timer.deadline().min(self.persist.timer.deadline());
        sending.min(self.receiver.delayed_ack.deadline()).min(self.phase.deadline())
    }

    /// Ends the connection: nothing is sent or expected any more, except a
    /// reset that is already due.
    fn finish(&mut self, reason: CloseReason) {
        self.phase = Phase::Ended;
        self.stop_timers();
        self.scheme.stop();
        self.receiver.ack_now = false;
        self.pending.closed = Some(reason);
    }

    /// Returns how many octets of text the peer has brought so far, those above a gap included.
    pub fn text_taken(&self) -> u64 {
        self.receiver.received() + self.receiver.above_gaps()
    }

    /// The peer's `segment` is answered by a reset, and the
    /// connection is over: nobody is there any more to take what it brings (RFC 9293 §3.10.7.1).
    pub fn refuse(&mut self, segment: &TcpSegment) {
        self.finish(CloseReason::Aborted);
        self.reset_due = Some(Reset::answering(segment));
    }

    /// A reset is yet to leave.
    pub fn has_reset_due(&self) -> bool {
        self.reset_due.is_some()
    }

    /// Ends the connection, which the peer does not answer; it hears of that where settings say so.
    fn give_up_silent(&mut self, reason: CloseReason) {
        match self.config.manners.gives_up_silently {
            true => self.finish(reason),
            false => self.reset(reason),
        }
    }

    /// Sends a reset behind all that was sent and lies within the peer's window, and ends.
    fn reset(&mut self, reason: CloseReason) {
        if self.state().is_synchronized() || self.state() == State::SynReceived {
            let seq = self.iss.at(self.acceptable_seq());
            let ack = Some(self.receiver.irs.at(self.receiver.nxt));
            self.reset_due = Some(Reset { seq, ack, answers: None });
        }
        self.finish(reason);
    }
}
