//! What both hosts have agreed on: the keys, checksums, and whether the connection is Multipath TCP
//! or has fallen back to TCP (RFC 8684 §3.1, §3.7).

use super::Phase;
use super::fallback::Fallback;
use crate::key::Key;

/// What the connection is. [`Phase`] is the name of the variant.
///
/// ```text
///             both keys known                 options lost, checksum wrong,
/// Opening ----------------------> Multipath -----------------------> Fallback
///    |                                        infinite mapping, MP_FAIL   ^
///    +--------------------------------------------------------------------+
///                no MP_CAPABLE on the SYN, SYN/ACK or third ACK
/// ```
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// The first handshake is not over.
    Opening {
        /// MP_CAPABLE was on the last SYN of this side, or on the peer's.
        offered: bool,
    },
    /// Both hosts speak Multipath TCP.
    Multipath {
        /// The key of the peer, from its MP_CAPABLE.
        peer_key: Key,
        /// The peer has sent a DSS, or an address: it knows that both speak Multipath TCP.
        confirmed: bool,
    },
    /// The connection is TCP: the peer, or the network between, does not let it be more.
    Fallback(Fallback),
}

/// The agreement of both hosts, as far as it has come.
#[derive(Debug)]
pub(super) struct Session {
    /// The key of this side, drawn when the connection is made.
    key: Key,
    /// The peer opens the connection.
    passive: bool,
    /// This side asks for checksums (flag A of MP_CAPABLE).
    wants_checksum: bool,
    /// Both sides, or one of them, want checksums; before the handshake's end this side does.
    checksum: bool,
    /// An ACK with both keys has left.
    keys_sent: bool,
    /// The connection is this.
    state: State,
}

impl Session {
    /// A connection whose handshake has not begun.
    pub fn new(key: Key, passive: bool, wants_checksum: bool) -> Session {
        let state = State::Opening { offered: false };
        Session { key, passive, wants_checksum, checksum: wants_checksum, keys_sent: false, state }
    }

    /// Gives this side another key, before the first packet.
    pub fn set_key(&mut self, key: Key) {
        self.key = key;
    }

    /// Makes this side the active one, which opens the connection.
    pub fn set_active(&mut self) {
        self.passive = false;
    }

    /// Returns this side's key, as MP_CAPABLE carries it.
    pub fn key(&self) -> Key {
        self.key
    }

    /// The peer's key, once it has come.
    pub fn peer_key(&self) -> Option<Key> {
        match self.state {
            State::Opening { .. } => None,
            State::Multipath { peer_key, .. } => Some(peer_key),
            State::Fallback(fallback) => fallback.peer_key(),
        }
    }

    /// Both keys, this side's first, once the peer's has come.
    pub fn keys(&self) -> Option<(Key, Key)> {
        Some((self.key, self.peer_key()?))
    }

    /// The peer opens the connection, or has opened it.
    #[inline]
    pub fn is_passive(&self) -> bool {
        self.passive
    }

    /// What the connection is.
    #[inline]
    pub fn phase(&self) -> Phase {
        match self.state {
            State::Opening { .. } => Phase::Opening,
            State::Multipath { .. } => Phase::Multipath,
            State::Fallback(_) => Phase::Fallback,
        }
    }

    /// The connection is Multipath TCP.
    #[inline]
    pub fn is_multipath(&self) -> bool {
        matches!(self.state, State::Multipath { .. })
    }

    /// Whether the connection is Multipath TCP and the peer is known to have both keys.
    #[inline]
    pub fn is_confirmed(&self) -> bool {
        matches!(self.state, State::Multipath { confirmed: true, .. })
    }

    /// Mappings have checksums.
    #[inline]
    pub fn has_checksums(&self) -> bool {
        self.checksum
    }

    /// Whether this side's MP_CAPABLE asks for checksums: by its own wish, and the passive side by
    /// the peer's.
    pub fn asks_for_checksums(&self) -> bool {
        self.wants_checksum || self.passive && self.checksum
    }

