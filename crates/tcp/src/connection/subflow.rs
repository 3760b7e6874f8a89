//! A connection as a subflow, which carries a part of a stream: whoever spreads
//! the stream over several connections decides what each sends, and knows a receive
//! window for all of them together (Multipath TCP, RFC 8684 §3.3).
//!
//! The connection still sees to its own sequence space: what is lost, when it
//! is sent again, how much may be in flight. Its user
//!
//! - writes only what may leave now ([`Connection::takes_more`]) and says when
//!   the window alone kept it from writing ([`Connection::set_waiting`]);
//! - cuts the stream where a segment must not go on ([`Connection::cut`]);
//! - reserves room for options that it adds to the segments that leave
//!   ([`Connection::reserve_options`], [`Connection::reserve_first`]);
//! - writes the window of the whole stream into them, and keeps the peer's
//!   itself ([`Connection::share_window`]);
//! - tells window algorithms of each other ([`Connection::on_siblings`]).
//!
//! A connection that is a whole stream pays a branch a segment for it.

use super::Connection;
use super::extras::Extras;
use crate::recovery::{Next, Scheme};
use crate::state::State;
use anabranch_congestion::Sibling;
#[cfg(doc)]
use anabranch_endpoint::Endpoint;
use anabranch_endpoint::{CloseReason, RttEstimator};
use anabranch_units::{Serial32, Time};
use anabranch_wire::{Packet, Payload};
use std::collections::VecDeque;

/// A `Subflow` is what a connection keeps of the whole stream of which it carries a part.
#[derive(Debug)]
pub(super) struct Subflow {
    /// `cuts` are offsets that no segment crosses, in order.
    cuts: VecDeque<u64>,
    /// `window` is the window of the whole, where its scale is that of the whole.
    pub window: Option<u64>,
    /// `reserved` counts the octets of options that the user adds to every segment.
    pub reserved: u64,
    /// `reserved_first` says how many more it adds to the segment with the first octet.
    pub reserved_first: u32,
    /// `first` is the offset of that octet: 1, or what follows the data that went with the SYN.
    pub first: u64,
    /// `waiting` says that the whole has more to send than the window lets this part have.
    pub waiting: bool,
}

impl Default for Subflow {
    fn default() -> Subflow {
        let (cuts, window) = (VecDeque::new(), None);
        Subflow { cuts, window, reserved: 0, reserved_first: 0, first: 1, waiting: false }
    }
}

impl Subflow {
    /// Returns where a segment from `start` must end.
    pub fn end_of(&self, start: u64) -> u64 {
        // The newest data, as a rule.
        if self.cuts.back().is_none_or(|cut| *cut <= start) {
            return u64::MAX;
        }
        let next = self.cuts.partition_point(|cut| *cut <= start);
        self.cuts.get(next).copied().unwrap_or(u64::MAX)
    }
}

impl Connection {
    /// Writes real octets that the whole keeps too, whatever the buffer's size.
    pub fn write_payload(&mut self, octets: Payload) {
        self.sender.end += octets.len() as u64;
        self.writing.push(octets);
    }

    /// Keeps `octets` of every segment free for options that the user adds;
    /// before the handshake.
    pub fn reserve_options(&mut self, octets: u32) {
        self.extras.subflow_mut().reserved = octets as u64;
    }

    /// Keeps `octets` of every segment free from now on, where that is more than before: the payload of
    /// a full segment shrinks by as much.
    pub fn reserve_more_options(&mut self, octets: u32) {
        let subflow = self.extras.subflow_mut();
        let more = (octets as u64).saturating_sub(subflow.reserved);
        subflow.reserved += more;
        if self.state().is_synchronized() {
            self.sender.mss = self.sender.mss.saturating_sub(more).max(1);
        }
    }

    /// Keeps `octets` more of the segment free that carries the first octet of the stream,
    /// however often it is sent and whatever the path takes by then; 0 ends that.
    pub fn reserve_first(&mut self, octets: u32) {
        self.extras.subflow_mut().reserved_first = octets;
    }

