//! The PUSH of a SEND (RFC 9293 §3.9.1.2).
//!
//! Unless the user marks pushes, a segment carries PSH when it reaches the end
//! of what was written. Once the user has marked one, segments carry PSH where
//! a mark lies in them.

use super::Connection;
use crate::range_set::Range;
use std::collections::VecDeque;

/// Marked offsets that are not acknowledged, in order.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pushed: VecDeque<u64>,
}

impl Marks {
    /// A mark lies in the range or at its end.
    fn lies_in(&self, range: Range) -> bool {
        let next = self.pushed.partition_point(|mark| *mark <= range.start);
        self.pushed.get(next).is_some_and(|mark| *mark <= range.end)
    }

    /// A mark before all others.
    pub fn push_first(&mut self, at: u64) {
        if self.pushed.front().is_none_or(|mark| at < *mark) {
            self.pushed.push_front(at);
        }
    }

    fn drop_below(&mut self, una: u64) {
        while self.pushed.front().is_some_and(|mark| *mark <= una) {
            self.pushed.pop_front();
        }
    }
}

impl Connection {
    /// What was written so far is to be delivered without delay: the segment
    /// that carries its last octet has PSH.
    pub fn push(&mut self) {
        let end = self.data_end();
        let marks = &mut self.extras.get().marks.get_or_insert_default().pushed;
        if marks.back().is_none_or(|last| *last < end) {
            marks.push_back(end);
        }
    }

    /// Takes back the pushes within the last `octets` written, as far as these
    /// were not sent: what follows is pushed in their place.
    pub fn retract_pushes(&mut self, octets: u64) {
        let sent = self.sender.max.max(self.data_end().saturating_sub(octets));
        if let Some(marks) = self.extras.some().and_then(|extras| extras.marks.as_mut()) {
            while marks.pushed.back().is_some_and(|mark| *mark > sent) {
                marks.pushed.pop_back();
            }
        }
    }

    /// More will be written: nothing is pushed until [`push`](Self::push).
    pub fn hold_pushes(&mut self) {
        self.extras.get().marks.get_or_insert_default();
    }

    /// A segment over `range` carries PSH.
    pub(super) fn is_pushed(&self, range: Range) -> bool {
        if let Some(offload) = self.extras.peek().and_then(|extras| extras.offload.as_ref())
            && offload.ends_at(range.end)
        {
            return true;
        }
        match self.extras.marks() {
            None => range.end >= self.data_end(),
            Some(marks) => marks.lies_in(range),
        }
    }

    /// Marks of what is acknowledged are forgotten.
    pub(super) fn forget_marks(&mut self) {
        let una = self.sender.una;
        if let Some(marks) = self.extras.some().and_then(|extras| extras.marks.as_mut()) {
            marks.drop_below(una);
        }
    }
}
