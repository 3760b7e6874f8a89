//! MP_FAIL and the infinite mapping (RFC 8684 §3.7): payload that something between the
//! hosts has changed.

use super::Connection;
use super::fallback::Fallback;
use crate::mapping::ReceivedMapping;
use anabranch_endpoint::CloseReason;
use anabranch_units::Time;
use anabranch_wire::tcp::mptcp::{Dss, Mapping, MptcpOption, ResetReason};
use anabranch_wire::{Payload, TcpFlags, TcpSegment};

/// The progress of the two MP_FAILs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FailExchange {
    /// No MP_FAIL is expected or owed.
    None,
    /// This side has sent MP_FAIL, which names this data sequence number; it is on every ACK until
    /// the peer is known to have heard it.
    Sent { dsn: u64 },
    /// The peer's was the first: each is answered by one.
    Answering {
        /// An MP_FAIL that answers the peer's is due.
        owed: bool,
    },
}

impl Fallback {
    /// The peer's MP_FAIL was the reason: it is answered, and an infinite mapping follows with what is sent from
    /// the subflow offset `sent_to` on.
    pub fn on_fail(&mut self, sent_to: u64) {
        self.signal_end_of_mappings(sent_to);
        self.exchange = FailExchange::Answering { owed: true };
    }

    /// MP_FAIL comes after the fallback: it answers this side's, or is the peer's again. True when an ACK
    /// is to answer it.
    fn on_fail_again(&mut self, sent_to: u64) -> bool {
        match self.exchange {
            // The connection has never been Multipath TCP.
            FailExchange::None if self.peer_key().is_none() => false,
            FailExchange::None => {
                self.on_fail(sent_to);
                true
            }
            FailExchange::Sent { .. } => {
                self.signal_end_of_mappings(sent_to);
                self.exchange = FailExchange::None;
                false
            }
            FailExchange::Answering { .. } => {
                self.exchange = FailExchange::Answering { owed: true };
                true
            }
        }
    }

    /// An ACK should carry MP_FAIL.
    fn has_fail_to_send(&self) -> bool {
        matches!(self.exchange, FailExchange::Sent { .. } | FailExchange::Answering { owed: true })
    }

    /// The data sequence number of an MP_FAIL that an ACK carries: this side's until the peer has
    /// answered, or an answer, which names the peer's `next`.
    fn fail_to_send(&mut self, next: u64) -> Option<u64> {
        match self.exchange {
            FailExchange::Sent { dsn } => Some(dsn),
            FailExchange::Answering { owed: true } => {
                self.exchange = FailExchange::Answering { owed: false };
                Some(next)
            }
            FailExchange::None | FailExchange::Answering { owed: false } => None,
        }
    }
}

impl Connection {
    /// The checksum of a mapping is wrong: something between the hosts changes
    /// the payload. Its octets have been taken; what a single subflow carries is
    /// the stream all the same, as with TCP.
    #[cold]
    pub(super) fn on_bad_checksum(
        &mut self,
        i: usize,
        map: &ReceivedMapping,
        payload: &Payload,
    ) -> bool {
        let dsn = self.receiver.full_number(map.data);
        if !self.is_contiguous() {
            self.drop_subflow(i, ResetReason::Middlebox);
            self.subflows[i].reset_options.insert(0, MptcpOption::Fail { dsn });
            return false;
        }
        self.subflows[i].tcp.ask_for_ack();
        self.reassemble(i, map.data, payload);
        self.subflows[i].received.drop_below(map.start + map.len as u64);
        self.fall_back(i, FailExchange::Sent { dsn });
        !self.has_ended()
    }

    /// MP_FAIL: the peer has found a wrong checksum, or no mapping.
    pub(super) fn on_fail(&mut self, i: usize) {
        if self.session.is_multipath() {
            self.follow_fallback(i);
            if let Some(fallback) = self.session.fallback_mut() {
                fallback.on_fail(self.subflows[i].tcp.sent_to());
            }
            self.subflows[i].tcp.ask_for_ack();
        }
    }

    /// The peer has fallen back, over subflow `i`, and takes its octets for the stream from now on. It does
    /// so only where it knows of no other (with others it resets what is broken): those that this side is
    /// opening, or takes for open, end.
    fn follow_fallback(&mut self, i: usize) {
        let is_first = self.subflows[i].id == 0;
        if !is_first && self.subflows.alive() > 1 {
            return self.abort_all(CloseReason::Reset);
        }
        self.fall_back(i, FailExchange::None);
    }

