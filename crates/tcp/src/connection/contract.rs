//! The contract with the host: [`Endpoint`], and the capabilities of a TCP connection.

use super::extras::ExtraDue;
use super::phase::Phase;
use super::{Connection, STREAM_LIMIT};
use crate::recovery::Scheme;
use crate::state::State;
use anabranch_endpoint::{
    ByteStream, CloseReason, Demultiplex, Endpoint, Event, HalfClose, MessageOriented, Observation,
    Observe, PeerMemory, Progress, TemporalSharing, TimeWait,
};
use anabranch_units::Time;
use anabranch_wire::{FlowKey, Packet};

impl ByteStream for Connection {
    fn connect(&mut self, now: Time) {
        if self.phase.open(now) {
            self.iss = self.ends.isn(now);
            if let Some(limit) = self.config.opening_timeout {
                self.extras.get().timers[ExtraDue::Opening as usize].set(now + limit);
            }
        }
    }

    fn write(&mut self, len: u64) -> u64 {
        assert!(!self.writing.is_real(), "a stream carries counted or real octets, not both");
        if self.writing.is_closed() {
            return 0;
        }
        let taken = len.min(STREAM_LIMIT - self.sender.end.min(STREAM_LIMIT));
        self.sender.end += taken;
        taken
    }

    fn write_octets(&mut self, octets: &[u8]) -> usize {
        if self.writing.is_closed() {
            return 0;
        }
        assert!(
            self.writing.is_real() || self.sender.end == 1,
            "a stream carries counted or real octets, not both"
        );
        let taken = self.writing.write(octets, self.config.send_buffer);
        self.sender.end += taken as u64;
        taken
    }

    fn room(&self) -> u64 {
        self.writing.room(self.config.send_buffer)
    }

    fn read(&mut self, max: u64) -> u64 {
        self.receiver.read(max, self.sender.mss)
    }

    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        self.receiver.read_octets(buf, self.sender.mss)
    }

    fn close(&mut self) {
        if self.writing.is_closed() {
            return;
        }
        match self.state() {
            State::Closed => {}
            State::Listen => self.finish(CloseReason::Aborted),
            // The end of a stream is queued like its data. (RFC 9293 §3.10.4
            // deletes a TCB in SYN-SENT at CLOSE; that is `abort` here.)
            State::SynSent | State::SynReceived | State::Established => {
                self.writing.close();
                self.sender.end += 1;
                if self.state() == State::Established {
                    self.phase = Phase::FinWait1;
                }
            }
            State::CloseWait => {
                self.writing.close();
                self.sender.end += 1;
                self.phase = Phase::LastAck;
            }
            _ => {}
        }
    }

    fn abort(&mut self) {
        let fin_sent = self.writing.is_closed() && self.sender.max == self.sender.end;
        match self.state() {
            State::Closed => {}
            // RFC 9293 §3.10.5: with both ends of the stream sent there is
            // nothing to take back.
            State::TimeWait => self.finish(CloseReason::Aborted),
            State::Closing | State::LastAck if fin_sent => self.finish(CloseReason::Aborted),
            _ => self.reset(CloseReason::Aborted),
        }
    }
}

impl Endpoint for Connection {
    fn handle_input(&mut self, now: Time, packet: &Packet) {
        self.on_packet(now, packet);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.on_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.next_packet(now)
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.pending.take()
    }

    fn poll_timeout(&self) -> Time {
        self.own_deadline().min(self.extras.deadline()).min(self.scheme.deadline())
    }
}

impl HalfClose for Connection {}

impl MessageOriented for Connection {}

impl Observe for Connection {
    fn status(&self) -> String {
        self.describe()
    }

    fn observe(&self) -> Observation {
        let s = &self.sender;
        let fin_acked = s.una > self.data_end();
        Observation {
            // Nothing may leave before the next ACK where all that is out is lost.
            cwnd: self.scheme.window(s).max(s.mss),
            ssthresh: s.congestion.ssthresh(),
            in_flight: self.scheme.in_flight(s),
            srtt: s.rtt.srtt(),
            latest_rtt: s.rtt.latest(),
            rto: s.rtt.rto(),
            pacing_rate: s.pacing_rate(),
            in_recovery: self.scheme.in_recovery(),
            dupacks: s.dup_acks.count,
            bytes_acked: s.una.saturating_sub(1 + fin_acked as u64),
            bytes_received: self.receiver.received(),
            packets_sent: s.counters.packets,
            retransmitted_packets: s.counters.retransmitted_packets,
            fast_retransmits: s.counters.fast_retransmits as u64,
            timeouts: s.counters.timeouts as u64,
            ecn_reductions: s.counters.ecn_reductions as u64,
            undone_reductions: s.watch.undo.as_ref().map_or(0, |undo| undo.undone as u64),
            tail_loss_probes: self.scheme.tail_loss_probes() as u64,
            // The network makes duplicates, too.
            spurious_retransmissions: (s.counters.spurious as u64)
                .min(s.counters.retransmitted_packets),
        }
    }

    fn memory(&self) -> u64 {
        self.held()
    }
}

impl Demultiplex for Connection {
    fn flow_key(&self) -> FlowKey {
        self.ends.flow_key()
    }

    #[inline]
    fn accepts(&self, packet: &Packet) -> bool {
        self.ends.are_of(packet)
    }
}

impl TemporalSharing for Connection {
    fn recall(&mut self, memory: &PeerMemory) {
        self.recall_fast_open(memory);
    }

    fn has_learnt(&self) -> bool {
        self.has_learnt_fast_open()
    }

    fn remember(&mut self, memory: &mut PeerMemory) {
        self.remember_fast_open(memory);
    }
}

impl TimeWait for Connection {
    fn lingers(&self) -> bool {
        self.state() == State::TimeWait
    }

    fn gives_way_to(&self, packet: &Packet) -> bool {
        Connection::gives_way_to(self, packet)
    }
}

impl Progress for Connection {
    fn progress_timeout(&self) -> Time {
        self.own_deadline().min(self.extras.progress_deadline()).min(self.scheme.deadline())
    }
}
