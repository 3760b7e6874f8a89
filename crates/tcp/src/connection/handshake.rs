//! Opening: RFC 9293 §3.5 and §3.10.7.2–3.10.7.4, with the options that only
//! SYNs carry (MSS, window scale, SACK permitted) and the agreement on
//! timestamps.

use super::extras::ExtraDue;
use super::paws::TsRecent;
use super::phase::{Phase, SynSent};
use super::retransmission::{Retransmission, Timing};
use super::{Agreed, Connection, Reset};
use crate::config::InitialWindow;
use crate::receiver::Receiver;
use crate::recovery::{Active, Recovery, Scheme};
use crate::sender::Sender;
use crate::state::State;
use anabranch_endpoint::CloseReason;
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::{Body, Ecn, Packet, TcpFlags, TcpOptions, TcpSegment};

/// The ACK of a handshake waits so long for a writer (Linux's `TCP_DELACK_MAX`).
const MOST_ACK_DELAY: Span = Span::from_millis(200);

/// With `plain_last_syns` the SYN goes without most options from this retransmission on.
const PLAIN_FROM: u32 = 3;
/// Linux's shortest timeout, two ticks (`TCP_TIMEOUT_MIN`).
const LEAST_TIMEOUT: Span = Span::from_millis(2);

/// The timestamps option takes so many octets from each segment's payload.
pub(super) const TIMESTAMPS_LEN: u64 = 12;

impl Connection {
    /// A segment came in LISTEN (§3.10.7.2).
    pub(super) fn on_segment_in_listen(&mut self, now: Time, segment: &TcpSegment, ecn: Ecn) {
        if segment.flags.contains(TcpFlags::RST) {
            return;
        }
        if segment.flags.contains(TcpFlags::ACK) {
            let silent = self.config.manners.silent_to_syn_ack;
            if !silent || !segment.flags.contains(TcpFlags::SYN) {
                self.reset_due = Some(Reset::answering(segment));
            }
            return;
        }
        if segment.flags.contains(TcpFlags::SYN) && !self.drops_syn_fin(segment) {
            self.iss = self.ends.isn(now);
            self.on_peer_syn(now, segment, ecn);
            self.on_fast_open_request(now, segment);
            self.phase.answer_syn(true);
        }
    }

    /// The segment has SYN and FIN, which the stack is set to drop.
    pub(super) fn drops_syn_fin(&self, segment: &TcpSegment) -> bool {
        let both = TcpFlags::SYN.union(TcpFlags::FIN);
        self.config.manners.drops_syn_fin && segment.flags.contains(both)
    }

    /// A segment came in CLOSED (§3.10.7.1): all is answered by a reset, but for resets.
    pub(super) fn on_segment_in_closed(&mut self, segment: &TcpSegment) {
        if segment.flags.contains(TcpFlags::RST) {
            return;
        }
        self.reset_due = Some(Reset::answering(segment));
    }

    /// In SYN-RECEIVED after a passive OPEN the peer took its SYN back, and another may come
    /// (§3.10.7.4, second and fourth check).
    pub(super) fn return_to_listen(&mut self) {
        let end = self.sender.end;
        self.sender = Sender::new(&self.config);
        self.sender.end = end;
        self.receiver = Receiver::new(&self.config);
        self.scheme = Active::beside(&self.config.recovery, &self.sender.congestion);
        self.phase = Phase::Listen;
        self.agreed = Agreed::default();
        self.stop_timers();
        self.extras.restart();
        if let Some(window) = self.extras.peek().and_then(|extras| extras.subflow.window) {
            self.receiver.share_window(&self.config, window);
        }
        self.retransmission = Retransmission::default();
    }

    /// Takes a handshake up in SYN-RECEIVED whose SYN and SYN-ACK, numbered
    /// `iss`, nobody has remembered (RFC 4987 §3.6).
    pub fn resume(&mut self, now: Time, iss: Serial32, syn: &TcpSegment) {
        self.iss = iss;
        self.on_peer_syn(now, syn, Ecn::NotEct);
        self.phase.answer_syn(true);
        self.phase.on_syn_sent();
        (self.sender.nxt, self.sender.max) = (1, 1);
    }