    /// A segment after the fallback may have MP_FAIL.
    pub(super) fn on_fail_again(&mut self, i: usize, segment: &TcpSegment) {
        let is_fail = |option: &MptcpOption| matches!(option, MptcpOption::Fail { .. });
        let sent_to = self.subflows[i].tcp.sent_to();
        if segment.options.mptcp().iter().any(is_fail)
            && self.session.fallback_mut().is_some_and(|fallback| fallback.on_fail_again(sent_to))
        {
            self.subflows[i].tcp.ask_for_ack();
        }
    }

    /// MP_FAIL on an ACK: this side's until the peer has answered, or an answer.
    #[cold]
    pub(super) fn push_fail(&mut self, now: Time, i: usize, segment: &mut TcpSegment) {
        let is_due = self.session.fallback().is_some_and(Fallback::has_fail_to_send);
        // Beside the mapping of a FIN there is no room for it.
        let is_full = segment.options.dss().is_some();
        if !segment.payload.is_empty() || is_full || !is_due {
            return;
        }
        let subflow = &mut self.subflows[i];
        let patience = subflow.tcp.rtt().rto();
        if !subflow.signals.may_leave(now, segment.ack, patience) {
            return;
        }
        let next = self.receiver.full_number(self.receiver.nxt());
        let dsn = self.session.fallback_mut().and_then(|fallback| fallback.fail_to_send(next));
        if let Some(dsn) = dsn {
            segment.options.rare_mut().mptcp.push(MptcpOption::Fail { dsn });
        }
    }

    /// A mapping without end (§3.7): the peer has fallen back.
    pub(super) fn on_infinite_mapping(&mut self, i: usize) {
        self.follow_fallback(i);
    }

    /// The first data after the peer's MP_FAIL, or after options were lost, carries a mapping without
    /// end, and what was sent before and is sent again; or the FIN, where no data follows.
    #[cold]
    pub(super) fn signal_infinite_mapping(&mut self, i: usize, segment: &mut TcpSegment) {
        if segment.payload.is_empty() && !segment.flags.contains(TcpFlags::FIN) {
            return;
        }
        let tcp = &self.subflows[i].tcp;
        let (Some(at), (una, _)) = (tcp.sent_offset(segment.seq), tcp.outstanding()) else {
            return;
        };
        let Some(fallback) = self.session.fallback_mut() else { return };
        fallback.infinite = fallback.infinite.filter(|infinite| !infinite.has_arrived(una));
        let from = fallback.infinite.as_mut().and_then(|infinite| infinite.on_segment(at));
        if let Some((offset, data)) = from {
            let (dsn, early) = (self.sender.number(data), self.subflows[i].early.sent);
            let checksum = self.session.has_checksums().then_some(0);
            let mapping =
                Some(Mapping { dsn, ssn: (offset as u32).wrapping_sub(early), len: 0, checksum });
            segment.options.truncate_sack(0);
            segment.options.set_dss(&Dss { mapping, ..Dss::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fallback::{Base, InfiniteMapping};
    use super::*;

    /// RFC 8684 §3.7: MP_FAIL is repeated until it is heard, then an infinite mapping follows.
    #[test]
    fn a_fail_is_on_every_ack_until_it_is_answered() {
        let base = Base { received: (101, 201), sent: (301, 401) };
        let mut ours = Fallback::at(0, base, None).with(FailExchange::Sent { dsn: 7 });
        assert_eq!((ours.fail_to_send(9), ours.fail_to_send(9)), (Some(7), Some(7)));
        assert_eq!(ours.infinite, None);
        assert!(!ours.on_fail_again(350), "an answer is not answered");
        assert_eq!(ours.fail_to_send(9), None);
        assert_eq!(ours.infinite, Some(InfiniteMapping::due((301, 401), 350)));
    }

    #[test]
    fn each_fail_of_the_peer_is_answered_by_one() {
        let mut theirs = Fallback::at(0, Base::START, None);
        assert!(!theirs.on_fail_again(1), "there was none before");
        theirs.on_fail(1);
        let infinite = InfiniteMapping::due((1, 1), 1);
        assert_eq!((theirs.infinite, theirs.fail_to_send(9)), (Some(infinite), Some(9)));
        assert_eq!(theirs.fail_to_send(9), None);
        assert!(theirs.on_fail_again(1));
        assert_eq!(theirs.fail_to_send(11), Some(11));
    }
}
