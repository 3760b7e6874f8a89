//! DATA_ACKs and windows of the peer (RFC 8684 §3.3.2, §3.3.5).

use super::{Connection, Phase};
use crate::config::option_room;
use crate::sender::Probe;
use anabranch_units::Time;
use anabranch_wire::tcp::mptcp::Dss;
use anabranch_wire::{TcpFlags, TcpSegment};

impl Connection {
    /// A segment brings a DATA_ACK and a window (§3.3.2, §3.3.5); after the fallback TCP's own.
    pub(super) fn on_acknowledgment(
        &mut self,
        now: Time,
        i: usize,
        segment: &TcpSegment,
        dss: &Option<Dss>,
    ) {
        let tcp = &self.subflows[i].tcp;
        if !tcp.state().is_synchronized() {
            return;
        }
        let shift = if segment.flags.contains(TcpFlags::SYN) { 0 } else { tcp.window_shifts().1 };
        let window = (segment.window as u64) << shift;
        let (una, _) = tcp.outstanding();
        let ack = match self.session.phase() {
            Phase::Opening => return,
            Phase::Fallback => {
                let Some(fallback) = self.session.fallback() else { return };
                // The segment's own: an older one's window is that of its date.
                let ack = tcp.sent_offset(segment.ack).unwrap_or(0).min(una);
                fallback.acknowledged(ack).min(self.sender.data_end())
            }
            Phase::Multipath => {
                let number = dss.as_ref().and_then(|dss| dss.data_ack);
                let ack = match number {
                    Some(number) => self.sender.offset(number),
                    // Before the first: the window of handshakes.
                    None => self.sender.is_unacknowledged().then_some(self.sender.una()),
                };
                let Some(ack) = ack else { return };
                ack
            }
        };
        self.on_data_ack(now, ack, window);
    }

    /// The peer has everything of the stream before `ack`, and a window from there.
    #[inline(always)]
    pub(super) fn on_data_ack(&mut self, now: Time, ack: u64, window: u64) {
        let was_long = self.sender.is_long();
        self.pending.writable |= self.sender.on_data_ack(now, ack, window);
        if self.sender.is_long() != was_long {
            self.make_room_for_long_numbers();
        }
    }

    /// Gives data sequence numbers 64 bits from now on (§3.3.1): segments are that much shorter.
    #[cold]
    fn make_room_for_long_numbers(&mut self) {
        for i in 0..self.subflows.len() {
            self.subflows[i].tcp.reserve_more_options(option_room(true));
            self.touch(i);
        }
    }

    /// The window is closed, or open by too little, and nothing is outstanding.
    pub(super) fn on_probe_timer(&mut self, now: Time) {
        let most = self.config.subflow.max_retries;
        let subflows = &self.subflows;
        let probe = self.sender.on_probe_timer(most, || subflows.is_watched());
        let closed = self.subflows.closed(&self.sender);
        match probe {
            None => {
                self.subflows.look_again(&mut self.readiness);
                self.subflows.ask_peer_on(closed, &mut self.readiness);
            }
            Some(Probe::Best) => {
                if let Some(i) = self.subflows.best() {
                    self.subflows.ask_peer(i, &mut self.readiness);
                }
                self.subflows.ask_peer_on(closed, &mut self.readiness);
            }
            Some(Probe::All) => self.subflows.ask_peer_everywhere(&mut self.readiness),
            Some(Probe::GiveUp) => return self.give_up(now),
        }
        self.arm(now);
    }
}
