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

use super::{Connection, Phase};
use crate::key::Key;
use crate::mapping::Received;
use anabranch_units::{Serial32, Time};
use anabranch_wire::tcp::mptcp::{Capable, CapableData, CapableFlags, CapableKeys, MptcpOption};
use anabranch_wire::{TcpFlags, TcpSegment};

const VERSION: u8 = 1;

/// The MP_CAPABLE of a segment.
fn capable(segment: &TcpSegment) -> Option<&Capable> {
    segment.options.mptcp().iter().find_map(|option| match option {
        MptcpOption::Capable(capable) => Some(capable),
        _ => None,
    })
}

/// §3.1: the algorithm is the one that there is, and nothing is extended.
fn is_understood(flags: CapableFlags) -> bool {
    flags.contains(CapableFlags::HMAC_SHA256) && !flags.contains(CapableFlags::EXTENSION)
}

impl Connection {
    /// MP_CAPABLE with this side's flags.
    fn capable(&self, keys: CapableKeys) -> MptcpOption {
        let mut flags = CapableFlags::HMAC_SHA256;
        if self.config.checksum || self.passive && self.checksum {
            flags = flags.union(CapableFlags::CHECKSUM);
        }
        MptcpOption::Capable(Capable { version: VERSION, flags, keys })
    }

    /// What the first subflow's SYN or SYN/ACK carries.
    pub(super) fn first_syn_option(&mut self, answers: bool) -> Option<MptcpOption> {
        if !self.config.enabled || self.phase == Phase::Fallback {
            return None;
        }
        if answers {
            return self.offered.then(|| self.capable(CapableKeys::SynAck { key: self.key.0 }));
        }
        // §3.1: something between the hosts may drop SYNs that carry it.
        let most = self.config.capable_syns;
        self.offered = most == 0 || self.subflows[0].tcp.syn_retries() < most;
        self.offered.then(|| self.capable(CapableKeys::Syn))
    }

    /// What a third ACK, or with `data` the first data, carries.
    #[cold]
    pub(super) fn third_ack_option(&self, data: Option<CapableData>) -> MptcpOption {
        self.capable(CapableKeys::Ack { key: self.key.0, peer: self.peer_key.0, data })
    }

    /// The first data carries no keys any more, if it leaves again.
    #[cold]
    pub(super) fn keep_no_room_for_keys(&mut self) {
        if let Some(first) = self.subflows.first_of_all() {
            first.tcp.reserve_first(0);
        }
    }

    /// The passive side: a SYN, the first or the same again.
    pub(super) fn on_first_syn(&mut self, segment: &TcpSegment) {
        let offer =
            capable(segment).filter(|it| it.keys == CapableKeys::Syn && is_understood(it.flags));
        match offer.filter(|_| self.config.enabled) {
            Some(offer) => {
                self.offered = true;
                self.checksum =
                    self.config.checksum || offer.flags.contains(CapableFlags::CHECKSUM);
                self.paths.set_avoids_first(offer.flags.contains(CapableFlags::NO_MORE_HERE));
            }
            // Without it, or no longer with it: TCP.
            None => self.fall_back(0),
        }
    }

    /// Takes a handshake up whose SYN and SYN/ACK, numbered `iss` and with `key`, nobody has
    /// remembered (RFC 4987 §3.6): what follows brings both keys (§3.1).
    pub(crate) fn resume(&mut self, now: Time, iss: Serial32, syn: &TcpSegment, key: Key) {
        self.key = key;
        self.sender.renumber(key.idsn());
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
        let it = capable(segment).filter(|it| is_understood(it.flags))?;
        let right = matches!(it.keys, CapableKeys::Ack { peer, .. } if peer == key.0);
        right.then_some(it.flags)
    }

    /// A SYN that offers what this side understands.
    pub(crate) fn offers(segment: &TcpSegment) -> bool {
        let offer = capable(segment);
        offer.is_some_and(|it| it.keys == CapableKeys::Syn && is_understood(it.flags))
    }

    /// The option of a SYN with these flags.
    pub(crate) fn syn_option(flags: CapableFlags) -> MptcpOption {
        MptcpOption::Capable(Capable { version: VERSION, flags, keys: CapableKeys::Syn })
    }

    /// The active side: the SYN/ACK.
    pub(super) fn on_first_answer(&mut self, segment: &TcpSegment) {
        let answer = capable(segment).filter(|it| {
            let right = it.version == VERSION && is_understood(it.flags);
            self.offered && right
        });
        match answer.map(|it| (it.keys, it.flags)) {
            Some((CapableKeys::SynAck { key }, flags)) => {
                self.checksum |= flags.contains(CapableFlags::CHECKSUM);
                self.paths.set_avoids_first(flags.contains(CapableFlags::NO_MORE_HERE));
                self.begin(Key(key));
            }
            _ => self.fall_back(0),
        }
    }

    /// The passive side: what follows its SYN/ACK. False for a segment that must
    /// wait for one with the keys.
    pub(super) fn on_first_ack(&mut self, segment: &TcpSegment) -> bool {
        if segment.flags.contains(TcpFlags::RST) || self.phase == Phase::Fallback {
            return true;
        }
        if segment.flags.contains(TcpFlags::SYN) {
            self.on_first_syn(segment);
            return true;
        }
        match capable(segment).filter(|it| is_understood(it.flags)).map(|it| it.keys) {
            Some(CapableKeys::Ack { key, peer, .. }) if peer == self.key.0 => {
                self.begin(Key(key));
                true
            }
            // Without keys that came before it is later data that overtook them: they are on
            // the way again.
            None if segment.options.dss().is_some() => self.phase == Phase::Multipath,
            _ => {
                self.fall_back(0);
                true
            }
        }
    }

    /// Both keys are known.
    fn begin(&mut self, peer: Key) {
        self.peer_key = peer;
        self.receiver.begin(peer.idsn());
        self.phase = Phase::Multipath;
    }

    /// The peer is known to have the keys: subflows may be opened (§3.2), and the active side
    /// need not repeat them.
    #[cold]
    pub(super) fn on_keys_confirmed(&mut self, now: Time, i: usize) {
        self.confirmed = true;
        if !self.passive {
            self.keep_no_room_for_keys();
            self.announce_addresses(now);
        }
        self.open_wanted(now);
        // A DATA_FIN alone gave way to the keys.
        if self.sender.owes_fin() && !self.passive {
            self.subflows[i].tcp.ask_for_ack();
        }
    }

    /// The mapping in an MP_CAPABLE with data: the first octets of both streams.
    #[cold]
    pub(super) fn on_capable_data(&mut self, i: usize, segment: &TcpSegment) {
        let Some(CapableKeys::Ack { data: Some(data), .. }) = capable(segment).map(|it| it.keys)
        else {
            return;
        };
        let CapableData { len, checksum } = data;
        let map = Received {
            start: 1,
            len: len.into(),
            data: 1,
            fin: false,
            checksum,
            long: true, // it could have been either
        };
        let most = self.most_mappings();
        let subflow = &mut self.subflows[i];
        let read = subflow.tcp.read_offset();
        subflow.received.insert(map, read, most);
    }

    /// The first subflow is established.
    pub(super) fn on_first_connected(&mut self, now: Time) {
        self.pending.connected = true;
        self.counters.subflows += 1;
        if self.phase == Phase::Multipath && self.passive {
            self.announce_addresses(now);
        }
    }
}
