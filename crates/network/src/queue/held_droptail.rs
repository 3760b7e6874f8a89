//! Drop-tail for transmitters whose departures are not known on arrival: first
//! in, first out, held until the line is free.

use super::item::{Band, Item, Loss, Losses};
use super::{QueueLimit, Waiting};

/// Drop-tail that holds its packets.
#[derive(Debug)]
pub(crate) struct HeldDropTail {
    limit: QueueLimit,
    band: Band,
}

impl HeldDropTail {
    pub(crate) fn new(limit: QueueLimit) -> HeldDropTail {
        HeldDropTail { limit, band: Band::default() }
    }

    pub(crate) fn enqueue(&mut self, item: Item, losses: &mut Losses) {
        let waiting = Waiting { packets: self.band.len() as u64, octets: self.band.octets() };
        match self.limit.admits(waiting, item.size) {
            true => self.band.push(item),
            false => losses.push((item, Loss::Overflow)),
        }
    }

    pub(crate) fn dequeue(&mut self) -> Option<Item> {
        self.band.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::super::item::testing::item;
    use super::*;
    use anabranch_units::Time;

    #[test]
    fn order_and_limit() {
        let mut held_drop_tail = HeldDropTail::new(QueueLimit::Packets(2));
        let mut losses = Losses::new();
        for id in 0..3 {
            held_drop_tail.enqueue(item(id, 100, Time::ZERO), &mut losses);
        }
        assert_eq!(
            losses.iter().map(|(held_drop_tail, _)| held_drop_tail.id.0).collect::<Vec<_>>(),
            [2]
        );
        let order: Vec<_> =
            std::iter::from_fn(|| held_drop_tail.dequeue()).map(|item| item.id.0).collect();
        assert_eq!(order, [0, 1]);
    }
}