    /// The segment of [`reserve_first`](Connection::reserve_first) is the one that begins at `offset`: what
    /// is before went with the SYN (RFC 7413).
    pub fn begin_at(&mut self, offset: u64) {
        self.extras.subflow_mut().first = offset;
    }

    /// The windows that the user writes into segments are at most `octets`: their
    /// scale follows from that; before the handshake.
    pub fn scale_windows_for(&mut self, octets: u64) {
        self.extras.subflow_mut().window = Some(octets);
        self.receiver.share_window(&self.config, octets);
    }

    /// Returns the shift of the windows that this side advertises.
    pub(super) fn window_shift(&self) -> u8 {
        let whole = self.extras.subflow().and_then(|subflow| subflow.window);
        let config = &self.config;
        let most = config.window_scale_buffer.or(config.receive_buffer_max);
        let own = most.unwrap_or(config.receive_buffer);
        crate::config::window_shift(whole.unwrap_or(own))
    }

    /// Shares the peer's window from now on: the windows that it advertises are not this
    /// connection's alone, which sends what it is given. Its own is [`Connection::own_room`].
    pub fn share_window(&mut self) {
        self.sender.peer_window.share();
    }

    /// What is written next begins a segment, and what was written last ends
    /// one, however often they are sent.
    pub fn cut(&mut self) {
        self.cut_at(self.sender.end);
    }

    /// Cuts as [`cut`](Self::cut) does, at an offset behind the other cuts that has just begun a
    /// segment.
    pub fn cut_at(&mut self, at: u64) {
        let una = self.sender.una;
        let cuts = &mut self.extras.subflow_mut().cuts;
        while cuts.front().is_some_and(|cut| *cut <= una) {
            cuts.pop_front();
        }
        if cuts.back().is_none_or(|cut| *cut < at) {
            cuts.push_back(at);
        }
    }

    /// A segment ends at `at`, which lies before all other cuts.
    pub(super) fn separate(&mut self, at: u64) {
        let extras = self.extras.get();
        if extras.subflow.cuts.front().is_none_or(|cut| at < *cut) {
            extras.subflow.cuts.push_front(at);
        }
        if let Some(marks) = &mut extras.marks {
            marks.push_first(at);
        }
    }

    /// A segment of new data would leave now, if there were one: nothing that
    /// was written waits, and the window and the pacer allow it.
    pub fn takes_more(&mut self, now: Time) -> bool {
        let open = matches!(self.state(), State::Established | State::CloseWait);
        let end = self.sender.end;
        if !open || self.sender.nxt < end || self.waits_for_pacer(now) {
            return false;
        }
        self.sender.end = end + self.sender.mss;
        let next = self.scheme.next(&self.sender);
        self.sender.end = end;
        matches!(next, Next::InOrder(range) if range.start >= end)
    }

    /// Nothing that was written waits, no ACK does, and nothing is under repair:
    /// what leaves next is new data, if there is some and the window allows it. In
    /// a repair, and where a tail loss probe is due, the schemes choose among what
    /// was written, as long as nobody has decided to write more.
    #[inline]
    pub fn awaits_data(&self) -> bool {
        let open = matches!(self.state(), State::Established | State::CloseWait);
        let idle = open && self.sender.nxt >= self.sender.end && !self.receiver.ack_now;
        idle && !self.scheme.may_resend()
    }

    /// What leaves next may have been sent before: in a repair, or as a tail loss probe.
    /// With data that has not been sent the schemes may choose that.
    #[inline]
    pub fn may_resend(&self) -> bool {
        self.scheme.may_resend()
    }

    /// A tail loss probe leaves next, whatever the window (RFC 8985 §7.3).
    #[inline]
    pub fn is_probe_due(&self) -> bool {
        self.scheme.is_probe_due()
    }

    /// The ACK that left last said all that there was: nothing is to be sent, nothing waits
    /// for its ACK, and another poll would bring nothing.
    #[inline]
    pub fn is_silent(&self) -> bool {
        self.state() == State::Established
            && self.sender.is_done()
            && self.receiver.owed() == (0, false)
            && self.reset_due.is_none()
            && !self.sender.congestion.is_paced()
            && self.extras.is_plain()
    }

