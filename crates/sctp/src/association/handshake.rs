//! Opening (RFC 9260 §5.1): the side that calls, and what both sides say of
//! themselves. The side that answers is in [`super::answer`].

use super::answer::LEAST_WINDOW;
use super::{Association, Due};
use crate::auth::{self, Auth};
use crate::cookie::MAX_ADDRESSES;
use crate::extensions::Extensions;
use crate::state::State;
use anabranch_endpoint::CloseReason;
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::{Address, Cause, Chunk, InitChunk, Parameter, SctpPacket};
use anabranch_wire::{Addr, Packet};

/// What exists only while the association opens.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    /// INIT or COOKIE ECHO must leave.
    pub due: bool,
    /// Sent again so often.
    pub retries: u32,
    /// The cookie to echo.
    pub cookie: Option<Box<[u8]>>,
    /// More life that the next INIT asks for, in ms (§5.2.6).
    pub preservative: Option<u32>,
    /// When INIT or COOKIE ECHO left last.
    pub sent: Time,
    /// So many cookies were too old.
    pub stale: u32,
    /// Unknown parameters of the INIT ACK, for an ERROR with the cookie.
    pub unrecognized: Vec<u8>,
    /// The user has closed already.
    pub close: bool,
    /// The path of the last INIT.
    pub path: usize,
}

/// Octets of unknown parameters that are reported at most, so that the INIT ACK
/// and the COOKIE ECHO fit a packet.
const MAX_REPORTED: usize = 128;

/// Octets of the peer's key vector that a cookie holds at most, and a little.
const MAX_VECTOR: usize = 256;

/// What the parameters of an INIT or INIT ACK say.
pub(super) struct Offer {
    pub addresses: Vec<Addr>,
    pub cookie: Option<Box<[u8]>>,
    pub more_life: Option<u32>,
    pub adaptation: Option<u32>,
    pub extensions: Extensions,
    /// The peer's part of the keys (RFC 4895 §6.1).
    pub vector: Vec<u8>,
    pub unrecognized: Vec<Parameter>,
}

impl Association {
    /// Starts the active opening.
    pub(super) fn associate(&mut self, now: Time) {
        self.local_tag = self.random_tag();
        self.local_origin = self.random_tsn();
        self.auth = self.new_auth();
        self.state = State::CookieWait;
        self.handshake =
            Some(Box::new(Handshake { due: true, path: self.primary, ..Handshake::default() }));
        self.start_t1(now);
    }

    /// A tag is never 0 (§5.3.1).
    pub(super) fn random_tag(&mut self) -> u32 {
        self.generator.below(u32::MAX as u64) as u32 + 1
    }

    pub(super) fn random_tsn(&mut self) -> Serial32 {
        Serial32(self.generator.next_u64() as u32)
    }

    pub(super) fn start_t1(&mut self, now: Time) {
        let path = self.handshake.as_ref().map_or(self.primary, |h| h.path);
        let rto = self.paths[path].rtt.rto();
        self.timer(Due::T1).set(now + rto);
    }

    /// The INIT (§5.1 A).
    pub(super) fn init_chunk(&self) -> InitChunk {
        let mut parameters = self.address_parameters();
        if let Some(ms) = self.handshake.as_ref().and_then(|h| h.preservative) {
            parameters.push(Parameter::CookiePreservative(ms));
        }
        parameters.extend(self.config.adaptation.map(Parameter::Adaptation));
        let offered = Extensions::offered(&self.config);
        parameters.extend(offered.parameters(self.config.brief_offers));
        parameters.extend(self.auth_parameters(self.auth.as_deref()));
        if self.config.list_address_types {
            let kind = if self.config.ip_header == 40 { 6 } else { 5 };
            parameters.push(Parameter::SupportedAddressTypes(vec![kind]));
        }
        InitChunk {
            tag: self.local_tag,
            a_rwnd: self.config.receive_buffer,
            outbound: self.config.outbound_streams,
            inbound: self.config.inbound_streams,
            tsn: self.local_origin.add(1),
            parameters,
        }
    }

    pub(super) fn address_parameters(&self) -> Vec<Parameter> {
        match self.local.as_slice() {
            [_] => Vec::new(),
            all => all.iter().map(|addr| Parameter::Address((*addr).into())).collect(),
        }
    }

