//! What is left when the network between does not let Multipath TCP through
//! (RFC 8684 §3.7): options that are taken away, mappings that are missing.
//!
//! With one subflow the connection goes on as TCP: the stream is the subflow's. The sender says so,
//! who knows that it has sent nothing twice on it, or nothing of the stream had come by mappings.
//! Otherwise the subflow is reset, and the others carry on; where none is left,
//! and none can be opened, nothing but the end of the connection remains. Octets whose mapping
//! is lost could be any part of the stream, also on the last subflow.

use super::fail::FailExchange;
use super::{Connection, Due, Phase};
use crate::key::Key;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::subflow::Subflow;
use anabranch_endpoint::CloseReason;
use anabranch_tcp::State as TcpState;
use anabranch_wire::tcp::mptcp::ResetReason;

/// The relation of the stream to the only subflow's stream after the fallback: an offset of the
/// subflow and the data offset that it stands for, in each direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Base {
    pub received: (u64, u64),
    pub sent: (u64, u64),
}

impl Base {
    /// The streams begin together: the connection has never been Multipath TCP.
    pub const START: Base = Base { received: (1, 1), sent: (1, 1) };

    /// How the streams lie at the fallback over a subflow; the second is true where its octets are
    /// those of the stream without a gap, so that they can do without mappings.
    fn of(subflow: &Subflow, sender: &Sender, receiver: &Receiver) -> (Base, bool) {
        let (_, end) = subflow.tcp.outstanding();
        let at = subflow.tcp.read_offset();
        let sent = subflow.sent.iter().next().map(|unit| (unit.start, unit.data));
        // What waits in the subflow is the next of the stream.
        let next = subflow.received.find(at).map(|map| map.data + (at - map.start));
        let is_straight = subflow.sent.is_linear()
            && (subflow.sent_to == sender.nxt().min(sender.data_end()) || !sender.has_begun())
            && receiver.waiting() == 0
            && subflow.read_to == receiver.received() + 1
            && next.is_none_or(|next| next == receiver.nxt());
        let received = (at, receiver.nxt());
        (Base { received, sent: sent.unwrap_or((end, sender.nxt())) }, is_straight)
    }
}

/// The mapping without end that the first new segment after the fallback carries (§3.7), and what of
/// the data before it is sent again: the peer has the end of the mappings before anything that has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct InfiniteMapping {
    /// Subflow offset and data offset from which on the subflow is the stream.
    from: (u64, u64),
    /// Subflow offset after the last octet that had left at the fallback.
    sent_to: u64,
    /// Subflow offset of the first new segment, once it has left.
    first_new: Option<u64>,
}

impl InfiniteMapping {
    /// To be signalled with the next data, of a subflow that has sent everything before `sent_to`.
    pub fn due(from: (u64, u64), sent_to: u64) -> InfiniteMapping {
        InfiniteMapping { from, sent_to, first_new: None }
    }

    /// The mapping that a segment with data, or the FIN, from the subflow offset `at` on carries.
    pub fn on_segment(&mut self, at: u64) -> Option<(u64, u64)> {
        if at >= self.sent_to && self.first_new.is_none() {
            self.first_new = Some(at);
        }
        self.first_new.is_none_or(|first| at <= first).then_some(self.from)
    }

    /// The segment that carried it as the first new one has been acknowledged.
    pub fn has_arrived(&self, una: u64) -> bool {
        self.first_new.is_some_and(|first| una > first)
    }
}

/// The state of a connection that has fallen back to TCP.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fallback {
    /// The identifier of the subflow that is TCP now.
    over: u32,
    /// The peer's key, where it had come: what was under way still names it.
    peer_key: Option<Key>,
    pub base: Base,
    /// The progress of the MP_FAILs.
    pub exchange: FailExchange,
    /// An infinite mapping is to be signalled.
    pub infinite: Option<InfiniteMapping>,
    /// The peer's FIN has come, behind octets that wait in the subflow for room in the stream.
    pub fin_waits: bool,
}

impl Fallback {
    /// A connection falls back without MP_FAIL, over the subflow with this identifier.
    pub fn at(over: u32, base: Base, peer_key: Option<Key>) -> Fallback {
        let exchange = FailExchange::None;
        Fallback { over, peer_key, base, exchange, infinite: None, fin_waits: false }
    }

