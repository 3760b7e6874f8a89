//! DATA_FIN, the end of the stream (RFC 8684 §3.3.3): with or after the last data, and
//! when both are acknowledged, the subflows are closed.

use super::{Connection, Lifetime, Phase};
use anabranch_endpoint::{ByteStream, CloseReason};
use anabranch_tcp::State as TcpState;
use anabranch_wire::tcp::mptcp::{Dss, Mapping};

impl Connection {
    /// A DATA_FIN without data (§3.3.3): its sequence number is the mapping's.
    ///
    /// Deviation: a number of 64 bits is acknowledged with 32 where no data had one; as on Linux,
    /// whose DATA_FINs always have 64.
    #[cold]
    pub(super) fn on_lone_fin(&mut self, i: usize, dss: &Dss) {
        let Some(Mapping { dsn, ssn: 0, len: 1, .. }) = dss.mapping else { return };
        if let Some(at) = self.receiver.offset(dsn) {
            let arrival = self.receiver.on_fin(at);
            self.note(arrival);
            // It may be the second time: the DATA_ACK was lost. While data before it
            // is missing there is nothing to say, and an answer with an own DATA_FIN
            // would be answered in turn, for as long as the gap lasts.
            if self.receiver.has_ended() {
                self.subflows[i].tcp.ask_for_ack();
            }
        }
    }

    /// The user has closed: the DATA_FIN rides on the last data, or leaves with
    /// an ACK.
    pub(super) fn on_closed_by_user(&mut self) {
        match self.session.phase() {
            Phase::Opening
                if self.session.is_passive()
                    && self.subflows[0].tcp.state() == TcpState::Listen =>
            {
                self.subflows[0].tcp.close();
                self.finish(CloseReason::Aborted);
            }
            Phase::Multipath if self.sender.owes_fin() => {
                if !self.session.is_confirmed() && !self.session.is_passive() {
                    self.sender.ask_for_fin();
                    self.subflows.ask_for_ack(0, &mut self.readiness);
                } else {
                    self.subflows.ask_all_for_acks(&mut self.readiness);
                }
            }
            _ => self.end_if_done(),
        }
    }

    /// Closes the subflows when there is nothing more to say.
    #[inline]
    pub(super) fn end_if_done(&mut self) {
        if self.sender.is_closed() {
            self.end_if_all_is_said();
        }
    }

    fn end_if_all_is_said(&mut self) {
        match self.session.phase() {
            Phase::Opening => {}
            Phase::Fallback => {
                let all_given = self.sender.is_closed() && !self.sender.has_unsent();
                if all_given
                    && let Some(only) = self.subflows.first_mut()
                    && only.is_open()
                {
                    only.close();
                    self.touch(0);
                }
            }
            Phase::Multipath
                if self.sender.is_done()
                    && self.receiver.has_ended()
                    && self.lifetime == Lifetime::Open =>
            {
                self.lifetime = Lifetime::Closing;
                self.paths.forget_reopenings();
                for i in 0..self.subflows.len() {
                    self.close_subflow(i);
                }
            }
            Phase::Multipath => {}
        }
    }
}
