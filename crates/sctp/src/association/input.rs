//! Packets that count (RFC 9260 §8.4, §8.5) are told from others here, and each of their chunks
//! calls its procedure.

use super::{Association, Notification};
use crate::control::auth::{Auth, Failure};
use crate::cookie::Cookie;
use crate::extensions::Extensions;
use crate::paths::path::PathState;
use crate::route::Route;
use crate::state::State;
use crate::timestamp;
use anabranch_units::Time;
use anabranch_wire::sctp::{Address, Cause, Chunk, Chunks, Parameter, SctpPacket, kind};
use anabranch_wire::{Addr, AddressBook, Body, Packet};

fn is_abort(chunk: &Chunk) -> bool {
    matches!(chunk, Chunk::Abort { .. })
}

/// A `Verdict` says what authentication makes of a chunk.
enum Verdict {
    /// It is an AUTH chunk that is right: all after it is trusted.
    Right,
    /// It needs no authentication.
    NotNeeded,
    /// It needs authentication and has none: it is discarded.
    Missing,
    /// It is an AUTH chunk that is wrong: nothing after it is read.
    Wrong,
}

impl Association {
    pub(super) fn on_packet(&mut self, now: Time, packet: &Packet, sctp: &SctpPacket) {
        if sctp.dst_port != self.identity.local_port || !self.paths.local.contains(&packet.dst) {
            return;
        }
        if sctp.src_port == 0 {
            return; // §3.1: nobody's
        }
        if sctp.udp.is_some_and(|ports| self.config.udp.is_none_or(|udp| udp.local != ports.1)) {
            return; // a port of nobody
        }
        let Some(first) = sctp.chunks.first() else { return };
        if !sctp.is_well_bundled() {
            return; // §4.3
        }
        if let Chunk::Init(init) = first {
            return self.on_init(now, packet, sctp, init);
        }
        let (mut skip, mut signed) = (0, false);
        if let Some((at, octets)) = sctp.cookie_echo() {
            let Some(cookie) = Cookie::open(octets, &self.identity.key) else { return };
            if !self.is_echo_authentic(sctp, at, &cookie)
                || !self.on_cookie_echo(now, packet, sctp, &cookie)
            {
                return;
            }
            (skip, signed) = (at + 1, at > 0);
        } else if !self.belongs(packet, sctp) {
            return self.on_out_of_the_blue(packet, sctp);
        } else if !self.identity.is_tag_valid(sctp) {
            return; // §8.5
        }
        let from = self.paths.find(packet.src).unwrap_or(self.paths.primary);
        self.control.waiting.arrival = Route { path: from, source: packet.dst };
        if skip > 0 {
            self.control.waiting.answer_arrival(); // COOKIE ACK
        }
        if self.config.udp.is_some() && self.paths[from].remote == packet.src {
            self.paths[from].udp_port = sctp.udp.map(|ports| ports.0); // RFC 6951 §5.4
        }
        if self.control.auth.is_some() {
            let trusted = self.trusted(sctp, skip, signed);
            self.on_chunks(now, packet, &trusted, 0);
        } else {
            self.on_chunks(now, packet, sctp, skip);
        }
        if !self.control.acks.is_empty() {
            self.send_asconf_acks(packet);
        }
        if !self.control.waiting.is_empty() {
            self.join_answers(now);
        }
        self.prolong_shutdown();
    }

    /// Joins all answers to the packet at hand in one packet (§12.4), with the SACK if one is due.
    /// To an unconfirmed address goes nothing but HEARTBEAT ACK and COOKIE ACK, which has a
    /// HEARTBEAT beside it (§5.4).
    #[cold]
    fn join_answers(&mut self, now: Time) {
        let path = self.control.waiting.arrival.path;
        let is_probe = |chunk: &Chunk| {
            matches!(chunk.kind(), kind::HEARTBEAT | kind::HEARTBEAT_ACK | kind::COOKIE_ACK)
        };
        if self.control.waiting.answer().is_some()
            && self.paths[path].state == PathState::Unconfirmed
        {
            let waiting = &mut self.control.waiting;
            if waiting.any(is_probe) {
                waiting.discard(|chunk| matches!(chunk, Chunk::Error(_)));
            }
            if waiting.any(|chunk| !is_probe(chunk)) {
                waiting.discard(|chunk| chunk.kind() == kind::HEARTBEAT_ACK);
                waiting.answer_nobody();
            } else if waiting.any(|chunk| *chunk == Chunk::CookieAck) {
                self.probe_beside(now, path);
            }
        }
        let sack = match self.receiver.sacks.is_due() {
            true => self.receiver.least_sack() + timestamp::CHUNK,
            false => 0,
        };
        self.control.waiting.fit(self.paths[path].room.chunk.saturating_sub(sack));
    }

