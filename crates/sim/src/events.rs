//! The pending events: an indexed 4-ary heap over *sources*, each with at most
//! one date. Order is (time, source), which is total; the caller keeps classes
//! of sources in heaps of their own or in ranges of numbers.

use anabranch_units::Time;

/// Pending dates by source. A slot costs 4 octets, a pending date 16 more.
#[derive(Default, Debug)]
pub struct EventQueue {
    /// Date in the high 64 bits, source below.
    heap: Vec<u128>,
    /// Place of each source in the heap.
    places: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;
const ARITY: usize = 4;

fn key(at: Time, source: u32) -> u128 {
    (at.as_picos() as u128) << 64 | source as u128
}

impl EventQueue {
    /// No events, for sources 0 to `sources` - 1.
    pub fn new(sources: usize) -> EventQueue {
        EventQueue { heap: Vec::new(), places: vec![ABSENT; sources] }
    }

    /// Returns how many sources there are, pending or not.
    pub fn sources(&self) -> usize {
        self.places.len()
    }

    /// Makes room for `sources` sources; no fewer than before.
    pub fn grow(&mut self, sources: usize) {
        self.places.resize(sources.max(self.places.len()), ABSENT);
    }

    /// Returns date and source of the first event.
    #[inline]
    pub fn peek(&self) -> Option<(Time, u32)> {
        self.heap.first().map(|key| (Time::from_picos((key >> 64) as u64), *key as u32))
    }

    /// Date of the first event; [`Time::NEVER`] when there is none.
    #[inline]
    pub fn first(&self) -> Time {
        self.heap.first().map_or(Time::NEVER, |key| Time::from_picos((key >> 64) as u64))
    }

    /// Returns when `source` is due; [`Time::NEVER`] when it is not pending.
    #[inline]
    pub fn date(&self, source: u32) -> Time {
        match self.places[source as usize] {
            ABSENT => Time::NEVER,
            place => Time::from_picos((self.heap[place as usize] >> 64) as u64),
        }
    }

    /// Sets the date of `source`, earlier or later than before;
    /// [`Time::NEVER`] removes it.
    #[inline]
    pub fn set(&mut self, source: u32, at: Time) {
        let place = self.places[source as usize];
        if at == Time::NEVER {
            if place != ABSENT {
                self.remove(place as usize);
            }
        } else if place == ABSENT {
            self.heap.push(0);
            self.sift_up(self.heap.len() - 1, key(at, source));
        } else {
            let key = key(at, source);
            if key > self.heap[place as usize] {
                self.sift_down(place as usize, key);
            } else {
                self.sift_up(place as usize, key);
            }
        }
    }

    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    fn remove(&mut self, place: usize) {
        self.places[self.heap[place] as u32 as usize] = ABSENT;
        let last = self.heap.pop().expect("a place in the heap is below its length");
        if place < self.heap.len() {
            if last > self.heap[place] {
                self.sift_down(place, last);
            } else {
                self.sift_up(place, last);
            }
        }
    }

    /// Puts `key` at `place`, which is free, or above it.
    fn sift_up(&mut self, mut place: usize, key: u128) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            let above = self.heap[parent];
            if above < key {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, key);
    }

    /// Puts `key` at `place`, which is free, or below it.
    fn sift_down(&mut self, mut place: usize, key: u128) {
        loop {
            let first = place * ARITY + 1;
            let (child, least) = match self.heap.get(first..first + ARITY) {
                Some(&[a, b, c, d]) => {
                    let (i, left) = if b < a { (1, b) } else { (0, a) };
                    let (j, right) = if d < c { (3, d) } else { (2, c) };
                    if right < left { (first + j, right) } else { (first + i, left) }
                }
                _ => {
                    let rest = self.heap.get(first..).unwrap_or(&[]);
                    match rest.iter().copied().enumerate().min_by_key(|child| child.1) {
                        Some((i, least)) => (first + i, least),
                        None => break,
                    }
                }
            };
            if key < least {
                break;
            }
            self.put(place, least);
            place = child;
        }
        self.put(place, key);
    }

    #[inline]
    fn put(&mut self, place: usize, key: u128) {
        self.heap[place] = key;
        self.places[key as u32 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ps: u64) -> Time {
        Time::from_picos(ps)
    }

    #[test]
    fn ties_go_to_the_lower_source() {
        let mut queue = EventQueue::new(10);
        for source in [7, 3, 9, 0, 5] {
            queue.set(source, at(42));
        }
        queue.set(8, at(41));
        let mut order = Vec::new();
        while let Some((_, source)) = queue.peek() {
            order.push(source);
            queue.set(source, Time::NEVER);
        }
        assert_eq!(order, [8, 0, 3, 5, 7, 9]);
        assert!(queue.is_empty());
    }

    proptest! {
        #[test]
        fn agrees_with_a_naive_model(
            steps in prop::collection::vec((0_u32..40, prop::option::of(0_u64..50)), 1..400),
        ) {
            let mut queue = EventQueue::new(40);
            let mut model = vec![Time::NEVER; 40];
            for (source, date) in steps {
                let date = date.map_or(Time::NEVER, at);
                queue.set(source, date);
                model[source as usize] = date;
                let first = (0..40_u32)
                    .map(|source| (model[source as usize], source))
                    .filter(|(date, _)| *date != Time::NEVER)
                    .min();
                prop_assert_eq!(queue.peek(), first);
                prop_assert_eq!(queue.first(), first.map_or(Time::NEVER, |item| item.0));
                prop_assert_eq!(queue.date(source), date);
                let pending = model.iter().filter(|date| **date != Time::NEVER).count();
                prop_assert_eq!(queue.len(), pending);
            }
        }
    }
}
