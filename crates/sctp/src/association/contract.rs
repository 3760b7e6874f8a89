//! The contract with the host is kept here: [`Endpoint`], and the capabilities of an association.

use super::Association;
use crate::paths::path::{Path, PathObservation};
use anabranch_endpoint::{
    ByteStream, Demultiplex, Endpoint, Event, HalfClose, MessageOriented, Messages, Observation,
    Observe, Progress, TemporalSharing, TimeWait,
};
use anabranch_units::Time;
use anabranch_wire::sctp::Chunk;
use anabranch_wire::{Body, Ecn, FlowKey, Packet, SctpPacket};

impl ByteStream for Association {
    fn connect(&mut self, now: Time) {
        if self.phase.is_unopened() {
            self.associate(now);
        }
    }

    fn write(&mut self, len: u64) -> u64 {
        if !self.phase.accepts_user_data() || self.holds_bytes() {
            return 0;
        }
        self.sender.outgoing.write(len);
        len
    }

    fn write_octets(&mut self, octets: &[u8]) -> usize {
        if !self.phase.accepts_user_data() || self.holds_bytes() {
            return 0;
        }
        let space = self.config.send_buffer.saturating_sub(self.sender.held());
        let taken = (octets.len() as u64).min(space) as usize;
        self.sender.outgoing.write_octets(&octets[..taken]);
        self.sender.set_write_blocked(taken < octets.len());
        taken
    }

    fn read(&mut self, max: u64) -> u64 {
        let read = self.receiver.reassembly.read(max, |_, _, _| ());
        self.update_window();
        read
    }

    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        let mut filled = 0;
        let read = self.receiver.reassembly.read(buf.len() as u64, |payload, at, len| {
            let target = &mut buf[filled..filled + len];
            match payload.octets() {
                Some(octets) => target.copy_from_slice(&octets[at..at + len]),
                None => target.fill(0),
            }
            filled += len;
        });
        self.update_window();
        read as usize
    }

    /// Closes both directions: SCTP has no half-closed state, and the peer's unsent data is lost
    /// too (RFC 9260 §1.5.1), what it has sent is delivered.
    fn close(&mut self) {
        self.shut_down();
    }

    fn abort(&mut self) {
        self.abort_by_user(&[]);
    }
}

impl Association {
    /// Returns whether the byte stream takes nothing, since stream 0 is about to start anew (RFC
    /// 6525 §5.1.2 A1); its user hears when it does again.
    fn holds_bytes(&mut self) -> bool {
        let holds = self.is_resetting(0);
        if holds {
            self.sender.set_write_blocked(true);
        }
        holds
    }

    /// Returns the date of the next deadline that is no path's.
    #[inline]
    fn own_deadline(&self) -> Time {
        let own = self.phase.deadline().min(self.receiver.sacks.timer.deadline());
        own.min(self.sender.probe.timer.deadline()).min(self.control.deadline())
    }
}

