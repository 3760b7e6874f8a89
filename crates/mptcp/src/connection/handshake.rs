//! The first handshake (RFC 8684 §3.1): MP_CAPABLE on SYN, SYN/ACK, and on the
//! third ACK and the first data until the peer has sent a DSS.
//!
//! ```text
//! A                                   B
//! SYN, MP_CAPABLE             ->
//!                             <-      SYN/ACK, MP_CAPABLE(Key-B)
//! ACK, MP_CAPABLE(Key-A, Key-B) ->
//! data, MP_CAPABLE(Key-A, Key-B, length) ->
//!                             <-      ACK, DSS(DATA_ACK)
//! ```

use super::Connection;
use super::fail::FailExchange;
use super::session::Session;
use crate::key::Key;
use crate::mapping::ReceivedMapping;
use crate::subflow::Stage;
use anabranch_units::{Serial32, Time};
use anabranch_wire::tcp::mptcp::{Capable, CapableData, CapableFlags, CapableKeys, MptcpOption};
use anabranch_wire::{TcpFlags, TcpSegment};

const VERSION: u8 = 1;

/// Returns the MP_CAPABLE option of a segment, if it has one.
fn capable(segment: &TcpSegment) -> Option<&Capable> {
    segment.options.mptcp().iter().find_map(|option| match option {
        MptcpOption::Capable(capable) => Some(capable),
        _ => None,
    })
}

/// Returns the MP_CAPABLE option of a segment, if it has one with flags that this side understands.
fn understood(segment: &TcpSegment) -> Option<&Capable> {
    capable(segment).filter(|capable| is_understood(capable.flags))
}

/// §3.1: the algorithm is the one that there is, and nothing is extended.
fn is_understood(flags: CapableFlags) -> bool {
    flags.contains(CapableFlags::HMAC_SHA256) && !flags.contains(CapableFlags::EXTENSION)
}

/// A SYN has an MP_CAPABLE that this side understands, with these flags.
fn offer(segment: &TcpSegment) -> Option<CapableFlags> {
    let offer = understood(segment).filter(|capable| capable.keys == CapableKeys::Syn)?;
    Some(offer.flags)
}

/// What the segment after a SYN/ACK means to the passive side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FirstAck {
    /// The segment says nothing of the handshake.
    Other,
    /// The segment is the SYN again.
    Syn,
    /// The segment brings the peer's key.
    Key(Key),
    /// The segment is data that has overtaken the keys: it is worth nothing before they have come.
    Early,
    /// The peer, or the network between, does not speak Multipath TCP.
    Plain,
}

impl Session {
    /// MP_CAPABLE has this side's flags. Flag A is this side's wish on a SYN, on a SYN/ACK the wish of
    /// either, and once both are known what was agreed on (§3.1).
    fn capable(&self, keys: CapableKeys) -> MptcpOption {
        let mut flags = CapableFlags::HMAC_SHA256;
        let is_third = matches!(keys, CapableKeys::Ack { .. });
        if self.asks_for_checksums() || is_third && self.has_checksums() {
            flags = flags.union(CapableFlags::CHECKSUM);
        }
        MptcpOption::Capable(Capable { version: VERSION, flags, keys })
    }

    /// What the first subflow's SYN carries, which has left `retries` times before. §3.1:
    /// something between the hosts may drop SYNs with MP_CAPABLE, which the first `most` have; 0
    /// for all.
    fn syn_option(&mut self, retries: u32, most: u32) -> Option<MptcpOption> {
        let offers = most == 0 || retries < most;
        self.on_syn_sent(offers);
        offers.then(|| self.capable(CapableKeys::Syn))
    }

    /// What the first subflow's SYN/ACK carries.
    fn syn_ack_option(&self) -> Option<MptcpOption> {
        let keys = CapableKeys::SynAck { key: self.key().0 };
        self.has_offered().then(|| self.capable(keys))
    }

    /// What a third ACK, or with `data` the first data, carries.
    #[cold]
    pub fn third_ack_option(&self, data: Option<CapableData>) -> Option<MptcpOption> {
        let (key, peer) = self.keys()?;
        Some(self.capable(CapableKeys::Ack { key: key.0, peer: peer.0, data }))
    }

    /// The peer's key and flags, where a SYN/ACK agrees to what this side has offered.
    fn answer(&self, segment: &TcpSegment) -> Option<(Key, CapableFlags)> {
        let answer = understood(segment).filter(|answer| answer.version == VERSION)?;
        match answer.keys {
            CapableKeys::SynAck { key } if self.has_offered() => Some((Key(key), answer.flags)),
            _ => None,
        }
    }

