//! What a user may ask a connection: the state behind `TCP_INFO`.

use super::Connection;
use crate::config::Config;
use crate::recovery::Scheme;
use crate::state::State;
use anabranch_units::Span;
use std::sync::Arc;

/// Counts of segments, as they left; where no log is kept, of octets in full segments.
pub use crate::send_log::SegmentCounts;

/// The state of loss recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repair {
    /// Nothing points to a loss or to congestion.
    Open,
    /// There are duplicate ACKs or SACKed segments.
    Disorder,
    /// An echo of congestion reduced the window.
    Reduced,
    /// Losses found by acknowledgments are repaired.
    Recovery,
    /// Losses are repaired after a timeout.
    Loss,
}

/// The state of a connection; octets unless named otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// State of the connection in RFC 9293's diagram.
    pub state: State,
    /// State of loss recovery.
    pub repair: Repair,
    /// Payload of a full segment.
    pub mss: u64,
    /// The MSS that this side advertises, less the options of each segment.
    pub advertised_mss: u64,
    /// Congestion window; while losses are repaired with PRR, what that lets be in flight (RFC 9937 §6).
    pub cwnd: u64,
    /// Slow-start threshold; `u64::MAX` when infinite.
    pub ssthresh: u64,
    /// Sent and not cumulatively acknowledged.
    pub unacked: u64,
    /// Acknowledged cumulatively, in total.
    pub acked: u64,
    /// Octets of `unacked` that are SACKed.
    pub sacked: u64,
    /// Octets of `unacked` that are believed lost.
    pub lost: u64,
    /// Octets of `unacked` that were sent again.
    pub retransmitted: u64,
    /// The same counts in segments, and how many segments arrived.
    pub segments: SegmentCounts,
    /// The largest window that the peer has advertised.
    pub max_window: u64,
    /// Written and never sent.
    pub unsent: u64,
    /// Duplicate ACKs, or segments, that signal a loss.
    pub reordering: u32,
    /// Times that segments were seen to arrive behind later ones.
    pub reorderings: u32,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Variation of the round-trip time (RTTVAR, RFC 6298).
    pub rttvar: Option<Span>,
    /// Smallest round-trip time.
    pub min_rtt: Option<Span>,
    /// Retransmission timeout, back-off included.
    pub rto: Span,
    /// Timeouts since something new was acknowledged.
    pub retries: u32,
    /// Probes of a closed window without an answer.
    pub probes: u32,
    /// Doublings of the retransmission timeout.
    pub backoff: u32,
    /// Timestamps are agreed on.
    pub timestamps: bool,
    /// Both sides agreed on SACK.
    pub sack: bool,
    /// Both sides agreed on ECN.
    pub ecn: bool,
    /// Shifts of the peer's windows and of ours, where agreed on.
    pub window_scale: Option<(u8, u8)>,
    /// Data in a SYN was accepted (RFC 7413).
    pub syn_data: bool,
    /// Packets sent again, in total.
    pub total_retransmitted_packets: u64,
    /// Payload that arrived in order and was not read.
    pub readable: u64,
    /// The peer's stream has ended, and all of it has arrived.
    pub peer_ended: bool,
    /// Octets of our advertised window that the peer may still use.
    pub own_window: u64,
    /// Octets of the peer's window above what it has acknowledged.
    pub peer_window: u64,
    /// The largest packet that the path is believed to carry, with an IPv4 header.
    pub path_mtu: u64,
    /// The payload of the peer's full segments, where ACKs adapt to it.
    pub peer_mss: u64,
}

impl Connection {
    /// The receive buffer in octets, as it is now.
    pub fn receive_buffer(&self) -> u64 {
        self.receiver.size()
    }

