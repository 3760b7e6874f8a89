//! The side that answers (RFC 9260 §5.1 B, D): INIT, and COOKIE ECHO with all
//! that was not kept since.

use super::{Association, Notification};
use crate::auth::Auth;
use crate::cookie::Cookie;
use crate::extensions::Extensions;
use crate::flight::Flight;
use crate::state::State;
use crate::tsn_map::TsnMap;
use anabranch_endpoint::{Timer, mac};
use anabranch_units::{Span, Time};
use anabranch_wire::Packet;
use anabranch_wire::sctp::{Cause, Chunk, InitChunk, Parameter, SctpPacket};

/// The least a_rwnd of an INIT or INIT ACK (§3.3.2, §3.3.3).
pub(super) const LEAST_WINDOW: u32 = 1500;

impl Association {
    /// An INIT arrived (§5.1 B, §5.2.1, §5.2.2).
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
        let refuse = |this: &mut Self, cause: Option<Cause>| {
            let abort = Chunk::Abort { reflected: false, causes: cause.into_iter().collect() };
            this.reply(packet, sctp, init.tag, abort);
        };
        if self.state == State::Closed && (!self.passive || self.ended) {
            return refuse(self, None);
        }
        let impossible = init.outbound == 0 || init.inbound == 0 || init.a_rwnd < LEAST_WINDOW;
        if impossible {
            return refuse(self, Some(Cause::InvalidParameter));
        }
        let offer = match self.read_parameters(&init.parameters) {
            Ok(offer) => offer,
            Err(cause) => return refuse(self, Some(cause)),
        };
        let mut addresses = offer.addresses;
        if !addresses.contains(&packet.src) {
            addresses.insert(0, packet.src);
        }
        // The peer's, if one of its addresses is known, and its port.
        let known = addresses.iter().copied().filter(|addr| self.path_of(*addr).is_some());
        let known = match self.path_of(packet.src) {
            Some(_) => Some(packet.src),
            None => known.into_iter().next(),
        };
        let to = match (self.state, known) {
            (State::Closed, _) => packet.src,
            (_, Some(addr)) if sctp.src_port == self.peer_port => addr, // §5.2.1 rules 1 to 3
            _ => return refuse(self, None), // of another association, and nobody listens
        };
        if self.state == State::ShutdownAckSent {
            return self.push_shutdown_ack(); // §9.2; T2 is not for those without a tag
        }
        if !matches!(self.state, State::Closed | State::CookieWait)
            && let Some(new) = addresses.iter().find(|addr| self.path_of(**addr).is_none())
        {
            // §5.2.1, §5.2.2; the address itself is not known here in octets.
            let text = format!("address {} is new", new.0).into_bytes();
            return refuse(self, Some(Cause::RestartWithNewAddresses(text.into())));
        }
        let opening = matches!(self.state, State::CookieWait | State::CookieEchoed);
        let tie_tags = match self.state {
            State::Closed | State::CookieWait => (0, 0),
            _ => self.tie_tags(),
        };
        let (local_tag, local_tsn) = match opening {
            true => (self.local_tag, self.local_origin.add(1)), // §5.2.1
            false => (self.random_tag(), self.random_tsn()),
        };
        let extensions = Extensions::offered(&self.config).and(offer.extensions);
        // Like the tag, RANDOM stays while opening (§5.2.1).
        let auth = match opening {
            true => self.auth.clone(),
            false => self.new_auth(),
        };
        let extra = offer.more_life.map_or(Span::ZERO, |ms| Span::from_millis(ms as u64));
        let cookie = Cookie {
            created: now,
            life: self.config.cookie_life + extra.min(self.config.cookie_life),
            local_tag,
            peer_tag: init.tag,
            tie_tags,
            local_tsn,
            peer_tsn: init.tsn,
            peer_rwnd: init.a_rwnd,
            outbound: self.config.outbound_streams.min(init.inbound),
            inbound: self.config.inbound_streams.min(init.outbound),
            peer_port: sctp.src_port,
            primary: addresses.iter().position(|a| *a == packet.src).unwrap_or(0) as u16,
            extensions,
            auth: auth.as_ref().map_or([].into(), |auth| auth.remember(&offer.vector)),
            adaptation: offer.adaptation,
            addresses,
        };
        let mut parameters = vec![Parameter::StateCookie(cookie.seal(&self.key))];
        parameters.extend(self.address_parameters());
        parameters.extend(self.config.adaptation.map(Parameter::Adaptation));
        let answered = Extensions::answered(&self.config, offer.extensions);
        parameters.extend(answered.parameters(self.config.brief_offers));
        parameters.extend(self.auth_parameters(auth.as_deref()));
        parameters.extend(offer.unrecognized);
        let ack = InitChunk {
            tag: local_tag,
            a_rwnd: self.config.receive_buffer,
            outbound: self.config.outbound_streams.min(init.inbound),
            inbound: self.config.inbound_streams,
            tsn: local_tsn,
            parameters,
        };
        self.reply_to(to, packet, sctp, init.tag, Chunk::InitAck(Box::new(ack)));
    }

    /// A COOKIE ECHO arrived (§5.1 D, §5.1.5); false when the rest of the
    /// packet is not to be read.
    pub(super) fn on_cookie_echo(
        &mut self,
        now: Time,
        packet: &Packet,
        sctp: &SctpPacket,
        octets: &[u8],
    ) -> bool {
        let Some(cookie) = Cookie::open(octets, &self.key) else { return false };
        if sctp.tag != cookie.local_tag || sctp.src_port != cookie.peer_port || self.ended {
            return false;
        }
        let current = cookie.local_tag == self.local_tag && cookie.peer_tag == self.peer_tag;
        let known = current && self.state != State::Closed;
        let age = now.saturating_since(cookie.created);
        if age > cookie.life && !known {
            let staleness = (age - cookie.life).as_nanos() / 1000;
            let micros = staleness.min(u32::MAX as u64) as u32;
            let error = Chunk::Error(vec![Cause::StaleCookie(micros)]);
            self.reply(packet, sctp, cookie.peer_tag, error);
            return false;
        }
        if self.state == State::Closed {
            self.adopt(&cookie);
            self.establish(now);
            self.control.push(Chunk::CookieAck);
            return true;
        }
        self.on_cookie_collision(now, packet, sctp, &cookie)
    }

    /// What stands for both tags in a cookie (§5.2.2): a nonce that shows neither
    /// to who reads the cookie, and that only this association can make.
    pub(super) fn tie_tags(&self) -> (u32, u32) {
        let tags = [self.local_tag.to_be_bytes(), self.peer_tag.to_be_bytes()].concat();
        let mac = mac::hmac(&self.key, &tags);
        let word = |at: usize| u32::from_be_bytes([mac[at], mac[at + 1], mac[at + 2], mac[at + 3]]);
        (word(0), word(4))
    }

    /// Takes over what the cookie remembers.
    pub(super) fn adopt(&mut self, cookie: &Cookie) {
        self.local_tag = cookie.local_tag;
        self.peer_tag = cookie.peer_tag;
        self.local_origin = cookie.local_tsn.add(u32::MAX);
        self.peer_origin = cookie.peer_tsn.add(u32::MAX);
        self.outbound = cookie.outbound;
        self.inbound = cookie.inbound;
        self.peer_port = cookie.peer_port;
        self.peer_rwnd = cookie.peer_rwnd as u64;
        self.largest_rwnd = self.peer_rwnd;
        self.peer_adaptation = cookie.adaptation;
        self.flight = Flight::starting_at(1);
        self.map = TsnMap::starting_at(1);
        self.auth = match &self.config.authentication {
            Some(config) => Auth::recall(config, &cookie.auth).map(Box::new),
            None => None,
        };
        self.agree(cookie.extensions);
        let primary = cookie.addresses.get(cookie.primary as usize).or(cookie.addresses.first());
        if let Some(primary) = primary.copied() {
            self.set_paths(&cookie.addresses, primary, &[primary]); // §5.4 rule 2
        }
        self.set_initial_thresholds();
    }

    /// The peer restarted (§5.2.4.1): what was sent and queued is lost.
    pub(super) fn restart(&mut self, now: Time, cookie: &Cookie) {
        // The user's wish to end holds for the new association, too.
        let close = matches!(self.state, State::ShutdownPending | State::ShutdownSent);
        self.reassembly.restart();
        self.adopt(cookie);
        self.timers = [Timer::IDLE; 4];
        self.control.clear();
        self.await_sack = false;
        self.outgoing.restart();
        self.agree(cookie.extensions);
        self.duplicates.clear();
        self.unsacked = 0;
        self.sack_now = false;
        self.state = State::Established;
        self.errors = 0;
        self.start_heartbeats(now);
        self.notify(Notification::Restarted);
        self.pending.writable |= std::mem::take(&mut self.write_blocked) && !close;
        if close {
            self.shut_down();
        }
    }
}