    /// In TIME-WAIT: a SYN that is later than everything of this connection
    /// (RFC 6191 §2): by its timestamp, or without one, or with an equal one,
    /// by its number (RFC 9293 §3.10.7.4, MAY-2). The host may then drop this
    /// connection and give the SYN to a [`Listener`](crate::Listener).
    pub fn gives_way_to(&self, packet: &Packet) -> bool {
        let Body::Tcp(segment) = &packet.body else { return false };
        let others = TcpFlags::RST.union(TcpFlags::ACK);
        let is_syn = segment.flags.contains(TcpFlags::SYN) && !segment.flags.intersects(others);
        if self.state() != State::TimeWait || !is_syn {
            return false;
        }
        if self.config.manners.bsd_time_wait {
            let nxt = self.receiver.irs.at(self.receiver.nxt);
            return nxt.is_before(segment.seq) && !self.drops_syn_fin(segment);
        }
        let ahead = self.agreed.timestamps.zip(segment.options.timestamps);
        match ahead.map(|(recent, ts)| Serial32(recent.value).distance_from(Serial32(ts.value))) {
            Some(ahead) if ahead != 0 => ahead < 0,
            _ => self.receiver.irs.at(self.receiver.nxt).is_before(segment.seq),
        }
    }

    /// A segment came in SYN-SENT (§3.10.7.3).
    pub(super) fn on_segment_in_syn_sent(&mut self, now: Time, segment: &TcpSegment, ecn: Ecn) {
        let acks = segment.flags.contains(TcpFlags::ACK);
        if acks && !(self.acks_sent_data(segment) && self.echoes_own_stamp(now, segment)) {
            if !segment.flags.contains(TcpFlags::RST) {
                self.reset_due = Some(Reset::answering(segment));
            }
            if self.config.manners.syn_after_reset
                && self.retransmission.retries == 0
                && !self.acks_sent_data(segment)
            {
                self.retransmission.restart(now, LEAST_TIMEOUT);
            }
            return;
        }
        if segment.flags.contains(TcpFlags::RST) {
            if acks {
                self.finish(CloseReason::Refused);
            }
            return;
        }
        if !segment.flags.contains(TcpFlags::SYN) || self.drops_syn_fin(segment) {
            return;
        }
        self.on_peer_syn(now, segment, ecn);
        if acks {
            self.on_own_syn_acked(now, segment);
            if !self.ack_awaits_writer(now) {
                self.receiver.ack_now = true;
            }
            // Sixth and seventh: other controls and text come with it.
            self.on_text(now, segment, 1);
        } else {
            // Simultaneous open: both SYNs crossed (§3.5, figure 8).
            self.phase.answer_syn(false);
            self.queue_text(segment);
        }
    }

    /// Text and FIN of a SYN wait for the connection to be established (§3.10.7.3, fourth check).
    fn queue_text(&mut self, segment: &TcpSegment) {
        let fin = segment.flags.contains(TcpFlags::FIN) && !self.config.manners.ignores_fin_on_syn;
        if !segment.payload.is_empty() || fin {
            self.extras.get().queued = Some((segment.payload.clone(), fin));
        }
    }

    /// The connection is established: what came with the peer's SYN is processed.
    pub(super) fn take_queued_text(&mut self, now: Time, segment: &TcpSegment) {
        if let Some((payload, fin)) = self.extras.some().and_then(|extras| extras.queued.take()) {
            let mut queued = TcpSegment { payload, ..segment.clone() };
            queued.flags = if fin { TcpFlags::FIN } else { TcpFlags::default() };
            self.on_text(now, &queued, 1);
        }
    }

