//! SACKs of the peer are read here: what has arrived, what is missing, and what that does to the
//! paths (RFC 9260 §6.2.1, §6.3, §7.2).

use super::Sender;
use super::flight::{Outcome, Rules};
use crate::config::{Concurrent, Config};
use crate::numbers::FAR;
use crate::paths::Paths;
use crate::paths::episode::Episode;
use crate::paths::path::{Path, PathState, Scratch};
use crate::paths::window::{Progress, View};
use anabranch_congestion::{Cause, Told};
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::GapBlock;

/// `Acknowledged` is what a cumulative TSN with its gap blocks did.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Acknowledged {
    /// It is older than what is known, or from before the numbers changed.
    Late,
    /// It names a TSN that was not sent.
    Impossible,
    /// It was read, with this outcome, up to before this offset; the association looks at each path
    /// next.
    Read(Outcome, u64),
}

impl Sender {
    /// Reads a cumulative TSN that answers so many packets, with the gap blocks of a SACK; a
    /// SHUTDOWN says nothing of gaps.
    #[inline]
    pub fn on_cumulative(
        &mut self,
        now: Time,
        tsn: Serial32,
        gaps: Option<&[GapBlock]>,
        packets: u8,
        (paths, config): (&mut [Path], &Config),
    ) -> Acknowledged {
        let Some(cum) = tsn.expand(self.origin, self.flight.una) else {
            return Acknowledged::Late;
        };
        let cum = cum + 1;
        if cum < self.flight.una || cum > self.flight.next() + FAR {
            return Acknowledged::Late; // §6.2.1 D i
        }
        if cum > self.flight.next() {
            return Acknowledged::Impossible;
        }
        self.repair.on_sack();
        let outcome = self.flight.on_sack(now, cum, gaps, Rules::of(config, packets), paths);
        self.counters.acked += outcome.cumulative;
        // ns-2's module lets a packet leave with each SACK that finds losses.
        if outcome.lost && config.ns2_rules.is_some_and(|rules| rules.one_packet) {
            self.repair.on_lost();
        }
        Acknowledged::Read(outcome, cum)
    }

    /// Reads the TSNs that the SACK at hand reports as duplicates. One that is acknowledged
    /// cumulatively, so that nothing is known of it any more, does not count.
    #[cold]
    pub fn on_duplicates(&mut self, tsns: &[Serial32], paths: &mut [Path]) {
        let (una, origin) = (self.flight.una, self.origin);
        for offset in tsns.iter().filter_map(|tsn| tsn.expand(origin, una)) {
            let at = offset.checked_sub(una);
            if let Some(chunk) = at.and_then(|at| self.flight.chunks.get(at as usize)) {
                let path = &mut paths[chunk.path as usize];
                path.duplicated += self.flight.size(chunk);
                // RFC 3708 §3 A.4: the network duplicates; A.1: all SACKs of a window were lost.
                self.duplicated_by_network |= chunk.resends == 0;
                if let Some(episode) = &mut path.episode
                    && offset == una
                    && !self.flight.has_reports()
                {
                    episode.close();
                }
            }
            if self.duplicated_by_network {
                continue;
            }
            self.undo_where(paths, |episode| episode.on_duplicate(offset));
        }
    }

    /// Notes that the SACK that was read last answers a packet that left at `stamped`.
    pub fn on_echo(&mut self, stamped: Time, paths: &mut [Path]) {
        self.undo_where(paths, |episode| episode.on_echo(stamped));
    }

    /// Takes back the last reduction of each path for which `spurious` says so.
    fn undo_where(&mut self, paths: &mut [Path], mut spurious: impl FnMut(&mut Episode) -> bool) {
        for index in 0..paths.len() {
            if paths[index].episode.as_mut().is_some_and(|episode| spurious(episode)) {
                paths[index].on_undo();
                self.flight.find_lost(index as u8, paths);
            }
        }
    }

    /// Applies to one path what the SACK did, which acknowledges all before the offset `cum`.
    /// Returns true when the path is active again.
    #[inline]
    pub fn after_sack(
        &mut self,
        now: Time,
        index: usize,
        (outcome, cum): (Outcome, u64),
        paths: &mut Paths,
        config: &Config,
    ) -> bool {
        let sack = paths[index].sack;
        if config.concurrent.is_some() && sack.tells_something() {
            paths.tell_siblings(index);
        }
        let path = &mut paths[index];
        measure(path, &sack, config);
        // Fast recovery ends with the TSN that was the highest (§7.2.4).
        let recovering = path.recovery.is_some_and(|exit| match config.concurrent {
            // The path's own data, whatever the others wait for.
            Some(Concurrent { window_update: true, .. }) => {
                self.flight.first_of(index as u8).is_some_and(|first| first < exit)
            }
            _ => cum < exit,
        });
        if !recovering {
            path.recovery = None;
        }
        if sack.acked > 0 || path.duplicated > 0 {
            path.probation &= sack.acked == 0;
            let may_grow = match config.concurrent {
                Some(Concurrent { window_update: true, .. }) => sack.earliest,
                _ => outcome.advanced || !config.growth_needs_advance,
            };
            grow(now, path, &sack, may_grow, recovering);
        }
        path.known.note(sack.chunks, sack.lost);
        if sack.works {
            path.known.heard = Some(now);
        }
        self.reduce(now, index, outcome, recovering, paths, config);
        let path = &mut paths[index];
        if let Some(episode) = &mut path.episode {
            episode.on_cumulative(cum);
        }
        if sack.tells_something() {
            tell(now, path, &sack);
        }
        if let Some(search) = path.search.as_mut().filter(|_| sack.earliest) {
            search.on_data_arrived();
        }
        // §6.3.2 R2 to R4.
        if path.flight == 0 {
            path.t3.stop();
        } else if sack.earliest || !path.t3.is_armed() {
            path.t3.set(now + path.rtt.rto());
        }
        // §8.2 asks for an outstanding TSN. A SACK that comes over another path for what had
        // crossed this one before it failed shows nothing.
        // With RFC 7829 (§3.2 rule 9) nor does that of what was sent to several.
        let counts =
            sack.certain || config.potentially_failed.is_none() || path.state == PathState::Active;
        sack.works && counts && path.on_success()
    }

