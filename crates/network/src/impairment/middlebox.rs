//! A box between the hosts that changes TCP segments and puts their checksums
//! right, so that TCP sees nothing of it: options written over with NOPs,
//! sequence numbers counted from another start, octets of data changed.
//!
//! *Sequence numbers.* As a firewall that picks initial sequence numbers of its
//! own (RFC 6528 §3 names such boxes): every flow in a direction is shifted by
//! a number that is a hash of its addresses, ports and a key. Boxes with one
//! key, one in each direction, agree without knowing of each other: what one
//! adds to sequence numbers the other takes from acknowledgments.
//!
//! *Data.* As an application-level gateway: one octet in every so many of a
//! flow's sequence space is changed, the same in a retransmission.
//!
//! Lengths stay as they are. What the error of an ICMP packet quotes is not put
//! right.

use crate::catalogue::{ConfigError, Info};
use crate::hash::{flow_hash, mix};
use crate::pool::{PacketId, PacketPool};
use anabranch_endpoint::Bounds;
use anabranch_units::{Bytes, Serial32};
use anabranch_wire::tcp::OptionKind;
use anabranch_wire::{Body, FlowKey, TcpFlags, TcpSegment};
use std::collections::BTreeMap;

pub(super) const INFO: Info = Info {
    name: "middlebox",
    summary: "TCP options are taken away, sequence numbers rewritten, data changed",
    reference: "Honda et al., IMC 2011; RFC 8684 §3.7, §6; RFC 6528 §3",
};

/// `Segments` are the segments that lose their options.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Segments {
    /// All segments lose the options.
    #[default]
    All,
    /// Segments with SYN lose the options, SYN/ACKs among them.
    Syn,
    /// Segments without SYN lose the options.
    NotSyn,
}

/// `MiddleboxConfig` says what the box changes; by default nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MiddleboxConfig {
    /// `strip` has the options that the box takes away.
    pub strip: Vec<OptionKind>,
    /// `segments` are those from which the box takes them.
    pub segments: Segments,
    /// Number of segments of each flow, the first ones, that keep their options and their data.
    pub after: u64,
    /// It counts sequence numbers otherwise, with this key.
    pub rewrite_sequence: Option<u32>,
    /// ... and knows SACK blocks, which others leave wrong.
    pub rewrite_sack: bool,
    /// One octet in so many of a flow's data is changed.
    pub change_every: Option<u64>,
}

impl MiddleboxConfig {
    /// What `after` may be.
    pub const AFTER: Bounds<u64> = Bounds::of(0, u32::MAX as u64).counted_in("segments");
    /// What `change_every` may be.
    pub const CHANGE_EVERY: Bounds<Bytes> = Bounds::at_least(Bytes(1));

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        Self::AFTER.check("after", self.after)?;
        if let Some(octets) = self.change_every {
            Self::CHANGE_EVERY.check("change_every", Bytes(octets))?;
        }
        let nothing =
            self.strip.is_empty() && self.rewrite_sequence.is_none() && self.change_every.is_none();
        match nothing {
            true => Err(ConfigError::new(
                "strip",
                "[]",
                "options, unless `rewrite_sequence` or `change_every` is given",
            )),
            false => Ok(()),
        }
    }
}

/// The segments of a flow that the box has seen.
#[derive(Debug)]
struct Seen {
    segments: u64,
    /// The sequence number that its data is counted from.
    start: Serial32,
}

/// `Middlebox` is the box with what it knows of each flow.
#[derive(Debug)]
pub struct Middlebox {
    config: MiddleboxConfig,
    flows: BTreeMap<FlowKey, Seen>,
}

impl Middlebox {
    /// Makes a box that has seen no flow yet.
    pub fn new(config: &MiddleboxConfig) -> Middlebox {
        Middlebox { config: config.clone(), flows: BTreeMap::new() }
    }

