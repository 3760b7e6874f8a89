//! Flow queues take turns by deficit round robin, new ones first (RFC 8290 §4.2): what FQ-CoDel and FQ-PIE
//! have in common.

use anabranch_units::Bytes;
use std::collections::VecDeque;

/// `Turns` says which flow queue sends next. Queues have numbers.
#[derive(Debug)]
pub(super) struct Turns {
    /// `quantum` is what a queue may send in a turn, in octets.
    quantum: i64,
    /// `new` has queues that had been empty, `old` the others with packets, or that were new.
    pub new: VecDeque<u32>,
    pub old: VecDeque<u32>,
    queues: Vec<Turn>,
}

/// How far one queue is in its turn of deficit round robin.
#[derive(Clone, Default, Debug)]
struct Turn {
    /// `credit` is how much it may still send, in octets.
    credit: i64,
    /// `is_listed` says whether it is in one of the lists.
    is_listed: bool,
}

impl Turns {
    /// Makes the turns of so many empty queues.
    pub fn new(queues: u32, quantum: Bytes) -> Turns {
        Turns {
            quantum: quantum.0 as i64,
            new: VecDeque::new(),
            old: VecDeque::new(),
            queues: vec![Turn::default(); queues as usize],
        }
    }

    /// A packet came to a queue, which is a new one if it waits for no turn.
    #[inline]
    pub fn join(&mut self, index: u32) {
        let turn = &mut self.queues[index as usize];
        if !turn.is_listed {
            *turn = Turn { credit: self.quantum, is_listed: true };
            self.new.push_back(index);
        }
    }

    /// Returns the queue whose turn it is; those whose credit is used up get more, and wait.
    #[inline]
    pub fn first(&mut self) -> Option<u32> {
        loop {
            let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
            let index = *list.front()?;
            let turn = &mut self.queues[index as usize];
            if turn.credit > 0 {
                return Some(index);
            }
            turn.credit += self.quantum;
            list.pop_front();
            self.old.push_back(index);
        }
    }

    /// The queue sent a packet of `size` octets.
    #[inline]
    pub fn sent(&mut self, index: u32, size: u32) {
        self.queues[index as usize].credit -= i64::from(size);
    }

    /// The queue whose turn it is has nothing to send.
    pub fn leave(&mut self) {
        if let Some(index) = self.new.pop_front() {
            // Old queues get their turn before it may be new again.
            self.old.push_back(index);
        } else if let Some(index) = self.old.pop_front() {
            self.queues[index as usize].is_listed = false;
        }
    }
}
