//! The end: SHUTDOWN, SHUTDOWN ACK, SHUTDOWN COMPLETE, and ABORT (RFC 9260
//! §9).

use super::{Association, Due};
use crate::state::State;
use anabranch_endpoint::CloseReason;
use anabranch_units::{Serial32, Time};
use anabranch_wire::Packet;
use anabranch_wire::sctp::{Cause, Chunk, SctpPacket};

impl Association {
    /// The user has no more data.
    pub(super) fn shut_down(&mut self) {
        match self.state {
            State::Closed if self.passive && !self.ended => self.finish(CloseReason::Aborted),
            State::CookieWait | State::CookieEchoed => {
                if let Some(handshake) = &mut self.handshake {
                    handshake.close = true;
                }
            }
            // Nothing may be outstanding; then the next call of the host
            // moves on.
            State::Established => {
                self.state = State::ShutdownPending;
                self.shutdown_due = true;
            }
            _ => {}
        }
    }

    /// Drops the association and tells the peer (§9.1).
    pub(super) fn abort_with(&mut self, causes: Vec<Cause>, reason: CloseReason) {
        if self.ended {
            return;
        }
        if self.state != State::Closed && self.peer_tag != 0 {
            let abort = Chunk::Abort { reflected: false, causes };
            let packet = self.packet(self.data_path(), abort);
            self.outbox.push_back(packet);
        }
        self.finish(reason);
    }

    /// The user aborts, perhaps with a reason (§11.1, ABORT primitive).
    pub fn abort_by_user(&mut self, reason: &[u8]) {
        let most = (self.max_chunk as usize).saturating_sub(8);
        let causes = match reason.get(..reason.len().min(most)) {
            None | Some([]) => Vec::new(),
            Some(reason) => vec![Cause::UserAbort(reason.into())],
        };
        self.abort_with(causes, CloseReason::Aborted);
    }

    /// The association fails: an ABORT, where the peer is to be told. Before the
    /// peer's tag is known it has this side's.
    pub(super) fn tell_of_failure(&mut self) {
        if !self.config.abort_on_failure {
            return;
        }
        let (reflected, tag) = match self.state {
            State::CookieWait => (true, self.local_tag),
            _ => (false, self.peer_tag),
        };
        let abort = Chunk::Abort { reflected, causes: Vec::new() };
        let path = &self.paths[self.data_path()];
        let packet = self.packet_with(path.local, path.remote, self.peer_port, tag, abort);
        self.outbox.push_back(packet);
    }

    /// SHUTDOWN, with T2-shutdown.
    pub(super) fn send_shutdown(&mut self, now: Time, path: usize) {
        let cum = self.peer_origin.at(self.map.next - 1);
        if !self.control.iter().any(|chunk| matches!(chunk, Chunk::Shutdown(_))) {
            self.push_control(Chunk::Shutdown(cum));
        }
        self.start_t2(now, path);
    }

    pub(super) fn send_shutdown_ack(&mut self, now: Time, path: usize) {
        self.push_shutdown_ack();
        self.start_t2(now, path);
    }

    /// SHUTDOWN ACK in answer to the packet at hand.
    fn answer_shutdown(&mut self, now: Time) {
        self.answer_way = Some(self.arrival);
        self.send_shutdown_ack(now, self.arrival.path);
    }

    pub(super) fn push_shutdown_ack(&mut self) {
        if !self.control.contains(&Chunk::ShutdownAck) {
            self.push_control(Chunk::ShutdownAck);
        }
    }

    fn start_t2(&mut self, now: Time, path: usize) {
        self.shutdown_path = path;
        let rto = self.paths[path].rtt.rto();
        self.timer(Due::T2).set(now + rto);
    }

    /// T5-shutdown-guard: five times RTO.Max (§9.2).
    pub(super) fn start_guard(&mut self, now: Time) {
        let span = self.config.rto.max * 5;
        self.timer(Due::T5).set(now + span);
    }

    /// T2-shutdown expired.
    pub(super) fn on_t2(&mut self, now: Time) {
        let path = self.shutdown_path;
        self.paths[path].rtt.on_timeout();
        self.on_path_error(now, path);
        match self.state {
            State::ShutdownSent => self.send_shutdown(now, self.data_path()),
            State::ShutdownAckSent => self.send_shutdown_ack(now, self.data_path()),
            _ => {}
        }
    }

    /// SHUTDOWN arrived.
    pub(super) fn on_shutdown(&mut self, now: Time, cum: Serial32) {
        match self.state {
            State::Established | State::ShutdownPending => {
                self.state = State::ShutdownReceived;
                self.pending.peer_closed = true;
                self.on_cumulative(now, cum, &[], 1);
                self.after_progress(now);
                if self.state == State::ShutdownAckSent {
                    self.answer_shutdown(now);
                }
            }
            State::ShutdownReceived => {
                self.on_cumulative(now, cum, &[], 1);
            }
            // Both sides have sent one.
            State::ShutdownSent => {
                self.state = State::ShutdownAckSent;
                self.pending.peer_closed = true;
                self.control.retain(|chunk| !matches!(chunk, Chunk::Shutdown(_)));
                self.answer_shutdown(now);
            }
            State::ShutdownAckSent => self.answer_shutdown(now),
            State::Closed | State::CookieWait | State::CookieEchoed => {}
        }
    }

    /// SHUTDOWN ACK arrived.
    pub(super) fn on_shutdown_ack(&mut self, packet: &Packet, sctp: &SctpPacket) {
        if matches!(self.state, State::ShutdownSent | State::ShutdownAckSent) {
            let complete = Chunk::ShutdownComplete { reflected: false };
            self.reply(packet, sctp, self.peer_tag, complete);
            self.pending.peer_closed |= self.state == State::ShutdownSent;
            self.finish(CloseReason::Normal);
        }
    }

    /// SHUTDOWN COMPLETE arrived.
    pub(super) fn on_shutdown_complete(&mut self) {
        if self.state == State::ShutdownAckSent {
            self.finish(CloseReason::Normal);
        }
    }
}
