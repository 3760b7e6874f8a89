//! The side that answers is here (RFC 9260 §5.1 B, D): it answers INIT, and COOKIE ECHO with all
//! that was not kept since.

use super::handshake::Offer;
use super::{Association, Notification};
use crate::control::auth::Auth;
use crate::cookie::Cookie;
use crate::extensions::Extensions;
use crate::phase::Phase;
use crate::state::State;
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::sctp::{Cause, Chunk, InitChunk, Parameter, SctpPacket};
use anabranch_wire::{Addr, Packet};

/// An INIT or INIT ACK has at least this a_rwnd, in octets (§3.3.2, §3.3.3).
pub(super) const LEAST_WINDOW: u32 = 1500;

/// A `Call` is an INIT that is answered.
struct Call {
    /// `offer` is what its parameters say, with the address that it came from.
    offer: Offer,
    /// `to` is the address that the INIT ACK goes to.
    to: Addr,
}

impl Association {
    /// Handles an INIT (§5.1 B, §5.2.1, §5.2.2).
    pub(super) fn on_init(
        &mut self,
        now: Time,
        packet: &Packet,
        sctp: &SctpPacket,
        init: &InitChunk,
    ) {
        if sctp.tag != 0 || init.tag == 0 {
            return; // §8.5.1 A, §3.3.2
        }
        match self.examine(packet, sctp, init) {
            Err(cause) => {
                let abort = Chunk::Abort { reflected: false, causes: cause.into_iter().collect() };
                self.reply(packet, sctp, init.tag, abort);
            }
            // §9.2; T2 is not for those without a tag.
            Ok(_) if self.state() == State::ShutdownAckSent => self.push_shutdown_ack(),
            Ok(call) => self.answer_init(now, packet, sctp, init, call),
        }
    }

    /// Returns who calls, or an error if the call is refused, perhaps with a cause.
    fn examine(
        &self,
        packet: &Packet,
        sctp: &SctpPacket,
        init: &InitChunk,
    ) -> Result<Call, Option<Cause>> {
        if matches!(self.phase, Phase::Idle | Phase::Ended) {
            return Err(None);
        }
        if init.outbound == 0 || init.inbound == 0 || init.a_rwnd < LEAST_WINDOW {
            return Err(Some(Cause::InvalidParameter));
        }
        let mut offer = self.read_parameters(&init.parameters)?;
        if self.lacks_authentication(&offer) {
            return Err(None);
        }
        if !offer.addresses.contains(&packet.src) {
            offer.addresses.insert(0, packet.src);
        }
        // The peer's, if one of its addresses is known, and its port.
        let is_known = |addr: &Addr| self.paths.find(*addr).is_some();
        let known = match is_known(&packet.src) {
            true => Some(packet.src),
            false => offer.addresses.iter().copied().find(is_known),
        };
        let to = match (self.state(), known) {
            (State::Closed, _) => packet.src,
            (_, Some(addr)) if sctp.src_port == self.identity.peer_port => addr, // §5.2.1 rules 1 to 3
            _ => return Err(None), // of another association, and nobody listens
        };
        let may_be_new =
            matches!(self.state(), State::Closed | State::CookieWait | State::ShutdownAckSent);
        let new = offer.addresses.iter().filter(|addr| !is_known(addr));
        let new: Vec<_> = new.map(|addr| Parameter::Address((*addr).into())).collect();
        match new.is_empty() || may_be_new {
            true => Ok(Call { offer, to }),
            false => Err(Some(Cause::RestartWithNewAddresses(new))), // §5.2.1, §5.2.2
        }
    }

    /// Sends the INIT ACK, with all that must be remembered in its cookie.
    fn answer_init(
        &mut self,
        now: Time,
        packet: &Packet,
        sctp: &SctpPacket,
        init: &InitChunk,
        Call { offer, to }: Call,
    ) {
        let opening = self.phase.is_opening();
        let (local_tag, local_tsn) = match opening {
            true => (self.identity.local_tag, self.sender.origin.add(1)), // §5.2.1
            false => (self.identity.random_tag(), self.identity.random_tsn()),
        };
        // Like the tag, RANDOM stays while opening (§5.2.1).
        let auth = match opening {
            true => self.control.auth.clone(),
            false => self.new_auth(),
        };
        let theirs = offer.extensions;
        let answered = Extensions::answered(&self.config, theirs);
        let vector = auth.as_ref().map_or([].into(), |auth| auth.remember(&offer.vector));
        let cookie = self.cookie_for(now, (packet, sctp, init), &offer, (local_tag, local_tsn));
        let cookie = Cookie { auth: vector, addresses: offer.addresses, ..cookie };
        let mut parameters = vec![Parameter::StateCookie(cookie.seal(&self.identity.key))];
        parameters.extend(self.address_parameters());
        parameters.extend(self.config.adaptation.map(Parameter::Adaptation));
        parameters.extend(answered.parameters(self.config.brief_offers));
        parameters.extend(self.auth_parameters(auth.as_deref()));
        parameters.extend(offer.unrecognized);
        let ack = InitChunk {
            tag: local_tag,
            a_rwnd: self.config.receive_buffer,
            outbound: cookie.outbound,
            inbound: match self.state().is_synchronized() {
                true => self.receiver.streams,
                false => self.config.inbound_streams,
            },
            tsn: local_tsn,
            parameters,
        };
        // The INIT has said whether it may go without a checksum (RFC 9653 §5.2).
        let zero_checksum = answered.and(theirs).has(Extensions::ZERO_CHECKSUM);
        let ack = (Chunk::InitAck(Box::new(ack)), zero_checksum);
        self.reply_summed(to, packet, sctp, init.tag, ack);
    }

