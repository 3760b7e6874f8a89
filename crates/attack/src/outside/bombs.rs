//! Connection requests full of what nobody knows: 40 octets of TCP options of no
//! kind that is in use (RFC 9293 §3.1: to be passed over), and INITs with a hundred
//! parameters of which each asks to be reported (RFC 9260 §3.2.1).

use super::Form;
use super::init_flood::init;
use super::scene::{Scene, segment};
use anabranch_units::Serial32;
use anabranch_wire::TcpFlags;
use anabranch_wire::sctp::Parameter;

/// Kinds that no standard gives a meaning (RFC 9293 §6: 128 to 171 are unassigned).
const FIRST_KIND: u8 = 130;
const MOST_OPTIONS: usize = 40;
/// Parameters of four octets in an INIT that fits 1500.
const PARAMETERS: usize = 350;
/// Type with the highest bits 11: skip it and report it.
const REPORTED: u16 = 0xC123;

/// SYNs full of options of unknown kinds.
pub(super) struct OptionBomb;

impl Form for OptionBomb {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        let from = scene.stranger();
        let mut syn = segment(Serial32(scene.random()), Serial32(0), TcpFlags::SYN);
        let options = (0..MOST_OPTIONS / 2).flat_map(|i| [FIRST_KIND + i as u8, 2]);
        syn.options.rare_mut().unknown = options.collect();
        scene.send_tcp(from, syn);
    }
}

/// INITs full of parameters of unknown types.
pub(super) struct ParameterBomb;

impl Form for ParameterBomb {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        let from = scene.stranger();
        let unknown = || Parameter::Unknown { kind: REPORTED, value: Box::default() };
        let chunk = init(scene, (0..PARAMETERS).map(|_| unknown()).collect());
        scene.send_sctp(from, 0, chunk);
    }
}
