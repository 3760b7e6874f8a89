//! SYN floods (RFC 4987 §2.1): the backlog of a port is filled with handshakes that
//! nobody ends; and their relative that ends them and is silent then, so that the
//! place is taken in the queue of connections.

use super::Form;
use super::scene::{Scene, segment};
use anabranch_units::Serial32;
use anabranch_wire::{Body, Packet, TcpFlags};

/// SYNs from anywhere, as a common client sends them.
pub(super) struct SynFlood;

impl Form for SynFlood {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        let from = scene.stranger();
        send_syn(scene, from);
    }
}

fn send_syn(scene: &mut Scene<'_>, from: (anabranch_wire::Addr, u16)) {
    let mut syn = segment(Serial32(scene.random()), Serial32(0), TcpFlags::SYN);
    syn.options.mss = Some(1460);
    syn.options.window_scale = Some(7);
    syn.options.sack_permitted = true;
    scene.send_tcp(from, syn);
}

/// SYNs, and the last ACK of each handshake.
pub(super) struct ConnectionFlood;

impl Form for ConnectionFlood {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        let from = scene.stranger();
        send_syn(scene, from);
    }

    fn hear(&mut self, scene: &mut Scene<'_>, packet: &Packet) {
        let Body::Tcp(answer) = &packet.body else { return };
        if answer.flags.contains(TcpFlags::SYN.union(TcpFlags::ACK)) {
            let ack = segment(answer.ack, answer.seq.add(1), TcpFlags::ACK);
            scene.send_tcp((packet.dst, answer.dst_port), ack);
        }
    }
}
