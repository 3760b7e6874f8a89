//! What a user may ask a connection: the state behind `TCP_INFO`.

use super::Connection;
use crate::config::Config;
use crate::recovery::Scheme;
use crate::state::State;
use anabranch_congestion::Controller;
use anabranch_units::Span;
use std::sync::Arc;

/// Where loss recovery is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repair {
    /// Nothing is suspicious.
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
    /// Where it is in RFC 9293's diagram.
    pub state: State,
    /// Where loss recovery is.
    pub repair: Repair,
    /// Payload of a full segment.
    pub mss: u64,
    /// The MSS that this side advertises, less the options of each segment.
    pub advertised_mss: u64,
    /// Congestion window; while RACK repairs with PRR, what that makes of it.
    pub cwnd: u64,
    /// Slow-start threshold; `u64::MAX` when infinite.
    pub ssthresh: u64,
    /// Sent and not cumulatively acknowledged.
    pub unacked: u64,
    /// Acknowledged cumulatively, in total.
    pub acked: u64,
    /// Of what is not, SACKed.
    pub sacked: u64,
    /// Of that, believed lost.
    pub lost: u64,
    /// Of that, sent again.
    pub retransmitted: u64,
    /// The largest window that the peer has advertised.
    pub max_window: u64,
    /// Written and never sent.
    pub unsent: u64,
    /// Duplicate ACKs, or segments, that signal a loss.
    pub reordering: u32,
    /// How often segments were seen to arrive behind later ones.
    pub reorderings: u32,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Its variation.
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
    /// SACK is agreed on.
    pub sack: bool,
    /// ECN is agreed on.
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
}

impl Connection {
    /// The state of the connection, for its user.
    pub fn info(&self) -> Info {
        let s = &self.sender;
        let in_recovery = self.scheme.in_recovery();
        let lost = self.scheme.lost(s);
        let sacked = s.board.sacked().total();
        let (config, agreed) = (&self.config, &self.agreed);
        let in_loss = s.recovery_point.is_going_back() || self.scheme.repairs_timeout();
        let repair = match () {
            _ if in_loss => Repair::Loss,
            _ if in_recovery => Repair::Recovery,
            _ if s.recovery_point.cwr > s.una => Repair::Reduced,
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
            max_window: s.peer_window.largest,
            unsent: s.end.saturating_sub(s.max),
            reordering: s.dup_acks.thresh,
            reorderings: s.dup_acks.reorderings,
            srtt: s.rtt.srtt(),
            rttvar: s.rtt.rttvar(),
            min_rtt: s.rtt.min_rtt(),
            rto: s.rtt.rto(),
            retries: self.retransmission.retries,
            probes: self.persist.doublings,
            backoff: s.rtt.backoff(),
            timestamps: agreed.timestamps.is_some(),
            sack: agreed.sack,
            ecn: self.extras.ecn().is_some(),
            window_scale: scaled.then_some((agreed.peer_shift, agreed.own_shift)),
            syn_data: self.is_syn_data_delivered(),
            total_retransmitted_packets: s.counters.retransmitted_packets,
            readable: self.receiver.readable(),
            peer_ended: self.receiver.has_ended(),
        }
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

    /// The settings in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Changes settings of this connection alone. What a setting has already
    /// led to stays: options of a SYN that was sent, a timer that runs, the
    /// window algorithm once there is a first segment size.
    pub fn reconfigure(&mut self, change: impl FnOnce(&mut Config)) {
        change(Arc::make_mut(&mut self.config));
    }
}
