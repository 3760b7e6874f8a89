//! MP_FAIL and the infinite mapping (RFC 8684 §3.7): payload that something between the
//! hosts has changed.

use super::{Connection, Phase};
use crate::mapping::Received;
use anabranch_wire::tcp::mptcp::{Dss, Mapping, MptcpOption, ResetReason};
use anabranch_wire::{Payload, TcpSegment};

/// Who has said MP_FAIL, and what is to follow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fail {
    /// This side's is on every ACK until the peer is known to have heard it: the data
    /// sequence number.
    said: Option<u64>,
    /// The peer's was the first: each is answered by one.
    answers: bool,
    /// An answer is due.
    owed: bool,
    /// An infinite mapping is to be signalled: its subflow offset and its data
    /// offset.
    infinite: Option<(u64, u64)>,
}

impl Connection {
    /// Says MP_FAIL of the data from `dsn` on.
    pub(super) fn say_fail(&mut self, i: usize, dsn: u64) {
        self.fail.said = Some(dsn);
        self.subflows[i].tcp.ask_for_ack();
    }

    /// The checksum of a mapping is wrong: something between the hosts changes
    /// the payload. Its octets have been taken; what a single subflow carries is
    /// the stream all the same, as with TCP.
    #[cold]
    pub(super) fn on_bad_checksum(&mut self, i: usize, map: &Received, payload: &Payload) -> bool {
        let dsn = self.receiver.full_number(map.data);
        if !self.is_contiguous() {
            self.drop_subflow(i, ResetReason::Middlebox);
            self.subflows[i].farewell = Some(MptcpOption::Fail { dsn });
            return false;
        }
        self.say_fail(i, dsn);
        self.deliver(i, map.data, payload);
        self.subflows[i].received.drop_below(map.start + map.len as u64);
        self.fall_back(i);
        !self.ended
    }

    /// MP_FAIL: the peer has found a wrong checksum.
    pub(super) fn on_fail(&mut self, i: usize, _dsn: u64) {
        if self.phase == Phase::Multipath && self.subflows.alive() == 1 {
            self.fall_back(i);
            self.fail.infinite = Some(self.base.sent);
            self.fail.answers = true;
            self.answer_fail(i);
        }
    }

    /// MP_FAIL after the fallback: the answer to this side's, or the peer's again.
    pub(super) fn on_fail_again(&mut self, i: usize, segment: &TcpSegment) {
        let said = |option: &MptcpOption| matches!(option, MptcpOption::Fail { .. });
        if !segment.options.mptcp().iter().any(said) {
            return;
        }
        if self.fail.answers {
            self.answer_fail(i);
        } else if self.fail.said.take().is_some() {
            self.fail.infinite = Some(self.base.sent);
        }
    }

    fn answer_fail(&mut self, i: usize) {
        self.fail.owed = true;
        self.subflows[i].tcp.ask_for_ack();
    }

    /// MP_FAIL on an ACK: this side's until the peer has answered, or an answer.
    #[cold]
    pub(super) fn push_fail(&mut self, segment: &mut TcpSegment) {
        if !segment.payload.is_empty() {
            return;
        }
        let answers = std::mem::take(&mut self.fail.owed);
        let answer = answers.then(|| self.receiver.full_number(self.receiver.nxt()));
        if let Some(dsn) = self.fail.said.or(answer) {
            segment.options.rare_mut().mptcp.push(MptcpOption::Fail { dsn });
        }
    }

    /// A mapping without end (§3.7): the peer has fallen back.
    pub(super) fn on_infinite_mapping(&mut self, i: usize) {
        if self.subflows.alive() == 1 {
            self.fall_back(i);
        }
    }

    /// The mapping without end, on the first data after the peer's MP_FAIL.
    #[cold]
    pub(super) fn signal_infinite_mapping(&mut self, segment: &mut TcpSegment) {
        if segment.payload.is_empty() {
            return;
        }
        if let Some((offset, data)) = self.fail.infinite.take() {
            let dsn = self.sender.number(data, self.config.long_numbers);
            let checksum = self.checksum.then_some(0);
            let mapping = Some(Mapping { dsn, ssn: offset as u32, len: 0, checksum });
            segment.options.truncate_sack(0);
            segment.options.set_dss(&Dss { mapping, ..Dss::default() });
        }
    }
}
