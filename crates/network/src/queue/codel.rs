//! Controlled delay, RFC 8289: the pseudo-code of §5, and marking instead of
//! dropping for ECN-capable packets. Beside it the threshold of Linux
//! (`ce_threshold`): what has waited longer is marked, whatever the law does, as
//! DCTCP wants its queues.

use super::item::{Band, Item, Loss, Losses};
use super::{QueueLimit, Waiting};
use crate::catalogue::{ConfigError, Info};
use anabranch_units::{Bytes, Span, Time};

pub(super) const INFO: Info = Info {
    name: "codel",
    summary: "drops or marks at the head while packets have waited longer than a target",
    reference: "RFC 8289",
};

/// Parameters of the control law.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoDelLaw {
    /// TARGET: the wait that is acceptable.
    pub target: Span,
    /// INTERVAL: how long the wait may stay above.
    pub interval: Span,
    /// Largest packet: with no more than that left in the queue nothing is
    /// dropped. It is the link's MTU where nothing is said (RFC 8289 §4.1).
    pub max_packet: Option<Bytes>,
    /// Marks ECN-capable packets.
    pub ecn: bool,
    /// Marks ECN-capable packets that have waited for longer, with `ecn` or
    /// without.
    pub ce_threshold: Option<Span>,
}

impl Default for CoDelLaw {
    /// 5 ms, 100 ms, the link's MTU, no marking, no threshold.
    fn default() -> Self {
        CoDelLaw {
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            max_packet: None,
            ecn: false,
            ce_threshold: None,
        }
    }
}

impl CoDelLaw {
    /// The law on a link of this MTU.
    pub(crate) fn on_link(self, mtu: Bytes) -> CoDelLaw {
        CoDelLaw { max_packet: self.max_packet.or(Some(mtu)), ..self }
    }

    /// Returns an error if the interval is 0.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self.interval {
            Span::ZERO => Err(ConfigError::new("interval", self.interval, "more than 0")),
            _ => Ok(()),
        }
    }

    /// `t + interval / sqrt(count)` (§5.5).
    pub fn next_drop(&self, t: Time, count: u32) -> Time {
        control_law(self.interval, t, count)
    }
}

/// `t + interval / sqrt(count)`, for COBALT too.
pub(super) fn control_law(interval: Span, t: Time, count: u32) -> Time {
    let interval = interval.as_picos() as f64 / (count as f64).sqrt();
    t.saturating_add(Span::from_picos(interval.round() as u64))
}

/// Parameters of a CoDel queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoDelConfig {
    /// Most that may wait; more is dropped on arrival.
    pub limit: QueueLimit,
    /// The control law, with its target and interval.
    pub law: CoDelLaw,
}

impl Default for CoDelConfig {
    /// 1000 packets, and the values of RFC 8289.
    fn default() -> Self {
        CoDelConfig { limit: QueueLimit::Packets(1000), law: CoDelLaw::default() }
    }
}

