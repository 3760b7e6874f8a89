//! What is left when the network between does not let Multipath TCP through
//! (RFC 8684 §3.7): options that are taken away, payload that is changed.
//!
//! With one subflow the connection goes on as TCP: the stream is the subflow's.
//! With several the subflow is reset, and the others carry on. Where the one
//! that is left carries pieces that do not follow each other, nothing but the
//! end of the connection remains.

use super::{Base, Connection, Phase};
use crate::mapping::Received;
use crate::sequence::Numbering;
use anabranch_endpoint::CloseReason;
use anabranch_tcp::{Range, State as TcpState};
use anabranch_wire::checksum::Sum;
use anabranch_wire::tcp::mptcp::{DataNumber, Dss, Mapping, MptcpOption, ResetReason};
use anabranch_wire::{Payload, TcpSegment, pattern};

/// The checksum of a mapping (§3.3): over its data and a pseudo header of the
/// data sequence number in 64 bits, the subflow sequence number, the length and
/// zeros.
fn checksum(number: u64, ssn: u32, len: u16, data: &[u8]) -> u16 {
    Sum::default()
        .with(&number.to_be_bytes())
        .with(&ssn.to_be_bytes())
        .with(&len.to_be_bytes())
        .with(data)
        .checksum()
}

fn full(numbering: Numbering, offset: u64) -> u64 {
    match numbering.number(offset, true) {
        DataNumber::Long(number) => number,
        DataNumber::Short(number) => number.into(),
    }
}

impl Connection {
    /// The checksum of a piece that is about to be sent. Counted octets are, on
    /// the wire, the pattern at their sequence numbers.
    #[inline(never)]
    pub(super) fn checksum_to_send(
        &self,
        i: usize,
        start: u64,
        range: Range,
        fin: bool,
        octets: Option<&[u8]>,
    ) -> u16 {
        let len = range.len() as usize;
        let number = full(self.own, range.start);
        let sum = |data: &[u8]| checksum(number, start as u32, (len + fin as usize) as u16, data);
        octets.map(sum).unwrap_or_else(|| {
            let mut data = vec![0; len];
            pattern::fill_sequence(self.subflows[i].tcp.sequence_number(start), &mut data);
            sum(&data)
        })
    }

    /// The checksum of a DATA_FIN without data.
    pub(super) fn checksum_of_fin(&self) -> u16 {
        checksum(full(self.own, self.out.data_end()), 0, 1, &[])
    }