    /// What follows this side's SYN/ACK.
    fn first_ack(&self, segment: &TcpSegment) -> FirstAck {
        if segment.flags.contains(TcpFlags::RST) || self.fallback().is_some() {
            return FirstAck::Other;
        }
        if segment.flags.contains(TcpFlags::SYN) {
            return FirstAck::Syn;
        }
        match understood(segment).map(|capable| capable.keys) {
            Some(CapableKeys::Ack { key, peer, .. }) if peer == self.key().0 => {
                FirstAck::Key(Key(key))
            }
            None if segment.options.dss().is_some() && self.is_multipath() => FirstAck::Other,
            // The keys are on the way again.
            None if segment.options.dss().is_some() => FirstAck::Early,
            _ => FirstAck::Plain,
        }
    }
}

impl Connection {
    /// What the first subflow's SYN or SYN/ACK carries.
    pub(super) fn first_syn_option(&mut self, answers: bool) -> Option<MptcpOption> {
        if !self.config.enabled || self.session.fallback().is_some() {
            return None;
        }
        if answers {
            return self.session.syn_ack_option();
        }
        let retries = self.subflows[0].tcp.syn_retries();
        self.session.syn_option(retries, self.config.capable_syns)
    }

    /// The first data carries no keys any more, if it leaves again.
    #[cold]
    pub(super) fn keep_no_room_for_keys(&mut self) {
        if let Some(first) = self.subflows.first_of_all() {
            first.tcp.reserve_first(0);
        }
    }

    /// The passive side has a SYN, the first or the same again. Without MP_CAPABLE, or no longer with
    /// it, the connection is TCP.
    pub(super) fn on_first_syn(&mut self, segment: &TcpSegment) {
        match offer(segment).filter(|_| self.config.enabled) {
            Some(flags) => {
                self.session.on_offer(flags.contains(CapableFlags::CHECKSUM));
                self.paths.set_avoids_first(flags.contains(CapableFlags::NO_MORE_HERE));
            }
            None => self.fall_back(0, FailExchange::None),
        }
    }

    /// Takes a handshake up whose SYN and SYN/ACK, numbered `iss` and with `key`, nobody has
    /// remembered (RFC 4987 §3.6): what follows brings both keys (§3.1).
    pub(crate) fn resume(&mut self, now: Time, iss: Serial32, syn: &TcpSegment, key: Key) {
        self.set_key(key);
        self.on_first_syn(syn);
        self.subflows[0].tcp.resume(now, iss, syn);
        self.touch(0);
    }

    /// The SYN/ACK's option, for a listener that answers without a connection.
    pub(crate) fn syn_ack_option(key: Key, checksum: bool) -> MptcpOption {
        let sum = if checksum { CapableFlags::CHECKSUM } else { CapableFlags::HMAC_SHA256 };
        let flags = CapableFlags::HMAC_SHA256.union(sum);
        let keys = CapableKeys::SynAck { key: key.0 };
        MptcpOption::Capable(Capable { version: VERSION, flags, keys })
    }

    /// The flags of an ACK that brings both keys, the second of which is `key`.
    pub(crate) fn keys_of_ack(segment: &TcpSegment, key: Key) -> Option<CapableFlags> {
        let capable = understood(segment)?;
        let is_right = matches!(capable.keys, CapableKeys::Ack { peer, .. } if peer == key.0);
        is_right.then_some(capable.flags)
    }

    /// A SYN offers what this side understands.
    pub(crate) fn offers(segment: &TcpSegment) -> bool {
        offer(segment).is_some()
    }

    /// A SYN with these flags has this option.
    pub(crate) fn syn_option(flags: CapableFlags) -> MptcpOption {
        MptcpOption::Capable(Capable { version: VERSION, flags, keys: CapableKeys::Syn })
    }

    /// The active side has the SYN/ACK.
    pub(super) fn on_first_answer(&mut self, segment: &TcpSegment) {
        match self.session.answer(segment) {
            Some((key, flags)) => {
                if flags.contains(CapableFlags::CHECKSUM) {
                    self.session.on_asked_for_checksums();
                }
                self.paths.set_avoids_first(flags.contains(CapableFlags::NO_MORE_HERE));
                self.begin(key);
            }
            None => self.fall_back(0, FailExchange::None),
        }
    }

    /// The passive side has what follows its SYN/ACK. False for a segment that must
    /// wait for one with the keys.
    pub(super) fn on_first_ack(&mut self, now: Time, i: usize, segment: &TcpSegment) -> bool {
        match self.session.first_ack(segment) {
            FirstAck::Other => {}
            FirstAck::Syn => self.on_first_syn(segment),
            FirstAck::Key(key) => {
                self.begin(key);
                if self.subflows[i].stage == Stage::Ready {
                    self.announce_addresses(now); // its SYN had opened it
                }
            }
            FirstAck::Early => return false,
            FirstAck::Plain => self.fall_back(0, FailExchange::None),
        }
        true
    }