    /// Changes the packet, if it is one to be changed.
    pub(super) fn meddle(&mut self, id: PacketId, pool: &mut PacketPool) {
        let packet = pool.packet(id);
        let Body::Tcp(segment) = &packet.body else { return };
        let key = packet.flow_key();
        let (segments, start) = self.look(key, segment);
        let is_syn = segment.flags.contains(TcpFlags::SYN);
        let late = segments > self.config.after;
        let strips = match self.config.segments {
            _ if !late || self.config.strip.is_empty() => false,
            Segments::All => true,
            Segments::Syn => is_syn,
            Segments::NotSyn => !is_syn,
        };
        let changed = self.config.change_every.filter(|_| late);
        let changed = changed.and_then(|every| first_multiple(segment, start, every));
        if !strips && changed.is_none() && self.config.rewrite_sequence.is_none() {
            return;
        }
        let mut packet = packet.clone();
        let Body::Tcp(segment) = &mut packet.body else { return };
        if strips {
            segment.blank_options(&self.config.strip);
        }
        if let (Some(first), Some(every)) = (changed, self.config.change_every) {
            let len = segment.payload.len() as u64;
            segment.change_octets((first..len).step_by(every as usize).map(|at| at as usize));
        }
        if let Some(secret) = self.config.rewrite_sequence {
            let (own, peers) = (shift(secret, key), shift(secret, key.reversed()));
            segment.renumber(own, peers.wrapping_neg(), self.config.rewrite_sack);
        }
        pool.replace(id, packet);
    }

    /// Counts a segment of the flow; returns how many have come, and where the flow's data begins.
    fn look(&mut self, key: FlowKey, segment: &TcpSegment) -> (u64, Serial32) {
        let config = &self.config;
        if config.change_every.is_none() && (config.after == 0 || config.strip.is_empty()) {
            return (1, segment.seq);
        }
        let is_syn = segment.flags.contains(TcpFlags::SYN);
        let start = segment.seq.add(is_syn as u32);
        let seen = self.flows.entry(key).or_insert(Seen { segments: 0, start });
        seen.segments = seen.segments.saturating_add(1);
        if is_syn {
            seen.start = start;
        }
        (seen.segments, seen.start)
    }
}

/// The first octet of a segment's data whose place in the stream, counted from
/// 1, is a multiple of `every`; sequence numbers that wrap count on from 0.
fn first_multiple(segment: &TcpSegment, start: Serial32, every: u64) -> Option<u64> {
    segment.payload.octets()?;
    let before = segment.seq.0.wrapping_sub(start.0) as u64;
    let first = every - 1 - before % every;
    (first < segment.payload.len() as u64).then_some(first)
}

