//! Applications: what writes and reads the streams. Sans-I/O and a closed
//! set; an application answers its endpoint's events with commands.

use anabranch_endpoint::{ByteStream, CloseReason, Event};
use anabranch_network::NodeId;
use anabranch_units::Time;
use anabranch_wire::pattern;

/// Description of an application. Every application reads what arrives at
/// once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum App {
    /// Writes this many octets at once (`None`: without end), then closes.
    Bulk {
        /// How many.
        bytes: Option<u64>,
    },
    /// Writes nothing; closes when the peer has closed.
    Sink,
    /// As `Bulk`, where the peer writes too.
    BulkAndSink {
        /// How many.
        bytes: Option<u64>,
    },
}

impl App {
    /// Octets that it writes; `u64::MAX` without end.
    pub(crate) fn target(&self) -> u64 {
        match self {
            App::Bulk { bytes } | App::BulkAndSink { bytes } => bytes.unwrap_or(u64::MAX),
            App::Sink => 0,
        }
    }
}

/// What an endless application writes of counted octets: more than any run
/// moves.
const ENDLESS: u64 = 1 << 60;

/// An application at work, 48 octets: there is one for each of 200,000
/// endpoints.
#[derive(Debug)]
pub(crate) struct AppState {
    /// Octets to write; `u64::MAX` without end.
    target: u64,
    /// Octets written.
    written: u64,
    /// Octets that the peer will write; `u64::MAX` without end.
    expected: u64,
    /// Octets read.
    pub received: u64,
    /// When the last of them came.
    last: Time,
    /// The host.
    pub node: NodeId,
    wrong: u16,
    bits: u8,
    pub closed: Option<CloseReason>,
}

/// Writes nothing and closes after the peer.
const SINK: u8 = 1;
/// The streams are of real octets.
const OCTETS: u8 = 2;
/// The end of the stream was written.
const CLOSED: u8 = 4;
/// The connection was established.
const ESTABLISHED: u8 = 8;
/// Nothing more is expected from the peer, be it all there or not.
const OVER: u8 = 16;

impl AppState {
    pub(crate) fn new(app: App, peer: App, octets: bool, node: NodeId) -> AppState {
        let mut state = AppState {
            target: app.target(),
            written: 0,
            expected: peer.target(),
            received: 0,
            last: Time::ZERO,
            node,
            wrong: 0,
            bits: 0,
            closed: None,
        };
        state.set(SINK, app == App::Sink);
        state.set(OCTETS, octets);
        state.set(OVER, state.expected == 0 || state.expected == u64::MAX);
        state
    }

    /// Connects, and writes what is written at once.
    pub(crate) fn start<E: ByteStream>(&mut self, now: Time, endpoint: &mut E, buf: &mut [u8]) {
        endpoint.connect(now);
        self.write(endpoint, buf);
    }

    /// The flow's date of stopping has come: aborts an endless stream.
    pub(crate) fn stop<E: ByteStream>(&mut self, endpoint: &mut E) {
        if self.target == u64::MAX && self.closed.is_none() {
            self.set(CLOSED, true);
            endpoint.abort();
        }
    }

    /// Answers an event; true when it has just become clear that nothing more
    /// of a stream of known length will come.
    pub(crate) fn handle_event<E: ByteStream>(
        &mut self,
        now: Time,
        event: Event,
        endpoint: &mut E,
        buf: &mut [u8],
    ) -> bool {
        match event {
            Event::Connected => {
                self.set(ESTABLISHED, true);
                self.write(endpoint, buf);
            }
            Event::Writable => self.write(endpoint, buf),
            Event::Readable => self.read(now, endpoint, buf),
            Event::PeerClosed => {
                self.read(now, endpoint, buf);
                if self.is(SINK) && !self.is(CLOSED) {
                    self.set(CLOSED, true);
                    endpoint.close();
                }
            }
            Event::Closed(reason) => self.closed = Some(reason),
            Event::Urgent | Event::Stalled => {}
        }
        let ends = !self.is(OVER) && (self.received >= self.expected || self.closed.is_some());
        if ends {
            self.set(OVER, true);
        }
        ends
    }

    /// Nothing more of a stream of known length will come.
    pub(crate) fn is_over(&self) -> bool {
        self.is(OVER)
    }

    /// Everything has come, where there is an end.
    pub(crate) fn is_satisfied(&self) -> bool {
        self.expected == u64::MAX || self.received >= self.expected
    }

    /// The connection was established.
    pub(crate) fn is_established(&self) -> bool {
        self.is(ESTABLISHED)
    }

    /// Octets that differed from the pattern, up to 65,535.
    pub(crate) fn wrong_octets(&self) -> u64 {
        self.wrong as u64
    }

    /// When both sides of a flow had read all, if there was something to read
    /// and an end to it.
    pub(crate) fn finish(client: &AppState, server: &AppState) -> Option<Time> {
        let sides = [client, server];
        let is_finite = sides.iter().all(|side| side.expected != u64::MAX);
        let is_complete = sides.iter().all(|side| side.received >= side.expected);
        let has_data = sides.iter().any(|side| side.expected != 0);
        (is_finite && is_complete && has_data).then(|| client.last.max(server.last))
    }

    fn write<E: ByteStream>(&mut self, endpoint: &mut E, buf: &mut [u8]) {
        if self.is(CLOSED) || self.is(SINK) {
            return;
        }
        if self.is(OCTETS) {
            while self.written < self.target {
                let len = (self.target - self.written).min(buf.len() as u64) as usize;
                pattern::fill(self.written, &mut buf[..len]);
                let taken = endpoint.write_octets(&buf[..len]);
                self.written += taken as u64;
                if taken < len {
                    break;
                }
            }
        } else if self.written < self.target.min(ENDLESS) {
            self.written += endpoint.write(self.target.min(ENDLESS) - self.written);
        }
        if self.written == self.target {
            self.set(CLOSED, true);
            endpoint.close();
        }
    }

    fn read<E: ByteStream>(&mut self, now: Time, endpoint: &mut E, buf: &mut [u8]) {
        let before = self.received;
        if self.is(OCTETS) {
            loop {
                let taken = endpoint.read_octets(buf);
                if taken == 0 {
                    break;
                }
                let wrong = mismatches(self.received, &buf[..taken]);
                self.wrong = self.wrong.saturating_add(wrong.min(u16::MAX as usize) as u16);
                self.received += taken as u64;
            }
        } else {
            self.received += endpoint.read(u64::MAX);
        }
        if self.received != before {
            self.last = now;
        }
    }

    fn is(&self, bit: u8) -> bool {
        self.bits & bit != 0
    }

    fn set(&mut self, bit: u8, on: bool) {
        self.bits = if on { self.bits | bit } else { self.bits & !bit };
    }
}

/// How many octets, read from `position` on, are not the pattern's.
fn mismatches(position: u64, octets: &[u8]) -> usize {
    if pattern::verify(position, octets).is_ok() {
        return 0;
    }
    let mut expected = vec![0; octets.len()];
    pattern::fill(position, &mut expected);
    octets.iter().zip(&expected).filter(|(found, expected)| found != expected).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_octets_are_counted() {
        let mut octets = [0; 1000];
        pattern::fill(5, &mut octets);
        assert_eq!(mismatches(5, &octets), 0);
        octets[7] ^= 1;
        octets[999] ^= 0x80;
        assert_eq!(mismatches(5, &octets), 2);
        assert!(mismatches(6, &octets) > 900);
    }
}