    #[inline(always)]
    fn belongs(&self, packet: &Packet, sctp: &SctpPacket) -> bool {
        let opening = self.phase.is_opening();
        let ack = matches!(sctp.chunks.first(), Some(Chunk::ShutdownAck));
        self.state() != State::Closed
            && sctp.src_port == self.identity.peer_port
            // An INIT ACK may come from an address that is not known yet.
            && (self.state() == State::CookieWait
                || self.paths.find(packet.src).is_some()
                || self.is_named(sctp))
            && !(opening && ack) // §8.5.1 E
    }

    /// Returns whether an ASCONF from a new address says that it is of this association (RFC 5061
    /// §4.1.1).
    #[cold]
    fn is_named(&self, sctp: &SctpPacket) -> bool {
        sctp.chunks.iter().any(|chunk| match chunk {
            Chunk::Asconf { parameters, .. } => match parameters.first() {
                Some(Parameter::Address(Address::Number(addr))) => self.paths.find(*addr).is_some(),
                _ => false,
            },
            _ => false,
        })
    }

    /// Returns the packet with those of its chunks, from the one at `skip` on, that count (RFC 4895
    /// §6.3). With `trusted` an AUTH chunk before it was right.
    fn trusted(&mut self, sctp: &SctpPacket, skip: usize, mut trusted: bool) -> SctpPacket {
        let mut chunks = Chunks::new();
        for (at, chunk) in sctp.chunks.iter().enumerate().skip(skip) {
            if !trusted {
                match self.authenticate(sctp, at) {
                    Verdict::Right => trusted = true,
                    Verdict::NotNeeded => {}
                    // RFC 5061 §5.2 D5: nor is what stands behind it read.
                    Verdict::Missing if matches!(chunk.kind(), kind::ASCONF | kind::ASCONF_ACK) => {
                        break;
                    }
                    Verdict::Missing => continue,
                    Verdict::Wrong => break,
                }
            }
            chunks.push(chunk.clone());
        }
        self.control.trusted = trusted;
        SctpPacket { chunks, ..*sctp }
    }

    /// Returns whether the COOKIE ECHO at `at` may be read (RFC 4895 §6.3): the AUTH chunk in front
    /// of it is right, by the keys of the association or, where there are none yet, by what the
    /// cookie says of both sides. Without one it must not be among the chunks that this side wants
    /// authenticated.
    fn is_echo_authentic(&self, sctp: &SctpPacket, at: usize, cookie: &Cookie) -> bool {
        let Some(config) = &self.config.authentication else { return at == 0 };
        let wanted = config.chunks.contains(&kind::COOKIE_ECHO);
        if at == 0 && !wanted {
            return true;
        }
        let agreed = |auth: &&Auth| auth.is_agreed();
        let recalled = match self.control.auth.as_deref().filter(agreed) {
            Some(_) => None,
            None => Auth::recall(config, &cookie.auth),
        };
        let keys = recalled.as_ref().or(self.control.auth.as_deref()).filter(agreed);
        match keys {
            Some(auth) if at > 0 => auth.verify(config, sctp, 0).is_ok(),
            // A peer that authenticates nothing is not asked to.
            keys => at == 0 && keys.is_none(),
        }
    }

    /// Returns what authentication makes of the chunk at `at`, before an AUTH chunk was right.
    fn authenticate(&mut self, sctp: &SctpPacket, at: usize) -> Verdict {
        let (Some(auth), Some(config)) = (&self.control.auth, &self.config.authentication) else {
            return Verdict::NotNeeded;
        };
        match sctp.chunks.iter().nth(at) {
            Some(Chunk::Auth { .. }) => match auth.verify(config, sctp, at) {
                Ok(()) => Verdict::Right,
                Err(Failure::Algorithm(id)) => {
                    self.control
                        .waiting
                        .push_answer(Chunk::Error(vec![Cause::UnsupportedHmac(id)]));
                    Verdict::Wrong
                }
                Err(Failure::Forged) => Verdict::Wrong,
            },
            Some(chunk) if auth.is_agreed() && config.chunks.contains(&chunk.kind()) => {
                Verdict::Missing
            }
            _ => Verdict::NotNeeded,
        }
    }

