//! SYN cookies (RFC 4987 §3.6) of Multipath TCP: the peer's ACK brings both keys (RFC 8684
//! §3.1), and the listener's own key is a function of its cookie under a secret, so that
//! nothing need be remembered.
//!
//! Deviation: a token that another connection has by then cannot be changed any more; such
//! an ACK opens nothing.

use crate::config::Config;
use crate::connection::Connection;
use crate::key::{Key, first_64_bits};
use anabranch_endpoint::{Endpoint, Generator, mac};
use anabranch_tcp::{Cookies, Told};
use anabranch_units::{Serial32, Time};
use anabranch_wire::{Addr, Body, Packet, Payload, TcpFlags, TcpOptions, TcpSegment};
use std::sync::Arc;

/// What makes and checks the cookies of a port.
#[derive(Clone, Debug)]
pub(super) struct Jar {
    cookies: Cookies,
    secret: [u8; 32],
    local: (Addr, u16),
}

impl Jar {
    pub fn new(local: (Addr, u16), generator: &mut Generator) -> Jar {
        let cookies = Cookies::new(local, generator);
        let mut secret = [0; 32];
        for octets in secret.chunks_exact_mut(8) {
            octets.copy_from_slice(&generator.next_u64().to_be_bytes());
        }
        Jar { cookies, secret, local }
    }

    /// The key of the connection with this peer and this cookie.
    fn key(&self, (addr, port): (Addr, u16), cookie: Serial32) -> Key {
        let words = [addr.0, port.into(), cookie.0].map(u32::to_be_bytes);
        Key(first_64_bits(&mac::hmac(&self.secret, words.as_flattened())))
    }

    /// Makes the SYN/ACK that answers a SYN, with a cookie as its sequence number.
    pub fn answer(
        &self,
        now: Time,
        config: &Config,
        remote: (Addr, u16),
        syn: &TcpSegment,
    ) -> Packet {
        let mss = syn.options.mss.unwrap_or(config.subflow.default_mss);
        let sack = syn.options.sack_permitted && config.subflow.sack;
        let cookie = self.cookies.make(now, remote, syn.seq, Told { mss, sack });
        let mss = Some(config.subflow.mss as u16);
        let mut options = TcpOptions { mss, sack_permitted: sack, ..TcpOptions::default() };
        if config.enabled && Connection::offers(syn) {
            let key = self.key(remote, cookie);
            options.rare_mut().mptcp = vec![Connection::syn_ack_option(key, config.checksum)];
        }
        let answer = TcpSegment {
            src_port: self.local.1,
            dst_port: remote.1,
            seq: cookie,
            ack: syn.seq.add(1),
            flags: TcpFlags::SYN.union(TcpFlags::ACK),
            window: config.subflow.receive_buffer.min(0xFFFF) as u16,
            urgent: 0,
            options,
            payload: Payload::EMPTY,
        };
        Packet::new(self.local.0, remote.0, Body::Tcp(answer))
    }

    /// The connection of an ACK that brings a cookie back, which has heard of it; over TCP
    /// where it has no keys.
    pub fn accept(
        &self,
        now: Time,
        config: &Arc<Config>,
        generator: Generator,
        packet: &Packet,
        segment: &TcpSegment,
    ) -> Option<Connection> {
        let remote = (packet.src, segment.src_port);
        let cookie = Serial32(segment.ack.0.wrapping_sub(1));
        let peer = Serial32(segment.seq.0.wrapping_sub(1));
        let Told { mss, sack } = self.cookies.check(now, remote, peer, cookie)?;
        let key = self.key(remote, cookie);
        let mss = Some(mss);
        let mut options = TcpOptions { mss, sack_permitted: sack, ..TcpOptions::default() };
        if let Some(flags) = Connection::keys_of_ack(segment, key) {
            options.rare_mut().mptcp = vec![Connection::syn_option(flags)];
        }
        // The SYN as far as the cookie remembers it.
        let syn = TcpSegment {
            seq: peer,
            ack: Serial32(0),
            flags: TcpFlags::SYN,
            urgent: 0,
            options,
            payload: Payload::EMPTY,
            ..*segment
        };
        let local = (&[self.local.0][..], self.local.1);
        let mut connection = Connection::server(config.clone(), local, remote, generator);
        connection.resume(now, cookie, &syn, key);
        connection.handle_input(now, packet);
        Some(connection)
    }
}