    /// Polls as [`Endpoint::poll_transmit`] does, with `len` more counted octets, at most a
    /// segment, that are written if they leave with this packet: [`Connection::outstanding`] tells.
    /// One look for the next segment, where [`Connection::takes_more`], a write and a poll take
    /// three. Only while [`Connection::awaits_data`] holds, and what [`Connection::set_waiting`]
    /// was told.
    pub fn poll_transmit_with(&mut self, now: Time, len: u64) -> Option<Packet> {
        let end = self.sender.end;
        self.sender.end = end + len;
        let packet = self.next_packet(now);
        if self.sender.max <= end {
            self.sender.end = end;
        }
        packet
    }

    /// Whether there is more to send than the window let the user write. Then
    /// the window may grow with the ACKs that come (RFC 7661 §4.1).
    #[inline]
    pub fn set_waiting(&mut self, waiting: bool) {
        self.sender.growth.window_limited |= waiting;
        self.extras.subflow_mut().waiting = waiting;
    }

    /// Returns what [`Connection::set_waiting`] was told last.
    #[inline]
    pub(super) fn whole_waits(&self) -> bool {
        self.extras.subflow().is_some_and(|subflow| subflow.waiting)
    }

    /// An ACK leaves with the next poll.
    #[inline]
    pub fn ask_for_ack(&mut self) {
        self.receiver.ack_now |= self.state().is_synchronized();
    }

    /// The peer is asked for an ACK: by a keep-alive (RFC 9293 §3.8.4).
    pub fn ask_peer_for_ack(&mut self) {
        self.extras.get().keep_alive.probe();
    }

    /// Takes up to `max` octets that arrived in order, counted or real as they
    /// came.
    pub fn read_payload(&mut self, max: u32) -> Payload {
        self.receiver.take(max, self.sender.mss)
    }

    /// Returns the octets that arrived in order and can be read.
    #[inline]
    pub fn readable(&self) -> u64 {
        self.receiver.readable()
    }

    /// Forgets the events of octets and room that have come, and returns whether there are others:
    /// whoever reads and writes by [`Connection::readable`] and [`Connection::takes_more`] need not
    /// hear them.
    #[inline]
    pub fn has_news(&mut self) -> bool {
        let pending = &mut self.pending;
        (pending.readable, pending.writable, pending.urgent) = (false, false, false);
        !pending.is_empty()
    }

    /// Returns the offset of the octet that is read next; the first octet of data has offset 1.
    #[inline]
    pub fn read_offset(&self) -> u64 {
        self.receiver.read_offset()
    }

    /// Returns whether the segment that came last, in a synchronized state, passed the checks of
    /// its sequence and acknowledgment numbers (RFC 9293 §3.10.7.4, RFC 5961), so that what else it
    /// carries counts.
    #[inline]
    pub fn has_passed(&self) -> bool {
        self.passed
    }

    /// Returns how many octets after the last that was written fit the window that the peer advertises
    /// on this connection's own segments ([`Connection::share_window`]).
    #[inline]
    pub fn own_room(&self) -> u64 {
        self.sender.peer_window.own_edge().saturating_sub(self.sender.end)
    }

    /// Returns the offset of the octet that is expected next.
    pub fn next_expected(&self) -> u64 {
        self.receiver.nxt
    }

    /// Returns the offset of a number that this side sends.
    #[inline]
    pub fn sent_offset(&self, seq: Serial32) -> Option<u64> {
        seq.expand(self.iss, self.sender.nxt)
    }

    /// Returns the offset of a number that the peer sends.
    #[inline]
    pub fn received_offset(&self, seq: Serial32) -> Option<u64> {
        seq.expand(self.receiver.irs, self.receiver.nxt)
    }

    /// Ends the connection with a reset, as after too many retransmissions: whoever has asked the
    /// peer for ACKs has had none for as long.
    pub fn give_up(&mut self) {
        self.reset(CloseReason::TimedOut);
    }

    /// Returns the oldest unacknowledged offset, and the offset after the last that was written,
    /// the FIN included.
    #[inline]
    pub fn outstanding(&self) -> (u64, u64) {
        (self.sender.una, self.sender.end)
    }

