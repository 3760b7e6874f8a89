//! Applications of a small world. They act when they hear an event, as those of the
//! simulator do, so that an event that never comes is a transfer that never ends. They
//! check what they read: octets are a function of side and position.

use anabranch_endpoint::message::{Outgoing, Patience, Refusal};
use anabranch_endpoint::{CloseReason, Event, Service};
use anabranch_units::{Span, Time};
use anabranch_wire::{Payload, pattern};

/// What an application sends. It closes afterwards; one that sends nothing closes after its
/// peer. Over SCTP, where to close ends both directions, it also waits for what it expects.
#[derive(Clone, PartialEq, Debug)]
pub enum Sends {
    /// The application sends nothing.
    Nothing,
    /// It sends so many octets, as soon as they fit the send buffer.
    Octets(u64),
    /// Requests or answers by turns, so many of so many octets; `theirs` is the size of the
    /// peer's. The side that is `first` does not wait for the peer's first.
    Turns {
        /// Number of requests or answers.
        count: u64,
        /// Octets of each of its own.
        own: u64,
        /// Octets of each of the peer's.
        theirs: u64,
        /// Whether it sends before it has heard of the peer.
        first: bool,
    },
    /// Messages of these sizes, on so many streams in turn.
    Messages {
        /// Octets of each message, in order.
        sizes: Vec<u32>,
        /// Number of streams.
        streams: u16,
        /// Every second one is unordered.
        unordered: bool,
        /// How long a message is retransmitted; dates count from the start of the run.
        patience: Patience,
    },
}

impl Sends {
    /// Returns how many octets it sends in all.
    pub fn total(&self) -> u64 {
        match self {
            Sends::Nothing => 0,
            Sends::Octets(n) => *n,
            Sends::Turns { count, own, .. } => count * own,
            Sends::Messages { sizes, .. } => sizes.iter().map(|size| u64::from(*size)).sum(),
        }
    }

    /// Whether all of it must arrive.
    fn is_reliable(&self) -> bool {
        !matches!(self, Sends::Messages { patience, .. } if *patience != Patience::Reliable)
    }

    /// Octets that may be written once so many of the peer's were read.
    fn released(&self, received: u64) -> u64 {
        match *self {
            Sends::Turns { count, own, theirs, first } => {
                own * count.min(received / theirs + u64::from(first))
            }
            _ => self.total(),
        }
    }
}

/// How an application reads.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reads {
    /// All that there is, when it hears of it.
    AtOnce,
    /// It reads so many octets (or one message) at a time, with a pause before each.
    Slowly {
        /// Octets that it reads at a time.
        octets: usize,
        /// Length of the pause before each.
        every: Span,
    },
}

/// What an application sends, and how it reads.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// What the application sends.
    pub sends: Sends,
    /// How the application reads.
    pub reads: Reads,
}

impl Plan {
    /// Sends, and reads at once.
    pub fn sends(sends: Sends) -> Plan {
        Plan { sends, reads: Reads::AtOnce }
    }
}

/// An application at work.
#[derive(Debug)]
pub(crate) struct App<'a> {
    plan: &'a Plan,
    peer: &'a Plan,
    /// 0 for the client, 1 for the server.
    side: u64,
    pub written: u64,
    pub received: u64,
    /// Messages taken by the endpoint, and read.
    messages: usize,
    seen: Vec<bool>,
    /// The last ordered message of each stream.
    last: Vec<Option<usize>>,
    closing: bool,
    /// The connection was established.
    pub connected: bool,
    pub closed: Option<CloseReason>,
    /// Time at which it reads next.
    pub due: Time,
    /// A fault that it found in what it read.
    pub wrong: Option<String>,
}

/// Position of a side's first octet in the pattern.
fn base(side: u64) -> u64 {
    side << 40
}

/// Position of a message's first octet in the pattern.
fn message_base(side: u64, number: usize) -> u64 {
    base(side) + ((number as u64) << 20)
}

/// Octets that are read in one call at most.
const READ: usize = 2048;