    /// The connection is TCP: how its stream lies in the subflow's.
    #[inline]
    pub fn fallback(&self) -> Option<&Fallback> {
        match &self.state {
            State::Fallback(fallback) => Some(fallback),
            _ => None,
        }
    }

    /// The connection is TCP: its state may change.
    pub fn fallback_mut(&mut self) -> Option<&mut Fallback> {
        match &mut self.state {
            State::Fallback(fallback) => Some(fallback),
            _ => None,
        }
    }

    /// A SYN of this side leaves, with MP_CAPABLE or (`offered`) not.
    pub fn on_syn_sent(&mut self, offered: bool) {
        if let State::Opening { offered: last } = &mut self.state {
            *last = offered;
        }
    }

    /// The peer's SYN has MP_CAPABLE; `checksum`: it asks for checksums.
    pub fn on_offer(&mut self, checksum: bool) {
        self.on_syn_sent(true);
        self.checksum = self.wants_checksum || checksum;
    }

    /// MP_CAPABLE was on the SYN that the SYN/ACK answers.
    pub fn has_offered(&self) -> bool {
        match self.state {
            State::Opening { offered } => offered,
            State::Multipath { .. } => true,
            State::Fallback(_) => false,
        }
    }

    /// The peer's SYN/ACK asks for checksums.
    pub fn on_asked_for_checksums(&mut self) {
        self.checksum = true;
    }

    /// Makes the connection Multipath TCP, now that the peer's key is known.
    pub fn begin(&mut self, peer_key: Key) {
        self.state = State::Multipath { peer_key, confirmed: self.is_confirmed() };
    }

    /// An ACK with both keys leaves; false where one has left before.
    pub fn on_keys_sent(&mut self) -> bool {
        !std::mem::replace(&mut self.keys_sent, true)
    }

    /// The peer is known to have both keys.
    pub fn confirm(&mut self) {
        if let State::Multipath { confirmed, .. } = &mut self.state {
            *confirmed = true;
        }
    }

    /// Makes the connection TCP.
    pub fn fall_back(&mut self, fallback: Fallback) {
        self.state = State::Fallback(fallback);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fallback::Base;
    use super::*;

    /// RFC 8684 §3.1: keys, then a sign that the peer has them.
    #[test]
    fn the_keys_come_and_are_confirmed() {
        let mut session = Session::new(Key(1), false, false);
        session.confirm();
        assert_eq!((session.phase(), session.keys()), (Phase::Opening, None));
        assert!(!session.has_offered() && !session.is_confirmed());
        session.on_syn_sent(true);
        assert!(session.has_offered());
        session.begin(Key(2));
        assert_eq!((session.phase(), session.keys()), (Phase::Multipath, Some((Key(1), Key(2)))));
        assert!(session.is_multipath() && !session.is_confirmed());
        session.confirm();
        session.begin(Key(2));
        assert!(session.is_confirmed(), "the same keys again");
    }

    /// RFC 8684 §3.1, flag A: checksums are used when either host wants them.
    #[test]
    fn either_host_has_its_way_with_checksums() {
        for (own, peer) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut passive = Session::new(Key(1), true, own);
            passive.on_offer(peer);
            assert_eq!(passive.has_checksums(), own || peer);
            assert_eq!(passive.asks_for_checksums(), own || peer);
            let mut active = Session::new(Key(1), false, own);
            if peer {
                active.on_asked_for_checksums();
            }
            assert_eq!(active.has_checksums(), own || peer);
            assert_eq!(active.asks_for_checksums(), own, "its SYN, whatever came since");
        }
    }

    #[test]
    fn the_fallback_keeps_what_is_under_way() {
        let mut session = Session::new(Key(1), true, false);
        session.on_offer(false);
        session.begin(Key(2));
        session.fall_back(Fallback::at(0, Base::START, session.peer_key()));
        assert_eq!((session.phase(), session.peer_key()), (Phase::Fallback, Some(Key(2))));
        assert!(!session.has_offered() && !session.is_confirmed());
        assert!(session.fallback().is_some());
    }
}