    /// Returns the offset after the last octet that has left.
    #[inline]
    pub fn sent_to(&self) -> u64 {
        self.sender.max
    }

    /// Returns the low 32 bits of the offset of a number that this side sends.
    #[inline]
    pub fn relative_number(&self, seq: Serial32) -> u32 {
        seq.0.wrapping_sub(self.iss.0)
    }

    /// Returns the sequence number of an offset that this side sends.
    pub fn sequence_number(&self, offset: u64) -> Serial32 {
        self.iss.at(offset)
    }

    /// Returns the sequence number of an offset that the peer sends.
    pub fn received_number(&self, offset: u64) -> Serial32 {
        self.receiver.irs.at(offset)
    }

    /// Returns the shifts of the windows that this side and that the peer advertises (RFC 7323 §2).
    #[inline]
    pub fn window_shifts(&self) -> (u8, u8) {
        (self.agreed.own_shift, self.agreed.peer_shift)
    }

    /// Returns the payload of a full segment.
    #[inline]
    pub fn mss(&self) -> u64 {
        self.sender.mss
    }

    /// Returns the expiries of the retransmission timer so far.
    #[inline]
    pub fn timeouts(&self) -> u32 {
        self.sender.counters.timeouts
    }

    /// Returns the octets in the network, as loss recovery estimates them.
    pub fn in_flight(&self) -> u64 {
        self.scheme.in_flight(&self.sender)
    }

    /// Returns the slow-start threshold in octets; infinite at first.
    pub fn ssthresh(&self) -> u64 {
        self.sender.congestion.ssthresh()
    }

    /// Returns the estimate of the round-trip time.
    #[inline]
    pub fn rtt(&self) -> &RttEstimator {
        &self.sender.rtt
    }

    /// Returns the window algorithm as others see it.
    pub fn sibling(&self) -> Sibling {
        let s = &self.sender;
        Sibling {
            window: s.cwnd(),
            slow_start: s.cwnd() < s.congestion.ssthresh(),
            mss: s.mss,
            srtt: s.rtt.srtt(),
            min_rtt: s.rtt.min_rtt(),
            state: s.congestion.shared(),
        }
    }

    /// What couples the window to those of the other connections that carry the stream, in the
    /// algorithm's unit; `None` where it is not coupled.
    pub fn coupling(&self) -> Option<f64> {
        self.sender.congestion.coupling(&self.sibling())
    }

    /// The window algorithm wants to hear of the other connections before each
    /// segment that arrives.
    #[inline]
    pub fn is_coupled(&self) -> bool {
        self.sender.congestion.is_coupled()
    }

    /// Tells the window algorithm of the other connections that carry the stream.
    pub fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.sender.congestion.on_siblings(siblings);
    }

    /// This connection holds the others back: half of its window goes.
    pub fn penalise(&mut self) {
        let mss = self.sender.mss;
        self.sender.congestion.on_penalty(mss);
    }

    /// Returns how often the SYN was sent again: what the user adds to it may be what was lost.
    pub fn syn_retries(&self) -> u32 {
        if self.state().is_synchronized() { 0 } else { self.retransmission.retries }
    }
}

impl Extras {
    /// Returns the octets of options that the user adds.
    pub fn reserved(&self) -> u64 {
        self.subflow().map_or(0, |subflow| subflow.reserved)
    }

    /// Leaves what is to be left when a handshake begins again.
    pub fn restart(&mut self) {
        let kept = |subflow: &Subflow| (subflow.reserved, subflow.reserved_first, subflow.window);
        let (reserved, first, window) = self.subflow().map_or((0, 0, None), kept);
        let fast_open = self.fast_open().map(|fast_open| Box::new(fast_open.again()));
        *self = Extras::default();
        if reserved > 0 || first > 0 || window.is_some() {
            let subflow = self.subflow_mut();
            (subflow.reserved, subflow.reserved_first, subflow.window) = (reserved, first, window);
        }
        if fast_open.is_some() {
            self.get().fast_open = fast_open;
        }
    }
}
