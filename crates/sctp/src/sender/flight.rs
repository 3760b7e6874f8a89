//! The flight has the chunks that were sent and not cumulatively acknowledged, and reads what a
//! SACK says about them (RFC 9260 §6.2.1, §6.3, §7.2.4).

mod gaps;

use crate::paths::path::{Path, Scratch};
use crate::policy::Reason;
use crate::queue::Fragment;
use crate::reliability::Reliability;
use anabranch_congestion::Stamp;
use anabranch_units::Time;
use anabranch_wire::sctp::{DataChunk, DataFlags, GapBlock, IDataChunk};
use gaps::Reports;
use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// It was sent, and counts as outstanding on its path.
    InFlight,
    /// It is to be sent again, and is not outstanding.
    Lost(Reason),
    /// A gap block has reported it.
    Acked,
    /// It was given up with its message (RFC 3758).
    Abandoned(Fate),
}

/// A `Fate` is what is known of a chunk when it is given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// It was in flight. If gap blocks tell that it was lost, it is congestion like a chunk that
    /// would be sent again (RFC 3758 §3.5 F5).
    Open,
    /// It was found lost, has arrived, or was never sent.
    Known,
}

#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub fragment: Fragment,
    pub status: Status,
    /// `path` is the index of the path that it was sent to last.
    pub path: u8,
    /// `resends` counts how often it was sent again.
    pub resends: u16,
    /// `misses` counts the reports since it was sent last that it is missing.
    pub misses: u8,
    pub fast_retransmitted: bool,
    /// `wandered` says that it was sent to more than one path.
    pub wandered: bool,
    /// `newest` is the offset after the newest chunk when it was sent last.
    pub newest: u64,
    /// `limit` says how long its message is worth sending again.
    pub limit: Reliability,
}

impl Sent {
    /// Returns how many octets of user data it has.
    pub fn len(&self) -> u64 {
        self.fragment.payload.len() as u64
    }

    /// Returns whether it was given up with its message.
    pub fn is_abandoned(&self) -> bool {
        matches!(self.status, Status::Abandoned(_))
    }
}

/// `Rules` are those of missing reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub missing_reports: u8,
    pub highest_newly_acked: bool,
    pub multiple: bool,
    /// `split` is split fast retransmit: a chunk is missing if one that was sent later to the same
    /// path was newly acknowledged (Iyengar et al. 2006 §III-A).
    pub split: bool,
    /// `marked_outstanding` is [`Ns2Rules::marked_outstanding`](crate::Ns2Rules).
    pub marked_outstanding: bool,
    /// `remembers_highest` is [`Ns2Rules::remembers_highest`](crate::Ns2Rules).
    pub remembers_highest: bool,
    /// `packets` is how many packets the SACK answers (delayed acknowledgments for concurrent
    /// transfer, §III-C), else 1.
    pub packets: u8,
}

/// An `Outcome` is what a SACK did to all paths together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// `advanced` says that the cumulative TSN advanced.
    pub advanced: bool,
    /// `cumulative` counts the octets of user data that were newly acknowledged cumulatively.
    pub cumulative: u64,
    /// `news` says that something was newly acknowledged.
    pub news: bool,
    /// `lost` says that a chunk was newly found missing that is to be sent again.
    pub lost: bool,
    /// `lowest` is the index of the lowest chunk that a gap block newly acknowledged.
    pub lowest: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct Flight {
    /// `una` is the offset of the first chunk, the oldest that is not cumulatively acknowledged.
    pub una: u64,
    pub chunks: VecDeque<Sent>,
    /// `lost` counts the chunks that are to be sent again.
    pub lost: usize,
    /// `lost_from` is an offset below which there are none of them.
    lost_from: u64,
    /// `acked` counts the chunks that gap blocks have reported.
    acked: usize,
    /// `highest_new` is the highest chunk that the cumulative TSN newly acknowledged last, or a gap
    /// block since.
    highest_new: u64,
    /// `payload` is the user data in flight, in octets.
    pub payload: u64,
    /// `header` is the size of a chunk's header, in octets: DATA's, or I-DATA's.
    header: u32,
    /// `padding` is one less than the number of octets to a multiple of which chunks count.
    padding: u32,
    reports: Reports,
    /// `departures` says how each of `chunks` left last, where window algorithms hear of it.
    departures: Option<VecDeque<Departure>>,
}