    /// Returns what the cookie remembers of a call (§5.1.3), except for addresses and keys.
    fn cookie_for(
        &self,
        now: Time,
        (packet, sctp, init): (&Packet, &SctpPacket, &InitChunk),
        offer: &Offer,
        (local_tag, local_tsn): (u32, Serial32),
    ) -> Cookie {
        let config = &self.config;
        // §5.2.2: of an association that there is, its own.
        let (outbound, inbound) = match self.state().is_synchronized() {
            true => (self.sender.streams, self.receiver.streams),
            false => (config.outbound_streams, config.inbound_streams),
        };
        let extra = offer.more_life.map_or(Span::ZERO, |ms| Span::from_millis(ms as u64));
        let caller = offer.addresses.iter().position(|addr| *addr == packet.src);
        let tie_tags = match self.state() {
            State::Closed | State::CookieWait => (0, 0),
            _ => self.identity.tie_tags(),
        };
        Cookie {
            created: now,
            life: config.cookie_life + extra.min(config.cookie_life),
            local_tag,
            peer_tag: init.tag,
            tie_tags,
            local_tsn,
            peer_tsn: init.tsn,
            peer_rwnd: init.a_rwnd,
            outbound: outbound.min(init.inbound),
            inbound: inbound.min(init.outbound),
            peer_port: sctp.src_port,
            local_port: sctp.dst_port,
            primary: caller.unwrap_or(0) as u16,
            extensions: Extensions::offered(config).and(offer.extensions),
            auth: [].into(),
            adaptation: offer.adaptation,
            addresses: Vec::new(),
        }
    }

    /// Handles a COOKIE ECHO (§5.1 D, §5.1.5). Returns false when the rest of the packet is not to
    /// be read.
    pub(super) fn on_cookie_echo(
        &mut self,
        now: Time,
        packet: &Packet,
        sctp: &SctpPacket,
        cookie: &Cookie,
    ) -> bool {
        if sctp.tag != cookie.local_tag
            || (sctp.src_port, sctp.dst_port) != (cookie.peer_port, cookie.local_port)
            || self.phase.has_ended()
        {
            return false;
        }
        let current = cookie.local_tag == self.identity.local_tag
            && cookie.peer_tag == self.identity.peer_tag;
        let known = current && self.state() != State::Closed;
        let age = now.saturating_since(cookie.created);
        if age > cookie.life && !known {
            let staleness = (age - cookie.life).as_picos().div_ceil(1_000_000); // §3.3.10.3
            let micros = staleness.min(u32::MAX as u64) as u32;
            let error = Chunk::Error(vec![Cause::StaleCookie(micros)]);
            self.reply(packet, sctp, cookie.peer_tag, error);
            return false;
        }
        if self.state() == State::Closed {
            self.adopt(cookie);
            self.establish(now);
            self.control.waiting.insist(Chunk::CookieAck);
            return true;
        }
        self.on_cookie_collision(now, cookie)
    }

    /// Takes over what the cookie remembers.
    pub(super) fn adopt(&mut self, cookie: &Cookie) {
        self.identity.adopt(cookie);
        self.sender.origin = cookie.local_tsn.add(u32::MAX);
        self.limit_streams(cookie.outbound);
        self.receiver.begin(cookie.peer_tsn, cookie.inbound);
        self.sender.window.begin(cookie.peer_rwnd);
        self.peer_adaptation = cookie.adaptation;
        self.sender.flight = self.sender.flight.restarting_at(1);
        self.control.auth = match &self.config.authentication {
            Some(config) => Auth::recall(config, &cookie.auth).map(Box::new),
            None => None,
        };
        self.agree(cookie.extensions);
        let primary = cookie.addresses.get(cookie.primary as usize).or(cookie.addresses.first());
        if let Some(primary) = primary.copied() {
            self.set_paths(&cookie.addresses, primary, &[primary]); // §5.4 rule 2
        }
        self.paths.set_initial_thresholds(&self.config, self.sender.window.rwnd());
    }

    /// Begins anew, as the peer restarted (§5.2.4.1): what was sent and queued is lost.
    pub(super) fn restart(&mut self, now: Time, cookie: &Cookie) {
        // The user's wish to end holds for the new association, too.
        let close = matches!(self.state(), State::ShutdownPending | State::ShutdownSent);
        self.receiver.restart();
        self.sender.keep_all(&self.config); // what is lost with the old association
        self.adopt(cookie);
        self.control.waiting.clear();
        let was_blocked = self.sender.restart();
        self.agree(cookie.extensions);
        self.phase = Phase::Established;
        self.paths.forget_failures();
        self.start_heartbeats(now);
        self.notify(Notification::Restarted);
        self.pending.writable |= was_blocked && !close;
        if close {
            self.shut_down();
        }
    }
}