    /// Handles a packet of no association (§8.4).
    fn on_out_of_the_blue(&mut self, packet: &Packet, sctp: &SctpPacket) {
        if let Some(answer) = sctp.out_of_the_blue() {
            self.reply(packet, sctp, sctp.tag, answer);
        }
    }

    /// Sends an answer that needs no association.
    pub(super) fn reply(&mut self, packet: &Packet, sctp: &SctpPacket, tag: u32, chunk: Chunk) {
        self.reply_to(packet.src, packet, sctp, tag, chunk);
    }

    /// Sends such an answer to another address of the side that asked.
    pub(super) fn reply_to(
        &mut self,
        addr: Addr,
        packet: &Packet,
        sctp: &SctpPacket,
        tag: u32,
        chunk: Chunk,
    ) {
        self.reply_summed(addr, packet, sctp, tag, (chunk, false));
    }

    /// Sends such an answer, whose checksum may be zero (RFC 9653 §5.2).
    pub(super) fn reply_summed(
        &mut self,
        addr: Addr,
        packet: &Packet,
        sctp: &SctpPacket,
        tag: u32,
        (chunk, zero_checksum): (Chunk, bool),
    ) {
        if self.control.outbox.has_room() {
            let mut answer = self.packet_with(packet.dst, addr, sctp.src_port, tag, chunk);
            if let Body::Sctp(answer) = &mut answer.body {
                answer.udp = sctp.udp.map(|(src, dst)| (dst, src));
                answer.zero_checksum = zero_checksum;
            }
            self.control.outbox.push(answer);
        }
    }

    fn on_chunks(&mut self, now: Time, packet: &Packet, sctp: &SctpPacket, skip: usize) {
        let mut data = false;
        if sctp.chunks.len() > 1
            && let Some(Chunk::Abort { causes, .. }) = sctp.chunks.iter().find(|c| is_abort(c))
        {
            return self.on_abort(packet, causes); // §9.1: nothing before it is answered
        }
        for chunk in sctp.chunks.iter().skip(skip) {
            if self.state() == State::Closed {
                return;
            }
            match chunk {
                Chunk::Data(chunk) => data |= self.on_data(chunk),
                Chunk::IData(chunk) if self.offers(Extensions::INTERLEAVING) => {
                    data |= self.on_interleaved(chunk);
                }
                Chunk::ForwardTsn(forward) if self.extensions.has(Extensions::PARTIAL) => {
                    data |= self.on_forward_tsn(forward);
                }
                Chunk::IForwardTsn(forward)
                    if self.offers(Extensions::INTERLEAVED_PARTIAL)
                        && self.extensions.has(Extensions::PARTIAL) =>
                {
                    data |= self.on_interleaved_forward_tsn(forward);
                }
                Chunk::Sack(sack) => self.on_sack(now, sack),
                // §3.3.7: silently.
                Chunk::Malformed { kind: kind::ABORT, .. } => return,
                // What is cut short was not meant so, and nothing after it is
                // readable; other contradictions are a violation (§3.3.10.13).
                Chunk::Malformed { truncated: false, .. } if self.state().is_synchronized() => {
                    return self.on_violation(b"a chunk whose length does not fit its fields");
                }
                Chunk::Malformed { .. } => break,
                other => {
                    let known = self.on_procedure(now, packet, sctp, other)
                        || self.on_extension(now, packet, other);
                    if !known && !self.on_unknown(other) {
                        break;
                    }
                }
            }
        }
        if data {
            self.on_packet_with_data(now);
        }
    }

    /// Handles a chunk of RFC 9260 that carries no data and acknowledges none. Returns false when
    /// it is another.
    fn on_procedure(
        &mut self,
        now: Time,
        packet: &Packet,
        sctp: &SctpPacket,
        chunk: &Chunk,
    ) -> bool {
        match chunk {
            Chunk::InitAck(ack) => self.on_init_ack(now, packet, sctp, ack),
            Chunk::CookieAck => self.on_cookie_ack(now),
            Chunk::Heartbeat(info) => self.on_heartbeat(packet, Chunk::HeartbeatAck(info.clone())),
            // One with parameters behind its information: all of them come back (§8.3).
            Chunk::Unknown { kind: kind::HEARTBEAT, value, .. } => {
                let ack =
                    Chunk::Unknown { kind: kind::HEARTBEAT_ACK, flags: 0, value: value.clone() };
                self.on_heartbeat(packet, ack);
            }
            Chunk::HeartbeatAck(info) => self.on_heartbeat_ack(now, info),
            Chunk::Abort { causes, .. } => self.on_abort(packet, causes),
            Chunk::Shutdown(cum) => self.on_shutdown(now, *cum),
            Chunk::ShutdownAck => self.on_shutdown_ack(packet, sctp),
            Chunk::ShutdownComplete { .. } => self.on_shutdown_complete(),
            Chunk::Error(causes) => self.on_error(now, causes),
            // §6.10: a COOKIE ECHO and an INIT come first or not at all.
            Chunk::CookieEcho(_) | Chunk::Init(_) => {}
            _ => return false,
        }
        true
    }

