//! The opening is here (RFC 9260 §5.1): the side that calls, and what both sides say of themselves.
//! The side that answers is in [`super::answer`].

use super::answer::LEAST_WINDOW;
use super::{Association, Notification};
use crate::control::auth::{self, Auth};
use crate::cookie::MAX_ADDRESSES;
use crate::extensions::Extensions;
use crate::phase::Phase;
use crate::state::State;
use anabranch_endpoint::CloseReason;
use anabranch_units::Time;
use anabranch_wire::sctp::{Address, Cause, Chunk, InitChunk, Parameter, SctpPacket};
use anabranch_wire::{Addr, Packet};

/// At most this many octets of unknown parameters are reported, so that the INIT ACK and the COOKIE
/// ECHO fit a packet.
const MAX_REPORTED: usize = 128;

/// A cookie holds at most this many octets of the peer's key vector: RANDOM of 36, CHUNKS of 260,
/// and more HMAC identifiers than there are.
const MAX_VECTOR: usize = 512;

/// An `Offer` is what the parameters of an INIT or INIT ACK say.
#[derive(Debug, Default)]
pub(super) struct Offer {
    /// `addresses` are those of the peer that the parameters name; the one that the packet came
    /// from need not be among them.
    pub addresses: Vec<Addr>,
    /// `cookie` is the one to echo, in an INIT ACK.
    pub cookie: Option<Box<[u8]>>,
    /// `more_life` is how much longer a life of its cookie an INIT asks for, in ms (§5.2.6).
    pub more_life: Option<u32>,
    /// `adaptation` is the adaptation code point of the peer.
    pub adaptation: Option<u32>,
    /// `extensions` are those that the peer offers.
    pub extensions: Extensions,
    /// `vector` is the peer's part of the keys (RFC 4895 §6.1).
    pub vector: Vec<u8>,
    /// `unrecognized` has the parameters that this side does not know, to be reported.
    pub unrecognized: Vec<Parameter>,
    /// `reported` is how many octets the unknown ones among these take.
    reported: usize,
}

impl Offer {
    /// Notes a parameter that this side does not know. Returns false when the rest is not to be
    /// read (§3.2.1).
    fn note_unknown(&mut self, kind: u16, value: &[u8]) -> bool {
        let action = Parameter::action_on_unknown(kind);
        self.reported += value.len() + 8;
        if action.report && self.reported <= MAX_REPORTED {
            let len = value.len() as u16 + 4;
            let header = [kind.to_be_bytes(), len.to_be_bytes()].concat();
            let octets = [header.as_slice(), value].concat();
            self.unrecognized.push(Parameter::Unrecognized(octets.into()));
        }
        !action.stop
    }
}

/// Returns the cause for a host name in place of an address (RFC 9260 §5.1.2 3), with up to `room`
/// octets of the name.
fn unresolvable(name: &[u8], room: usize) -> Cause {
    let name = &name[..name.len().min(room)];
    let len = (name.len() as u16 + 4).to_be_bytes();
    Cause::UnresolvableAddress([&[0, 11], &len[..], name].concat().into())
}

impl Association {
    /// Starts the active opening.
    pub(super) fn associate(&mut self, now: Time) {
        self.identity.local_tag = self.identity.random_tag();
        self.sender.origin = self.identity.random_tsn();
        self.control.auth = self.new_auth();
        self.phase.open(self.paths.primary);
        self.start_t1(now);
    }

    fn start_t1(&mut self, now: Time) {
        if let Some(opening) = self.phase.opening_mut() {
            opening.t1.set(now + self.paths[opening.path].rtt.rto());
        }
    }

    /// Returns the INIT (§5.1 A).
    pub(super) fn init_chunk(&self) -> InitChunk {
        let mut parameters = self.address_parameters();
        if let Phase::CookieWait { preservative: Some(ms), .. } = self.phase {
            parameters.push(Parameter::CookiePreservative(ms));
        }
        parameters.extend(self.config.adaptation.map(Parameter::Adaptation));
        let offered = Extensions::offered(&self.config);
        parameters.extend(offered.parameters(self.config.brief_offers));
        parameters.extend(self.auth_parameters(self.control.auth.as_deref()));
        if self.config.list_address_types {
            let kind = if self.config.ip_header == 40 { 6 } else { 5 };
            parameters.push(Parameter::SupportedAddressTypes(vec![kind]));
        }
        InitChunk {
            tag: self.identity.local_tag,
            a_rwnd: self.config.receive_buffer,
            outbound: self.config.outbound_streams,
            inbound: self.config.inbound_streams,
            tsn: self.sender.origin.add(1),
            parameters,
        }
    }

    pub(super) fn address_parameters(&self) -> Vec<Parameter> {
        match self.paths.local.as_slice() {
            [_] => Vec::new(),
            all => all.iter().map(|addr| Parameter::Address((*addr).into())).collect(),
        }
    }

