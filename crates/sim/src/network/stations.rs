//! What happens where a regulator stands.

use super::Network;
use crate::observe::{PacketEvent, PacketEventKind, Place};
use anabranch_network::{LinkId, NodeId, PacketId, Regulated};
use anabranch_units::Time;

impl Network {
    /// A regulator stands at the node; stations come after all others.
    #[inline]
    pub(super) fn is_station(&self, node: NodeId) -> bool {
        node.0 as usize >= self.is_router.len() - self.stations()
    }

    /// A packet reached a node that is neither its destination nor a router;
    /// true if that is a station.
    pub(super) fn reach_station(&mut self, node: NodeId, id: PacketId) -> bool {
        let number = (node.0 as usize).wrapping_sub(self.is_router.len() - self.stations());
        let Some(regulator) = self.regulators.list.get_mut(number) else { return false };
        let (link, router) = self.regulators.places[number];
        if !regulator.regulates(self.pool.packet(id)) {
            self.forward(router, id);
            return true;
        }
        regulator.offer(self.now, id, self.pool.size(id));
        self.tell(PacketEventKind::Held, link, id);
        self.poll_regulator(number);
        true
    }

    /// The timer of a regulator is due, or it has been offered a packet.
    pub(super) fn poll_regulator(&mut self, number: usize) {
        let (link, router) = self.regulators.places[number];
        loop {
            let forward = &mut self.links[link.0 as usize];
            match self.regulators.list[number].poll(self.now, forward) {
                None => break,
                Some(Regulated::Released { id, waited }) => {
                    self.tell(PacketEventKind::Released { waited }, link, id);
                    self.forward(router, id);
                }
                Some(Regulated::Dropped(id)) => {
                    let kind = PacketEventKind::Refused;
                    self.tell(kind, link, id);
                    self.pool.release(id);
                }
            }
        }
        let next: Time = self.regulators.list[number].next_event();
        self.events.set((self.links.len() + number) as u32, next);
    }

    fn stations(&self) -> usize {
        self.regulators.list.len()
    }

    fn tell(&mut self, kind: PacketEventKind, link: LinkId, id: PacketId) {
        if self.observers.packets() {
            let event = PacketEvent { kind, place: Place::Link(link), flow: None };
            self.observers.packet(self.now, event, self.pool.packet(id));
        }
    }
}
