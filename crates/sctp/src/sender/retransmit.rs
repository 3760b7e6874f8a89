//! Chunks are sent again here (RFC 9260 §6.1 C, §6.3.3, §7.2.4 rule 3).

use super::Sender;
use crate::config::Config;
use crate::draft::Draft;
use crate::paths::Paths;
use crate::policy::Reason;
use anabranch_units::Time;

/// A `Lost` is the first chunk of a packet that is sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lost {
    /// `index` is the chunk's place in the flight.
    pub index: usize,
    /// `path` is the index of the path that it goes to.
    pub path: usize,
    /// `len` is how much user data it has, in octets.
    pub len: u32,
    /// `fast` says that it leaves whatever the window, being the first of a fast retransmit.
    pub fast: bool,
    /// `alone` says that no other leaves before the next SACK.
    pub alone: bool,
}

impl Sender {
    /// Returns the next chunk that may be sent again: the first lost one whose path has room, so
    /// that one path's full window does not hold up another's.
    #[inline]
    pub fn next_lost(&mut self, now: Time, paths: &mut Paths, config: &Config) -> Option<Lost> {
        if self.repair.awaits_sack() {
            return None;
        }
        let mut from = 0;
        loop {
            let (index, reason) = self.flight.next_lost(from)?;
            let path = self.path_for(index, reason, paths, config);
            if config.ns2_rules.is_none_or(|rules| !rules.repair_finds_rest) {
                paths.end_rest(now, path, config);
            }
            let one = config.ns2_rules.is_some_and(|rules| rules.one_packet);
            let fast = self.repair.is_fast_due() && (reason == Reason::FastRetransmit || one);
            if fast || paths[path].has_room(now) {
                let len = self.flight.chunks[index].fragment.payload.len();
                return Some(Lost { index, path, len, fast, alone: fast && one });
            }
            if paths.len() == 1 {
                return None;
            }
            from = index + 1;
        }
    }

    fn path_for(&self, index: usize, reason: Reason, paths: &mut Paths, config: &Config) -> usize {
        let last = self.flight.chunks[index].path as usize;
        paths.destination_of(last, reason, config)
    }

    /// Adds to a packet the lost chunks, from the one at `index` on, that go to `path`. Returns
    /// false when none fits.
    pub fn add_lost(
        &mut self,
        now: Time,
        draft: &mut Draft,
        (index, path): (usize, usize),
        paths: &mut Paths,
        config: &Config,
    ) -> bool {
        let mut from = index;
        let mut sent = false;
        while let Some((index, reason)) = self.flight.next_lost(from) {
            from = index + 1;
            if self.path_for(index, reason, paths, config) != path {
                continue;
            }
            let chunk = &self.flight.chunks[index];
            if chunk.fragment.payload.len() > draft.data_room(self.flight.header()) {
                break;
            }
            let offset = self.flight.una + index as u64;
            let (last, size) = (chunk.path as usize, self.flight.size(chunk));
            match config.ns2_rules {
                // §6.3.1 C5: no sample of what left before this chunk left again and is not below.
                None => {
                    for path in paths.iter_mut() {
                        path.timed.take_if(|timed| timed.0 >= offset);
                    }
                }
                Some(_) => _ = paths[last].timed.take_if(|timed| timed.0 == offset),
            }
            if last != path {
                paths[last].window.forget(size);
            }
            if let Some(episode) = &mut paths[last].episode {
                episode.on_resent(now, offset);
            }
            draft.push(self.data_chunk(&chunk.fragment, self.origin.at(offset)));
            // §6.1, §7.2.4 rule 4: the first chunk outstanding at an address restarts its timer.
            let first = last == path && self.flight.first_of(path as u8) == Some(offset);
            let keeps = config.ns2_rules.is_some_and(|rules| rules.marked_outstanding);
            self.flight.resend(index, path as u8, keeps);
            if offset == self.flight.una {
                self.probing = self.is_first_beyond_window().then_some(offset);
            }
            let view = paths[path].view();
            let to = &mut paths[path];
            to.window.on_sent(now, size, last != path, &view);
            if let Some(stamp) = to.window.stamp(to.flight + size) {
                self.flight.note_departure(offset, now, stamp);
            }
            self.counters.retransmitted += !sent as u64;
            to.retransmitted += !sent as u64;
            sent = true;
            to.flight += size;
            if first {
                to.t3.set(now + to.rtt.rto());
            }
        }
        if sent {
            paths[path].known.resent = Some(now);
        }
        sent
    }
}