/// The state of the law, which belongs to one queue.
#[derive(Clone, Copy, Default, Debug)]
pub struct CoDelState {
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl CoDelState {
    /// The next packet, after what the law drops.
    pub fn dequeue(
        &mut self,
        now: Time,
        law: &CoDelLaw,
        band: &mut Band,
        losses: &mut Losses,
    ) -> Option<Item> {
        self.dequeue_beside(now, law, (band, 0), losses)
    }

    /// Takes a packet as [`CoDelState::dequeue`] does, for one queue of several: beside it there
    /// are so many octets in the others of the link.
    pub fn dequeue_beside(
        &mut self,
        now: Time,
        law: &CoDelLaw,
        queue: (&mut Band, u64),
        losses: &mut Losses,
    ) -> Option<Item> {
        let mut item = self.control(now, law, queue, losses)?;
        if law.ce_threshold.is_some_and(|threshold| item.sojourn(now) > threshold) {
            item.mark();
        }
        Some(item)
    }

    /// Follows `deque()` of §5.6: drops while the law says so, and returns the packet to send.
    fn control(
        &mut self,
        now: Time,
        law: &CoDelLaw,
        (band, others): (&mut Band, u64),
        losses: &mut Losses,
    ) -> Option<Item> {
        let (mut item, mut ok_to_drop) = self.take(now, law, (band, others));
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if item.as_mut().is_some_and(|item| law.ecn && item.mark()) {
                    self.drop_next = law.next_drop(self.drop_next, self.count);
                    return item;
                }
                losses.extend(item.map(|item| (item, Loss::Early)));
                (item, ok_to_drop) = self.take(now, law, (band, others));
                if ok_to_drop {
                    self.drop_next = law.next_drop(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            let is_marked = item.as_mut().is_some_and(|item| law.ecn && item.mark());
            if !is_marked {
                losses.extend(item.map(|item| (item, Loss::Early)));
                (item, _) = self.take(now, law, (band, others));
            }
            self.dropping = true;
            // Back in a dropping state that ended not long ago: goes on at its
            // rate.
            let delta = self.count - self.last_count;
            let recent = now.saturating_since(self.drop_next) < law.interval.saturating_mul(16);
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = law.next_drop(now, self.count);
            self.last_count = self.count;
        }
        item
    }

    /// dodequeue() of §5.6: the head, and whether the law may drop it, which it may not where all
    /// queues of the link together hold no more than a packet (§4.4).
    fn take(
        &mut self,
        now: Time,
        law: &CoDelLaw,
        (band, others): (&mut Band, u64),
    ) -> (Option<Item>, bool) {
        let Some(item) = band.pop() else {
            self.first_above = None;
            return (None, false);
        };
        let one_packet = law.max_packet.is_some_and(|most| band.octets() + others <= most.0);
        let below = item.sojourn(now) < law.target || one_packet;
        let ok_to_drop = match self.first_above {
            _ if below => {
                self.first_above = None;
                false
            }
            None => {
                self.first_above = Some(now.saturating_add(law.interval));
                false
            }
            Some(first_above) => now >= first_above,
        };
        (Some(item), ok_to_drop)
    }
}

/// A CoDel queue with the state of its law.
#[derive(Debug)]
pub struct CoDel {
    limit: QueueLimit,
    law: CoDelLaw,
    state: CoDelState,
    band: Band,
}

impl CoDel {
    /// Makes an empty queue with these parameters, of a link of this MTU.
    pub fn new(config: &CoDelConfig, mtu: Bytes) -> CoDel {
        let (law, state) = (config.law.on_link(mtu), CoDelState::default());
        CoDel { limit: config.limit, law, state, band: Band::default() }
    }

    pub(crate) fn enqueue(&mut self, item: Item, losses: &mut Losses) {
        let waiting = Waiting { packets: self.band.len() as u64, octets: self.band.octets() };
        match self.limit.admits(waiting, item.size) {
            true => self.band.push(item),
            false => losses.push((item, Loss::Overflow)),
        }
    }

    pub(crate) fn dequeue(&mut self, now: Time, losses: &mut Losses) -> Option<Item> {
        self.state.dequeue(now, &self.law, &mut self.band, losses)
    }
}

#[cfg(test)]
mod tests {
    use super::super::item::testing::{at_us, item};
    use super::*;
    use anabranch_testkit::marks::record;
    use anabranch_wire::Ecn;

    const MS: fn(u64) -> Span = Span::from_millis;

    /// A standing queue: one packet leaves each millisecond, and each has
    /// waited 20 ms. Returns the dates of drops and marks until `end_ms`.
    fn standing(law: CoDelLaw, ecn: Ecn, end_ms: u64) -> Vec<Time> {
        let mut state = CoDelState::default();
        let mut hits = Vec::new();
        for ms in 0..end_ms {
            let now = at_us(20_000 + ms * 1000);
            let mut band = Band::default();
            for id in 0..10 {
                band.push(Item { ecn, ..item(id, 1500, now - MS(20)) });
            }
            let mut losses = Losses::new();
            let out = state.dequeue(now, &law, &mut band, &mut losses).unwrap();
            if out.marked {
                hits.push(now);
            }
            hits.extend(losses.iter().map(|_| now));
        }
        hits
    }

    /// The dates that the control law gives, on the grid of departures.
    fn expected(law: &CoDelLaw, end: Time) -> Vec<Time> {
        let grid = |t: Time| at_us(t.as_picos().div_ceil(1_000_000_000) * 1000);
        // Above target from 20 ms on: the first drop an interval later.
        let mut next = at_us(20_000) + law.interval;
        let mut dates = Vec::new();
        for count in 1.. {
            if grid(next) >= end {
                return dates;
            }
            dates.push(grid(next));
            next = next.saturating_add(Span::from_picos(
                (law.interval.as_picos() as f64 / (count as f64).sqrt()).round() as u64,
            ));
        }
        unreachable!("the loop ends at `end`");
    }

    #[test]
    fn drops_follow_the_control_law() {
        // Q4: next drop = t + interval / sqrt(count).
        let law = CoDelLaw::default();
        let hits = standing(law, Ecn::NotEct, 2000);
        assert_eq!(hits, expected(&law, at_us(2_020_000)));
        assert!(hits.len() > 60);
        let spaces: Vec<_> = hits.windows(2).take(4).map(|w| (w[1] - w[0]).as_millis()).collect();
        let first = format!("{spaces:?} ms");
        record("Q4", "CoDel: spaces between drops", "[100, 71, 58, 50] ms", first, "exact");
        assert_eq!(spaces, [100, 71, 58, 50]); // 100, 70.7, 57.7, 50 ms on the grid
    }

    #[test]
    fn marks_follow_the_same_law() {
        let law = CoDelLaw { ecn: true, ..CoDelLaw::default() };
        assert_eq!(standing(law, Ecn::Ect0, 2000), expected(&law, at_us(2_020_000)));
    }

    /// Above the threshold every ECN-capable packet is marked, at it none, and the
    /// law goes on as without it.
    #[test]
    fn what_waits_beyond_the_threshold_is_marked() {
        for (wait_us, ecn, marked) in [
            (1000, Ecn::Ect0, 0),
            (1001, Ecn::Ect0, 500),
            (1001, Ecn::Ect1, 500),
            (1001, Ecn::NotEct, 0),
        ] {
            let law = CoDelLaw { ce_threshold: Some(MS(1)), ..CoDelLaw::default() };
            let (mut state, mut hits) = (CoDelState::default(), 0);
            for ms in 0..500 {
                let now = at_us(20_000 + ms * 1000);
                let (mut band, mut losses) = (Band::default(), Losses::new());
                for id in 0..10 {
                    band.push(Item { ecn, ..item(id, 1500, now - Span::from_micros(wait_us)) });
                }
                let out = state.dequeue(now, &law, &mut band, &mut losses).unwrap();
                hits += out.marked as u32;
                assert!(losses.is_empty());
            }
            assert_eq!(hits, marked, "{wait_us} us, {ecn:?}");
        }
        let law = CoDelLaw { ce_threshold: Some(MS(1)), ..CoDelLaw::default() };
        assert_eq!(standing(law, Ecn::NotEct, 2000), expected(&law, at_us(2_020_000)));
    }

    #[test]
    fn a_short_queue_or_a_short_wait_is_left_alone() {
        let mut state = CoDelState::default();
        let law = CoDelLaw::default();
        for ms in 0..1000 {
            let now = at_us(20_000 + ms * 1000);
            let (mut band, mut losses) = (Band::default(), Losses::new());
            // One large packet remains behind the head, or the head is fresh.
            let since = if ms % 50 == 0 { now } else { now - MS(20) };
            for id in 0..if ms < 500 { 2 } else { 10 } {
                band.push(item(id, 1500, since));
            }
            assert!(state.dequeue(now, &law, &mut band, &mut losses).is_some());
            assert!(losses.is_empty());
        }
    }

    /// RFC 8289 §4.1: the largest packet is what the link takes, where nothing else is said.
    #[test]
    fn the_last_packet_of_a_large_mtu_stays() {
        let dropped = |law: CoDelLaw, mtu: u64| {
            let (law, mut state) = (law.on_link(Bytes(mtu)), CoDelState::default());
            (0..1000).any(|ms| {
                let now = at_us(20_000 + ms * 1000);
                let (mut band, mut losses) = (Band::default(), Losses::new());
                for id in 0..2 {
                    band.push(item(id, 9000, now - MS(20)));
                }
                state.dequeue(now, &law, &mut band, &mut losses);
                !losses.is_empty()
            })
        };
        let law = CoDelLaw::default();
        assert!(!dropped(law, 9000));
        assert!(dropped(law, 1500));
        let said = CoDelLaw { max_packet: Some(Bytes(1500)), ..law };
        assert!(dropped(said, 9000));
    }

    #[test]
    fn a_new_dropping_state_soon_after_goes_on_at_the_old_rate() {
        let mut state = CoDelState::default();
        let law = CoDelLaw::default();
        let mut dates = Vec::new();
        for ms in 0..1400 {
            let now = at_us(20_000 + ms * 1000);
            let (mut band, mut losses) = (Band::default(), Losses::new());
            let wait = if ms == 1000 { MS(1) } else { MS(20) };
            for id in 0..10 {
                band.push(item(id, 1500, now - wait));
            }
            state.dequeue(now, &law, &mut band, &mut losses);
            dates.extend(losses.iter().map(|_| ms));
        }
        let before = dates.iter().filter(|ms| **ms < 1000).count() as u32;
        // The state ends at 1000 ms and comes back 101 ms later with the count
        // that it had reached, less the count that it had begun with.
        let again: Vec<_> = dates.iter().copied().filter(|ms| *ms > 1000).collect();
        assert_eq!(again[0], 1101);
        let space = 100.0 / ((before - 1) as f64).sqrt();
        assert_eq!(again[1], (1101.0 + space).ceil() as u64);
    }

    #[test]
    fn the_limit_drops_arrivals() {
        let mut queue = CoDel::new(
            &CoDelConfig { limit: QueueLimit::Packets(2), law: CoDelLaw::default() },
            Bytes(1500),
        );
        let mut losses = Losses::new();
        for id in 0..3 {
            queue.enqueue(item(id, 1500, Time::ZERO), &mut losses);
        }
        assert_eq!(
            losses.iter().map(|(item, why)| (item.id.0, *why)).collect::<Vec<_>>(),
            [(2, Loss::Overflow)]
        );
    }
}
