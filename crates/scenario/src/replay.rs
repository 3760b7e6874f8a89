//! A packet capture as a run: the TCP connections and SCTP associations in it
//! with the rows and the series that a simulated run has, read from the packets
//! alone.
//!
//! Captures of runs, simulated or live, say at which host a packet was and
//! whether it came or went, and so give what the sender sent, the ACKs that it
//! received and what the receiver received. A capture of another program, or of
//! a link, shows packets in passing: each data packet counts as sent when it
//! was seen, each ACK as received then, and there are no `receives`.
//!
//! Headers alone are looked at, so that captures with a snap length or with
//! checksums that a network card was to fill in are read as well. Subflows of
//! Multipath TCP are connections of their own here: data sequence numbers are
//! not looked at. Left out: other transports, fragments and IPv6 extension
//! headers, which are counted.

mod headers;
mod names;
mod sctp;
mod track;
mod view;

use crate::result::NamedSeries;
use anabranch_wire::pcapng::Direction;
pub use anabranch_wire::pcapng::reader::ReadError;
use anabranch_wire::pcapng::reader::Reader;
use headers::{Carried, Segment};
use names::{Names, Pairs, distinct};
use sctp::Associations;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use track::{Track, add};
use view::{Place, View};

/// The flows and series that a capture holds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Replay {
    /// A row for each direction of a connection that carried data.
    pub flows: Vec<ReplayedFlow>,
    /// `FLOW.sends`, `.acks`, `.receives`, `.received`, `.in_flight`, `.rtt`; of
    /// an association all but `received` of each path, `FLOW.PATH.sends`, in
    /// chunks, and `FLOW.PATH.sacks`.
    pub series: Vec<NamedSeries>,
    /// Interfaces at which packets were seen.
    pub interfaces: Vec<SeenInterface>,
    /// Packets that are neither TCP nor SCTP, or not whole in their headers.
    pub others: u64,
    /// Time of the last packet, in seconds, on the capture's clock.
    pub end_s: f64,
    /// Name of the program that wrote the capture, as it says itself.
    pub application: String,
    /// The file ends within a packet.
    pub is_cut: bool,
}

/// An interface of a capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeenInterface {
    /// Name of the interface; empty where the file has none.
    pub name: String,
    /// Packets that were seen at the interface.
    pub packets: u64,
}

/// One direction of a connection, as far as packets tell.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplayedFlow {
    /// `FROM-TO`, with ports where several connections join the two.
    pub flow: String,
    /// `tcp`, `mptcp` for a subflow, or `sctp`.
    pub protocol: &'static str,
    /// Time of the first packet, in seconds, on the capture's clock.
    pub start_s: f64,
    /// Time at which the last octet came, in seconds, if the sender then ended its stream, or the
    /// association was shut down.
    pub finish_s: Option<f64>,
    /// Octets received in order, of SCTP in any; where the receiver was not
    /// seen, acknowledged.
    pub bytes: u64,
    /// `bytes` over the time from the start until the last of them.
    pub goodput_bps: f64,
    /// Data packets that were sent.
    pub packets: u64,
    /// Data packets that carried octets or chunks sent before.
    pub retransmitted_packets: u64,
    /// `SYN`s of both sides were seen.
    pub established: bool,
}

/// A segment, where and when it was seen.
#[derive(Clone, Copy, Debug)]
struct Seen {
    nanos: u64,
    interface: u32,
    direction: Option<Direction>,
    /// The segment is from the side that was seen first.
    forward: bool,
    segment: Segment,
}

impl Seen {
    fn place(&self) -> Place {
        (self.interface, self.direction)
    }
}

/// A connection: between the same two addresses and ports there may be several.
struct Connection {
    ends: [SocketAddr; 2],
    seen: Vec<Seen>,
}