    /// Whether the subflow with this identifier is TCP now. Others have been aborted, and may still hold
    /// octets that they had received.
    pub fn is_over(&self, id: u32) -> bool {
        self.over == id
    }

    /// Falls back as this does, with MP_FAIL in this state.
    pub fn with(self, exchange: FailExchange) -> Fallback {
        Fallback { exchange, ..self }
    }

    /// The next segments with data say by an infinite mapping that no other mapping follows (§3.7); everything
    /// before the subflow offset `sent_to` has left before.
    pub fn signal_end_of_mappings(&mut self, sent_to: u64) {
        self.infinite = Some(InfiniteMapping::due(self.base.sent, sent_to));
    }

    /// The peer's key, where it had come.
    pub fn peer_key(&self) -> Option<Key> {
        self.peer_key
    }

    /// The data offset that the subflow's acknowledgment of everything before `ack` stands for.
    pub fn acknowledged(&self, ack: u64) -> u64 {
        let (from, data) = self.base.sent;
        data + ack.saturating_sub(from)
    }

    /// The data offset of the subflow's octet at `at`, which has arrived.
    pub fn received(&self, at: u64) -> u64 {
        let (from, data) = self.base.received;
        data + (at - from)
    }
}

impl Connection {
    /// Makes the connection TCP, over subflow `i`, and says MP_FAIL as `exchange` has it. Other subflows end.
    #[cold]
    pub(super) fn fall_back(&mut self, i: usize, exchange: FailExchange) {
        match self.session.phase() {
            Phase::Opening => {
                let id = self.subflows[i].id;
                self.session.fall_back(Fallback::at(id, Base::START, None));
                self.subflows[i].tcp.reserve_options(0);
                self.keep_no_room_for_keys();
            }
            Phase::Fallback => {}
            Phase::Multipath => {
                self.end_others(i);
                let (base, is_straight) = Base::of(&self.subflows[i], &self.sender, &self.receiver);
                // This side has ended a subflow whose peer had: nothing more can leave on it.
                let can_send = self.subflows[i].is_open() || !self.sender.has_unsent();
                self.sender.forget_reinjections();
                self.forget_announcements();
                if is_straight && can_send {
                    let id = self.subflows[i].id;
                    let fallback = Fallback::at(id, base, self.session.peer_key());
                    self.session.fall_back(fallback.with(exchange));
                } else {
                    self.abort_all(CloseReason::Reset);
                }
            }
        }
    }

    /// There has been no subflow but the first (§3.7): all that the peer has in flight on it
    /// follows what came before. With another, even one that is gone, the peer may have sent on it
    /// what comes after something else: octets without a mapping could stand anywhere. One that is being
    /// opened has carried nothing.
    pub(super) fn is_contiguous(&self) -> bool {
        self.counters.subflows <= 1
    }

    /// Ends every subflow but `i`: those that are being opened, or that this side takes for open.
    fn end_others(&mut self, i: usize) {
        for other in 0..self.subflows.len() {
            if other != i && !self.subflows[other].is_gone() {
                self.drop_subflow(other, ResetReason::Middlebox);
            }
        }
    }

    /// Nothing of addresses or subflows can be said or asked for any more.
    fn forget_announcements(&mut self) {
        self.timers.stop(Due::Announce);
        self.timers.stop(Due::Reopen);
        self.paths.forget_reopenings();
        self.subflows.iter_mut().for_each(|subflow| subflow.options.clear());
    }

    /// ACKs come without any option of Multipath TCP. With one subflow a mapping without end tells the
    /// peer, in case options are lost in one direction alone (§3.7).
    #[cold]
    pub(super) fn on_options_lost(&mut self, i: usize) {
        if self.is_contiguous() {
            self.fall_back(i, FailExchange::None);
            if let Some(fallback) = self.session.fallback_mut() {
                fallback.signal_end_of_mappings(self.subflows[i].tcp.sent_to());
            }
        } else {
            self.drop_subflow(i, ResetReason::Middlebox);
        }
    }