    /// The timestamp that is echoed, if any, left with one of our SYNs: an answer
    /// to something else is none (as in Linux; RFC 7323 §5.3 is about later
    /// segments).
    fn echoes_own_stamp(&self, now: Time, segment: &TcpSegment) -> bool {
        let Phase::SynSent(SynSent { opened, .. }) = &self.phase else { return true };
        let stamp = segment.options.timestamps.filter(|ts| ts.echo != 0);
        stamp.filter(|_| self.config.timestamps).is_none_or(|ts| {
            let age = self.ends.timestamp(now).wrapping_sub(ts.echo) as u64;
            age <= now.as_millis() - opened.as_millis()
        })
    }

    /// A writer waits for the handshake: what it writes carries the ACK.
    fn ack_awaits_writer(&mut self, now: Time) -> bool {
        let waits = self.extras.peek().is_some_and(|extras| extras.hold.writer_waits);
        let window = self.receiver.window();
        let Some(timing) = self.receiver.timing.as_mut().filter(|_| waits) else { return false };
        timing.on_irregular(window);
        self.receiver.owe((1, false));
        self.receiver.delayed_ack.set(now + MOST_ACK_DELAY);
        true
    }

    /// The peer's SYN came: its sequence number counts, and what both sides offer.
    fn on_peer_syn(&mut self, now: Time, segment: &TcpSegment, ecn: Ecn) {
        let offered = &segment.options;
        self.receiver.irs = segment.seq;
        self.receiver.nxt = 1;
        let scale = offered.window_scale.filter(|_| self.config.window_scale);
        self.agreed = Agreed {
            // RFC 7323 §2.3: a shift beyond 14 is used as 14.
            peer_shift: scale.map_or(0, |shift| shift.min(14)),
            own_shift: scale.map_or(0, |_| self.window_shift()),
            scale: scale.is_some(),
            timestamps: offered
                .timestamps
                .filter(|_| self.config.timestamps)
                .map(|ts| TsRecent::new(now, ts.value)),
            sack: offered.sack_permitted && self.config.sack,
        };
        self.receiver.advertise_in_units_of(1 << self.agreed.own_shift);
        self.sender.sack.agree(self.agreed.sack && self.config.recovery.needs_sack());
        // RFC 6691: what is sent is the smaller of both sides', less the options in every segment.
        let peer = offered.mss.unwrap_or(self.config.default_mss).max(64) as u64;
        let mut mss = peer.min(self.config.mss.min(self.offered_mss()) as u64);
        if !self.phase.listens() {
            self.round_buffer(mss);
        }
        mss = mss.saturating_sub(self.options_in_each_segment()).max(1);
        mss = self.start_mtu_search(mss);
        if mss != self.sender.mss {
            self.sender.mss = mss;
            self.sender.congestion.replace(self.config.build_congestion(mss));
        }
        self.agree_on_ecn(segment, ecn);
        if self.config.recovery.needs_sack() && !self.agreed.sack {
            // The peer does not speak SACK: NewReno is what remains.
            let scheme = Recovery::NewReno { impatient: false, exit_growth: false };
            self.scheme = Active::new(&scheme);
        }
        // The window in a SYN is never scaled (RFC 7323 §2.2).
        self.sender.peer_window.update(1, segment.window as u64, (0, 0));
    }

    /// The receive buffer holds whole segments, where that is the stack's habit. After a passive
    /// OPEN it is made so when the connection is established, as where a SYN cache comes first.
    fn round_buffer(&mut self, mss: u64) {
        if self.config.manners.buffer_of_whole_segments {
            self.receiver.hold_whole_segments(mss);
        }
    }

    /// Returns the octets of options that every segment carries (RFC 6691).
    pub(super) fn options_in_each_segment(&self) -> u64 {
        let timestamps = if self.agreed.timestamps.is_some() { TIMESTAMPS_LEN } else { 0 };
        timestamps + self.extras.reserved()
    }