/// Returns what is added to the sequence numbers of a flow.
fn shift(secret: u32, key: FlowKey) -> u32 {
    mix((secret as u64) << 32 | flow_hash(&key) as u64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::tcp::Timestamps;
    use anabranch_wire::{Addr, Packet, Payload, TcpOptions};

    const KEY: FlowKey =
        FlowKey { src: Addr(1), dst: Addr(2), protocol: 6, src_port: 9, dst_port: 80 };

    fn packet(key: FlowKey, flags: TcpFlags, seq: u32, ack: u32, data: &[u8]) -> Packet {
        let timestamps = Some(Timestamps { value: 1, echo: 2 });
        let body = Body::Tcp(TcpSegment {
            src_port: key.src_port,
            dst_port: key.dst_port,
            seq: Serial32(seq),
            ack: Serial32(ack),
            flags,
            window: 100,
            urgent: 0,
            options: TcpOptions { timestamps, ..TcpOptions::default() },
            payload: Payload::of_octets(data),
        });
        Packet::new(key.src, key.dst, body)
    }

    fn through(middlebox: &mut Middlebox, packet: Packet) -> TcpSegment {
        let mut pool = PacketPool::new();
        let size = packet.wire_len().0;
        let id = pool.insert(packet);
        middlebox.meddle(id, &mut pool);
        assert_eq!((pool.packet(id).wire_len().0, pool.size(id) as u64), (size, size));
        match &pool.packet(id).body {
            Body::Tcp(segment) => segment.clone(),
            _ => panic!("still TCP"),
        }
    }

    /// Which of SYN, ACK, data of two flows lose their timestamps.
    #[test]
    fn options_vanish_from_the_segments_that_are_named() {
        for (segments, after, expected) in [
            (Segments::All, 0, [true; 6]),
            (Segments::Syn, 0, [true, false, false, true, false, false]),
            (Segments::NotSyn, 0, [false, true, true, false, true, true]),
            (Segments::All, 2, [false, false, true, false, false, true]),
            (Segments::NotSyn, 1, [false, true, true, false, true, true]),
        ] {
            let strip = vec![OptionKind::Timestamps];
            let config = MiddleboxConfig { strip, segments, after, ..Default::default() };
            let mut middlebox = Middlebox::new(&config);
            let mut gone = Vec::new();
            for key in [KEY, FlowKey { src_port: 10, ..KEY }] {
                for (flags, data) in
                    [(TcpFlags::SYN, &b""[..]), (TcpFlags::ACK, b""), (TcpFlags::ACK, b"a")]
                {
                    let segment = through(&mut middlebox, packet(key, flags, 5, 6, data));
                    gone.push(segment.options.timestamps.is_none());
                }
            }
            assert_eq!(gone, expected, "{segments:?} after {after}");
        }
    }

    /// A box in each direction: either end sees its own numbers acknowledged.
    #[test]
    fn two_boxes_with_one_key_agree() {
        let config =
            MiddleboxConfig { rewrite_sequence: Some(7), rewrite_sack: true, ..Default::default() };
        let (mut there, mut back) = (Middlebox::new(&config), Middlebox::new(&config));
        let syn = through(&mut there, packet(KEY, TcpFlags::SYN, 1000, 0, b""));
        assert_ne!(syn.seq, Serial32(1000));
        assert_eq!(syn.ack, Serial32(0), "no acknowledgment in a SYN");
        let answer = packet(KEY.reversed(), TcpFlags::ACK, 5000, syn.seq.0 + 1, b"");
        let answer = through(&mut back, answer);
        assert_eq!(answer.ack, Serial32(1001));
        let ack = through(&mut there, packet(KEY, TcpFlags::ACK, 1001, answer.seq.0, b""));
        assert_eq!((ack.seq, ack.ack), (syn.seq.add(1), Serial32(5000)));
        let other = Middlebox::new(&MiddleboxConfig { rewrite_sequence: Some(8), ..config });
        assert_ne!(shift(7, KEY), shift(8, KEY));
        assert_ne!(through(&mut { other }, packet(KEY, TcpFlags::SYN, 1000, 0, b"")).seq, syn.seq);
    }

    /// Every fifth octet, however the stream is cut, and across the wrap.
    #[test]
    fn the_same_octets_change_in_a_retransmission() {
        let config = MiddleboxConfig { change_every: Some(5), ..Default::default() };
        let mut middlebox = Middlebox::new(&config);
        let isn = u32::MAX - 2;
        through(&mut middlebox, packet(KEY, TcpFlags::SYN, isn, 0, b""));
        let mut data = |offset: u32, data: &[u8]| {
            let seq = isn.wrapping_add(1 + offset);
            let segment = through(&mut middlebox, packet(KEY, TcpFlags::ACK, seq, 0, data));
            String::from_utf8(segment.payload.octets().unwrap().to_vec()).unwrap()
        };
        assert_eq!(data(0, b"abcd"), "abcd");
        assert_eq!(data(4, b"efghijkl"), "EfghiJkl");
        assert_eq!(data(0, b"abcdefghijklmno"), "abcdEfghiJklmnO");
    }

    #[test]
    fn a_box_without_work_is_refused() {
        let error = MiddleboxConfig::default().validate().unwrap_err();
        assert_eq!((&*error.field, &*error.value), ("strip", "[]"));
        let config = MiddleboxConfig { change_every: Some(0), ..Default::default() };
        assert_eq!(config.validate().unwrap_err().field, "change_every");
    }
}
