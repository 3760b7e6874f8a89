//! Which packets count (RFC 9260 §8.4, §8.5), and what their chunks call.

use super::{Association, Way};
use crate::auth::Failure;
use crate::extensions::Extensions;
use crate::state::State;
use crate::stranger::out_of_the_blue;
use crate::timestamp;
use anabranch_endpoint::CloseReason;
use anabranch_units::Time;
use anabranch_wire::sctp::{Address, Cause, Chunk, Chunks, Parameter, SctpPacket};
use anabranch_wire::{Addr, AddressBook, Body, Packet};

/// Complete packets that wait for the host, at most: it drains them after
/// each packet that comes in.
const MAX_OUTBOX: usize = 64;

/// What authentication says about a chunk.
enum Verdict {
    /// An AUTH chunk that is right: all after it is trusted.
    Right,
    /// The chunk needs none.
    NotNeeded,
    /// It needs one and has none: discarded.
    Missing,
    /// An AUTH chunk that is wrong: nothing after it is read.
    Wrong,
}

impl Association {
    pub(super) fn on_packet(&mut self, now: Time, packet: &Packet, sctp: &SctpPacket) {
        if sctp.dst_port != self.local_port || !self.local.contains(&packet.dst) {
            return;
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
        let mut skip = 0;
        if let Chunk::CookieEcho(cookie) = first {
            if !self.on_cookie_echo(now, packet, sctp, cookie) {
                return;
            }
            skip = 1;
        } else if !self.belongs(packet, sctp) {
            return self.on_out_of_the_blue(packet, sctp);
        } else if !self.is_tag_valid(sctp) {
            return; // §8.5
        }
        let from = self.path_of(packet.src).unwrap_or(self.primary);
        self.arrival = Way { path: from, from: packet.dst };
        if skip > 0 {
            self.answer_way = Some(self.arrival); // COOKIE ACK
        }
        if self.config.udp.is_some() && self.paths[from].remote == packet.src {
            self.paths[from].udp_port = sctp.udp.map(|ports| ports.0); // RFC 6951 §5.4
        }
        if self.auth.is_some() {
            let trusted = self.trusted(sctp, skip);
            return self.on_chunks(now, packet, &trusted, 0);
        }
        self.on_chunks(now, packet, sctp, skip);
    }

    #[inline(always)]
    fn belongs(&self, packet: &Packet, sctp: &SctpPacket) -> bool {
        let opening = matches!(self.state, State::CookieWait | State::CookieEchoed);
        let ack = matches!(sctp.chunks.first(), Some(Chunk::ShutdownAck));
        self.state != State::Closed
            && sctp.src_port == self.peer_port
            // An INIT ACK may come from an address that is not known yet.
            && (self.state == State::CookieWait
                || self.path_of(packet.src).is_some()
                || self.is_named(sctp))
            && !(opening && ack) // §8.5.1 E
    }

    /// An ASCONF from a new address says whose it is (RFC 5061 §4.1.1).
    #[cold]
    fn is_named(&self, sctp: &SctpPacket) -> bool {
        sctp.chunks.iter().any(|chunk| match chunk {
            Chunk::Asconf { parameters, .. } => match parameters.first() {
                Some(Parameter::Address(Address::Number(addr))) => self.path_of(*addr).is_some(),
                _ => false,
            },
            _ => false,
        })
    }

    /// What of a packet's chunks from the one at `skip` on counts (RFC 4895 §6.3).
    fn trusted(&mut self, sctp: &SctpPacket, skip: usize) -> SctpPacket {
        let mut chunks = Chunks::new();
        let mut trusted = false;
        for (at, chunk) in sctp.chunks.iter().enumerate().skip(skip) {
            if !trusted {
                match self.authenticate(sctp, at) {
                    Verdict::Right => trusted = true,
                    Verdict::NotNeeded => {}
                    Verdict::Missing => continue,
                    Verdict::Wrong => break,
                }
            }
            chunks.push(chunk.clone());
        }
        SctpPacket { chunks, ..*sctp }
    }

    /// What a chunk is worth before an AUTH chunk was right.
    fn authenticate(&mut self, sctp: &SctpPacket, at: usize) -> Verdict {
        let (Some(auth), Some(config)) = (&self.auth, &self.config.authentication) else {
            return Verdict::NotNeeded;
        };
        match sctp.chunks.iter().nth(at) {
            Some(Chunk::Auth { .. }) => match auth.verify(config, sctp, at) {
                Ok(()) => Verdict::Right,
                Err(Failure::Algorithm(id)) => {
                    self.push_answer(Chunk::Error(vec![Cause::UnsupportedHmac(id)]));
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

    /// §8.5 and its exceptions (§8.5.1).
    fn is_tag_valid(&self, sctp: &SctpPacket) -> bool {
        let reflected = sctp.chunks.iter().any(|chunk| {
            matches!(
                chunk,
                Chunk::Abort { reflected: true, .. } | Chunk::ShutdownComplete { reflected: true }
            )
        });
        let expected = if reflected { self.peer_tag } else { self.local_tag };
        sctp.tag == expected && expected != 0
    }

    /// A packet of no association (§8.4).
    fn on_out_of_the_blue(&mut self, packet: &Packet, sctp: &SctpPacket) {
        if let Some(answer) = out_of_the_blue(sctp) {
            self.reply(packet, sctp, sctp.tag, answer);
        }
    }

    /// An answer that needs no association.
    pub(super) fn reply(&mut self, packet: &Packet, sctp: &SctpPacket, tag: u32, chunk: Chunk) {
        self.reply_to(packet.src, packet, sctp, tag, chunk);
    }

    /// The same, to another address of who asked.
    pub(super) fn reply_to(
        &mut self,
        addr: Addr,
        packet: &Packet,
        sctp: &SctpPacket,
        tag: u32,
        chunk: Chunk,
    ) {
        if self.outbox.len() < MAX_OUTBOX {
            let mut answer = self.packet_with(packet.dst, addr, sctp.src_port, tag, chunk);
            if let Body::Sctp(answer) = &mut answer.body {
                answer.udp = sctp.udp.map(|(src, dst)| (dst, src));
            }
            self.outbox.push_back(answer);
        }
    }

    fn on_chunks(&mut self, now: Time, packet: &Packet, sctp: &SctpPacket, skip: usize) {
        let mut data = false;
        for chunk in sctp.chunks.iter().skip(skip) {
            if self.state == State::Closed {
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
                Chunk::Auth { .. } if self.auth.is_some() => {}
                Chunk::Ecne(tsn) if self.extensions.has(Extensions::ECN) => self.on_ecne(now, *tsn),
                Chunk::Cwr(tsn) if self.extensions.has(Extensions::ECN) => self.on_cwr(*tsn),
                Chunk::Asconf { serial, parameters } if self.offers(Extensions::ADDRESSES) => {
                    self.on_asconf(now, packet, *serial, parameters);
                }
                Chunk::AsconfAck { serial, parameters } if self.offers(Extensions::ADDRESSES) => {
                    self.on_asconf_ack(now, *serial, parameters);
                }
                Chunk::Reconfig(list) if self.offers(Extensions::RECONFIGURATION) => {
                    self.on_reconfig(now, list);
                }
                Chunk::IForwardTsn(forward) if self.interleaves_partially() => {
                    data |= self.on_interleaved_forward_tsn(forward);
                }
                Chunk::Sack(sack) => self.on_sack(now, sack),
                Chunk::InitAck(ack) => self.on_init_ack(now, packet, sctp, ack),
                Chunk::CookieAck => self.on_cookie_ack(now),
                Chunk::Heartbeat(info) => {
                    if self.state != State::CookieWait && self.outbox.len() < MAX_OUTBOX {
                        let answer = Chunk::HeartbeatAck(info.clone());
                        let answer = self.packet_with(
                            packet.dst,
                            packet.src,
                            self.peer_port,
                            self.peer_tag,
                            answer,
                        );
                        self.outbox.push_back(answer);
                    }
                }
                Chunk::HeartbeatAck(info) => self.on_heartbeat_ack(now, info),
                Chunk::Abort { .. } => {
                    let opening = matches!(self.state, State::CookieWait | State::CookieEchoed);
                    return self.finish(match self.state {
                        _ if opening => CloseReason::Refused,
                        // The peer is gone already: its SHUTDOWN COMPLETE was
                        // lost, and it met something else of ours since.
                        State::ShutdownAckSent => CloseReason::Normal,
                        _ => CloseReason::Reset,
                    });
                }
                Chunk::Shutdown(cum) => self.on_shutdown(now, *cum),
                Chunk::ShutdownAck => self.on_shutdown_ack(packet, sctp),
                Chunk::ShutdownComplete { .. } => self.on_shutdown_complete(),
                Chunk::Error(causes) => {
                    if causes.iter().any(|cause| matches!(cause, Cause::StaleCookie(_))) {
                        self.on_stale_cookie(now);
                    }
                }
                Chunk::Unknown { kind: timestamp::KIND, value, .. } if self.echo.is_none() => {
                    self.echo = timestamp::value(value);
                }
                Chunk::Unknown { kind: timestamp::ECHO, value, .. } if self.config.timestamps => {
                    self.on_echo(now, value);
                }
                Chunk::Unknown { kind: timestamp::KIND | timestamp::ECHO, .. } | Chunk::Pad(_) => {}
                // §6.10: a COOKIE ECHO and an INIT come first or not at all.
                Chunk::CookieEcho(_) | Chunk::Init(_) => {}
                // What is cut short was not meant so, and nothing after it is
                // readable; other contradictions are a violation (§3.3.10.13).
                Chunk::Malformed { truncated: false, .. } if self.state.is_synchronized() => {
                    return self.on_violation(b"a chunk whose length does not fit its fields");
                }
                Chunk::Malformed { .. } => break,
                other => {
                    if !self.on_unknown(other) {
                        break;
                    }
                }
            }
        }
        if data {
            self.on_packet_with_data(now);
        }
    }

    /// Both sides know I-FORWARD-TSN.
    fn interleaves_partially(&self) -> bool {
        self.extensions.has(Extensions::PARTIAL) && self.extensions.has(Extensions::INTERLEAVING)
    }

    /// This side knows the chunks of an extension, whether or not the peer does.
    fn offers(&self, extension: Extensions) -> bool {
        Extensions::offered(&self.config).has(extension)
    }

    /// A chunk that this side does not understand (§3.2): extensions that it
    /// did not offer are such, and FORWARD-TSN that both did not. False when the rest is not to be read.
    fn on_unknown(&mut self, chunk: &Chunk) -> bool {
        let kind = chunk.kind();
        let action = Chunk::action_on_unknown(kind);
        if action.report && self.state.is_synchronized() {
            // As much of it as fits a packet behind two headers more.
            let octets = octets_of(chunk);
            let most = (self.max_chunk as usize - 8).min(octets.len());
            let cause = Cause::UnrecognizedChunk(octets[..most].into());
            self.push_answer(Chunk::Error(vec![cause]));
        }
        !action.stop
    }

    /// An answer to the packet at hand (§6.4).
    pub(super) fn push_answer(&mut self, chunk: Chunk) {
        self.answer_way = Some(self.arrival);
        self.push_control(chunk);
    }

    /// Control chunks wait for the next packet; a peer cannot make them many.
    pub(super) fn push_control(&mut self, chunk: Chunk) {
        if self.control.len() < 8 {
            self.control.push(chunk);
        }
    }
}

/// A chunk as it is on the wire, without padding. Nothing that is reported has
/// addresses in it; one would be missing.
fn octets_of(chunk: &Chunk) -> Vec<u8> {
    let chunks = Chunks::from(chunk.clone());
    let packet = SctpPacket { src_port: 0, dst_port: 0, tag: 0, udp: None, chunks };
    let mut octets = packet.chunk_octets(0, &AddressBook::new()).unwrap_or_default();
    if let [_, _, high, low, ..] = octets[..] {
        octets.truncate(u16::from_be_bytes([high, low]) as usize);
    }
    octets
}
