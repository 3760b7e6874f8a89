//! `traffic = { kind = "voip", ... }` and `{ kind = "ping", ... }`: datagrams that people measure
//! a network with, over UDP.

use super::form::{Form, integer};
use super::law;
use super::udp;
use crate::InputError;
use crate::quantity::Quantity;
use anabranch_media::voice::{CODECS, Call, Codec};
use anabranch_sim::Duration;
use anabranch_units::Span;

/// A call by voice over UDP.
#[derive(Clone, PartialEq, Debug)]
pub struct CallSpec {
    /// The codec, which sets rate and frames.
    pub codec: Codec,
    /// Speech in each packet, a multiple of the codec's frame.
    pub packet: Span,
    /// Delay of the playout buffer.
    pub buffer: Span,
    /// The other side speaks, too.
    pub both_ways: bool,
}

/// Speech in a packet (RFC 3551 §4.2, table 1) and a usual buffer.
const PACKET: Span = Span::from_millis(20);
const BUFFER: Span = Span::from_millis(60);
/// Most frames in a packet.
const MOST_FRAMES: u64 = 100;

/// Octets of the header of RTP (RFC 3550 §5.1).
const RTP: u32 = 12;

impl CallSpec {
    /// What stands in the place of a call before it is read.
    pub(super) fn unset() -> CallSpec {
        CallSpec { codec: CODECS[1], packet: PACKET, buffer: BUFFER, both_ways: true }
    }

    pub(super) fn fields(form: &mut Form<'_>, call: &mut CallSpec) -> Result<(), InputError> {
        let codecs = CODECS.map(|codec| (codec.name, codec));
        form.says("the [codec](traffic.md#calls); `-plc` conceals losses");
        form.choice("codec", &codecs, &mut call.codec)?;
        form.says("speech in a packet, a multiple of the codec's frame of 10 ms");
        form.quantity("packet", &mut call.packet)?;
        form.says("delay of the receiver's playout buffer")
            .quantity("playout", &mut call.buffer)?;
        form.says("the other side speaks, too").boolean("both_ways", &mut call.both_ways)?;
        let (packet, frame) = (call.packet.as_picos(), call.codec.frame.as_picos());
        let is_whole = packet % frame == 0 && (1..=MOST_FRAMES).contains(&(packet / frame));
        let (name, frame) = (call.codec.name, call.codec.frame.write());
        let allowed = format!("1 to {MOST_FRAMES} frames of {name}, of {frame} each");
        form.require(is_whole, "packet", &allowed)
    }

    /// Data octets of a datagram: the header of RTP and the frames.
    pub fn data(&self) -> u32 {
        let frames = self.packet.as_picos() / self.codec.frame.as_picos();
        RTP + frames as u32 * self.codec.octets
    }

    /// Ticks of the media clock of 8 kHz in a packet (RFC 3551 §4.5).
    pub fn ticks(&self) -> u32 {
        (self.packet.as_picos() / Span::from_micros(125).as_picos()) as u32
    }

    /// Makes the listener of the call, with its playout buffer.
    pub fn call(&self) -> Call {
        Call::new(self.codec, self.packet, self.buffer)
    }
}

/// Probes that the other side echoes.
#[derive(Clone, PartialEq, Debug)]
pub struct PingSpec {
    /// Time between two probes.
    pub interval: Duration,
    /// Octets of data in each probe.
    pub size: u32,
    /// Probes in all; `None` until the flow stops.
    pub count: Option<u64>,
}

/// What the programs called ping have: 56 octets, of which a number takes the first.
const PING: u32 = 56;
const EVERY: Span = Span::from_millis(200);
const MOST_PROBES: u64 = 1_000_000_000;

impl PingSpec {
    /// What stands in the place of probes before they are read.
    pub(super) fn unset() -> PingSpec {
        PingSpec { interval: law::fixed(EVERY), size: PING, count: None }
    }

    pub(super) fn fields(form: &mut Form<'_>, ping: &mut PingSpec) -> Result<(), InputError> {
        form.says("time between two probes, or a law");
        form.set("interval", law::duration(false), &mut ping.interval)?;
        form.says("data octets of each").set("size", udp::data(4), &mut ping.size)?;
        form.says("how many probes").or_else("no end");
        form.optional("count", integer(1..=MOST_PROBES), &mut ping.count)
    }
}