    /// Handles an ERROR: of some causes this side learns, of all the user hears (§11.2.6).
    #[cold]
    fn on_error(&mut self, now: Time, causes: &[Cause]) {
        for cause in causes {
            match cause {
                Cause::StaleCookie(_) => self.on_stale_cookie(now),
                Cause::UnrecognizedChunk(chunk) if chunk.first() == Some(&kind::ASCONF) => {
                    self.on_unknown_asconf();
                }
                _ => {}
            }
            if self.state().is_synchronized() {
                self.notify(Notification::PeerError { code: cause.code() });
            }
        }
    }

    /// Handles a chunk of an extension that this side knows. Returns false when it is another.
    fn on_extension(&mut self, now: Time, packet: &Packet, chunk: &Chunk) -> bool {
        match chunk {
            Chunk::Auth { .. } if self.control.auth.is_some() => {}
            Chunk::Ecne(tsn) if self.extensions.has(Extensions::ECN) => self.on_ecne(now, *tsn),
            Chunk::Cwr(tsn) if self.extensions.has(Extensions::ECN) => {
                self.control.marks.on_cwr(*tsn);
            }
            Chunk::Asconf { serial, parameters } if self.offers(Extensions::ADDRESSES) => {
                self.on_asconf(now, packet, *serial, parameters);
            }
            Chunk::AsconfAck { serial, parameters } if self.offers(Extensions::ADDRESSES) => {
                self.on_asconf_ack(now, *serial, parameters);
            }
            Chunk::Reconfig(list) if self.offers(Extensions::RECONFIGURATION) => {
                self.on_reconfig(now, list);
            }
            Chunk::Unknown { kind: timestamp::KIND, value, .. } => {
                let echo = &mut self.receiver.sacks.echo;
                *echo = echo.or_else(|| timestamp::value(value));
            }
            Chunk::Unknown { kind: timestamp::ECHO, value, .. } => {
                if self.config.timestamps {
                    self.on_echo(now, value);
                }
            }
            Chunk::Pad(_) => {}
            _ => return false,
        }
        true
    }

    /// Returns whether this side knows the chunks of an extension, whether or not the peer does.
    fn offers(&self, extension: Extensions) -> bool {
        Extensions::offered(&self.config).has(extension)
    }

    /// Handles a chunk that this side does not understand (§3.2), which includes extensions that it
    /// did not offer, and FORWARD-TSN unless both sides offered it. Returns false when the rest is
    /// not to be read.
    fn on_unknown(&mut self, chunk: &Chunk) -> bool {
        let kind = chunk.kind();
        let action = Chunk::action_on_unknown(kind);
        if action.report && self.state().is_synchronized() {
            // As much of it as fits a packet behind two headers more.
            let octets = octets_of(chunk);
            let path = self.control.waiting.arrival.path;
            let most = (self.paths[path].room.chunk as usize - 8).min(octets.len());
            let cause = Cause::UnrecognizedChunk(octets[..most].into());
            self.control.waiting.push_answer(Chunk::Error(vec![cause]));
        }
        !action.stop
    }
}

/// Returns a chunk as it is on the wire, without padding. Nothing that is reported has addresses in
/// it; one would be missing.
fn octets_of(chunk: &Chunk) -> Vec<u8> {
    let chunks = Chunks::from(chunk.clone());
    let packet =
        SctpPacket { src_port: 0, dst_port: 0, tag: 0, udp: None, zero_checksum: false, chunks };
    let mut octets = packet.chunk_octets(0, &AddressBook::new()).unwrap_or_default();
    if let [_, _, high, low, ..] = octets[..] {
        octets.truncate(u16::from_be_bytes([high, low]) as usize);
    }
    octets
}
