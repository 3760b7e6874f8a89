//! SACKs of the peer: what has arrived, what is missing, and what that does
//! to the paths (RFC 9260 §6.2.1, §6.3, §7.2).

use super::renumber::FAR;
use super::{Association, Notification};
use crate::config::Concurrent;
use crate::flight::{Outcome, Rules};
use crate::state::State;
use crate::timestamp;
use crate::window::Progress;
use anabranch_endpoint::CloseReason;
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::{Cause, GapBlock, SackChunk};

impl Association {
    pub(super) fn on_sack(&mut self, now: Time, sack: &SackChunk) {
        if !self.state.is_synchronized() {
            return;
        }
        if self.on_cumulative(now, sack.cum_tsn, &sack.gaps, sack.packets) {
            self.peer_rwnd = sack.a_rwnd as u64;
            self.largest_rwnd = self.largest_rwnd.max(self.peer_rwnd);
        }
    }

    /// A cumulative TSN with gap blocks, of a SACK or a SHUTDOWN; false when
    /// it is older than what is known.
    pub(super) fn on_cumulative(
        &mut self,
        now: Time,
        tsn: Serial32,
        gaps: &[GapBlock],
        packets: u8,
    ) -> bool {
        let Some(cum) = tsn.expand(self.local_origin, self.flight.una) else { return false };
        let cum = cum + 1;
        if cum < self.flight.una {
            return false; // §6.2.1 D i
        }
        if cum > self.flight.next() + FAR {
            return false; // late, from before the numbers changed
        }
        if cum > self.flight.next() {
            let text = b"acknowledgment of a TSN that was not sent";
            let cause = Cause::ProtocolViolation((*text).into());
            self.abort_with(vec![cause], CloseReason::Aborted);
            return false;
        }
        self.heard = true;
        self.await_sack = false;
        self.timed_out = false;
        let rules = Rules {
            missing_reports: self.config.missing_reports,
            highest_newly_acked: self.config.highest_newly_acked,
            multiple: self.config.multiple_fast_retransmit,
            marked_outstanding: self.config.ns2_rules.is_some_and(|it| it.marked_outstanding),
            remembers_highest: self.config.ns2_rules.is_some_and(|it| it.remembers_highest),
            split: self.config.concurrent.is_some_and(|c| c.split_fast_retransmit),
            packets: match self.config.concurrent {
                Some(Concurrent { delayed_ack: true, .. }) => packets.max(1),
                _ => 1,
            },
        };
        let outcome = self.flight.on_sack(now, cum, gaps, rules, &mut self.paths);
        self.counters.acked += outcome.cumulative;
        for index in 0..self.paths.len() {
            self.after_sack(now, index, outcome, cum);
        }
        if outcome.news {
            self.errors = 0; // §8.1
            self.tell_of_room();
        }
        self.fast_due |= outcome.lost;
        if self.partial.is_some() {
            self.tell_again(now);
        }
        self.after_progress(now);
        true
    }

    /// What the SACK did to one path.
    fn after_sack(&mut self, now: Time, index: usize, outcome: Outcome, cum: u64) {
        let chunk = self.max_chunk as u64;
        let next = self.flight.next();
        let path = &mut self.paths[index];
        let sack = path.sack;
        if let Some(rtt) = sack.rtt.filter(|_| !self.config.timestamps) {
            path.rtt.on_sample(rtt);
        }
        if let Some((rtt, least)) = sack.rtt.zip(path.rtt.min_rtt()) {
            path.known.on_round_trip(path.timed_flight, chunk, rtt, least);
        }
        // Fast recovery ends with the TSN that was the highest (§7.2.4).
        let recovering = path.recovery.is_some_and(|exit| match self.config.concurrent {
            // The path's own data, whatever the others wait for.
            Some(Concurrent { window_update: true, .. }) => {
                self.flight.first_of(index as u8).is_some_and(|first| first < exit)
            }
            _ => cum < exit,
        });
        if !recovering {
            path.recovery = None;
        }
        let view = path.view(chunk);
        if sack.acked > 0 {
            let progress = Progress {
                now,
                acked: sack.acked,
                flight: sack.flight,
                idle: path.flight == 0,
                advanced: match self.config.concurrent {
                    Some(Concurrent { window_update: true, .. }) => sack.earliest,
                    _ => outcome.advanced,
                },
                rtt: sack.rtt,
            };
            match recovering {
                true => path.window.on_frozen(&progress),
                false => path.window.on_progress(&progress, &view),
            }
        }
        path.known.note(sack.chunks, sack.lost);
        if sack.works {
            path.known.heard = Some(now);
        }
        let one_point = self.config.ns2_rules.is_some_and(|it| it.recovery_point);
        let reduces = match one_point {
            true => {
                outcome.lost
                    && self.flight.is_marked_beyond(index as u8, path.recovery.unwrap_or(0))
            }
            false => sack.lost > 0 && !recovering,
        };
        if reduces {
            path.window.on_loss(now, false, &view);
            path.fast_retransmits += 1;
            path.recovery = self.config.fast_recovery.then_some(next);
            if one_point {
                self.paths.iter_mut().for_each(|path| path.recovery = Some(next));
            }
        }
        let path = &mut self.paths[index];
        // §6.3.2 R2 to R4.
        if path.flight == 0 {
            path.t3.stop();
        } else if sack.earliest || !path.t3.is_armed() {
            path.t3.set(now + path.rtt.rto());
        }
        // §8.2 asks for an outstanding TSN. A SACK that comes over another path for what had
        // crossed this one before it failed shows nothing.
        if sack.works && path.on_success() {
            let state = path.state;
            self.notify(Notification::Path { path: index, state });
        }
    }

    /// The echo of a timestamp: a sample, whatever was retransmitted.
    pub(super) fn on_echo(&mut self, now: Time, octets: &[u8]) {
        let sample = timestamp::value(octets).and_then(|value| timestamp::sample(now, value));
        if let Some((path, rtt)) = sample
            && let Some(path) = self.paths.get_mut(path as usize)
        {
            path.rtt.on_sample(rtt);
        }
    }

    /// The next step of an orderly end, once nothing is outstanding.
    pub(super) fn after_progress(&mut self, now: Time) {
        if !self.flight.is_empty() || !self.outgoing.is_empty() {
            return;
        }
        match self.state {
            State::ShutdownPending => self.begin_shutdown(now),
            State::ShutdownReceived => {
                self.state = State::ShutdownAckSent;
                self.send_shutdown_ack(now, self.data_path());
            }
            _ => {}
        }
    }

    /// The user has ended. What was given up counts as acknowledged (RFC 3758
    /// §3.5 A3): where that is all that is left, the end does not wait for an
    /// answer to FORWARD-TSN.
    pub(super) fn after_close(&mut self, now: Time) {
        if self.state == State::ShutdownPending
            && self.outgoing.is_empty()
            && self.flight.is_abandoned()
        {
            return self.begin_shutdown(now);
        }
        self.after_progress(now);
    }

    fn begin_shutdown(&mut self, now: Time) {
        self.state = State::ShutdownSent;
        self.send_shutdown(now, self.data_path());
        self.start_guard(now);
    }
}