impl<'a> App<'a> {
    pub fn new(plan: &'a Plan, peer: &'a Plan, side: u64) -> App<'a> {
        let (expected, streams) = match &peer.sends {
            Sends::Messages { sizes, streams, .. } => (sizes.len(), *streams as usize),
            _ => (0, 0),
        };
        App {
            plan,
            peer,
            side,
            written: 0,
            received: 0,
            messages: 0,
            seen: vec![false; expected],
            last: vec![None; streams],
            closing: false,
            connected: false,
            closed: None,
            due: Time::NEVER,
            wrong: None,
        }
    }

    /// It has nothing more to do.
    pub fn is_over(&self) -> bool {
        self.closed.is_some() && self.due == Time::NEVER
    }

    /// Whether its user has closed the connection.
    pub fn is_closing(&self) -> bool {
        self.closing
    }

    /// Everything that it expects has come.
    pub fn is_satisfied(&self) -> bool {
        !self.peer.sends.is_reliable() || self.received >= self.peer.sends.total()
    }

    /// Says what it still lacks, for a report.
    pub fn lacks(&self) -> String {
        let (total, expected) = (self.plan.sends.total(), self.peer.sends.total());
        format!(
            "has written {} of {total} octets, read {} of {expected}, {}",
            self.written,
            self.received,
            match self.closed {
                Some(reason) => format!("ended: {reason:?}"),
                None if !self.connected => "not connected".to_owned(),
                None if self.closing => "closed by its user".to_owned(),
                None => "open".to_owned(),
            }
        )
    }

    fn blame(&mut self, what: String) {
        self.wrong.get_or_insert(what);
    }

    pub fn handle_event<E: Service>(&mut self, now: Time, event: Event, endpoint: &mut E) {
        if self.closed.is_some() {
            self.blame(format!("{event:?} after the last event"));
        }
        self.connected |= event == Event::Connected;
        match event {
            Event::Connected | Event::Writable => self.write(endpoint),
            Event::Readable => self.hear(now, endpoint),
            Event::PeerClosed => {
                self.hear(now, endpoint);
                let is_last = self.plan.sends == Sends::Nothing || !endpoint.has_half_close();
                if is_last && self.due == Time::NEVER {
                    self.close(endpoint);
                }
            }
            Event::Closed(reason) => self.closed = Some(reason),
            Event::Urgent | Event::Stalled => {}
        }
    }

    /// The date of its next reading has come.
    pub fn handle_timeout<E: Service>(&mut self, now: Time, endpoint: &mut E) {
        if self.due > now {
            return;
        }
        let Reads::Slowly { octets, every } = self.plan.reads else { return };
        self.due = if self.read(octets, endpoint) { now + every } else { Time::NEVER };
        self.write(endpoint);
        if self.plan.sends == Sends::Nothing && self.due == Time::NEVER && self.is_satisfied() {
            self.close(endpoint);
        }
    }

    fn hear<E: Service>(&mut self, now: Time, endpoint: &mut E) {
        match self.plan.reads {
            Reads::AtOnce => while self.read(READ, endpoint) {},
            Reads::Slowly { every, .. } if self.due == Time::NEVER => self.due = now + every,
            Reads::Slowly { .. } => {}
        }
        self.write(endpoint);
    }

    fn close<E: Service>(&mut self, endpoint: &mut E) {
        if !self.closing {
            self.closing = true;
            endpoint.close();
        }
    }

    /// Writes what it may; false where it is over.
    pub fn write<E: Service>(&mut self, endpoint: &mut E) {
        if self.closing || self.closed.is_some() || self.plan.sends == Sends::Nothing {
            return;
        }
        if let Sends::Messages { sizes, streams, unordered, patience } = &self.plan.sends {
            self.send(sizes, *streams, *unordered, *patience, endpoint);
        } else {
            self.write_octets(endpoint);
        }
        let is_all = self.written == self.plan.sends.total();
        if is_all && (endpoint.has_half_close() || self.is_satisfied()) {
            self.close(endpoint);
        }
    }

    fn write_octets<E: Service>(&mut self, endpoint: &mut E) {
        let until = self.plan.sends.released(self.received);
        let mut buf = [0; READ];
        while self.written < until {
            // One octet that does not fit tells the endpoint that more waits.
            let most = endpoint.room().clamp(1, READ as u64);
            let len = (until - self.written).min(most) as usize;
            pattern::fill(base(self.side) + self.written, &mut buf[..len]);
            let taken = endpoint.write_octets(&buf[..len]);
            self.written += taken as u64;
            if taken < len {
                break;
            }
        }
    }

    fn send<E: Service>(
        &mut self,
        sizes: &[u32],
        streams: u16,
        unordered: bool,
        patience: Patience,
        endpoint: &mut E,
    ) {
        while let Some(size) = sizes.get(self.messages) {
            let number = self.messages;
            let mut octets = vec![0; *size as usize];
            pattern::fill(message_base(self.side, number), &mut octets);
            let message = Outgoing {
                stream: number as u16 % streams,
                unordered: unordered && number % 2 == 1,
                tag: number as u32,
                patience,
                payload: Payload::of_octets(&octets),
            };
            let Some(messages) = endpoint.messages() else {
                return self.blame("the transport has no messages".to_owned());
            };
            match messages.send_message(message) {
                Ok(()) => {
                    self.messages += 1;
                    self.written += u64::from(*size);
                }
                Err(Refusal::Full) => break,
                Err(Refusal::Never) => {
                    return self.blame(format!("message {number} was refused for ever"));
                }
            }
        }
    }

    /// Reads once; false where there was nothing.
    fn read<E: Service>(&mut self, most: usize, endpoint: &mut E) -> bool {
        if matches!(self.peer.sends, Sends::Messages { .. }) {
            return self.receive(endpoint);
        }
        let mut buf = [0; READ];
        let read = endpoint.read_octets(&mut buf[..most.min(READ)]);
        if let Err(error) = pattern::verify(base(1 - self.side) + self.received, &buf[..read]) {
            self.blame(format!("read at octet {}: {error}", self.received));
        }
        self.received += read as u64;
        let total = self.peer.sends.total();
        if self.received > total {
            self.blame(format!("read {} octets of {total}", self.received));
        }
        read > 0
    }

    fn receive<E: Service>(&mut self, endpoint: &mut E) -> bool {
        let Some(message) = endpoint.messages().and_then(|message| message.receive_message())
        else {
            return false;
        };
        let number = message.tag as usize;
        let Sends::Messages { sizes, unordered, .. } = &self.peer.sends else { return false };
        let octets = message.payload.octets().unwrap_or_default();
        if sizes.get(number).copied() != Some(octets.len() as u32) {
            self.blame(format!("message {number} has {} octets", octets.len()));
        } else if std::mem::replace(&mut self.seen[number], true) {
            self.blame(format!("message {number} was read twice"));
        } else if let Err(error) = pattern::verify(message_base(1 - self.side, number), octets) {
            self.blame(format!("message {number}: {error}"));
        } else if !(*unordered && number % 2 == 1) {
            let last = self.last[message.stream as usize].replace(number);
            if last >= Some(number) {
                let stream = message.stream;
                self.blame(format!("message {number} of stream {stream} came after {last:?}"));
            }
        }
        self.received += octets.len() as u64;
        true
    }
}
