//! What is left when the network between does not let Multipath TCP through
//! (RFC 8684 §3.7): options that are taken away, mappings that are missing.
//!
//! With one subflow the connection goes on as TCP: the stream is the subflow's.
//! Once there have been several, a subflow is reset, and the others carry on; where none is left,
//! and none can be opened, nothing but the end of the connection remains. Octets whose mapping
//! is lost could be any part of the stream, also on the last subflow.

use super::{Connection, Phase};
use anabranch_endpoint::CloseReason;
use anabranch_tcp::State as TcpState;
use anabranch_wire::tcp::mptcp::ResetReason;

/// How the stream and the only subflow's stream lie after the fallback: an
/// offset of the subflow and the data offset that it stands for, in each
/// direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    pub(super) received: (u64, u64),
    pub(super) sent: (u64, u64),
}

impl Connection {
    /// From now on the connection is TCP, over subflow `i`.
    #[cold]
    pub(super) fn fall_back(&mut self, i: usize) {
        let before = std::mem::replace(&mut self.phase, Phase::Fallback);
        match before {
            Phase::Opening => {
                self.subflows[i].tcp.reserve_options(0);
                self.keep_no_room_for_keys();
            }
            Phase::Fallback => {}
            Phase::Multipath => {
                let it = &self.subflows[i];
                let (_, end) = it.tcp.outstanding();
                let at = it.tcp.read_offset();
                let sent = it.sent.iter().next().map(|unit| (unit.start, unit.data));
                // What waits in the subflow is the next of the stream.
                let next = it.received.find(at).map(|map| map.data + (at - map.start));
                let straight = it.sent.is_linear()
                    && (it.sent_to == self.sender.nxt().min(self.sender.data_end())
                        || self.sender.nxt() == 1)
                    && self.receiver.waiting() == 0
                    && next.is_none_or(|next| next == self.receiver.nxt());
                self.base = Base {
                    received: (at, self.receiver.nxt()),
                    sent: sent.unwrap_or((end, self.sender.nxt())),
                };
                self.sender.forget_reinjections();
                if !straight {
                    self.phase = Phase::Multipath;
                    self.abort_all(CloseReason::Reset);
                }
            }
        }
    }

    /// There has been no subflow but the first (§3.7): all that the peer has in flight on it
    /// follows what came before. With another, even one that is gone, the peer may have sent on it
    /// what comes after something else: octets without a mapping could stand anywhere.
    pub(super) fn is_contiguous(&self) -> bool {
        self.subflows.alive() == 1 && self.counters.subflows <= 1
    }

    /// Segments come without any option of Multipath TCP.
    #[cold]
    pub(super) fn on_options_lost(&mut self, i: usize) {
        if self.is_contiguous() {
            self.fall_back(i);
        } else {
            self.drop_subflow(i, ResetReason::Middlebox);
        }
    }

    /// Octets in order that no mapping covers; false when the subflow has ended.
    #[cold]
    pub(super) fn on_unmapped(&mut self, i: usize) -> bool {
        if self.subflows[i].tcp.state() == TcpState::Closed {
            return false; // given up already
        }
        if !self.is_contiguous() {
            self.drop_subflow(i, ResetReason::Middlebox);
            return false;
        }
        let begun = self.confirmed || self.receiver.nxt() > 1;
        if begun {
            self.say_fail(i, self.receiver.full_number(self.receiver.nxt()));
        }
        self.fall_back(i);
        !self.ended
    }
}