    /// The checksum of a mapping that has arrived whole is right.
    #[inline(never)]
    pub(super) fn is_sound(&self, i: usize, map: &Received, payload: &Payload) -> bool {
        let Some(stated) = map.checksum else { return true };
        let len = (map.len + map.fin as u32) as u16;
        let number = full(self.peer, map.data);
        let sum = |data: &[u8]| checksum(number, map.start as u32, len, data);
        let found = payload.octets().map(sum).unwrap_or_else(|| {
            let mut data = vec![0; map.len as usize];
            let seq = self.subflows[i].tcp.received_number(map.start);
            pattern::fill_sequence(seq, &mut data);
            sum(&data)
        });
        found == stated
    }

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
                    && (it.sent_to == self.out.nxt.min(self.out.data_end()) || self.out.nxt == 1)
                    && self.inc.waiting() == 0
                    && next.is_none_or(|next| next == self.inc.nxt);
                self.base = Base {
                    received: (at, self.inc.nxt),
                    sent: sent.unwrap_or((end, self.out.nxt)),
                };
                self.out.reinjections.clear();
                if !straight {
                    self.phase = Phase::Multipath;
                    self.abort_all(CloseReason::Reset);
                }
            }
        }
    }

    /// Segments come without any option of Multipath TCP.
    #[cold]
    pub(super) fn on_options_lost(&mut self, i: usize) {
        if self.alive() > 1 {
            self.drop_subflow(i, ResetReason::Middlebox);
        } else {
            self.fall_back(i);
        }
    }

    /// Octets in order that no mapping covers; false when the subflow has ended.
    #[cold]
    pub(super) fn on_unmapped(&mut self, i: usize) -> bool {
        if self.subflows[i].tcp.state() == TcpState::Closed {
            return false; // given up already
        }
        if self.alive() > 1 {
            self.drop_subflow(i, ResetReason::Middlebox);
            return false;
        }
        let begun = self.confirmed || self.inc.nxt > 1;
        if begun {
            self.fail = Some(full(self.peer, self.inc.nxt));
            self.subflows[i].tcp.ask_for_ack();
        }
        self.fall_back(i);
        !self.ended
    }

    /// The checksum of a mapping is wrong: something between the hosts changes
    /// the payload. Its octets have been taken; what a single subflow carries is
    /// the stream all the same, as with TCP.
    #[cold]
    pub(super) fn on_bad_checksum(&mut self, i: usize, map: &Received, payload: &Payload) -> bool {
        let dsn = full(self.peer, map.data);
        if self.alive() > 1 {
            self.drop_subflow(i, ResetReason::Middlebox);
            self.subflows[i].farewell = Some(MptcpOption::Fail { dsn });
            return false;
        }
        self.fail = Some(dsn);
        self.subflows[i].tcp.ask_for_ack();
        self.deliver(i, map.data, payload);
        self.subflows[i].received.drop_below(map.start + map.len as u64);
        self.fall_back(i);
        !self.ended
    }

    /// MP_FAIL: the peer has found a wrong checksum.
    pub(super) fn on_fail(&mut self, i: usize, _dsn: u64) {
        if self.phase == Phase::Multipath && self.alive() == 1 {
            self.fall_back(i);
            self.infinite = Some(self.base.sent);
            self.answers_fail = true;
            self.answer_fail(i);
        }
    }

    /// MP_FAIL after the fallback: the answer to this side's, or the peer's again.
    pub(super) fn on_fail_again(&mut self, i: usize, segment: &TcpSegment) {
        let said = |option: &MptcpOption| matches!(option, MptcpOption::Fail { .. });
        if !segment.options.mptcp().iter().any(said) {
            return;
        }
        if self.answers_fail {
            self.answer_fail(i);
        } else if self.fail.take().is_some() {
            self.infinite = Some(self.base.sent);
        }
    }

    fn answer_fail(&mut self, i: usize) {
        self.owes_fail = true;
        self.subflows[i].tcp.ask_for_ack();
    }

    /// A mapping without end (§3.7): the peer has fallen back.
    pub(super) fn on_infinite_mapping(&mut self, i: usize) {
        if self.alive() == 1 {
            self.fall_back(i);
        }
    }

    /// The mapping without end, on the first data after the peer's MP_FAIL.
    #[cold]
    pub(super) fn signal_infinite_mapping(&mut self, segment: &mut TcpSegment) {
        if segment.payload.is_empty() {
            return;
        }
        if let Some((offset, data)) = self.infinite.take() {
            let dsn = self.own.number(data, self.config.long_numbers);
            let checksum = self.checksum.then_some(0);
            let mapping = Some(Mapping { dsn, ssn: offset as u32, len: 0, checksum });
            segment.options.truncate_sack(0);
            segment.options.set_dss(&Dss { mapping, ..Dss::default() });
        }
    }

    /// MP_FAIL on an ACK: this side's until the peer has answered, or an answer.
    #[cold]
    pub(super) fn push_fail(&mut self, segment: &mut TcpSegment) {
        if !segment.payload.is_empty() {
            return;
        }
        let answers = std::mem::take(&mut self.owes_fail);
        let answer = answers.then(|| full(self.peer, self.inc.nxt));
        if let Some(dsn) = self.fail.or(answer) {
            segment.options.rare_mut().mptcp.push(MptcpOption::Fail { dsn });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §3.3, figure 11: the pseudo header's words, then the data.
    #[test]
    fn the_checksum_covers_number_length_and_data() {
        let words = [1_u32, 2, 3, 4, 0, 5, 3, 0x6162, 0x6300];
        let mut sum: u32 = words.iter().sum();
        sum = (sum & 0xffff) + (sum >> 16);
        let number = 0x0001_0002_0003_0004;
        assert_eq!(checksum(number, 5, 3, b"abc"), !(sum as u16));
    }
}
