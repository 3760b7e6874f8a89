//! `traffic = { kind = "voip", ... }` and `{ kind = "ping", ... }`: datagrams that people measure
//! a network with, over UDP.

use super::law;
use super::udp;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_media::voice::{CODECS, Call, Codec};
use anabranch_sim::Duration;
use anabranch_units::{Bytes, Span};
use toml::{Table, Value};

/// A call.
#[derive(Clone, PartialEq, Debug)]
pub struct CallSpec {
    /// Its codec.
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
    pub(super) fn read(t: &Fields<'_>) -> Result<CallSpec, InputError> {
        let codecs = CODECS.map(|codec| (codec.name, codec));
        let codec = t.choice("codec", &codecs)?.unwrap_or(CODECS[1]);
        let spec = CallSpec {
            codec,
            packet: t.quantity("packet")?.unwrap_or(PACKET),
            buffer: t.quantity("playout")?.unwrap_or(BUFFER),
            both_ways: t.boolean("both_ways")?.unwrap_or(true),
        };
        let (packet, frame) = (spec.packet.as_picos(), codec.frame.as_picos());
        if packet % frame != 0 || !(1..=MOST_FRAMES).contains(&(packet / frame)) {
            let frame = codec.frame.write();
            let allowed = format!("1 to {MOST_FRAMES} frames of {}, of {frame} each", codec.name);
            return Err(t.error("packet", allowed));
        }
        Ok(spec)
    }

    pub(super) fn write(&self, table: &mut Table) {
        let mut put = |name: &str, value: Value| {
            table.insert(name.to_owned(), value);
        };
        put("kind", "voip".into());
        put("codec", self.codec.name.into());
        put("packet", self.packet.write().into());
        put("playout", self.buffer.write().into());
        put("both_ways", self.both_ways.into());
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

    /// The hearer.
    pub fn call(&self) -> Call {
        Call::new(self.codec, self.packet, self.buffer)
    }
}

/// Probes that the other side echoes.
#[derive(Clone, PartialEq, Debug)]
pub struct PingSpec {
    /// Time between two probes.
    pub interval: Duration,
    /// Data octets of each.
    pub size: u32,
    /// How many; `None` until the flow stops.
    pub count: Option<u64>,
}

/// What the programs called ping have: 56 octets, of which a number takes the first.
const PING: u32 = 56;
const EVERY: Span = Span::from_millis(200);
const MOST_PROBES: u64 = 1_000_000_000;

impl PingSpec {
    pub(super) fn read(t: &Fields<'_>) -> Result<PingSpec, InputError> {
        let interval = law::duration(t, "interval", Some(EVERY))?;
        if interval.mean < Span::from_micros(1) {
            return Err(t.error("interval", "at least 1 us"));
        }
        Ok(PingSpec {
            interval,
            size: udp::data(t, "size", PING, 4)?,
            count: t.integer("count", 1..=MOST_PROBES)?,
        })
    }

    pub(super) fn write(&self, table: &mut Table) {
        let mut put = |name: &str, value: Value| {
            table.insert(name.to_owned(), value);
        };
        put("kind", "ping".into());
        put("interval", law::write_duration(&self.interval));
        put("size", Bytes(self.size.into()).write().into());
        if let Some(count) = self.count {
            put("count", Value::Integer(count as i64));
        }
    }
}
