//! Further subflows (RFC 8684 §3.2): MP_JOIN, by which both sides prove that they
//! know the keys.
//!
//! ```text
//! A                                   B
//! SYN, MP_JOIN(Token-B, R-A)  ->
//!                             <-      SYN/ACK, MP_JOIN(HMAC-B, R-B)
//! ACK, MP_JOIN(HMAC-A)        ->
//!                             <-      ACK
//! ```
//!
//! A sends data only after the fourth segment; until then its ACK is sent again.

use super::path_management::Ends;
use super::{Connection, Due, Lifetime};
use crate::config::{self, option_room};
use crate::key::{Key, first_64_bits, first_160_bits};
use crate::path_manager::Wanted;
use crate::subflow::{Stage, Subflow};
use anabranch_endpoint::{ByteStream, Endpoint, Timer};
use anabranch_tcp::Connection as Tcp;
use anabranch_units::{Span, Time};
use anabranch_wire::tcp::mptcp::{Join, MptcpOption, ResetReason};
use anabranch_wire::{Body, Packet, TcpFlags, TcpSegment};

/// Third ACKs without an answer before a subflow is given up.
const MOST_THIRD_ACKS: u32 = 6;
/// Subflows at most, with those that have ended and not said so yet.
const MOST_SLOTS: usize = 48;
/// Resets of strangers' packets that wait at most.
const MOST_RESETS: usize = 16;

/// Returns how long the answer to a third ACK is awaited: two round trips, as Linux does. It is not
/// data, whose loss would say something of the path.
fn third_ack_patience(subflow: &Subflow) -> Span {
    let rtt = subflow.tcp.rtt();
    rtt.srtt().map_or(rtt.rto(), |srtt| srtt.saturating_mul(2).max(Span::from_millis(1)))
}

impl Connection {
    /// The segment asks to join this connection.
    pub(super) fn is_joined_by(&self, segment: &TcpSegment) -> bool {
        segment.joined_token().is_some_and(|token| token == self.session.key().token())
    }

    fn may_join(&self) -> bool {
        self.session.is_multipath()
            && self.lifetime == Lifetime::Open
            && self.subflows.alive() < self.config.max_subflows as usize
            && self.subflows.len() < MOST_SLOTS
    }

    /// Opens a subflow between these addresses: a SYN with MP_JOIN leaves next. Does nothing if the
    /// connection may not have another, or has one with these ends.
    pub(super) fn open(&mut self, now: Time, wanted: Wanted, Ends { own, peer }: Ends) {
        let Some(id) = self.subflows.free_id().filter(|_| self.may_join()) else { return };
        // A port of the passive side's own, that its SYNs do not cross those of the peer.
        let copy = wanted.copy + self.session.is_passive() as u8;
        let port = self.subflows.first_key().src_port.wrapping_add(copy.into());
        let (local, remote) = ((own.1, port), (peer.1, peer.2));
        if self.subflows.has_ends(local, remote) {
            return;
        }
        let nonce = self.generator.next_u64() as u32;
        let mut generator = self.generator.clone();
        generator.next_u64(); // sequence numbers of its own
        let config = config::of_address(&self.config, &self.subflow_config, local.0);
        let mut tcp = Tcp::client(config, local, remote, generator);
        tcp.reserve_options(option_room(self.sender.is_long()));
        tcp.scale_windows_for(self.config.subflow.receive_buffer);
        tcp.connect(now);
        let path = self.subflows.path(own.1, peer.1, copy);
        let mut subflow = Subflow::new(tcp, id, path, Stage::Joining { nonce });
        subflow.wanted = Some(wanted);
        subflow.backup = wanted.backup;
        (subflow.own_address, subflow.peer_address) = (own.0, peer.0);
        self.subflows.add(subflow, &mut self.readiness);
    }

    /// What the SYN or the SYN/ACK of a further subflow carries.
    pub(super) fn join_syn_option(&self, i: usize) -> Option<MptcpOption> {
        let subflow = &self.subflows[i];
        let (backup, address) = (subflow.backup, subflow.own_address);
        let (key, peer_key) = self.session.keys()?;
        let join = match subflow.stage {
            Stage::Joining { nonce } => {
                Join::Syn { backup, address, token: peer_key.token(), nonce }
            }
            Stage::Joined { nonce, peer } => {
                let mac = first_64_bits(&key.join_mac(peer_key, nonce, peer));
                Join::SynAck { backup, address, mac, nonce }
            }
            _ => return None,
        };
        Some(MptcpOption::Join(join))
    }

    /// The active side has the SYN/ACK. False when it is not the peer's.
    pub(super) fn on_join_answer(&mut self, i: usize, segment: &TcpSegment) -> bool {
        let Stage::Joining { nonce } = self.subflows[i].stage else { return true };
        let Some(&Join::SynAck { backup, address, mac, nonce: peer }) = segment.mp_join() else {
            return false;
        };
        let Some((key, peer_key)) = self.session.keys() else { return false };
        if mac != first_64_bits(&peer_key.join_mac(key, peer, nonce)) {
            return false;
        }
        let mac = first_160_bits(&key.join_mac(peer_key, nonce, peer));
        let subflow = &mut self.subflows[i];
        subflow.stage = Stage::Unconfirmed { mac, timer: Timer::IDLE, tries: 0 };
        subflow.peer_backup = backup;
        subflow.peer_address = address;
        true
    }

