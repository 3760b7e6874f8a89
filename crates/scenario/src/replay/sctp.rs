//! SCTP in a capture: associations, whose packets go between several addresses,
//! and what each direction's chunks tell.
//!
//! An association is known by its ports and verification tags (RFC 9260 §8.5).
//! INIT and INIT ACK say the tags and the first TSNs; where they were not seen,
//! packets between the same addresses belong together, and the first TSN is
//! that of the first data.

mod chunks;
mod lanes;

use super::names::{self, Names, Pairs};
use super::{Replay, SeenInterface};
use anabranch_wire::pcapng::Direction;
use chunks::{Chunk, Packet};
use lanes::Lanes;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// A packet, where and when it was seen.
struct Seen {
    nanos: u64,
    interface: u32,
    direction: Option<Direction>,
    /// The packet is from the side that was seen first.
    forward: bool,
    addresses: [IpAddr; 2],
    is_init: bool,
    chunks: Vec<Chunk>,
}

impl Seen {
    /// The addresses of the side that sends `forward` and of the other.
    fn ends(&self, forward: bool) -> [IpAddr; 2] {
        let [from, to] = self.addresses;
        if self.forward == forward { [from, to] } else { [to, from] }
    }
}

/// What both sides of an association use: of the side that was seen first, and
/// of the other.
struct Association {
    ports: [u16; 2],
    /// The tag in packets that come to the side.
    tags: [Option<u32>; 2],
    /// Addresses of both sides, in the order in which they were seen.
    addresses: [Vec<IpAddr>; 2],
    seen: Vec<Seen>,
}

/// All associations of a capture.
#[derive(Default)]
pub(super) struct Associations {
    list: Vec<Association>,
}

impl Associations {
    /// Takes a packet; false for what is no SCTP packet, or cut in its header.
    pub(super) fn take(
        &mut self,
        octets: &[u8],
        addresses: [IpAddr; 2],
        (nanos, interface, direction): (u64, u32, Option<Direction>),
    ) -> bool {
        let Some(packet) = chunks::read(octets) else { return false };
        let (at, forward) = self.find(&packet, addresses);
        let found = &mut self.list[at];
        let [from, to] = if forward { [0, 1] } else { [1, 0] };
        if packet.tag != 0 && !packet.reflects {
            found.tags[to].get_or_insert(packet.tag);
        }
        for chunk in &packet.chunks {
            if let Chunk::Init { tag, .. } = chunk {
                found.tags[from] = Some(*tag);
            }
        }
        for (side, address) in [from, to].into_iter().zip(addresses) {
            if !found.addresses[side].contains(&address) {
                found.addresses[side].push(address);
            }
        }
        let (is_init, chunks) = (packet.init.is_some(), packet.chunks);
        found.seen.push(Seen { nanos, interface, direction, forward, addresses, is_init, chunks });
        true
    }

    /// The association that a packet belongs to, and whether it comes from the
    /// side that was seen first; a new one if need be.
    fn find(&mut self, packet: &Packet, addresses: [IpAddr; 2]) -> (usize, bool) {
        let newest = self.list.iter().enumerate().rev();
        let sides = newest.flat_map(|(at, newest)| [(at, newest, true), (at, newest, false)]);
        let belongs = |association: &Association, forward: bool| {
            let [from, to] = if forward { [0, 1] } else { [1, 0] };
            if [association.ports[from], association.ports[to]] != packet.ports {
                return false;
            }
            let between = || {
                let known =
                    |side: usize| association.addresses[side].contains(&addresses[side ^ from]);
                known(0) && known(1)
            };
            if let Some(tag) = packet.init {
                // Of an INIT that crosses another the tag is still to be known (§5.2.1).
                let crosses = || association.seen.iter().all(|seen| seen.is_init) && between();
                return association.tags[from].map_or_else(crosses, |own| own == tag);
            }
            // ABORT and SHUTDOWN COMPLETE may bear the tag of their own side.
            let own = if packet.reflects { association.tags[from] } else { None };
            match association.tags[to] {
                Some(tag) => tag == packet.tag || own == Some(packet.tag),
                None => between(),
            }
        };
        let found = sides.into_iter().find(|(_, side, forward)| belongs(side, *forward));
        if let Some((at, _, forward)) = found {
            return (at, forward);
        }
        let ports = packet.ports;
        let addresses = Default::default();
        self.list.push(Association { ports, tags: [None; 2], addresses, seen: Vec::new() });
        (self.list.len() - 1, true)
    }

    /// Rows and series of all.
    pub(super) fn tell(self, replay: &mut Replay, used: &mut BTreeMap<String, u32>) {
        let names = self.names(&replay.interfaces);
        let ends = |association: &Association| {
            [0, 1].map(|side| end(&names, &association.addresses[side]))
        };
        let pairs = Pairs::of(self.list.iter().map(ends));
        for item in &self.list {
            let ports = pairs.have_several(ends(item));
            for forward in [true, false] {
                let Some(lanes) = Lanes::new(&item.seen, forward) else { continue };
                let mut both = ends(item);
                if ports {
                    both.iter_mut()
                        .zip(item.ports)
                        .for_each(|(end, port)| *end += &format!(":{port}"));
                }
                let [a, b] = &both;
                let flow = if forward { format!("{a}-{b}") } else { format!("{b}-{a}") };
                let flow = names::distinct(flow, used);
                lanes.series(&flow, |address| names.of(address), &mut replay.series);
                replay.flows.push(lanes.row(flow));
            }
        }
    }

    fn names(&self, interfaces: &[SeenInterface]) -> Names {
        let seen = self.list.iter().flat_map(|item| &item.seen);
        Names::new(seen.map(|seen| (seen.interface, seen.direction, seen.addresses)), interfaces)
    }
}

/// What a side is called: its host, where all names are those of the host's
/// interfaces, or else its first address.
fn end(names: &Names, addresses: &[IpAddr]) -> String {
    let all: Vec<String> = addresses.iter().map(|address| names.of(*address)).collect();
    let known = addresses.iter().all(|address| names.knows(*address));
    let hosts: Option<Vec<&str>> = all.iter().map(|item| Some(item.rsplit_once('.')?.0)).collect();
    match hosts.as_deref() {
        Some([host, rest @ ..]) if known && rest.iter().all(|item| item == host) => {
            (*host).to_owned()
        }
        _ => all.into_iter().next().unwrap_or_default(),
    }
}
