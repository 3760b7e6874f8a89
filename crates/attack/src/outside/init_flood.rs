//! Floods of INIT and COOKIE ECHO (RFC 9260 §5.1): the first make the victim sign
//! cookies, the second make it check them; and associations that are opened and
//! silent then.

use super::Form;
use super::scene::Scene;
use anabranch_units::Serial32;
use anabranch_wire::sctp::{Chunk, InitChunk, Parameter};
use anabranch_wire::{Body, Packet};

/// INITs from forged addresses.
pub(super) struct InitFlood;

impl Form for InitFlood {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        let from = scene.stranger();
        let chunk = init(scene, Vec::new());
        scene.send_sctp(from, 0, chunk);
    }
}

/// An INIT with these parameters.
pub(super) fn init(scene: &mut Scene<'_>, parameters: Vec<Parameter>) -> Chunk {
    Chunk::Init(Box::new(InitChunk {
        tag: scene.random().max(1),
        a_rwnd: 65_536,
        outbound: 10,
        inbound: 10,
        tsn: Serial32(scene.random()),
        parameters,
    }))
}

/// COOKIE ECHOs with octets of chance, as long as a cookie.
pub(super) struct CookieEchoFlood;

impl Form for CookieEchoFlood {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        let from = scene.stranger();
        let (tag, cookie) = (scene.random(), scene.octets::<96>());
        scene.send_sctp(from, tag, Chunk::CookieEcho(cookie.into()));
    }
}

/// INITs whose cookies are sent back.
pub(super) struct AssociationFlood;

impl Form for AssociationFlood {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        InitFlood.forge(scene);
    }

    fn hear(&mut self, scene: &mut Scene<'_>, packet: &Packet) {
        let Body::Sctp(answer) = &packet.body else { return };
        let Some(Chunk::InitAck(ack)) = answer.chunks.first() else { return };
        let cookie = ack.parameters.iter().find_map(|parameter| match parameter {
            Parameter::StateCookie(cookie) => Some(cookie.clone()),
            _ => None,
        });
        if let Some(cookie) = cookie {
            let from = (packet.dst, answer.dst_port);
            scene.send_sctp(from, ack.tag, Chunk::CookieEcho(cookie));
        }
    }
}
