//! The contract with the host: [`Endpoint`] and [`ByteStream`].

use super::Association;
use crate::path::{Path, PathObservation};
use crate::state::State;
use anabranch_endpoint::{ByteStream, CloseReason, Endpoint, Event, Messages, Observation, Timer};
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::Chunk;
use anabranch_wire::{Body, Ecn, FlowKey, Packet, SctpPacket};

impl ByteStream for Association {
    fn connect(&mut self, now: Time) {
        if self.state == State::Closed && !self.ended {
            self.associate(now);
        }
    }

    fn write(&mut self, len: u64) -> u64 {
        if self.ended || !self.state.accepts_user_data() || self.is_closing() {
            return 0;
        }
        self.outgoing.write(len);
        len
    }

    fn write_octets(&mut self, octets: &[u8]) -> usize {
        if self.ended || !self.state.accepts_user_data() || self.is_closing() {
            return 0;
        }
        let space = self.config.send_buffer.saturating_sub(self.held());
        let taken = (octets.len() as u64).min(space) as usize;
        self.outgoing.write_octets(&octets[..taken]);
        self.write_blocked = taken < octets.len();
        taken
    }

    fn read(&mut self, max: u64) -> u64 {
        let read = self.reassembly.read(max, |_, _, _| ());
        self.update_window();
        read
    }

    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        let mut filled = 0;
        let read = self.reassembly.read(buf.len() as u64, |payload, at, len| {
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

    /// SCTP has no half-closed state: the peer's unsent data is lost too
    /// (RFC 9260 §1.5.1), what it has sent is delivered.
    fn close(&mut self) {
        self.shut_down();
    }

    fn has_half_close(&self) -> bool {
        false
    }

    fn messages(&mut self) -> Option<&mut dyn Messages> {
        Some(self)
    }

    fn abort(&mut self) {
        self.abort_with(Vec::new(), CloseReason::Aborted);
    }
}

impl Association {
    /// The next deadline that is no path's.
    #[inline]
    fn own_deadline(&self) -> Time {
        let own = self.timers.iter().map(Timer::deadline).min().unwrap_or(Time::NEVER);
        let own = match &self.reconfig {
            None => own,
            Some(reconfig) => own.min(reconfig.deadline()),
        };
        match &self.addresses {
            None => own,
            Some(addresses) => own.min(addresses.timer.deadline()),
        }
    }
}

impl Endpoint for Association {
    fn handle_input(&mut self, now: Time, packet: &Packet) {
        if let Body::Icmp(icmp) = &packet.body {
            return self.on_icmp(icmp);
        }
        if let Body::Sctp(sctp) = &packet.body {
            self.burst_limited = 0;
            self.nagle_passed = false;
            self.reassembly.set_now(now);
            if packet.ecn == Ecn::Ce {
                self.on_mark(sctp);
            }
            self.on_packet(now, packet, sctp);
            self.review_standby(now);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.on_timeout(now);
        self.review_standby(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let mut packet = self.next_packet(now);
        if self.extended
            && let Some(packet) = &mut packet
        {
            self.make_capable(packet);
        }
        match &self.auth {
            None => packet,
            Some(auth) => packet.map(|packet| self.signed(auth, packet)),
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.pending.take()
    }

    fn progress_timeout(&self) -> Time {
        let paths = self.paths.iter().map(|path| path.t3.deadline());
        paths.fold(self.own_deadline(), Time::min)
    }

    fn status(&self) -> String {
        let mut text = self.state.to_string();
        let (unacked, unsent) = (self.flight.chunks.len(), self.outgoing.unsent());
        if unacked > 0 || unsent > 0 {
            let lost = self.flight.lost;
            text += &format!(", {unacked} chunks sent and not acknowledged, {lost} of them lost");
            text += &format!(", {unsent} octets not sent, the peer's window {}", self.peer_rwnd);
        }
        text
    }

    fn poll_timeout(&self) -> Time {
        let paths = self.paths.iter().map(|path| path.t3.deadline().min(path.heartbeat.deadline()));
        paths.fold(self.own_deadline(), Time::min)
    }

    /// Windows are those of the primary path; [`Association::observe_paths`]
    /// has all.
    fn memory(&self) -> u64 {
        let queued = self.outbox.len() * size_of::<Packet>()
            + self.control.len() * size_of::<Chunk>()
            + self.duplicates.len() * size_of::<Serial32>()
            + self.paths.len() * size_of_val(&self.paths[0]);
        let parts = self.parts.as_ref().map_or(0, |parts| parts.octets());
        let received = self.reassembly.memory() + parts + self.map.memory();
        size_of::<Association>() as u64 + queued as u64 + self.flight.memory() + received
    }

    fn observe(&self) -> Observation {
        let path = &self.paths[self.primary];
        Observation {
            cwnd: path.window.cwnd(),
            ssthresh: path.window.ssthresh(),
            in_flight: path.flight,
            srtt: path.rtt.srtt(),
            latest_rtt: path.rtt.latest(),
            rto: path.rtt.rto(),
            pacing_rate: None,
            in_recovery: path.recovery.is_some(),
            dupacks: 0,
            bytes_acked: self.counters.acked,
            bytes_received: self.reassembly.delivered(),
            packets_sent: self.counters.packets,
            retransmitted_packets: self.counters.retransmitted,
            fast_retransmits: self.paths.iter().map(|path| path.fast_retransmits).sum(),
            timeouts: self.paths.iter().map(|path| path.timeouts).sum(),
            ..Observation::default()
        }
    }

    fn observe_path(&self, path: usize) -> Option<PathObservation> {
        self.paths.get(path).map(Path::observe)
    }

    fn has_flow(&self, key: FlowKey) -> bool {
        let ports = (key.src_port, key.dst_port) == (self.local_port, self.peer_port);
        let leads = |it: &Path| it.remote == key.dst;
        key.protocol == SctpPacket::PROTOCOL
            && ports
            && self.local.contains(&key.src)
            && self.paths.iter().any(leads)
    }

    fn flow_key(&self) -> FlowKey {
        let path = &self.paths[self.primary];
        FlowKey {
            src: path.local,
            dst: path.remote,
            protocol: SctpPacket::PROTOCOL,
            src_port: self.local_port,
            dst_port: self.peer_port,
        }
    }
}
