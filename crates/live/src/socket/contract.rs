//! The contract with the host: [`Endpoint`], and the capabilities of a socket of the kernel.

use super::{KernelSocket, State};
use anabranch_endpoint::{
    ByteStream, CloseReason, Demultiplex, Endpoint, Event, HalfClose, MessageOriented, Observation,
    Observe, PathObservation, Progress, TemporalSharing, TimeWait,
};
use anabranch_units::{Span, Time};
use anabranch_wire::{FlowKey, Packet};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, connect, recv, send, sockopt};
use std::time::Duration;

impl Endpoint for KernelSocket {
    /// Does nothing: the kernel has the packet already.
    fn handle_input(&mut self, _now: Time, _packet: &Packet) {}

    fn handle_timeout(&mut self, now: Time) {
        if self.sample <= now {
            let every = self.sample_every.unwrap_or(Span::MAX);
            self.sample = now.saturating_add(every);
            if let (Some(subflows), State::Open(fd)) = (&mut self.subflows, &self.state) {
                subflows.look(fd);
            }
        }
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        None
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Time {
        self.sample
    }
}

impl ByteStream for KernelSocket {
    fn connect(&mut self, _now: Time) {
        let State::Idle(fd) = std::mem::replace(&mut self.state, State::Absent) else { return };
        let started = match connect(&fd, &self.remote) {
            Ok(()) | Err(Errno::INPROGRESS) => self.reactor.add_edges(&fd, self.token),
            Err(error) => Err(error),
        };
        match started {
            Ok(()) => self.state = State::Connecting(fd),
            Err(error) => self.fail(error),
        }
    }

    /// Sockets carry real octets: nothing is taken.
    fn write(&mut self, _len: u64) -> u64 {
        0
    }

    fn write_octets(&mut self, octets: &[u8]) -> usize {
        let Some(fd) = self.fd() else { return 0 };
        match send(fd, octets, SendFlags::NOSIGNAL) {
            Ok(taken) => {
                self.wants_to_write |= taken < octets.len();
                taken
            }
            Err(Errno::AGAIN | Errno::INTR) => {
                self.wants_to_write = true;
                0
            }
            Err(error) => {
                self.fail(error);
                0
            }
        }
    }

    fn read(&mut self, _max: u64) -> u64 {
        0
    }

    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        if self.peer_closed {
            return 0;
        }
        let Some(fd) = self.fd() else { return 0 };
        match recv(fd, buf, RecvFlags::empty()) {
            Ok((0, _)) => {
                self.peer_closed = true;
                self.events.push_back(Event::PeerClosed);
                self.end_if_over();
                0
            }
            Ok((taken, _)) => taken,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(error) => {
                self.fail(error);
                0
            }
        }
    }

    fn close(&mut self) {
        self.closing = true;
        self.shut();
    }

    fn abort(&mut self) {
        if let Some(fd) = self.fd() {
            // A linger of zero sends a reset.
            let _ = sockopt::set_socket_linger(fd, Some(Duration::ZERO));
        }
        self.end(CloseReason::Aborted);
    }
}

impl HalfClose for KernelSocket {}

impl MessageOriented for KernelSocket {}

impl Observe for KernelSocket {
    fn observe(&self) -> Observation {
        let together = self.subflows.as_ref().and_then(|subflows| subflows.observation());
        let alone = || self.info().map(|info| info.observation());
        together.or_else(alone).unwrap_or_default()
    }

    fn observe_path(&self, path: usize) -> Option<PathObservation> {
        self.subflows.as_ref()?.path(path)
    }
}

impl Demultiplex for KernelSocket {
    fn flow_key(&self) -> FlowKey {
        self.key
    }
}

impl TemporalSharing for KernelSocket {}

impl TimeWait for KernelSocket {}

impl Progress for KernelSocket {}
