//! SACKs of the peer are handled here: what [`Sender`](crate::sender::Sender) finds in them, and
//! the steps towards the end that wait for them (RFC 9260 §6.2.1, §9.2).

use super::{Association, Notification};
use crate::sender::Acknowledged;
use crate::state::State;
use crate::timestamp;
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::{GapBlock, SackChunk};

impl Association {
    pub(super) fn on_sack(&mut self, now: Time, sack: &SackChunk) {
        if !self.state().may_transmit() {
            return; // §6: all is acknowledged, or nothing was sent
        }
        if !sack.duplicates.is_empty() {
            self.sender.on_duplicates(&sack.duplicates, &mut self.paths);
        }
        if self.on_cumulative(now, sack.cum_tsn, Some(&sack.gaps), sack.packets) {
            self.sender.window.update(sack.a_rwnd);
        }
    }

    /// Handles a cumulative TSN, with the gap blocks of a SACK, or with none where a SHUTDOWN says
    /// nothing of gaps (§3.3.8). Returns false when it is older than what is known, or was not
    /// sent.
    pub(super) fn on_cumulative(
        &mut self,
        now: Time,
        tsn: Serial32,
        gaps: Option<&[GapBlock]>,
        packets: u8,
    ) -> bool {
        let of = (&mut self.paths[..], &*self.config);
        let (outcome, cum) = match self.sender.on_cumulative(now, tsn, gaps, packets, of) {
            Acknowledged::Late => return false,
            Acknowledged::Impossible => {
                let text = b"acknowledgment of a TSN that was not sent";
                self.on_violation(text);
                return false;
            }
            Acknowledged::Read(outcome, cum) => (outcome, cum),
        };
        for path in 0..self.paths.len() {
            let of = (outcome, cum);
            if self.sender.after_sack(now, path, of, &mut self.paths, &self.config) {
                let state = self.paths[path].state;
                self.notify(Notification::Path { path, state });
            }
        }
        if outcome.news {
            self.paths.forget_failures(); // §8.1
            self.tell_of_room();
        }
        self.tell_again(now);
        self.after_progress(now);
        true
    }

    /// Handles the echo of a timestamp, which is a sample of the RTT whatever was sent again.
    pub(super) fn on_echo(&mut self, now: Time, octets: &[u8]) {
        let sample = timestamp::value(octets).and_then(|value| timestamp::sample(now, value));
        if let Some((path, rtt)) = sample
            && let Some(path) = self.paths.get_mut(path as usize)
        {
            path.on_rtt_sample(rtt);
            self.sender.on_echo(now - rtt, &mut self.paths);
        }
    }

    /// Takes the next step of an orderly end, once nothing is outstanding. What is given up while
    /// the end waits is waited for until the peer has answered FORWARD-TSN, as FreeBSD has it.
    pub(super) fn after_progress(&mut self, now: Time) {
        if !self.sender.is_dry() {
            return;
        }
        match self.state() {
            State::ShutdownPending => self.begin_shutdown(now),
            State::ShutdownReceived => {
                self.phase.acknowledge_shutdown();
                self.paths.stop_retransmission();
                self.send_shutdown_ack(now, self.paths.data_path());
            }
            _ => {}
        }
    }

    /// Takes the first step of an orderly end, as the user has closed. What was given up counts as
    /// acknowledged (RFC 3758 §3.5 A3): where that is all that is left, the end does not wait for
    /// an answer to FORWARD-TSN.
    pub(super) fn after_close(&mut self, now: Time) {
        if self.state() == State::ShutdownPending && self.sender.is_settled() {
            return self.begin_shutdown(now);
        }
        self.after_progress(now);
    }
}