    /// Octets in order that no mapping covers; false when the subflow has ended. Where nothing has come before,
    /// they are the beginning of the stream. Later they may be a repetition of what the peer has sent before,
    /// which no receiver can tell: the subflow is broken (§3.7).
    #[cold]
    pub(super) fn on_unmapped(&mut self, i: usize) -> bool {
        if self.subflows[i].tcp.state() == TcpState::Closed {
            return false; // given up already
        }
        let next = self.receiver.nxt();
        if !self.is_contiguous() || next > self.receiver.first() {
            self.drop_subflow(i, ResetReason::Middlebox);
            return false;
        }
        let mut exchange = FailExchange::None;
        if self.session.is_confirmed() {
            exchange = FailExchange::Sent { dsn: self.receiver.full_number(next) };
            self.subflows[i].tcp.ask_for_ack();
        }
        self.fall_back(i, exchange);
        !self.has_ended()
    }
}

#[cfg(test)]
mod tests {
    use super::super::subflows::testing::subflow;
    use super::*;
    use crate::mapping::{ReceivedMapping, SentMapping};
    use crate::subflow::Stage;

    /// A sender whose only subflow was given 2000 octets, of which its TCP knows nothing yet.
    fn sent() -> (Subflow, Sender, Receiver) {
        let (mut sender, mut only) = (Sender::new(0, false), subflow(0, Stage::Ready));
        sender.write(5000);
        let range = sender.take_new(2000);
        let unit = SentMapping { start: 1, len: 2000, data: range.start, fin: false, checksum: 0 };
        only.sent.push(unit, false);
        only.sent_to = range.end;
        (only, sender, Receiver::new(10_000))
    }

    /// RFC 8684 §3.7: octets without a mapping are the stream only where nothing is missing.
    #[test]
    fn a_stream_that_another_subflow_carried_a_part_of_is_not_straight() {
        let (mut only, mut sender, receiver) = sent();
        let base = Base { received: (only.tcp.read_offset(), 1), sent: (1, 1) };
        assert_eq!(Base::of(&only, &sender, &receiver), (base, true));
        sender.take_new(1000);
        assert!(!Base::of(&only, &sender, &receiver).1, "another subflow had them");
        only.sent_to = 3001;
        let unit = SentMapping { start: 2001, len: 500, data: 2501, fin: false, checksum: 0 };
        only.sent.push(unit, false);
        assert!(!Base::of(&only, &sender, &receiver).1, "500 octets are left out");
    }

    /// What went beyond the window was dropped, though the subflow has acknowledged it.
    #[test]
    fn a_stream_without_room_for_what_the_subflow_took_is_not_straight() {
        let (mut only, sender, mut receiver) = sent();
        receiver.on_data(1, &anabranch_wire::Payload::virtual_of(100));
        only.read_to = 101;
        assert!(Base::of(&only, &sender, &receiver).1);
        only.read_to = 601;
        assert!(!Base::of(&only, &sender, &receiver).1, "500 octets had no room");
    }

    #[test]
    fn what_waits_in_the_subflow_must_be_the_next_of_the_stream() {
        let (mut only, sender, receiver) = sent();
        let start = only.tcp.read_offset();
        let map = |data| ReceivedMapping {
            start,
            len: 100,
            data,
            fin: false,
            checksum: None,
            long: false,
        };
        only.received.insert(map(1), start, 10);
        assert!(Base::of(&only, &sender, &receiver).1);
        only.received.drop_below(start + 100);
        only.received.insert(map(501), start, 10);
        assert!(!Base::of(&only, &sender, &receiver).1);
    }

    /// RFC 8684 §3.7: "the first new packet" has the mapping without end. What had left before, and is lost, has it
    /// as well when it is sent again, since the peer would reset a subflow for octets without any.
    #[test]
    fn the_first_new_segment_and_repetitions_before_it_have_the_infinite_mapping() {
        let mut infinite = InfiniteMapping::due((51, 501), 301);
        let segments = [101, 301, 401, 101, 301, 401].map(|at| infinite.on_segment(at).is_some());
        assert_eq!(segments, [true, true, false, true, true, false]);
        assert_eq!((infinite.has_arrived(301), infinite.has_arrived(401)), (false, true));
    }

    #[test]
    fn offsets_of_the_subflow_stand_for_those_of_the_stream() {
        let fallback = Fallback::at(0, Base { received: (101, 1001), sent: (51, 501) }, None);
        assert_eq!((fallback.received(101), fallback.received(201)), (1001, 1101));
        assert_eq!((fallback.acknowledged(61), fallback.acknowledged(1)), (511, 501));
    }
}