/// Reads a capture, pcapng or pcap.
///
/// # Errors
/// Octets that are no capture, and broken blocks.
pub fn replay(file: &[u8]) -> Result<Replay, ReadError> {
    let mut reader = Reader::new(file)?;
    let mut connections: Vec<Connection> = Vec::new();
    // The last connection between two ends, which stand in order.
    let mut last: BTreeMap<[SocketAddr; 2], usize> = BTreeMap::new();
    let mut associations = Associations::default();
    let (mut packets, mut others, mut origin, mut end) = (Vec::new(), 0, None, 0);
    while let Some(frame) = reader.next() {
        let frame = frame?;
        // Runs of ours begin at zero; in other captures the first packet does.
        let ours = reader.application() == "anabranch";
        let nanos = frame.nanos.unwrap_or(0);
        let nanos = nanos.saturating_sub(*origin.get_or_insert(if ours { 0 } else { nanos }));
        end = end.max(nanos);
        packets.resize(packets.len().max(frame.interface + 1), 0_u64);
        packets[frame.interface] += 1;
        let (interface, direction) = (frame.interface as u32, frame.direction);
        let (ends, segment) = match headers::read(frame.ip) {
            Some(Carried::Tcp(ends, segment)) => (ends, segment),
            Some(Carried::Sctp(addresses, octets)) => {
                let taken = associations.take(octets, addresses, (nanos, interface, direction));
                others += u64::from(!taken);
                continue;
            }
            None => {
                others += 1;
                continue;
            }
        };
        let key = if ends[0] <= ends[1] { ends } else { [ends[1], ends[0]] };
        let known = last.get(&key).copied();
        let known = known.filter(|at| !begins_anew(&connections[*at], ends[0], &segment));
        let at = known.unwrap_or_else(|| {
            connections.push(Connection { ends, seen: Vec::new() });
            last.insert(key, connections.len() - 1);
            connections.len() - 1
        });
        let forward = connections[at].ends[0] == ends[0];
        connections[at].seen.push(Seen { nanos, interface, direction, forward, segment });
    }
    packets.resize(reader.interfaces().len(), 0);
    let names = reader.interfaces().iter().map(|interface| interface.name.clone());
    let seen = names.zip(packets).map(|(name, packets)| SeenInterface { name, packets });
    let mut replay = Replay {
        interfaces: seen.collect(),
        others,
        end_s: end as f64 / 1e9,
        application: reader.application().to_owned(),
        is_cut: reader.is_cut(),
        ..Replay::default()
    };
    let mut used = BTreeMap::new();
    tell(connections, &mut replay, &mut used);
    associations.tell(&mut replay, &mut used);
    Ok(replay)
}

/// A SYN with another sequence number than the connection's own.
fn begins_anew(connection: &Connection, from: SocketAddr, segment: &Segment) -> bool {
    let forward = connection.ends[0] == from;
    let mut same =
        connection.seen.iter().filter(|seen| seen.forward == forward && seen.segment.syn());
    segment.syn()
        && !segment.ack_flag()
        && !connection.seen.is_empty()
        && same.next().is_none_or(|same| same.segment.seq != segment.seq)
}

/// Rows and series of all connections.
fn tell(connections: Vec<Connection>, replay: &mut Replay, used: &mut BTreeMap<String, u32>) {
    let seen = connections.iter().flat_map(|connection| {
        let [a, b] = connection.ends.map(|end| end.ip());
        let addresses = move |forward| if forward { [a, b] } else { [b, a] };
        connection
            .seen
            .iter()
            .map(move |seen| (seen.interface, seen.direction, addresses(seen.forward)))
    });
    let names = Names::new(seen, &replay.interfaces);
    let pair = |[a, b]: [SocketAddr; 2]| [names.of(a.ip()), names.of(b.ip())];
    let pairs = Pairs::of(connections.iter().map(|connection| pair(connection.ends)));
    for connection in connections {
        for forward in [true, false] {
            let Some(track) = Track::new(&connection.seen, forward) else { continue };
            let [a, b] = connection.ends;
            let [from, to] = if forward { [a, b] } else { [b, a] };
            let ports = pairs.have_several(pair(connection.ends));
            let end = |socket_addr: SocketAddr| {
                let name = names.of(socket_addr.ip());
                if ports { format!("{name}:{}", socket_addr.port()) } else { name }
            };
            let flow = distinct(format!("{}-{}", end(from), end(to)), used);
            track.series(&flow, &mut replay.series);
            replay.flows.push(track.row(flow));
        }
    }
}

#[cfg(test)]
mod tests;