    /// Reduces the window of the path if chunks were lost there, once until all is acknowledged
    /// that was outstanding then (§7.2.3, §7.2.4).
    #[inline]
    fn reduce(
        &mut self,
        now: Time,
        index: usize,
        outcome: Outcome,
        recovering: bool,
        paths: &mut Paths,
        config: &Config,
    ) {
        let path = &mut paths[index];
        let one_point = config.ns2_rules.is_some_and(|rules| rules.recovery_point);
        let reduces = match one_point {
            true => {
                outcome.lost
                    && self.flight.is_marked_beyond(index as u8, path.recovery.unwrap_or(0))
            }
            false => path.sack.lost > 0 && !recovering,
        };
        if !reduces {
            return;
        }
        // §7.2.4 rule 3: the first packet of a fast retransmit leaves whatever the window.
        if outcome.lost {
            self.repair.on_lost();
        }
        let next = self.flight.next();
        // What was sent before a mark was answered is answered with it (RFC 3168 §6.1.2).
        if path.sack.highest_lost >= path.reduced || one_point {
            let view = View { flight: path.sack.flight, ..path.view() };
            path.window.on_congestion(now, Cause::Loss, &view);
            path.on_reduced(config, false);
        }
        path.fast_retransmits += 1;
        path.recovery = (config.fast_recovery || path.window.owns_recovery()).then_some(next);
        if one_point {
            paths.iter_mut().for_each(|path| path.recovery = Some(next));
        }
    }
}

/// Takes the round-trip time that the SACK gave, and what it says of the path's rate.
#[inline]
fn measure(path: &mut Path, sack: &Scratch, config: &Config) {
    if let Some(rtt) = sack.rtt.filter(|_| !config.timestamps) {
        path.on_rtt_sample(rtt);
    }
    if let Some((rtt, least)) = sack.rtt.zip(path.rtt.min_rtt()) {
        let chunk = path.room.chunk as u64;
        path.known.on_round_trip(path.timed_flight, chunk, rtt, least);
    }
}

/// Lets the window of the path grow, as something of the path's was newly acknowledged.
#[inline]
fn grow(now: Time, path: &mut Path, sack: &Scratch, may_grow: bool, recovering: bool) {
    let (acked, flight, idle, rtt) = (sack.acked, sack.flight, path.flight == 0, sack.rtt_at(now));
    let duplicated = std::mem::take(&mut path.duplicated);
    let progress = Progress { now, acked, duplicated, flight, idle, may_grow, rtt };
    let view = path.view();
    path.window.on_progress(&progress, recovering || path.marked, &view);
}

/// Tells the window algorithm what the SACK told of its path, after all that it caused.
#[inline]
fn tell(now: Time, path: &mut Path, sack: &Scratch) {
    let marked = std::mem::take(&mut path.marked);
    if path.window.driven().is_none() {
        return;
    }
    let told = Told {
        now,
        acked: sack.covered,
        delivered: sack.acked,
        lost: sack.lost_octets,
        marked: if marked { sack.acked } else { 0 },
        rtt: sack.rtt_at(now),
        in_recovery: path.recovery.is_some(),
    };
    let view = path.view();
    path.window.on_feedback(&told, &view);
}

impl Rules {
    /// Returns the rules of the settings for a SACK that answers so many packets.
    #[inline]
    fn of(config: &Config, packets: u8) -> Rules {
        Rules {
            missing_reports: config.missing_reports,
            highest_newly_acked: config.highest_newly_acked,
            multiple: config.multiple_fast_retransmit,
            marked_outstanding: config.ns2_rules.is_some_and(|rules| rules.marked_outstanding),
            remembers_highest: config.ns2_rules.is_some_and(|rules| rules.remembers_highest),
            split: config.concurrent.is_some_and(|c| c.split_fast_retransmit),
            packets: match config.concurrent {
                Some(Concurrent { delayed_ack: true, .. }) => packets.max(1),
                _ => 1,
            },
        }
    }
}
