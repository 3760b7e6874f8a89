//! Links that lead to a part of the network which another thread simulates.
//!
//! Such a link is plain, so that its packets' arrivals are known when they are offered: a packet goes to
//! the other part at once, with the date of its arrival ([`Crossing`]). On this side the link is elided;
//! on the other it is a link whose packets are put on their way from outside.

use super::Network;
use anabranch_network::{LinkId, PacketId};
use anabranch_units::Time;
use anabranch_wire::Packet;

/// A packet on its way from one part to another.
#[derive(Debug)]
pub(crate) struct Crossing {
    /// The link over which it goes.
    pub link: LinkId,
    /// The date at which it reaches the link's far end.
    pub arrival: Time,
    /// The packet, as it leaves the link's near end.
    pub packet: Packet,
    /// Bits of it were flipped before.
    pub is_damaged: bool,
}

/// Which links leave a part, and the packets that have left it in this window.
#[derive(Debug)]
pub(crate) struct Boundary {
    /// `leads_to` has for each link the part that it leads to, [`HERE`] for the others.
    leads_to: Vec<u32>,
    /// `leaving` has for each part what goes to it, and was not collected yet.
    leaving: Vec<Vec<Crossing>>,
}

/// The link does not leave its part.
const HERE: u32 = u32::MAX;

impl Boundary {
    fn part(&self, link: LinkId) -> Option<usize> {
        let part = self.leads_to[link.0 as usize];
        (part != HERE).then_some(part as usize)
    }
}

impl Network {
    /// Makes this network one of `parts` parts: of its links `away` leave it, each to the part beside it,
    /// and `here` come from others.
    pub(crate) fn set_boundary(&mut self, parts: usize, away: &[(LinkId, u32)], here: &[LinkId]) {
        let mut leads_to = vec![HERE; self.links.len()];
        for (link, part) in away {
            leads_to[link.0 as usize] = *part;
        }
        let leaving = (0..parts).map(|_| Vec::new()).collect();
        self.boundary = Some(Box::new(Boundary { leads_to, leaving }));
        self.set_borders(away.iter().map(|(link, _)| *link), here);
    }

    /// Whether the link leads to another part.
    pub(super) fn leads_away(&self, link: LinkId) -> bool {
        self.boundary.as_ref().is_some_and(|boundary| boundary.part(link).is_some())
    }

    /// A packet was offered to `link`, at whose far end it arrives at `arrival`. True if that is in another
    /// part: then its value goes there, and it stays here until it has arrived.
    pub(super) fn cross(&mut self, link: LinkId, arrival: Time, id: PacketId) -> bool {
        let Some(boundary) = &mut self.boundary else { return false };
        let Some(part) = boundary.part(link) else { return false };
        let (is_damaged, packet) = (self.pool.is_damaged(id), self.pool.packet(id).clone());
        boundary.leaving[part].push(Crossing { link, arrival, packet, is_damaged });
        true
    }

    /// Takes what has left for a part since the last call.
    pub(crate) fn take_leaving(&mut self, part: usize) -> Vec<Crossing> {
        let boundary = self.boundary.as_mut().expect("parts have boundaries");
        std::mem::take(&mut boundary.leaving[part])
    }

    /// A packet comes from another part. Packets of one link come in the order of their arrivals.
    pub(crate) fn receive(&mut self, crossing: Crossing) {
        let Crossing { link, arrival, packet, is_damaged } = crossing;
        debug_assert!(arrival > self.now, "it arrives after what was simulated here");
        let id = self.pool.insert(packet);
        if is_damaged {
            self.pool.set_damaged(id);
        }
        let found = &mut self.links[link.0 as usize];
        found.put_on_its_way(arrival, id, self.pool.size(id));
        if found.next_event() == arrival {
            self.events.set(link.0, arrival);
        }
    }

    /// Forgets the packets on their way to other parts, which have them as well: once the counters have
    /// been read, and nothing is simulated any more.
    pub(crate) fn forget_crossed(&mut self) {
        for (index, link) in self.links.iter().enumerate() {
            if self.leads_away(LinkId(index as u32)) {
                link.passing().for_each(|passing| self.pool.release(passing.id));
            }
        }
    }
}