/// A `Departure` says how a chunk left last.
#[derive(Clone, Copy, Debug, Default)]
struct Departure {
    at: Time,
    stamp: Stamp,
}

impl Flight {
    /// `starting_at` makes a flight in which nothing was sent; `una` is the offset of the first
    /// TSN.
    pub fn starting_at(una: u64) -> Flight {
        let (chunks, header) = (VecDeque::new(), DataChunk::HEADER);
        let (lost, lost_from, acked, highest_new, payload) = (0, una, 0, una, 0);
        let (reports, departures) = (Reports::default(), None);
        Flight {
            una,
            chunks,
            lost,
            lost_from,
            acked,
            highest_new,
            payload,
            header,
            padding: 0,
            reports,
            departures,
        }
    }
    /// Returns a flight in which nothing was sent, and whose first TSN has the offset `una`; chunks
    /// count as they did.
    pub fn restarting_at(&self, una: u64) -> Flight {
        Flight { padding: self.padding, ..Flight::starting_at(una) }
    }

    /// Says whether chunks are I-DATA, or DATA.
    pub fn set_interleaving(&mut self, on: bool) {
        self.header = if on { IDataChunk::HEADER } else { DataChunk::HEADER };
    }
    pub fn is_interleaving(&self) -> bool {
        self.header == IDataChunk::HEADER
    }
    /// Returns whether gap blocks report chunks.
    pub fn has_reports(&self) -> bool {
        self.acked > 0
    }
    /// Returns the offset of the next new chunk.
    pub fn next(&self) -> u64 {
        self.una + self.chunks.len() as u64
    }
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }
    /// Returns how many octets of memory the chunks take, with what they carry.
    pub fn memory(&self) -> u64 {
        let carried: u64 =
            self.chunks.iter().map(|chunk| chunk.fragment.payload.len() as u64).sum();
        carried + (self.chunks.len() * size_of::<Sent>()) as u64
    }
    /// Returns the size of a chunk's header, in octets.
    pub fn header(&self) -> u32 {
        self.header
    }
    /// Returns the size of a chunk in octets, header included, and its padding where that counts.
    #[inline]
    pub fn size(&self, chunk: &Sent) -> u64 {
        self.size_of(chunk.fragment.payload.len())
    }
    /// Returns the same of a chunk with `len` octets of user data.
    #[inline]
    pub fn size_of(&self, len: u32) -> u64 {
        ((self.header + len + self.padding) & !self.padding) as u64
    }
    /// Says whether padding counts; nothing may be outstanding.
    pub fn count_padding(&mut self, counts: bool) {
        self.padding = if counts { 3 } else { 0 };
    }

    /// Notes that the chunk with this offset leaves at the date `at`, with the `stamp` of its path,
    /// whose window algorithm hears of it.
    pub fn note_departure(&mut self, offset: u64, at: Time, stamp: Stamp) {
        let known = || VecDeque::from(vec![Departure::default(); self.chunks.len()]);
        let departures = self.departures.get_or_insert_with(known);
        departures[(offset - self.una) as usize] = Departure { at, stamp };
    }

    /// Adds a new chunk, which leaves on `path`, and returns its offset.
    #[inline]
    pub fn push(&mut self, fragment: Fragment, limit: Reliability, path: u8) -> u64 {
        let offset = self.next();
        self.payload += fragment.payload.len() as u64;
        if let Some(departures) = &mut self.departures {
            departures.push_back(Departure::default());
        }
        self.chunks.push_back(Sent {
            fragment,
            status: Status::InFlight,
            path,
            resends: 0,
            misses: 0,
            fast_retransmitted: false,
            wandered: false,
            newest: offset + 1,
            limit,
        });
        offset
    }

    /// Notes that the chunk at `index`, which was lost, leaves again on `path`; missing reports
    /// count anew unless `keeps_reports`.
    pub fn resend(&mut self, index: usize, path: u8, keeps_reports: bool) {
        let newest = self.next();
        let chunk = &mut self.chunks[index];
        let Status::Lost(reason) = chunk.status else {
            panic!("only what is lost is sent again: {chunk:?}");
        };
        chunk.fast_retransmitted |= reason == Reason::FastRetransmit;
        chunk.status = Status::InFlight;
        chunk.wandered |= chunk.path != path;
        chunk.path = path;
        chunk.resends = chunk.resends.saturating_add(1);
        if !keeps_reports {
            chunk.misses = 0;
        }
        chunk.newest = newest;
        self.payload += chunk.fragment.payload.len() as u64;
        self.lost -= 1;
        self.reports.on_resend(self.una + index as u64);
    }

    /// Marks everything outstanding on `path` to be sent again (§6.3.3 rule E3).
    pub fn expire(&mut self, path: u8, paths: &mut [Path]) {
        let mut lost = 0;
        for (at, chunk) in
            self.chunks.iter_mut().enumerate().filter(|(_, chunk)| chunk.path == path)
        {
            chunk.misses = 0;
            if chunk.status == Status::Abandoned(Fate::Open) {
                chunk.status = Status::Abandoned(Fate::Known);
            }
            if chunk.status == Status::InFlight {
                chunk.status = Status::Lost(Reason::Timeout);
                self.lost_from = self.lost_from.min(self.una + at as u64);
                self.payload -= chunk.fragment.payload.len() as u64;
                self.lost += 1;
                lost += 1;
            }
        }
        paths[path as usize].known.note(0, lost);
        paths[path as usize].flight = 0;
        paths[path as usize].timed = None;
    }

    /// Puts what waits to be sent again on `path` back in flight there, since it was not lost.
    pub fn find_lost(&mut self, path: u8, paths: &mut [Path]) {
        for at in 0..self.chunks.len() {
            let size = self.size(&self.chunks[at]);
            let chunk = &mut self.chunks[at];
            if chunk.path == path && matches!(chunk.status, Status::Lost(_)) {
                chunk.status = Status::InFlight;
                chunk.misses = 0;
                self.payload += chunk.fragment.payload.len() as u64;
                self.lost -= 1;
                paths[path as usize].flight += size;
                self.reports.on_resend(self.una + at as u64);
            }
        }
    }

    /// Marks everything outstanding on any path to be sent again.
    pub fn expire_all(&mut self, paths: &mut [Path]) {
        (0..paths.len()).for_each(|path| self.expire(path as u8, paths));
    }

    /// Reads a SACK: everything below `cum` has arrived, and what is in its `gaps`; a SHUTDOWN
    /// leaves open what is beyond `cum` (§3.3.8). `cum` must be within what was sent; nonsense in
    /// the gaps is ignored.
    pub fn on_sack(
        &mut self,
        now: Time,
        cum: u64,
        gaps: Option<&[GapBlock]>,
        rules: Rules,
        paths: &mut [Path],
    ) -> Outcome {
        for path in paths.iter_mut() {
            path.sack = Scratch { flight: path.flight, ..Scratch::default() };
        }
        if rules.marked_outstanding && self.lost > 0 {
            for chunk in self.chunks.iter().filter(|chunk| matches!(chunk.status, Status::Lost(_)))
            {
                paths[chunk.path as usize].sack.flight += self.size(chunk);
            }
        }
        let mut outcome = Outcome { advanced: cum > self.una, ..Outcome::default() };
        while self.una < cum {
            let chunk = self.chunks.pop_front().expect("cum is within what was sent");
            outcome.cumulative += chunk.fragment.payload.len() as u64;
            match chunk.status {
                Status::Acked => self.acked -= 1,
                Status::Lost(_) => self.lost -= 1,
                Status::InFlight | Status::Abandoned(_) => {}
            }
            if !chunk.is_abandoned() {
                paths[chunk.path as usize].sack.covered += self.size(&chunk);
            }
            if self.acknowledge(now, self.una, &chunk, paths) {
                outcome.news = true;
                self.highest_new = self.una;
            }
            if let Some(departures) = &mut self.departures {
                departures.pop_front();
            }
            self.una += 1;
        }
        let Some(gaps) = gaps.filter(|gaps| !gaps.is_empty() || self.acked > 0) else {
            return outcome;
        };
        self.on_gaps(now, gaps, rules, paths, &mut outcome);
        outcome
    }

    /// Notes that a chunk has arrived: it leaves the path's flight, and may give an RTT sample.
    /// Returns false when that was known.
    #[inline(always)]
    fn acknowledge(&mut self, now: Time, offset: u64, chunk: &Sent, paths: &mut [Path]) -> bool {
        let size = self.size(chunk);
        let path = &mut paths[chunk.path as usize];
        match chunk.status {
            Status::Acked | Status::Abandoned(_) => return false,
            Status::InFlight => {
                path.flight -= size;
                path.sack.works = true;
                path.sack.certain |= !chunk.wandered;
                self.payload -= chunk.fragment.payload.len() as u64;
            }
            Status::Lost(_) => {}
        }
        path.bytes_acked += chunk.fragment.payload.len() as u64;
        path.sack.acked += size;
        path.sack.chunks += 1;
        path.sack.earliest |= !path.sack.passed;
        if let Some((timed, sent)) = path.timed
            && timed == offset
        {
            path.timed = None;
            // Karn's rule (§6.3.1 C5).
            if chunk.resends == 0 {
                path.sack.rtt = Some(now - sent);
            }
        }
        if let Some(departures) = &self.departures {
            let departure = departures[(offset - self.una) as usize];
            path.on_record(offset, departure.at, &departure.stamp, chunk.resends == 0);
        }
        true
    }

    /// Removes the path at `index`: what is outstanding there is to be sent again, later paths move
    /// up, and what belonged to it belongs to `heir`.
    pub fn remove_path(&mut self, index: u8, heir: u8, paths: &mut [Path]) {
        self.expire(index, paths);
        // What was delivered over the one path says nothing of the other.
        let to = &paths[heir as usize];
        let stamp = to.window.stamp(to.flight);
        let moved_up = |path: u8| path - (path > index) as u8;
        for at in 0..self.chunks.len() {
            let (size, chunk) = (self.size(&self.chunks[at]), &mut self.chunks[at]);
            if chunk.path != index {
                chunk.path = moved_up(chunk.path);
                continue;
            }
            if matches!(chunk.status, Status::Lost(_)) {
                paths[heir as usize].window.adopt(size);
            }
            if let (Some(departures), Some(stamp)) = (&mut self.departures, stamp) {
                departures[at].stamp = stamp;
            }
            chunk.path = moved_up(heir);
        }
    }

    /// Returns whether all that is not acknowledged was given up.
    pub fn is_abandoned(&self) -> bool {
        self.chunks.iter().all(Sent::is_abandoned)
    }

    /// Returns what the peer may not have, and was not given up.
    pub fn undelivered(&self) -> impl Iterator<Item = &Fragment> {
        let left = |chunk: &&Sent| matches!(chunk.status, Status::InFlight | Status::Lost(_));
        self.chunks.iter().filter(left).map(|chunk| &chunk.fragment)
    }

    /// Returns the flight for another association: all its chunks, which must be lost, belong to
    /// `path`, and have headers as those of `new`.
    pub fn moved_to(mut self, path: u8, new: &Flight) -> Flight {
        self.chunks.iter_mut().for_each(|chunk| chunk.path = path);
        self.header = new.header;
        self
    }

    /// Returns the offset of the first chunk that is outstanding on `path`, or is to be sent again
    /// since it was lost there.
    pub fn first_of(&self, path: u8) -> Option<u64> {
        let waits = |s: Status| matches!(s, Status::InFlight | Status::Lost(_));
        let at = self.chunks.iter().position(|c| c.path == path && waits(c.status))?;
        Some(self.una + at as u64)
    }

    /// Returns the stream sequence number of the oldest ordered message of a stream that is not
    /// cumulatively acknowledged.
    pub fn oldest_ssn(&self, stream: u16) -> Option<u16> {
        let of = |sent: &&Sent| sent.fragment.stream == stream && !sent.fragment.is_unordered();
        Some(self.chunks.iter().find(of)?.fragment.number as u16)
    }

    /// Returns whether a chunk from the offset `from` on waits to be sent again that was lost on
    /// `path`.
    pub fn is_marked_beyond(&self, path: u8, from: u64) -> bool {
        let beyond = from.saturating_sub(self.una) as usize;
        let mut chunks = self.chunks.iter().skip(beyond);
        chunks.any(|chunk| chunk.path == path && matches!(chunk.status, Status::Lost(_)))
    }

    /// Returns the index of the first chunk from `from` on that is to be sent again, and why. While
    /// they leave in order each chunk is looked at once.
    pub fn next_lost(&mut self, from: usize) -> Option<(usize, Reason)> {
        if self.lost == 0 {
            return None;
        }
        let first = self.lost_from.saturating_sub(self.una) as usize;
        let mut chunks = self.chunks.range(first.max(from).min(self.chunks.len())..);
        let is_lost = |chunk: &Sent| matches!(chunk.status, Status::Lost(_));
        let at = chunks.position(is_lost).map(|at| first.max(from) + at);
        if from <= first {
            self.lost_from = self.una + at.unwrap_or(self.chunks.len()) as u64;
        }
        match (at?, self.chunks[at?].status) {
            (at, Status::Lost(reason)) => Some((at, reason)),
            _ => None,
        }
    }

    /// Gives up the message of the chunk at `index`, and frees its octets. Returns the chunk's
    /// fragment if the end of the message was not sent.
    pub fn abandon(&mut self, index: usize, paths: &mut [Path]) -> Option<Fragment> {
        let one = self.chunks[index].fragment.clone();
        for at in (0..=index).rev().filter(|_| !one.flags.contains(DataFlags::BEGIN)) {
            if self.give_up(at, &one, paths) && self.has(at, DataFlags::BEGIN) {
                break;
            }
        }
        for at in index..self.chunks.len() {
            if self.give_up(at, &one, paths) && self.has(at, DataFlags::END) {
                return None;
            }
        }
        Some(one)
    }

    /// Gives up what was sent of a message whose end was not.
    pub fn abandon_begun(&mut self, begun: &Fragment, paths: &mut [Path]) {
        for at in (0..self.chunks.len()).rev() {
            if self.give_up(at, begun, paths) && self.has(at, DataFlags::BEGIN) {
                break;
            }
        }
    }

    fn has(&self, at: usize, flag: DataFlags) -> bool {
        self.chunks[at].fragment.flags.contains(flag)
    }

    /// Gives up the chunk at `at` if it is of the same message as `one`. Returns whether it is.
    fn give_up(&mut self, at: usize, one: &Fragment, paths: &mut [Path]) -> bool {
        let chunk = &self.chunks[at];
        if !chunk.fragment.is_sibling(one) {
            return false;
        }
        let (size, len) = (self.size(chunk), chunk.fragment.payload.len() as u64);
        let path = &mut paths[chunk.path as usize];
        let fate = match chunk.status {
            Status::InFlight => {
                path.flight -= size;
                path.window.forget(size);
                self.payload -= len;
                Fate::Open
            }
            Status::Lost(_) => {
                path.window.forget(size);
                self.lost -= 1;
                Fate::Known
            }
            Status::Acked => {
                self.acked -= 1;
                self.reports.forget(self.una + at as u64);
                Fate::Known
            }
            Status::Abandoned(fate) => fate,
        };
        let offset = self.una + at as u64;
        path.timed.take_if(|timed| timed.0 == offset);
        self.chunks[at].status = Status::Abandoned(fate);
        self.chunks[at].fragment.payload = anabranch_wire::Payload::EMPTY;
        true
    }

    /// Takes a TSN for the end of a message that was given up, so that the
    /// receiver can be told to forget its beginning.
    pub fn push_abandoned(&mut self, fragment: Fragment, path: u8) {
        self.push(fragment, Reliability::Reliable, path);
        self.chunks.back_mut().expect("it was pushed").status = Status::Abandoned(Fate::Known);
    }

    /// Returns the chunks from the first on that were given up: what FORWARD-TSN skips.
    pub fn skipped(&self) -> impl Iterator<Item = &Fragment> {
        self.chunks.iter().take_while(|chunk| chunk.is_abandoned()).map(|chunk| &chunk.fragment)
    }
}

#[cfg(test)]
mod tests;
