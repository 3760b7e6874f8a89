//! What numbers of a script stand for on the wire.
//!
//! Numbers of the script's own side are taken as they are. The stack's tag and
//! first TSN are learnt from its INIT or INIT ACK: a number of the script's is
//! as far from the one that the script has there as the live number is from the
//! live one. An INIT ACK within an association counts once its cookie has come
//! back.

use crate::stack::{LOCAL, PORT, REMOTE};
use anabranch_wire::{FlowKey, SctpPacket};

/// The script's port, where it names none.
const REMOTE_PORT: u16 = 32_768;

/// The numbers that the stack chose, on the wire and in the script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Chosen {
    /// Initiate tag, on the wire and in the script.
    pub tag: (u32, u32),
    /// Initial TSN, on the wire and in the script.
    pub tsn: (u32, u32),
}

/// The association under test.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    local_port: u16,
    remote_port: u16,
    chosen: Option<Chosen>,
    /// The numbers of an INIT ACK whose cookie has not come back yet.
    offered: Option<Chosen>,
    established: bool,
    /// Tags that the script's side chose; the last is the latest.
    peer_tags: Vec<u32>,
    /// The tag of the packet that came last: what a T bit reflects.
    last_tag: u32,
    /// The cookie of the last INIT ACK of the stack's, or of the script's.
    pub cookie: Vec<u8>,
    /// The information of the last HEARTBEAT of the stack's.
    pub heartbeat: Vec<u8>,
    /// UDP ports of packets that come (`--udp_encapsulation`).
    pub udp: Option<(u16, u16)>,
}

impl Mapping {
    pub fn new() -> Mapping {
        Mapping {
            local_port: PORT,
            remote_port: REMOTE_PORT,
            chosen: None,
            offered: None,
            established: false,
            peer_tags: Vec::new(),
            last_tag: 0,
            cookie: Vec::new(),
            heartbeat: Vec::new(),
            udp: None,
        }
    }

    /// The key of the packets that the stack sends.
    pub fn flow(&self) -> FlowKey {
        FlowKey {
            src: LOCAL,
            dst: REMOTE,
            protocol: SctpPacket::PROTOCOL,
            src_port: self.local_port,
            dst_port: self.remote_port,
        }
    }

    /// The ports of the stack and of the script's side.
    pub fn ports(&self) -> (u16, u16) {
        (self.local_port, self.remote_port)
    }

    /// Packets are between these ports of the stack and the script's side.
    pub fn set_ports(&mut self, local: u16, remote: u16) {
        (self.local_port, self.remote_port) = (local, remote);
    }

    /// The stack has sent an INIT (`active`) or INIT ACK.
    pub fn learn(&mut self, chosen: Chosen, active: bool) {
        let known = self.chosen.is_some_and(|known| known.tag.0 == chosen.tag.0);
        if known {
            return;
        }
        match self.established && !active {
            true => self.offered = Some(chosen),
            false => {
                self.chosen = Some(chosen);
                self.established = false;
            }
        }
    }

    /// A COOKIE ECHO with the stack's last cookie comes to it.
    pub fn on_cookie_echo(&mut self) {
        if let Some(offered) = self.offered.take() {
            self.chosen = Some(offered);
        }
    }

    /// A COOKIE ACK has passed.
    pub fn on_established(&mut self) {
        self.established = true;
    }

    /// An ABORT or SHUTDOWN COMPLETE has passed.
    pub fn on_end(&mut self) {
        self.established = false;
    }

    /// The script's side has chosen a tag.
    pub fn learn_peer_tag(&mut self, tag: u32) {
        self.peer_tags.retain(|known| *known != tag);
        self.peer_tags.push(tag);
    }

    /// The tag of a packet that comes: `given` by the script, or what is due.
    pub fn inbound_tag(&mut self, given: Option<u32>, opens: bool, reflected: bool) -> u32 {
        let (live, script) = self.chosen.map_or((0, 0), |chosen| chosen.tag);
        let tag = match given {
            Some(tag) => tag.wrapping_sub(script).wrapping_add(live),
            None if opens => 0,
            None if reflected => self.peer_tags.last().copied().unwrap_or(0),
            None => live,
        };
        self.last_tag = tag;
        tag
    }

    /// The tag of a packet that left is one that it may have.
    pub fn is_right_tag(&self, tag: u32, opens: bool, reflected: bool) -> bool {
        match (opens, reflected) {
            (true, _) => tag == 0,
            // One that failed before the peer was known has its own.
            (_, true) => {
                tag == self.last_tag || self.chosen.is_some_and(|chosen| chosen.tag.0 == tag)
            }
            _ => self.peer_tags.contains(&tag),
        }
    }

    /// The stack's tag as the script has it.
    pub fn tag_to_script(&self, live: u32) -> u32 {
        let all = [self.offered, self.chosen];
        let own = all.into_iter().flatten().find(|chosen| chosen.tag.0 == live);
        own.map_or(live, |chosen| chosen.tag.1)
    }

    /// A TSN of the stack's, or a number counted from it, as the script has it.
    pub fn tsn_to_script(&self, live: u32) -> u32 {
        let (live_first, script_first) = self.chosen.map_or((0, 0), |chosen| chosen.tsn);
        live.wrapping_sub(live_first).wrapping_add(script_first)
    }

    /// Returns the TSN on the wire for one of the script.
    pub fn tsn_to_live(&self, script: u32) -> u32 {
        let (live_first, script_first) = self.chosen.map_or((0, 0), |chosen| chosen.tsn);
        script.wrapping_sub(script_first).wrapping_add(live_first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(tag: (u32, u32), tsn: (u32, u32)) -> Chosen {
        Chosen { tag, tsn }
    }

    #[test]
    fn numbers_of_the_stack_keep_their_distance_from_its_first() {
        let mut mapping = Mapping::new();
        assert_eq!(mapping.tsn_to_live(7), 7, "nothing is known yet");
        mapping.learn(chosen((900, 2), (u32::MAX, 10)), true);
        assert_eq!((mapping.tsn_to_live(10), mapping.tsn_to_live(12)), (u32::MAX, 1));
        assert_eq!((mapping.tsn_to_script(0), mapping.tag_to_script(900)), (11, 2));
        assert_eq!(mapping.inbound_tag(None, false, false), 900);
        assert_eq!(mapping.inbound_tag(Some(3), false, false), 901);
        assert_eq!(mapping.inbound_tag(None, true, false), 0);
    }

    #[test]
    fn the_answer_to_an_init_within_an_association_counts_with_its_cookie() {
        let mut mapping = Mapping::new();
        mapping.learn(chosen((900, 2), (50, 1)), false);
        mapping.on_established();
        mapping.learn(chosen((800, 3), (70, 1)), false);
        assert_eq!((mapping.tsn_to_live(1), mapping.tag_to_script(800)), (50, 3));
        mapping.on_cookie_echo();
        assert_eq!((mapping.tsn_to_live(1), mapping.inbound_tag(None, false, false)), (70, 800));
    }
}
