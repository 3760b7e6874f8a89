//! The contract with the host: [`Endpoint`], and the capabilities of a connection over Multipath TCP.

use super::Connection;
use crate::config::capable_more;
use crate::subflow::Subflow;
use anabranch_endpoint::{
    ByteStream, CloseReason, Demultiplex, Endpoint, Event, HalfClose, MessageOriented, Observation,
    Observe, PathObservation, PeerMemory, Progress, TemporalSharing, TimeWait,
};
use anabranch_units::Time;
use anabranch_wire::{FlowKey, Packet};

impl ByteStream for Connection {
    fn connect(&mut self, now: Time) {
        if !self.has_ended()
            && let Some(first) = self.subflows.first_mut()
        {
            self.session.set_active();
            if self.config.enabled {
                first.tcp.reserve_first(capable_more(self.config.long_numbers));
            }
            first.tcp.connect(now);
            self.readiness.wake(first.id);
        }
    }

    fn write(&mut self, len: u64) -> u64 {
        if self.has_ended() { 0 } else { self.sender.write(len) }
    }

    fn write_octets(&mut self, octets: &[u8]) -> usize {
        let capacity = self.config.subflow.send_buffer;
        if self.has_ended() { 0 } else { self.sender.write_octets(octets, capacity) }
    }

    fn read(&mut self, max: u64) -> u64 {
        let subflows = &self.subflows;
        let (n, tell) = self.receiver.read(max, || subflows.mss());
        self.tell_of_window(tell);
        n
    }

    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        let subflows = &self.subflows;
        let (n, tell) = self.receiver.read_octets(buf, || subflows.mss());
        self.tell_of_window(tell);
        n
    }

    fn close(&mut self) {
        if !self.has_ended() && self.sender.close() {
            self.on_closed_by_user();
        }
    }

    fn abort(&mut self) {
        self.abort_all(CloseReason::Aborted);
    }
}

impl Endpoint for Connection {
    fn handle_input(&mut self, now: Time, packet: &Packet) {
        self.on_packet(now, packet);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.on_timeout(now);
    }

    #[inline]
    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if self.is_settled() { None } else { self.next_packet(now) }
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.pending.take()
    }

    #[inline]
    fn poll_timeout(&self) -> Time {
        let of_subflows = self.readiness.soonest().unwrap_or_else(|| self.subflows.soonest());
        debug_assert_eq!(of_subflows, self.subflows.soonest());
        self.timers.deadline().min(of_subflows)
    }
}

impl HalfClose for Connection {}

impl MessageOriented for Connection {}

impl Observe for Connection {
    fn status(&self) -> String {
        let (unacked, unsent) = (self.sender.unacknowledged(), self.sender.unsent());
        let mut text = format!("{:?}", self.phase()).to_lowercase();
        if unacked + unsent > 0 {
            let window = self.sender.window_left();
            text += &format!(", {unacked} octets sent and not acknowledged, {unsent} not sent");
            text += &format!(", {window} left in the peer's window");
        }
        for subflow in self.subflows.iter() {
            text += &format!("; subflow {}: {}", subflow.id, subflow.tcp.status());
        }
        text
    }

    /// Windows and counts are sums over the subflows; the round-trip time is that
    /// of the fastest.
    fn observe(&self) -> Observation {
        let mut all = Observation {
            bytes_acked: self.sender.una().min(self.sender.data_end()) - 1,
            bytes_received: self.receiver.received(),
            ..Observation::default()
        };
        self.subflows.add_to(&mut all);
        all
    }

    /// The paths that have had a subflow, the oldest first. Counts are those of
    /// all its subflows, the rest is of the one that there is.
    fn observe_path(&self, path: usize) -> Option<PathObservation> {
        self.subflows.observe_path(path)
    }

    fn memory(&self) -> u64 {
        let subflows: u64 = self.subflows.iter().map(|subflow| subflow.tcp.memory()).sum();
        let queued = self.outbox.len() * size_of::<Packet>();
        let kept = self.sender.memory() + self.receiver.memory() + self.paths.memory();
        size_of::<Connection>() as u64 + subflows + queued as u64 + kept
    }
}

impl Demultiplex for Connection {
    fn flow_key(&self) -> FlowKey {
        self.subflows.first_key()
    }

    fn has_flow(&self, key: FlowKey) -> bool {
        self.flow_keys().any(|known| known == key)
    }

    fn join_token(&self) -> Option<u32> {
        Some(self.token())
    }
}

impl TemporalSharing for Connection {
    fn recall(&mut self, memory: &PeerMemory) {
        if let Some(first) = self.first_tcp() {
            first.recall(memory);
        }
    }

    fn has_learnt(&self) -> bool {
        let first = self.subflows.iter().find(|subflow| subflow.key() == self.subflows.first_key());
        first.is_some_and(|first| first.tcp.has_learnt())
    }

    fn remember(&mut self, memory: &mut PeerMemory) {
        if let Some(first) = self.first_tcp() {
            first.remember(memory);
        }
    }
}

impl TimeWait for Connection {}

impl Progress for Connection {
    fn progress_timeout(&self) -> Time {
        let subflows = self.subflows.iter().map(Subflow::progress_deadline);
        subflows.fold(self.timers.deadline(), Time::min)
    }
}
