//! An association ends by SHUTDOWN, SHUTDOWN ACK and SHUTDOWN COMPLETE, or by ABORT (RFC 9260 §9).

use super::Association;
use crate::paths::path::PathState;
use crate::phase::{Ending, Phase};
use crate::state::State;
use anabranch_endpoint::CloseReason;
use anabranch_units::{Serial32, Time};
use anabranch_wire::Packet;
use anabranch_wire::sctp::{AddressChange, Cause, Chunk, SctpPacket};

impl Association {
    /// Begins the end, as the user has no more data.
    pub(super) fn shut_down(&mut self) {
        match &mut self.phase {
            Phase::Listening => self.finish(CloseReason::Aborted),
            Phase::CookieWait { opening, .. } | Phase::CookieEchoed { opening, .. } => {
                opening.close = true;
            }
            // Nothing may be outstanding; then the next call of the host
            // moves on.
            Phase::Established => self.phase = Phase::ShutdownPending { due: true },
            _ => {}
        }
    }

    /// Drops the association and tells the peer (§9.1).
    pub(super) fn abort_with(&mut self, causes: Vec<Cause>, reason: CloseReason) {
        if self.phase.has_ended() {
            return;
        }
        if self.state() != State::Closed && self.identity.peer_tag != 0 {
            let abort = Chunk::Abort { reflected: false, causes };
            let packet = self.packet(self.paths.data_path(), abort);
            self.control.outbox.push(packet);
        }
        self.finish(reason);
    }

    /// Aborts for the user, perhaps with a reason (§11.1, ABORT primitive), of which the peer is
    /// told what fits a packet.
    pub fn abort_by_user(&mut self, reason: &[u8]) {
        let most = (self.paths[self.paths.data_path()].room.chunk as usize).saturating_sub(8);
        let reason = &reason[..reason.len().min(most)];
        self.abort_with(vec![Cause::UserAbort(reason.into())], CloseReason::Aborted);
    }

    /// Returns the reason that the peer's user gave for its ABORT (§9.1), once one came: it is
    /// empty where the user gave none, and `None` where no user had asked for it.
    pub fn abort_reason(&self) -> Option<&[u8]> {
        self.abort_reason.as_deref()
    }

    /// Sends an ABORT as the association fails, where the settings want the peer to be told. Before
    /// the peer's tag is known it has this side's.
    pub(super) fn tell_of_failure(&mut self) {
        if !self.config.abort_on_failure {
            return;
        }
        let (reflected, tag) = match self.state() {
            State::CookieWait => (true, self.identity.local_tag),
            _ => (false, self.identity.peer_tag),
        };
        let abort = Chunk::Abort { reflected, causes: Vec::new() };
        let path = &self.paths[self.paths.data_path()];
        let packet = self.packet_with(path.local, path.remote, self.identity.peer_port, tag, abort);
        self.control.outbox.push(packet);
    }

    /// Queues a SHUTDOWN, and starts T2-shutdown.
    pub(super) fn send_shutdown(&mut self, now: Time, path: usize) {
        self.paths.stop_heartbeats(); // §8.3
        let cum = self.receiver.cumulative_tsn();
        self.control.waiting.push_once(Chunk::Shutdown(cum));
        self.start_t2(now, path);
    }

    pub(super) fn send_shutdown_ack(&mut self, now: Time, path: usize) {
        self.paths.stop_heartbeats(); // §8.3
        self.push_shutdown_ack();
        self.start_t2(now, path);
    }

    /// Queues a SHUTDOWN ACK in answer to the packet at hand.
    fn answer_shutdown(&mut self, now: Time) {
        self.control.waiting.answer_arrival();
        self.send_shutdown_ack(now, self.control.waiting.arrival.path);
    }

    pub(super) fn push_shutdown_ack(&mut self) {
        self.control.waiting.push_once(Chunk::ShutdownAck);
    }

    fn start_t2(&mut self, now: Time, path: usize) {
        self.phase.start_t2(now, path, self.paths[path].rtt.rto());
    }

    /// Enters SHUTDOWN-SENT, as all is acknowledged, with T5-shutdown-guard of five times RTO.Max
    /// (§9.2).
    pub(super) fn begin_shutdown(&mut self, now: Time) {
        let mut ending = Ending::default();
        ending.guard.set(now + self.config.rto.max * 5);
        self.phase = Phase::ShutdownSent(ending);
        self.paths.stop_retransmission();
        self.send_shutdown(now, self.paths.data_path());
    }

