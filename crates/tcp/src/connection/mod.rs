//! One side of a TCP connection.
//!
//! The procedures are in files of their own: [`handshake`] (opening),
//! [`input`] (segments in the synchronized states), [`acknowledgment`] (their
//! ACK field), [`output`] (what leaves),
//! [`timeout`] (what the connection does by itself). This file holds the
//! state they share, the user's commands and the contract with the host.
//!
//! What few connections use has a file each and one box together
//! ([`extras`]): ECN, Fast Open, pacing, Nagle and corking, urgent data, keep-alive and
//! user timeout, the limit of challenge ACKs; and what a connection needs that
//! carries a part of a stream ([`part`]).

mod acknowledgment;
mod challenge;
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
mod mtu_probe;
mod nagle;
mod output;
mod pacing;
mod part;
mod paws;
mod persist;
mod phase;
mod push;
mod retransmission;
mod timeout;
mod urgent;
mod writing;

#[cfg(test)]
mod tests;

pub use info::{Info, Repair};

use crate::config::Config;
use crate::receiver::Receiver;
use crate::recovery::{Active, Scheme};
use crate::sender::Sender;
use crate::state::State;
use anabranch_congestion::Controller;
use anabranch_endpoint::{
    ByteStream, CloseReason, Endpoint, Event, Generator, Observation, PeerMemory, PendingEvents,
};
use anabranch_units::{Serial32, Time};
use anabranch_wire::{Addr, FlowKey, Packet};
use ends::Ends;
use extras::Extras;
use fast_open::FastOpen;
use pacing::Pacer;
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
    /// `timestamps` is the peer's latest timestamp, where both sides use them.
    timestamps: Option<TsRecent>,
    /// `sack` says that both sides speak SACK.
    sack: bool,
}

/// A `Reset` is to be sent.
#[derive(Clone, Copy, Debug)]
struct Reset {
    /// `seq` is its sequence number.
    seq: Serial32,
    /// `ack` is its acknowledgment number, where it has one.
    ack: Option<Serial32>,
}

/// A `Connection` is one side of a TCP connection (RFC 9293), without I/O.
///
/// Drive it through [`Endpoint`] and [`ByteStream`]; see the former for the order of polling. `now`
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
    /// `pacer` says when data may leave; it exists where data leaves at a rate.
    pacer: Option<Box<Pacer>>,
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
}

impl Connection {
    /// Makes the active side, which opens with [`ByteStream::connect`].
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
        let sender = Sender::new(&config);
        Connection {
            phase,
            ends,
            iss: Serial32(0),
            agreed: Agreed::default(),
            pacer: None,
            extras,
            scheme: Active::beside(&config.recovery, &sender.congestion),
            sender,
            receiver: Receiver::new(&config),
            retransmission: Retransmission::default(),
            persist: Persist::default(),
            writing: Writing::default(),
            reset_due: None,
            pending: PendingEvents::default(),
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

    /// Sends a reset behind all that was sent, which the peer may have had, and ends.
    fn reset(&mut self, reason: CloseReason) {
        if self.state().is_synchronized() || self.state() == State::SynReceived {
            let seq = self.iss.at(self.sender.max);
            let ack = Some(self.receiver.irs.at(self.receiver.nxt));
            self.reset_due = Some(Reset { seq, ack });
        }
        self.finish(reason);
    }
}

impl ByteStream for Connection {
    fn connect(&mut self, now: Time) {
        if self.phase.open(now) {
            self.iss = self.ends.isn(now);
        }
    }

    fn write(&mut self, len: u64) -> u64 {
        assert!(!self.writing.is_real(), "a stream carries counted or real octets, not both");
        if self.writing.is_closed() {
            return 0;
        }
        let taken = len.min(STREAM_LIMIT - self.sender.end.min(STREAM_LIMIT));
        self.sender.end += taken;
        taken
    }

    fn write_octets(&mut self, octets: &[u8]) -> usize {
        if self.writing.is_closed() {
            return 0;
        }
        assert!(
            self.writing.is_real() || self.sender.end == 1,
            "a stream carries counted or real octets, not both"
        );
        let taken = self.writing.write(octets, self.config.send_buffer);
        self.sender.end += taken as u64;
        taken
    }