    /// Reads the parameters of an INIT or INIT ACK. A host name is an error (RFC 9260 §5.1.2 3),
    /// and so is a broken parameter. IP addresses that the address book has no number for cannot be
    /// reached and are left out.
    pub(super) fn read_parameters(&self, parameters: &[Parameter]) -> Result<Offer, Cause> {
        let mut offer = Offer::default();
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
                    // The headers of ABORT, cause and parameter have 4 octets each.
                    return Err(unresolvable(name, self.paths.room.chunk as usize - 12));
                }
                // RFC 4895 §6.1.
                Parameter::Random(octets)
                    if self.config.authentication.is_some() && octets.len() != auth::RANDOM =>
                {
                    return Err(Cause::ProtocolViolation((*b"a RANDOM of another length").into()));
                }
                Parameter::Malformed(_) => {
                    return Err(Cause::ProtocolViolation((*b"a broken parameter").into()));
                }
                Parameter::Adaptation(code) => offer.adaptation = Some(*code),
                // An INIT ACK answers what this side has not offered; in an INIT
                // it is an offer that is not taken.
                Parameter::ForwardTsnSupported
                    if !self.config.partial_reliability && self.state() == State::CookieWait =>
                {
                    let octets = [0xc0, 0, 0, 4].into();
                    offer.unrecognized.push(Parameter::Unrecognized(octets));
                }
                Parameter::Unknown { kind, value } => {
                    if !offer.note_unknown(*kind, value) {
                        break;
                    }
                }
                other => {
                    offer.extensions.note(other);
                    let before = offer.vector.len();
                    auth::extend_vector(&mut offer.vector, other);
                    if offer.vector.len() > MAX_VECTOR {
                        offer.vector.truncate(before);
                    }
                }
            }
        }
        Ok(offer)
    }

    /// Handles the answer to this side's INIT (§5.1 C).
    pub(super) fn on_init_ack(
        &mut self,
        now: Time,
        packet: &Packet,
        sctp: &SctpPacket,
        ack: &InitChunk,
    ) {
        if self.state() != State::CookieWait {
            return; // §5.2.3
        }
        // §5.1.2: to where it came from.
        let fail = |this: &mut Self, cause: Cause| {
            let abort = Chunk::Abort { reflected: false, causes: vec![cause] };
            this.reply(packet, sctp, ack.tag, abort);
            this.finish(CloseReason::Refused);
        };
        if ack.tag == 0 {
            // §3.3.3: there is no tag but our own.
            let abort = Chunk::Abort { reflected: true, causes: vec![Cause::InvalidParameter] };
            self.reply(packet, sctp, self.identity.local_tag, abort);
            return self.finish(CloseReason::Refused);
        }
        if ack.outbound == 0 || ack.inbound == 0 || ack.a_rwnd < LEAST_WINDOW {
            return fail(self, Cause::InvalidParameter);
        }
        let offer = match self.read_parameters(&ack.parameters) {
            Ok(offer) => offer,
            Err(cause) => return fail(self, cause),
        };
        let Some(cookie) = &offer.cookie else {
            return fail(self, Cause::MissingParameters(vec![7]));
        };
        if self.lacks_authentication(&offer) {
            return self.finish(CloseReason::Refused);
        }
        let cookie = cookie.clone();
        self.identity.peer_tag = ack.tag;
        self.limit_streams(self.config.outbound_streams.min(ack.inbound));
        let inbound = self.config.inbound_streams.min(ack.outbound);
        self.receiver.begin(ack.tsn, inbound);
        self.sender.window.begin(ack.a_rwnd);
        self.peer_adaptation = offer.adaptation;
        self.find_paths(offer.addresses, packet.src);
        self.paths.set_initial_thresholds(&self.config, self.sender.window.rwnd());
        if let (Some(auth), Some(config)) = (&mut self.control.auth, &self.config.authentication) {
            auth.agree(config, &offer.vector);
        }
        self.agree(Extensions::offered(&self.config).and(offer.extensions));
        let octets = |parameter: Parameter| match parameter {
            Parameter::Unrecognized(octets) => octets.to_vec(),
            _ => Vec::new(),
        };
        let unrecognized: Vec<u8> = offer.unrecognized.into_iter().flat_map(octets).collect();
        self.phase.echo(cookie, self.paths.primary, &unrecognized);
        self.start_t1(now);
    }

    /// Makes the paths to the peer's addresses, which are known now: those that it names, and the
    /// one that its INIT ACK came from. Which of them is the first primary is left to us (§5.1.2).
    /// It is the source of the INIT ACK if the user gave that address: replies go where what they
    /// reply to came from (§6.4), and the way there works. Else, and with `keep_primary`, it is the
    /// one that the INIT went to, since nothing else vouches for the source (§5.4).
    fn find_paths(&mut self, mut addresses: Vec<Addr>, src: Addr) {
        if !addresses.contains(&src) {
            addresses.insert(0, src);
        }
        let given: Vec<Addr> = self.paths.iter().map(|path| path.remote).collect();
        let asked = self.phase.opening().map_or(self.paths.primary, |opening| opening.path);
        let moves = given.contains(&src) && !self.config.keep_primary;
        let primary = if moves { src } else { given[asked] };
        match self.config.trust_given {
            true => self.set_paths(&addresses, primary, &given),
            false => self.set_paths(&addresses, primary, &[primary]),
        }
    }

    /// Returns whether the peer offers changes of addresses, which this side knows, and no
    /// authentication of them: there is no association with it (RFC 5061 §6).
    pub(super) fn lacks_authentication(&self, offer: &Offer) -> bool {
        let both = Extensions::offered(&self.config).and(offer.extensions);
        both.has(Extensions::ADDRESSES) && !auth::offers(&offer.vector)
    }

    pub(super) fn new_auth(&mut self) -> Option<Box<Auth>> {
        let config = self.config.authentication.as_ref()?;
        Some(Box::new(Auth::new(config, &mut self.identity.generator)))
    }

    pub(super) fn auth_parameters(&self, auth: Option<&Auth>) -> Vec<Parameter> {
        match (auth, &self.config.authentication) {
            (Some(auth), Some(config)) => auth.parameters(config),
            _ => Vec::new(),
        }
    }

    /// Limits the streams to what the peer takes: messages that wait for others are refused, and
    /// the user hears of it (§5.1.1, §11.2.2).
    pub(super) fn limit_streams(&mut self, streams: u16) {
        let messages = self.sender.limit_streams(streams, &self.config);
        if messages > 0 {
            self.notify(Notification::StreamsMissing { streams, messages });
            self.tell_of_room();
        }
    }

    /// Sets the extensions of this association, before any of its data is sent.
    pub(super) fn agree(&mut self, mut extensions: Extensions) {
        if !self.control.authenticates() {
            extensions.0 &= !Extensions::ADDRESSES.0; // RFC 5061 §4
        }
        let extensions = extensions.agreed();
        self.control.begin();
        let interleaving = extensions.has(Extensions::INTERLEAVING);
        self.extensions = extensions;
        self.sender.flight.set_interleaving(interleaving);
        self.receiver.reassembly.set_interleaving(interleaving);
        self.measure();
        self.sender.agree(interleaving, self.paths.room.payload);
    }

    /// Enters ESTABLISHED.
    pub(super) fn establish(&mut self, now: Time) {
        let close = self.phase.is_closing();
        self.phase = Phase::Established;
        self.paths.forget_failures();
        self.pending.connected = true;
        self.start_heartbeats(now);
        self.tell_again(now); // what was given up with a COOKIE ECHO
        // Data that left with the COOKIE ECHO has had T1 as its timer.
        for path in self.paths.iter_mut().filter(|path| path.flight > 0) {
            path.t3.set(now + path.rtt.rto());
        }
        if close {
            self.shut_down();
        }
    }

    /// Handles a COOKIE ACK (§5.1 E).
    pub(super) fn on_cookie_ack(&mut self, now: Time) {
        if self.state() == State::CookieEchoed {
            self.establish(now);
        }
    }

    /// Begins again from INIT, asking for more life, as the cookie was too old (§5.2.6).
    pub(super) fn on_stale_cookie(&mut self, now: Time) {
        let Phase::CookieEchoed { opening, .. } = &mut self.phase else { return };
        opening.stale += 1;
        if opening.stale > self.config.max_init_retransmits {
            return self.finish(CloseReason::Refused); // it would never end
        }
        self.phase.open_again(now, self.paths.primary);
        // Another tag, so that a second copy of the ERROR is not heeded.
        self.identity.local_tag = self.identity.random_tag();
        // What left with the COOKIE ECHO leaves again with the next.
        self.sender.flight.expire_all(&mut self.paths);
        self.start_t1(now);
    }

    /// Handles the expiry of T1-init or T1-cookie (RFC 9260 §5.1.6, Max.Init.Retransmits).
    pub(super) fn on_t1(&mut self, now: Time) {
        let to_primary = self.config.ns2_rules.is_some_and(|rules| rules.init_to_primary);
        let moves_on = self.state() == State::CookieWait && !to_primary;
        let Some(opening) = self.phase.opening_mut() else { return };
        opening.retries += 1;
        if opening.retries > self.config.max_init_retransmits {
            self.tell_of_failure();
            return self.finish(CloseReason::TimedOut);
        }
        opening.due = true;
        self.paths[opening.path].rtt.on_timeout();
        if moves_on {
            opening.path = (opening.path + 1) % self.paths.len();
        }
        if self.state() == State::CookieEchoed {
            self.sender.flight.expire_all(&mut self.paths);
        }
        self.start_t1(now);
    }
}