    /// The active side: an ACK that follows. It confirms the third; true when
    /// it did.
    pub(super) fn on_join_confirmed(&mut self, i: usize) -> bool {
        let subflow = &mut self.subflows[i];
        let news = matches!(subflow.stage, Stage::Unconfirmed { .. });
        if news {
            subflow.stage = Stage::Ready;
            if !subflow.options.is_empty() {
                subflow.tcp.ask_for_ack(); // they had no room beside MP_JOIN
            }
            self.paths.on_open(subflow.wanted);
            self.timers.stop(Due::Linger);
            self.counters.subflows += 1;
        }
        news
    }

    /// The third ACK is about to leave: an answer is awaited.
    pub(super) fn await_join_confirmed(&mut self, now: Time, i: usize) {
        let subflow = &mut self.subflows[i];
        if subflow.timer().is_some_and(|timer| !timer.is_armed()) {
            let at = now + third_ack_patience(subflow);
            subflow.set_timer(at);
        }
    }

    /// No answer to the third ACK has come: it is sent again.
    pub(super) fn on_third_ack_timer(&mut self, now: Time, i: usize) {
        let subflow = &mut self.subflows[i];
        let at = now + third_ack_patience(subflow);
        let Stage::Unconfirmed { timer, tries, .. } = &mut subflow.stage else { return };
        *tries += 1;
        if *tries >= MOST_THIRD_ACKS {
            timer.stop();
            return self.drop_subflow(i, ResetReason::Unspecified);
        }
        timer.set(at);
        subflow.tcp.ask_for_ack();
        self.touch(i);
    }

    /// The passive side has the third ACK. False when it is not the peer's: then
    /// the subflow is gone.
    pub(super) fn on_join_ack(&mut self, now: Time, i: usize, segment: &TcpSegment) -> bool {
        let Stage::Joined { nonce, peer } = self.subflows[i].stage else { return true };
        if segment.flags.intersects(TcpFlags::SYN.union(TcpFlags::RST)) {
            return true;
        }
        let right = |(key, peer_key): (Key, Key)| peer_key.join_mac(key, peer, nonce);
        let right = self.session.keys().map(|keys| first_160_bits(&right(keys)));
        match segment.mp_join() {
            Some(Join::Ack { mac }) if Some(*mac) == right => {
                let subflow = &mut self.subflows[i];
                subflow.stage = Stage::Ready;
                self.counters.subflows += 1;
                self.timers.stop(Due::Linger);
                self.on_joined_address(now, i);
                true
            }
            _ => {
                self.drop_subflow(i, ResetReason::Mptcp);
                false
            }
        }
    }

    /// A packet that belongs to no subflow: a join, or to be reset.
    #[cold]
    pub(super) fn on_stranger(&mut self, now: Time, packet: &Packet, segment: &TcpSegment) {
        let has = |flag| segment.flags.contains(flag);
        if has(TcpFlags::RST) {
            return;
        }
        let is_syn = has(TcpFlags::SYN) && !has(TcpFlags::ACK);
        match segment.mp_join() {
            Some(&Join::Syn { backup, address, token, nonce })
                if is_syn && token == self.session.key().token() && self.session.is_multipath() =>
            {
                let own = self.paths.id_of(packet.dst);
                match own.zip(self.subflows.free_id()).filter(|_| self.may_join()) {
                    Some((own, id)) => {
                        let mut subflow = self.joined(packet, segment, id, nonce);
                        (subflow.own_address, subflow.peer_address) = (own, address);
                        subflow.peer_backup = backup;
                        subflow.tcp.handle_input(now, packet);
                        self.subflows.add(subflow, &mut self.readiness);
                    }
                    None => self.refuse(packet, ResetReason::Prohibited),
                }
            }
            _ => self.refuse(packet, ResetReason::Mptcp),
        }
    }

    fn joined(&mut self, packet: &Packet, segment: &TcpSegment, id: u32, peer: u32) -> Subflow {
        let nonce = self.generator.next_u64() as u32;
        let (local, remote) = ((packet.dst, segment.dst_port), (packet.src, segment.src_port));
        let config = config::of_address(&self.config, &self.subflow_config, local.0);
        let mut tcp = Tcp::server(config, local, remote, self.generator.clone());
        tcp.reserve_options(option_room(self.sender.is_long()));
        tcp.scale_windows_for(self.config.subflow.receive_buffer);
        let copy = segment.src_port.wrapping_sub(self.subflows.first_key().dst_port) as u8;
        let path = self.subflows.path(local.0, remote.0, copy);
        Subflow::new(tcp, id, path, Stage::Joined { nonce, peer })
    }

    /// A reset, with the reason where it answers a join (§3.6).
    pub(super) fn refuse(&mut self, packet: &Packet, reason: ResetReason) {
        if self.outbox.len() >= MOST_RESETS {
            return;
        }
        let Some(mut reset) = packet.refusal() else { return };
        if let Body::Tcp(segment) = &mut reset.body
            && let Some(rare) = &mut segment.options.rare
        {
            rare.mptcp = vec![MptcpOption::TcpRst { transient: false, reason: reason as u8 }];
        }
        self.outbox.push_back(reset);
    }
}
