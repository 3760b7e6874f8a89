//! Receive offload: segments of a connection that follow each other and that a
//! host finds together are answered once, as by Linux's generic receive offload.
//!
//! What is found together is what whoever drives the simulation hands over
//! between two calls of [`Simulation::answer`]: in virtual time nothing is, every
//! packet having its own date. The endpoint hears of each segment at its date,
//! but its applications and its own packets wait until a segment does not
//! continue the one before, until [`MOST`] octets are together, or until
//! [`Simulation::answer`]. So an ACK stands for up to 44 full segments, where
//! RFC 5681 §4.2 wishes for one for every second: what it forbids is to wait
//! longer than half a second. What does not follow ends a train, be it out of order,
//! doubled, marked or with other options, and so does a segment with other flags
//! than ACK and PSH or shorter than the one before. Deviation from Linux, whose trains end with PSH: what
//! waits here waits for what is there already, and no longer.

use crate::simulation::Simulation;
use anabranch_endpoint::ByteStream;
use anabranch_network::{NodeId, PacketId};
use anabranch_units::Serial32;
use anabranch_wire::{Body, Ecn, Packet, TcpFlags, Timestamps};

/// Octets of data that are answered at once at most: those of Linux's largest
/// packet, with its headers.
const MOST: u32 = 65_536 - 60;

/// The hosts that do so.
#[derive(Debug)]
pub(crate) struct Offload {
    /// Of each node.
    nodes: Vec<bool>,
    train: Option<Train>,
}

/// Segments that an endpoint has heard of and not answered.
#[derive(Debug)]
struct Train {
    endpoint: u32,
    next: Serial32,
    len: u32,
    last: u32,
    ack: Serial32,
    timestamps: Option<Timestamps>,
    ecn: Ecn,
}

impl Offload {
    /// Of those nodes; `None` when there are none.
    pub fn new(nodes: Vec<bool>) -> Option<Offload> {
        let some = nodes.contains(&true);
        some.then_some(Offload { nodes, train: None })
    }

    /// Whose train this packet ends before it is heard of, if it does not
    /// continue it.
    #[inline]
    fn before(&mut self, endpoint: u32, packet: &Packet) -> Option<u32> {
        let train = self.train.as_ref()?;
        let continues = train.endpoint == endpoint && train.is_continued_by(packet);
        if continues { None } else { self.train.take().map(|train| train.endpoint) }
    }

    /// The endpoint has heard of the packet; true when it may not answer yet.
    #[inline]
    fn after(&mut self, node: NodeId, endpoint: u32, packet: &Packet) -> bool {
        if !self.nodes[node.0 as usize] {
            return false;
        }
        let before = self.train.take().map_or((0, 0), |train| (train.len, train.last));
        self.train = Train::of(endpoint, before, packet);
        self.train.is_some()
    }
}

impl Train {
    /// The train that the packet continues, `len` octets long so far, whose last
    /// segment had `last`, or begins; `None` if the packet ends it.
    fn of(endpoint: u32, (len, last): (u32, u32), packet: &Packet) -> Option<Train> {
        let Body::Tcp(segment) = &packet.body else { return None };
        let own = segment.payload.len();
        let flags = segment.flags.union(TcpFlags::PSH);
        let ends = flags != TcpFlags::ACK.union(TcpFlags::PSH) || own == 0 || own < last;
        let len = len + own;
        if ends || len + own > MOST || !has_timestamps_alone(packet) {
            return None;
        }
        let next = segment.seq.add(own);
        let (ack, timestamps) = (segment.ack, segment.options.timestamps);
        Some(Train { endpoint, next, len, last: own, ack, timestamps, ecn: packet.ecn })
    }

    /// The packet is the next segment, and tells nothing new beside its data.
    fn is_continued_by(&self, packet: &Packet) -> bool {
        let Body::Tcp(segment) = &packet.body else { return false };
        let known = TcpFlags::ACK.union(TcpFlags::PSH);
        segment.seq == self.next
            && segment.ack == self.ack
            && !segment.payload.is_empty()
            && segment.payload.len() <= self.last
            && known.contains(segment.flags)
            && packet.ecn == self.ecn
            && segment.options.timestamps == self.timestamps
            && has_timestamps_alone(packet)
    }
}

fn has_timestamps_alone(packet: &Packet) -> bool {
    let Body::Tcp(segment) = &packet.body else { return false };
    let options = &segment.options;
    options.sack.is_empty() && options.acc_ecn.is_none() && options.rare.is_none()
}

impl<E: ByteStream> Simulation<E> {
    /// An endpoint hears of a packet, which is then gone, and answers unless its
    /// host waits for more.
    pub(crate) fn hear_together(&mut self, node: NodeId, endpoint: u32, id: PacketId) {
        let Some(offload) = self.outside.as_mut().and_then(|it| it.offload.as_mut()) else {
            return;
        };
        if let Some(waiting) = offload.before(endpoint, self.fabric.pool.packet(id)) {
            self.service_and_set_timer(waiting);
        }
        let (now, packet) = (self.fabric.now, self.fabric.pool.packet(id));
        self.endpoints[endpoint as usize].endpoint.handle_input(now, packet);
        let offload = self.outside.as_mut().and_then(|it| it.offload.as_mut());
        let waits = offload.is_some_and(|it| it.after(node, endpoint, packet));
        self.fabric.pool.release(id);
        if !waits {
            self.service_and_set_timer(endpoint);
        }
    }

    /// What has come together by now is answered: to be called after
    /// [`run_until`](Simulation::run_until), before time passes.
    pub fn answer(&mut self) {
        let offload = self.outside.as_mut().and_then(|it| it.offload.as_mut());
        if let Some(train) = offload.and_then(|it| it.train.take()) {
            self.service_and_set_timer(train.endpoint);
            self.end_event();
        }
    }
}