    /// Makes the SHUTDOWN that is not answered count anew, as a packet of the peer came (§9.2).
    /// T2-shutdown starts anew with data alone, which brings another SHUTDOWN: other packets of a
    /// peer that has missed it would keep it from being repeated.
    #[inline]
    pub(super) fn prolong_shutdown(&mut self) {
        if matches!(self.phase, Phase::ShutdownSent(_)) {
            self.paths.forget_failures();
        }
    }

    /// Handles the expiry of T2-shutdown.
    pub(super) fn on_t2(&mut self, now: Time) {
        let Some(ending) = self.phase.ending_mut() else { return };
        ending.t2.stop();
        let path = ending.path;
        self.paths[path].rtt.on_timeout();
        self.on_path_error(now, path);
        let path = self.path_after(path);
        match self.state() {
            State::ShutdownSent => self.send_shutdown(now, path),
            State::ShutdownAckSent => self.send_shutdown_ack(now, path),
            _ => return,
        }
        self.control.waiting.go(self.paths.route(path));
    }

    /// Returns the path for a SHUTDOWN or SHUTDOWN ACK that was not answered on `last`: that of new
    /// data, or, since no heartbeat finds a path any more that works again, all addresses in turn.
    fn path_after(&self, last: usize) -> usize {
        let path = self.paths.data_path();
        if self.paths[path].state == PathState::Active {
            return path;
        }
        let all = self.paths.len();
        let mut others = (1..=all).map(|step| (last + step) % all);
        others.find(|path| self.paths[*path].state != PathState::Unconfirmed).unwrap_or(path)
    }

    /// Handles an ABORT (§9.1). One for an address that is being deleted is ignored (RFC 5061 §5.3
    /// F4).
    pub(super) fn on_abort(&mut self, packet: &Packet, causes: &[Cause]) {
        let addresses = self.control.addresses.as_ref();
        if addresses.is_some_and(|addresses| addresses.is_asked(AddressChange::Delete, packet.dst))
        {
            return;
        }
        self.abort_reason = causes.iter().find_map(|cause| match cause {
            Cause::UserAbort(reason) => Some(reason.clone()),
            _ => None,
        });
        self.finish(match self.state() {
            State::CookieWait | State::CookieEchoed => CloseReason::Refused,
            // The peer is gone already: its SHUTDOWN COMPLETE was
            // lost, and it met something else of ours since.
            State::ShutdownAckSent => CloseReason::Normal,
            _ => CloseReason::Reset,
        });
    }

    /// Handles a SHUTDOWN.
    pub(super) fn on_shutdown(&mut self, now: Time, cum: Serial32) {
        match self.state() {
            State::Established | State::ShutdownPending => {
                self.phase = Phase::ShutdownReceived;
                self.pending.peer_closed = true;
                self.on_cumulative(now, cum, None, 1);
                self.after_progress(now);
                if self.state() == State::ShutdownAckSent {
                    self.answer_shutdown(now);
                }
            }
            State::ShutdownReceived => {
                self.on_cumulative(now, cum, None, 1);
            }
            // Both sides have sent one.
            State::ShutdownSent => {
                self.phase.acknowledge_shutdown();
                self.pending.peer_closed = true;
                self.control.waiting.discard(|chunk| matches!(chunk, Chunk::Shutdown(_)));
                self.answer_shutdown(now);
            }
            State::ShutdownAckSent => self.answer_shutdown(now),
            State::Closed | State::CookieWait | State::CookieEchoed => {}
        }
    }

    /// Handles a SHUTDOWN ACK.
    pub(super) fn on_shutdown_ack(&mut self, packet: &Packet, sctp: &SctpPacket) {
        if matches!(self.state(), State::ShutdownSent | State::ShutdownAckSent) {
            let complete = Chunk::ShutdownComplete { reflected: false };
            self.reply(packet, sctp, self.identity.peer_tag, complete);
            self.pending.peer_closed |= self.state() == State::ShutdownSent;
            self.finish(CloseReason::Normal);
        }
    }

    /// Handles a SHUTDOWN COMPLETE.
    pub(super) fn on_shutdown_complete(&mut self) {
        if self.state() == State::ShutdownAckSent {
            self.finish(CloseReason::Normal);
        }
    }
}