    /// Addresses, cookie and unknown types of an INIT or INIT ACK. A host name
    /// is an error (RFC 9260 §5.1.2 3), and so is a broken parameter. Addresses
    /// that this world has no number for cannot be reached and are left out.
    pub(super) fn read_parameters(&self, parameters: &[Parameter]) -> Result<Offer, Cause> {
        let mut offer = Offer {
            addresses: Vec::new(),
            cookie: None,
            more_life: None,
            adaptation: None,
            extensions: Extensions::default(),
            vector: Vec::new(),
            unrecognized: Vec::new(),
        };
        let mut reported = 0;
        for parameter in parameters {
            match parameter {
                // A repeated address falls through to the parameters without
                // effect.
                Parameter::Address(Address::Number(addr))
                    if !offer.addresses.contains(addr)
                        && offer.addresses.len() + 1 < MAX_ADDRESSES =>
                {
                    offer.addresses.push(*addr);
                }
                Parameter::StateCookie(cookie) => offer.cookie = Some(cookie.clone()),
                Parameter::CookiePreservative(ms) => offer.more_life = Some(*ms),
                Parameter::HostName(name) => {
                    let len = (name.len() as u16 + 4).to_be_bytes();
                    let octets = [&[0, 11], &len[..], &name[..name.len().min(MAX_REPORTED)]];
                    return Err(Cause::UnresolvableAddress(octets.concat().into()));
                }
                Parameter::Malformed(_) => {
                    return Err(Cause::ProtocolViolation((*b"a broken parameter").into()));
                }
                Parameter::Adaptation(code) => offer.adaptation = Some(*code),
                // An INIT ACK answers what this side has not offered; in an INIT
                // it is an offer that is not taken.
                Parameter::ForwardTsnSupported
                    if !self.config.partial_reliability && self.state == State::CookieWait =>
                {
                    let octets = [0xc0, 0, 0, 4].into();
                    offer.unrecognized.push(Parameter::Unrecognized(octets));
                }
                Parameter::Unknown { kind, value } => {
                    let action = Parameter::action_on_unknown(*kind);
                    reported += value.len() + 8;
                    if action.report && reported <= MAX_REPORTED {
                        let len = value.len() as u16 + 4;
                        let header = [kind.to_be_bytes(), len.to_be_bytes()].concat();
                        let octets = [header.as_slice(), value].concat();
                        offer.unrecognized.push(Parameter::Unrecognized(octets.into()));
                    }
                    if action.stop {
                        break;
                    }
                }
                other => {
                    offer.extensions.note(other);
                    if offer.vector.len() < MAX_VECTOR {
                        auth::extend_vector(&mut offer.vector, other);
                    }
                }
            }
        }
        Ok(offer)
    }

    /// The answer to our INIT (§5.1 C).
    pub(super) fn on_init_ack(
        &mut self,
        now: Time,
        packet: &Packet,
        sctp: &SctpPacket,
        ack: &InitChunk,
    ) {
        if self.state != State::CookieWait {
            return; // §5.2.3
        }
        let fail = |this: &mut Self, cause: Cause| {
            this.peer_tag = ack.tag;
            this.abort_with(vec![cause], CloseReason::Refused);
        };
        if ack.tag == 0 {
            // §3.3.3: there is no tag but our own.
            let abort = Chunk::Abort { reflected: true, causes: vec![Cause::InvalidParameter] };
            self.reply(packet, sctp, self.local_tag, abort);
            return self.finish(CloseReason::Refused);
        }
        if ack.outbound == 0 || ack.inbound == 0 || ack.a_rwnd < LEAST_WINDOW {
            return fail(self, Cause::InvalidParameter);
        }
        let offer = match self.read_parameters(&ack.parameters) {
            Ok(offer) => offer,
            Err(cause) => return fail(self, cause),
        };
        let Some(cookie) = offer.cookie else {
            return fail(self, Cause::MissingParameters(vec![7]));
        };
        self.peer_tag = ack.tag;
        self.peer_origin = ack.tsn.add(u32::MAX);
        self.outbound = self.config.outbound_streams.min(ack.inbound);
        self.inbound = self.config.inbound_streams.min(ack.outbound);
        self.peer_rwnd = ack.a_rwnd as u64;
        self.largest_rwnd = self.peer_rwnd;
        self.peer_adaptation = offer.adaptation;
        self.find_paths(offer.addresses, packet.src);
        self.set_initial_thresholds();
        if let (Some(auth), Some(config)) = (&mut self.auth, &self.config.authentication) {
            auth.agree(config, &offer.vector);
        }
        self.agree(Extensions::offered(&self.config).and(offer.extensions));
        self.state = State::CookieEchoed;
        let primary = self.primary;
        if let Some(handshake) = &mut self.handshake {
            handshake.cookie = Some(cookie);
            handshake.due = true;
            handshake.retries = 0;
            handshake.path = primary;
            for parameter in offer.unrecognized {
                if let Parameter::Unrecognized(octets) = parameter {
                    handshake.unrecognized.extend_from_slice(&octets);
                }
            }
        }
        self.start_t1(now);
    }