    /// The state of the connection, for its user.
    pub fn info(&self) -> Info {
        let s = &self.sender;
        let in_recovery = self.scheme.in_recovery();
        let lost = self.scheme.lost(s);
        let sacked = s.board.sacked().total();
        let (config, agreed) = (&self.config, &self.agreed);
        let in_loss = s.recovery_point.is_going_back() || self.scheme.repairs_timeout();
        let repair = match () {
            // What the SYN carried is sent again, or the SYN is.
            _ if self.resent_of_syn() > 0 => Repair::Loss,
            _ if self.is_opening_actively() && self.retransmission.syns_again > 0 => Repair::Loss,
            _ if in_loss => Repair::Loss,
            _ if in_recovery => Repair::Recovery,
            // The window stays reduced until more than that is acknowledged (Linux).
            _ if s.recovery_point.cwr >= s.una && s.recovery_point.cwr > 0 => Repair::Reduced,
            _ if sacked > 0 || s.dup_acks.count > 0 => Repair::Disorder,
            _ => Repair::Open,
        };
        let scaled = agreed.own_shift > 0 || agreed.peer_shift > 0;
        Info {
            state: self.state(),
            repair,
            mss: s.mss,
            advertised_mss: config.mss as u64 - self.options_in_each_segment(),
            cwnd: self.scheme.window(s),
            ssthresh: s.congestion.ssthresh(),
            unacked: s.max - s.una,
            acked: s.una.saturating_sub(1).min(self.data_end() - 1),
            sacked,
            lost,
            retransmitted: self.scheme.resent(s) + self.resent_of_syn(),
            segments: self.segment_counts(),
            max_window: s.peer_window.largest,
            unsent: s.end.saturating_sub(s.max),
            reordering: s.dup_acks.thresh,
            reorderings: s.dup_acks.reorderings,
            srtt: s.rtt.srtt(),
            rttvar: s.rtt.rttvar(),
            min_rtt: s.rtt.min_rtt(),
            rto: s.rtt.rto(),
            retries: self.retransmission.retries,
            probes: self.persist.silent.max(self.keep_alive_probes()),
            backoff: s.rtt.backoff().max(self.persist.doublings),
            timestamps: agreed.timestamps.is_some(),
            sack: agreed.sack,
            ecn: self.extras.ecn().is_some(),
            window_scale: scaled.then_some((agreed.peer_shift, agreed.own_shift)),
            syn_data: self.is_syn_data_delivered(),
            total_retransmitted_packets: s.counters.retransmitted_packets
                + self.retransmission.syns_again as u64,
            readable: self.receiver.readable(),
            peer_ended: self.receiver.has_ended(),
            own_window: self.receiver.window(),
            peer_window: s.peer_window.edge.saturating_sub(s.una),
            path_mtu: self.path_mtu(),
            peer_mss: self.receiver.timing.as_ref().map_or(s.mss, |timing| timing.segment()),
        }
    }

    /// Our SYN is outstanding after an active OPEN.
    fn is_opening_actively(&self) -> bool {
        let opening = matches!(self.state(), State::SynSent | State::SynReceived);
        opening && !self.phase.is_opened_passively()
    }

    /// Counts segments. A SYN is one, and its data another (as in Linux); of both no more than one
    /// counts as delivered.
    fn segment_counts(&self) -> SegmentCounts {
        let s = &self.sender;
        if self.is_opening_actively() {
            let unacked = 1 + (self.sent_with_syn() > 0) as u64;
            let again = self.retransmission.syns_again > 0;
            let (lost, resent) = (if again { unacked } else { 0 }, again as u64);
            return SegmentCounts { unacked, lost, resent, ..SegmentCounts::default() };
        }
        let refused = if self.resent_of_syn() > 0 { 1 + self.sent_with_syn() } else { 0 };
        let mut counts = s.watch.log.as_ref().map_or_else(
            || {
                let segments = |octets: u64| octets.div_ceil(s.mss.max(1));
                let acked = s.una.saturating_sub(1);
                SegmentCounts {
                    unacked: segments(s.max - s.una.min(s.max)),
                    sacked: segments(s.board.sacked().total()),
                    lost: segments(self.scheme.lost(s)),
                    resent: segments(self.scheme.resent(s)),
                    delivered: segments(acked.saturating_sub(self.sent_with_syn())),
                }
            },
            |log| log.counts(refused),
        );
        counts.delivered += self.state().is_synchronized() as u64;
        counts
    }

    /// See [`Endpoint::status`](anabranch_endpoint::Endpoint::status).
    pub(super) fn describe(&self) -> String {
        let s = &self.sender;
        let mut text = self.state().to_string();
        let end = self.data_end();
        let (sent, acked) = (s.max.clamp(1, end), s.una.clamp(1, end));
        let (unacked, unsent) = (sent - acked, end - sent);
        if unacked + unsent > 0 && self.state().is_synchronized() {
            text += &format!(", {unacked} octets sent and not acknowledged, {unsent} not sent");
            text += &format!(", window {}", self.scheme.window(s));
            match s.peer_window.edge.saturating_sub(s.max) {
                _ if s.peer_window.is_shared() => {}
                0 => text += ", the peer's window closed",
                room => text += &format!(", {room} left in the peer's window"),
            }
        }
        if self.receiver.window() == 0 && !self.receiver.has_ended() {
            text += ", own receive window closed";
        }
        text
    }

    /// Octets of state, of what was sent and may have to be sent again, and of what arrived
    /// and was not read.
    pub(super) fn held(&self) -> u64 {
        let s = &self.sender;
        let sent = s.max - s.una.min(s.max);
        let log = s.watch.log.as_ref().map_or(0, |log| log.memory());
        size_of::<Connection>() as u64 + sent + s.board.memory() + log + self.receiver.held()
    }

    /// Returns the settings in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Changes settings of this connection alone. What a setting has already
    /// led to stays: options of a SYN that was sent, a timer that runs, the
    /// window algorithm once there is a first segment size. Keep-alives begin and end with it.
    pub fn reconfigure(&mut self, change: impl FnOnce(&mut Config)) {
        let idle = |config: &Config| config.keep_alive.map(|keep_alive| keep_alive.idle);
        let before = idle(&self.config);
        change(Arc::make_mut(&mut self.config));
        if idle(&self.config) != before {
            self.rethink_keep_alive();
        }
    }
}
