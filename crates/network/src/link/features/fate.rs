//! What the impairments of a link make of a packet.

use super::super::LinkDrop;
use crate::impairment::{Impairment, Position, Verdict};
use crate::pool::{PacketId, PacketPool};
use anabranch_units::{Span, Time};

/// `Fate` is what happens to a packet after its transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Fate {
    /// The packet arrives after the propagation delay.
    Arrives = 0,
    /// The packet uses the link and does not arrive.
    Lost = 1,
    /// It uses the link and arrives damaged, which is as bad.
    Corrupt = 2,
    /// The packet travels longer and may be overtaken.
    Late = 3,
    /// The packet travels longer, and keeps its place in the order.
    LateInOrder = 4,
    /// The packet waits for later packets to go by.
    Overtaken = 5,
}

impl Fate {
    /// Returns the fate of this number.
    pub(super) fn from_bits(bits: u32) -> Fate {
        match bits {
            0 => Fate::Arrives,
            1 => Fate::Lost,
            2 => Fate::Corrupt,
            3 => Fate::Late,
            4 => Fate::LateInOrder,
            _ => Fate::Overtaken,
        }
    }
}

/// `Judged` is a packet that has met the impairments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    pub id: PacketId,
    pub size: u32,
    pub fate: Fate,
    /// It travels so much longer, or waits so long at most to be overtaken.
    pub extra: Span,
    /// `distance` is how many packets are to overtake it.
    pub distance: u32,
}

impl Judged {
    /// Delays the packet further. One that is to be overtaken by others is not late as well, and
    /// one that is late both ways may be overtaken.
    fn travel_longer(&mut self, more: Span, fate: Fate) {
        match self.fate {
            Fate::Arrives => (self.fate, self.extra) = (fate, more),
            Fate::Late | Fate::LateInOrder => {
                self.extra += more;
                if fate == Fate::Late {
                    self.fate = fate;
                }
            }
            Fate::Lost | Fate::Corrupt | Fate::Overtaken => {}
        }
    }
}

/// Sends a packet through the impairments from number `first` on. Returns what becomes of it, or
/// why it is lost; and the number of the impairment from which a copy of it goes on.
pub(super) fn judge(
    impairments: &mut [(Position, Impairment)],
    now: Time,
    (id, size): (PacketId, u32),
    first: usize,
    pool: &mut PacketPool,
) -> (Result<Judged, LinkDrop>, Option<usize>) {
    let mut judged = Judged { id, size, fate: Fate::Arrives, extra: Span::ZERO, distance: 0 };
    let mut copy_from = None;
    for (number, (at, impairment)) in impairments.iter_mut().enumerate().skip(first) {
        let egress = *at == Position::Egress;
        if egress && matches!(judged.fate, Fate::Lost | Fate::Corrupt) {
            continue;
        }
        match impairment.judge(now, id, size, pool) {
            Verdict::Pass | Verdict::Delay(Span::ZERO) => {}
            Verdict::Lose if egress => judged.fate = Fate::Lost,
            Verdict::Corrupt if egress => judged.fate = Fate::Corrupt,
            Verdict::Lose => return (Err(LinkDrop::Loss), copy_from),
            Verdict::Corrupt => return (Err(LinkDrop::Corrupt), copy_from),
            Verdict::Duplicate => copy_from = copy_from.or(Some(number + 1)),
            Verdict::Delay(more) => judged.travel_longer(more, Fate::Late),
            Verdict::DelayInOrder(more) => judged.travel_longer(more, Fate::LateInOrder),
            Verdict::Overtaken(distance, longest) if judged.fate != Fate::Overtaken => {
                judged.fate = Fate::Overtaken;
                (judged.distance, judged.extra) = (distance, longest);
            }
            Verdict::Overtaken(..) => {}
        }
    }
    (Ok(judged), copy_from)
}