    /// The peer's addresses are known: those that it names, and the one that its
    /// INIT ACK came from. Which of them is the first primary is left to us
    /// (§5.1.2). It is the source of the INIT ACK if the user gave that address:
    /// replies go where what they reply to came from (§6.4), and the way there
    /// works. Else, and with `keep_primary`, it is the one that the INIT went to,
    /// since nothing else vouches for the source (§5.4).
    fn find_paths(&mut self, mut addresses: Vec<Addr>, src: Addr) {
        if !addresses.contains(&src) {
            addresses.insert(0, src);
        }
        let given: Vec<Addr> = self.paths.iter().map(|path| path.remote).collect();
        let asked = self.handshake.as_ref().map_or(self.primary, |handshake| handshake.path);
        let moves = given.contains(&src) && !self.config.keep_primary;
        let primary = if moves { src } else { given[asked] };
        match self.config.trust_given {
            true => self.set_paths(&addresses, primary, &given),
            false => self.set_paths(&addresses, primary, &[primary]),
        }
    }

    pub(super) fn set_initial_thresholds(&mut self) {
        if self.config.initial_ssthresh.is_none() {
            for path in &mut self.paths {
                path.window.set_initial_ssthresh(self.peer_rwnd);
            }
        }
    }

    pub(super) fn new_auth(&mut self) -> Option<Box<Auth>> {
        let config = self.config.authentication.as_ref()?;
        Some(Box::new(Auth::new(config, &mut self.generator)))
    }

    pub(super) fn auth_parameters(&self, auth: Option<&Auth>) -> Vec<Parameter> {
        match (auth, &self.config.authentication) {
            (Some(auth), Some(config)) => auth.parameters(config),
            _ => Vec::new(),
        }
    }

    /// The extensions of this association, before any of its data is sent.
    pub(super) fn agree(&mut self, mut extensions: Extensions) {
        if !self.auth.as_ref().is_some_and(|auth| auth.is_agreed()) {
            self.auth = None;
            extensions.0 &= !Extensions::ADDRESSES.0; // RFC 5061 §4
        }
        self.addresses = None;
        let interleaving = extensions.has(Extensions::INTERLEAVING);
        self.extensions = extensions;
        self.extended = extensions != Extensions::default();
        self.partial = None;
        self.reconfig = None;
        self.flight.set_interleaving(interleaving);
        self.reassembly.set_interleaving(interleaving);
        self.measure();
        self.outgoing.set_interleaving(interleaving, self.peer_rwnd, self.max_payload);
    }

    /// Enters ESTABLISHED.
    pub(super) fn establish(&mut self, now: Time) {
        self.state = State::Established;
        self.timer(Due::T1).stop();
        self.errors = 0;
        let close = self.handshake.take().is_some_and(|handshake| handshake.close);
        self.pending.connected = true;
        self.start_heartbeats(now);
        // Data that left with the COOKIE ECHO has had T1 as its timer.
        for path in self.paths.iter_mut().filter(|path| path.flight > 0) {
            path.t3.set(now + path.rtt.rto());
        }
        if close {
            self.shut_down();
        }
    }

    /// The COOKIE ACK arrived (§5.1 E).
    pub(super) fn on_cookie_ack(&mut self, now: Time) {
        if self.state == State::CookieEchoed {
            self.establish(now);
        }
    }

    /// The cookie was too old (§5.2.6): again from INIT, asking for more life.
    pub(super) fn on_stale_cookie(&mut self, now: Time) {
        if self.state != State::CookieEchoed {
            return;
        }
        let most = self.config.max_init_retransmits;
        if let Some(handshake) = &mut self.handshake {
            handshake.stale += 1;
            if handshake.stale > most {
                return self.finish(CloseReason::Refused); // it would never end
            }
        }
        self.state = State::CookieWait;
        let path = self.primary;
        if let Some(handshake) = &mut self.handshake {
            handshake.cookie = None;
            handshake.due = true;
            // No more than a second beyond the round trip.
            let rtt = now.saturating_since(handshake.sent).as_millis();
            handshake.preservative = Some((rtt + 1000).min(u32::MAX as u64) as u32);
            handshake.path = path;
        }
        // Another tag, so that a second copy of the ERROR is not heeded.
        self.local_tag = self.random_tag();
        // What left with the COOKIE ECHO leaves again with the next.
        self.flight.expire_all(&mut self.paths);
        self.start_t1(now);
    }

    /// T1-init or T1-cookie expired (§5.1.6 of RFC 9260: Max.Init.Retransmits).
    pub(super) fn on_t1(&mut self, now: Time) {
        let most = self.config.max_init_retransmits;
        let paths = self.paths.len();
        let Some(handshake) = &mut self.handshake else { return };
        handshake.retries += 1;
        if handshake.retries > most {
            self.tell_of_failure();
            return self.finish(CloseReason::TimedOut);
        }
        self.paths[handshake.path].rtt.on_timeout();
        if handshake.cookie.is_none() && self.config.ns2_rules.is_none_or(|it| !it.init_to_primary)
        {
            handshake.path = (handshake.path + 1) % paths;
        }
        handshake.due = true;
        if self.state == State::CookieEchoed {
            self.flight.expire_all(&mut self.paths);
        }
        self.start_t1(now);
    }
}