    /// Our SYN was acknowledged: the connection is established.
    pub(super) fn on_own_syn_acked(&mut self, now: Time, segment: &TcpSegment) {
        let again = self.retransmission.retries > 0;
        match self.retransmission.timing(now, u64::MAX) {
            Timing::Took(rtt) => self.sender.rtt.on_sample(rtt),
            _ if self.retransmission.retries > 0 => self.on_syn_was_lost(),
            _ => {}
        }
        let early = self.is_open_early();
        if self.phase.is_opened_passively() {
            self.round_buffer(self.sender.mss + self.options_in_each_segment());
        }
        self.extras.stop_timer(ExtraDue::Opening);
        self.sender.early = false;
        self.sender.una = 1;
        self.sender.nxt = self.sender.nxt.max(1);
        self.sender.max = self.sender.max.max(1);
        self.sender.recovery_point.at = 0; // the SYN
        self.retransmission.on_progress();
        self.retransmission.timer.stop();
        if early && again && self.config.recovery.needs_log() {
            // What left with the SYN-ACK is taken for lost with it, and leaves again at once (Linux).
            self.sender.rtt.reset_backoff();
            self.scheme.on_too_big(&mut self.sender, 0);
        }
        self.restart_rto(now);
        let shift = if segment.flags.contains(TcpFlags::SYN) { 0 } else { self.agreed.peer_shift };
        let ack = segment.ack.expand(self.iss, 1).unwrap_or(1);
        self.sender.peer_window.update(ack, (segment.window as u64) << shift, (0, 1));
        if self.extras.fast_open().is_some() {
            self.on_fast_open_answer(now, segment, ack);
        }
        self.phase = if self.writing.is_closed() { Phase::FinWait1 } else { Phase::Established };
        self.pending.connected |= !early;
        if let Some(timing) = &mut self.receiver.timing {
            timing.on_established(now);
        }
        self.restart_user_timeout(now);
        self.start_keep_alive(now);
        self.note_pacing();
    }

    /// The SYN or its answer was lost: the timeout is longer (RFC 6298 §5.7), and the window one
    /// segment (RFC 5681 §3.1; with RFC 6928's window only when it happened more than once, RFC
    /// 6928 §2). A window given in segments is the user's.
    fn on_syn_was_lost(&mut self) {
        self.sender.rtt.on_syn_lost();
        let least = match self.config.initial_window {
            InitialWindow::Segments(_) => return,
            InitialWindow::Rfc6928 => 2,
            InitialWindow::Rfc2581 | InitialWindow::Rfc3390 => 1,
        };
        if self.retransmission.retries >= least {
            self.sender.congestion.on_idle(self.sender.mss);
        }
    }

    /// Returns the MSS option. Where a router has said that the path carries less, what comes back
    /// is asked to be as small (as in Linux, whose route it is).
    fn offered_mss(&self) -> u32 {
        self.extras
            .peek()
            .and_then(|extras| extras.path_mss)
            .map_or(self.config.mss, |path| self.config.mss.min(path))
    }

    /// Returns the options of our SYN or SYN-ACK: what we offer, or what the peer's offer leaves of
    /// it.
    pub(super) fn syn_options(&self, now: Time) -> TcpOptions {
        let answering = self.state() == State::SynReceived;
        let agreed = &self.agreed;
        let config = &self.config;
        let bare = config.manners.plain_last_syns && self.retransmission.retries >= PLAIN_FROM;
        let scale = if answering {
            agreed.scale.then_some(agreed.own_shift)
        } else {
            (config.window_scale && !bare).then(|| self.window_shift())
        };
        let timestamps =
            if answering { agreed.timestamps.is_some() } else { config.timestamps && !bare };
        let sack = if answering { agreed.sack } else { config.sack && !bare };
        TcpOptions {
            mss: config.offers_mss.then(|| self.offered_mss() as u16),
            window_scale: scale,
            sack_permitted: sack,
            scale_first: config.manners.scale_first && scale.is_some() && (sack || timestamps),
            timestamps: timestamps.then(|| self.timestamps_at(now)),
            ..TcpOptions::default()
        }
    }
}