    fn room(&self) -> u64 {
        self.writing.room(self.config.send_buffer)
    }

    fn read(&mut self, max: u64) -> u64 {
        self.receiver.read(max, self.sender.mss)
    }

    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        self.receiver.read_octets(buf, self.sender.mss)
    }

    fn close(&mut self) {
        if self.writing.is_closed() {
            return;
        }
        match self.state() {
            State::Closed => {}
            State::Listen => self.finish(CloseReason::Aborted),
            // The end of a stream is queued like its data. (RFC 9293 §3.10.4
            // deletes a TCB in SYN-SENT at CLOSE; that is `abort` here.)
            State::SynSent | State::SynReceived | State::Established => {
                self.writing.close();
                self.sender.end += 1;
                if self.state() == State::Established {
                    self.phase = Phase::FinWait1;
                }
            }
            State::CloseWait => {
                self.writing.close();
                self.sender.end += 1;
                self.phase = Phase::LastAck;
            }
            _ => {}
        }
    }

    fn abort(&mut self) {
        let fin_sent = self.writing.is_closed() && self.sender.max == self.sender.end;
        match self.state() {
            State::Closed => {}
            // RFC 9293 §3.10.5: with both ends of the stream sent there is
            // nothing to take back.
            State::TimeWait => self.finish(CloseReason::Aborted),
            State::Closing | State::LastAck if fin_sent => self.finish(CloseReason::Aborted),
            _ => self.reset(CloseReason::Aborted),
        }
    }
}

impl Endpoint for Connection {
    fn handle_input(&mut self, now: Time, packet: &Packet) {
        self.on_packet(now, packet);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.on_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.next_packet(now)
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.pending.take()
    }

    fn poll_timeout(&self) -> Time {
        self.own_deadline().min(self.extras.deadline()).min(self.scheme.deadline())
    }

    fn progress_timeout(&self) -> Time {
        self.own_deadline().min(self.extras.progress_deadline()).min(self.scheme.deadline())
    }

    fn status(&self) -> String {
        self.describe()
    }

    fn observe(&self) -> Observation {
        let s = &self.sender;
        let fin_acked = s.una > self.data_end();
        Observation {
            cwnd: s.cwnd(),
            ssthresh: s.congestion.ssthresh(),
            in_flight: self.scheme.in_flight(s),
            srtt: s.rtt.srtt(),
            latest_rtt: s.rtt.latest(),
            rto: s.rtt.rto(),
            pacing_rate: s.pacing_rate(),
            in_recovery: self.scheme.in_recovery(),
            dupacks: s.dup_acks.count,
            bytes_acked: s.una.saturating_sub(1 + fin_acked as u64),
            bytes_received: self.receiver.received(),
            packets_sent: s.counters.packets,
            retransmitted_packets: s.counters.retransmitted_packets,
            fast_retransmits: s.counters.fast_retransmits as u64,
            timeouts: s.counters.timeouts as u64,
            undone_reductions: s.watch.undo.as_ref().map_or(0, |undo| undo.undone as u64),
            tail_loss_probes: self.scheme.tail_loss_probes() as u64,
            // The network makes duplicates, too.
            spurious_retransmissions: (s.counters.spurious as u64)
                .min(s.counters.retransmitted_packets),
        }
    }

    fn memory(&self) -> u64 {
        self.held()
    }

    fn lingers(&self) -> bool {
        self.state() == State::TimeWait
    }

    fn gives_way_to(&self, packet: &Packet) -> bool {
        Connection::gives_way_to(self, packet)
    }

    fn recall(&mut self, memory: &PeerMemory) {
        self.recall_fast_open(memory);
    }

    fn has_learnt(&self) -> bool {
        self.has_learnt_fast_open()
    }

    fn remember(&mut self, memory: &mut PeerMemory) {
        self.remember_fast_open(memory);
    }

    fn flow_key(&self) -> FlowKey {
        self.ends.flow_key()
    }
}