    /// Starts Multipath TCP in both directions, now that the peer's key is known.
    fn begin(&mut self, peer: Key) {
        self.session.begin(peer);
        self.receiver.begin(peer.idsn());
    }

    /// The peer is known to have the keys: subflows may be opened (§3.2), and the active side
    /// need not repeat them.
    #[cold]
    pub(super) fn on_keys_confirmed(&mut self, now: Time, i: usize) {
        self.session.confirm();
        if !self.session.is_passive() {
            self.keep_no_room_for_keys();
            self.announce_addresses(now);
        }
        self.open_wanted(now);
        // A DATA_FIN alone gave way to the keys.
        if self.sender.owes_fin() && !self.session.is_passive() {
            self.subflows[i].tcp.ask_for_ack();
        }
    }

    /// An MP_CAPABLE with data maps the first octets of both streams; false where it costs the subflow.
    #[cold]
    pub(super) fn on_capable_data(&mut self, i: usize, segment: &TcpSegment) -> bool {
        let keys = capable(segment).map(|capable| capable.keys);
        let Some(CapableKeys::Ack { data: Some(data), .. }) = keys else { return true };
        let CapableData { len, checksum } = data;
        if !self.has_agreed_checksum(i, checksum) {
            return false;
        }
        let map = ReceivedMapping {
            start: self.receiver.first(),
            len: len.into(),
            data: self.receiver.first(),
            fin: false,
            checksum,
            long: true, // it could have been either
        };
        self.keep_mapping(i, map);
        true
    }

    /// The first subflow is established.
    pub(super) fn on_first_connected(&mut self, now: Time) {
        self.pending.connected = true;
        self.counters.subflows += 1;
        if self.session.is_multipath() && self.session.is_passive() {
            self.announce_addresses(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::{Payload, TcpOptions};

    fn segment(flags: TcpFlags, option: Option<MptcpOption>) -> TcpSegment {
        let mut options = TcpOptions::default();
        if let Some(option) = option {
            options.rare_mut().mptcp.push(option);
        }
        TcpSegment {
            src_port: 1,
            dst_port: 2,
            seq: Serial32(0),
            ack: Serial32(0),
            flags,
            window: 0,
            urgent: 0,
            options,
            payload: Payload::EMPTY,
        }
    }

    /// RFC 8684 §3.1: the three segments, from one machine to the other.
    #[test]
    fn both_machines_learn_both_keys() {
        let mut a = Session::new(Key(1), false, false);
        let mut b = Session::new(Key(2), true, true);
        let syn = segment(TcpFlags::SYN, a.syn_option(0, 3));
        let flags = offer(&syn).unwrap();
        assert!(!flags.contains(CapableFlags::CHECKSUM));
        b.on_offer(false);
        let answer = segment(TcpFlags::SYN.union(TcpFlags::ACK), b.syn_ack_option());
        let (key, flags) = a.answer(&answer).unwrap();
        assert!(key == Key(2) && flags.contains(CapableFlags::CHECKSUM));
        a.begin(key);
        a.on_asked_for_checksums();
        let third = segment(TcpFlags::ACK, a.third_ack_option(None));
        let flags = understood(&third).unwrap().flags;
        assert!(flags.contains(CapableFlags::CHECKSUM), "as on either of the first two");
        assert_eq!(b.first_ack(&third), FirstAck::Key(Key(1)));
        let others =
            segment(TcpFlags::ACK, Session::new(Key(3), false, false).third_ack_option(None));
        assert_eq!(b.first_ack(&others), FirstAck::Plain);
        assert_eq!(b.first_ack(&syn), FirstAck::Syn);
        assert_eq!(b.first_ack(&segment(TcpFlags::RST, None)), FirstAck::Other);
    }

    #[test]
    fn syns_without_an_offer_are_not_answered_with_a_key() {
        let mut session = Session::new(Key(1), false, false);
        assert!(session.syn_option(2, 3).is_some() && session.syn_option(9, 0).is_some());
        assert!(session.syn_option(3, 3).is_none() && session.syn_ack_option().is_none());
        let mut peer = Session::new(Key(2), true, false);
        peer.on_offer(false);
        let answer = segment(TcpFlags::SYN.union(TcpFlags::ACK), peer.syn_ack_option());
        assert_eq!(session.answer(&answer), None, "the last SYN offered nothing");
    }
}