impl Endpoint for Association {
    fn handle_input(&mut self, now: Time, packet: &Packet) {
        if let Body::Icmp(icmp) = &packet.body {
            return self.on_icmp(now, icmp);
        }
        if let Body::Sctp(sctp) = &packet.body
            && !self.misses_checksum(sctp)
        {
            self.paths.begin_event();
            self.sender.begin_event();
            self.receiver.reassembly.set_now(now);
            if packet.ecn == Ecn::Ce {
                self.on_mark(sctp);
            }
            self.on_packet(now, packet, sctp);
            self.search_mtus(now);
            self.paths.review_standby(now, &self.config, self.sender.window.largest());
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.on_timeout(now);
        self.search_mtus(now);
        self.paths.review_standby(now, &self.config, self.sender.window.largest());
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let mut packet = self.next_packet(now);
        if self.extensions.any()
            && let Some(packet) = &mut packet
        {
            self.make_capable(packet);
            self.leave_checksum_out(packet);
        }
        match &self.control.auth {
            None => packet,
            Some(auth) => packet.map(|packet| self.signed(auth, packet)),
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.pending.take()
    }

    fn poll_timeout(&self) -> Time {
        let deadline = |path: &Path| {
            path.deadline().min(path.heartbeat.deadline()).min(path.search_deadline())
        };
        let paths = self.paths.iter().map(deadline);
        paths.fold(self.own_deadline(), Time::min)
    }
}

impl HalfClose for Association {
    fn has_half_close(&self) -> bool {
        false
    }
}

impl MessageOriented for Association {
    fn messages(&mut self) -> Option<&mut dyn Messages> {
        Some(self)
    }
}

impl Observe for Association {
    fn status(&self) -> String {
        let mut text = self.state().to_string();
        let (unacked, unsent) = (self.sender.flight.chunks.len(), self.sender.outgoing.unsent());
        if unacked > 0 || unsent > 0 {
            let lost = self.sender.flight.lost;
            text += &format!(", {unacked} chunks sent and not acknowledged, {lost} of them lost");
            text += &format!(
                ", {unsent} octets not sent, the peer's window {}",
                self.sender.window.rwnd()
            );
        }
        text
    }

    fn memory(&self) -> u64 {
        let queued = self.control.outbox.len() * size_of::<Packet>()
            + self.control.waiting.len() * size_of::<Chunk>()
            + self.paths.len() * size_of_val(&self.paths[0]);
        size_of::<Association>() as u64
            + queued as u64
            + self.sender.flight.memory()
            + self.receiver.memory()
    }

    /// Returns what observers see of the association. Windows are those of the primary path;
    /// [`Association::observe_paths`] has those of all.
    fn observe(&self) -> Observation {
        let path = &self.paths[self.paths.primary];
        Observation {
            cwnd: path.window.cwnd(),
            ssthresh: path.window.ssthresh(),
            in_flight: path.flight,
            srtt: path.rtt.srtt(),
            latest_rtt: path.rtt.latest(),
            rto: path.rtt.rto(),
            pacing_rate: path.window.pacing_rate(path.rtt.srtt()),
            in_recovery: path.recovery.is_some(),
            dupacks: 0,
            bytes_acked: self.sender.counters.acked,
            bytes_received: self.receiver.reassembly.delivered(),
            packets_sent: self.sender.counters.packets,
            retransmitted_packets: self.sender.counters.retransmitted,
            fast_retransmits: self.paths.iter().map(|path| path.fast_retransmits).sum(),
            ecn_reductions: self.paths.iter().map(|path| path.ecn_reductions).sum(),
            timeouts: self.paths.iter().map(|path| path.timeouts).sum(),
            ..Observation::default()
        }
    }

    fn observe_path(&self, path: usize) -> Option<PathObservation> {
        self.paths.get(path).map(Path::observe)
    }
}

impl Demultiplex for Association {
    /// Returns false for a checksum of zero that nobody has agreed to, which is wrong (RFC 9653
    /// §5.3).
    #[inline]
    fn accepts(&self, packet: &Packet) -> bool {
        !matches!(&packet.body, Body::Sctp(sctp) if self.misses_checksum(sctp))
    }

    fn has_flow(&self, key: FlowKey) -> bool {
        let ports =
            (key.src_port, key.dst_port) == (self.identity.local_port, self.identity.peer_port);
        let leads = |path: &Path| path.remote == key.dst;
        key.protocol == SctpPacket::PROTOCOL
            && ports
            && self.paths.local.contains(&key.src)
            && self.paths.iter().any(leads)
    }

    fn flow_key(&self) -> FlowKey {
        let path = &self.paths[self.paths.primary];
        FlowKey {
            src: path.local,
            dst: path.remote,
            protocol: SctpPacket::PROTOCOL,
            src_port: self.identity.local_port,
            dst_port: self.identity.peer_port,
        }
    }
}

impl TemporalSharing for Association {}

impl TimeWait for Association {}

impl Progress for Association {
    fn progress_timeout(&self) -> Time {
        let paths = self.paths.iter().map(Path::deadline);
        paths.fold(self.own_deadline(), Time::min)
    }
}
