//! Applications of a transfer of real octets in both directions.

use crate::{Fate, Pair, Side};
use anabranch_endpoint::{ByteStream, CloseReason, Event, Generator};
use anabranch_units::{Span, Time};
use anabranch_wire::Packet;

/// Calls that a transfer may take.
const MOST_STEPS: u32 = 1_000_000;

/// Writes its text, reads what comes, closes when everything is written.
#[derive(Debug)]
pub struct User {
    /// The octets that it writes.
    pub text: Vec<u8>,
    /// Octets of it that its endpoint has taken.
    pub written: usize,
    /// The octets that it has read.
    pub read: Vec<u8>,
    /// The connection was established.
    pub connected: bool,
    /// How the connection ended.
    pub closed: Option<CloseReason>,
}

impl User {
    /// A user that has done nothing yet.
    pub fn new(text: Vec<u8>) -> User {
        User { text, written: 0, read: Vec::new(), connected: false, closed: None }
    }

    /// Hears the events of its endpoint, reads, writes and closes.
    pub fn attend(&mut self, connection: &mut impl ByteStream) {
        while let Some(event) = connection.poll_event() {
            match event {
                Event::Connected => self.connected = true,
                Event::Closed(reason) => self.closed = Some(reason),
                _ => {}
            }
        }
        let mut buf = [0; 4096];
        loop {
            let n = connection.read_octets(&mut buf);
            if n == 0 {
                break;
            }
            self.read.extend(&buf[..n]);
        }
        if self.connected && self.closed.is_none() {
            self.written += connection.write_octets(&self.text[self.written..]);
            if self.written == self.text.len() {
                connection.close();
            }
        }
    }
}

/// Opens the connection, and lets both sides write so many random octets to each
/// other and close.
///
/// # Panics
/// When the connection does not end, or an octet is lost, added or altered.
pub fn exchange<E: ByteStream, F: FnMut(Side, &Packet) -> Fate>(
    pair: &mut Pair<E, F>,
    sizes: [usize; 2],
    mut texts: Generator,
) {
    let mut users = sizes.map(|n| User::new((0..n).map(|_| texts.next_u64() as u8).collect()));
    pair.logging = false;
    pair.client.connect(pair.now);
    let until = Time::ZERO + Span::from_secs(100_000);
    let mut steps = 0;
    loop {
        steps += 1;
        assert!(steps < MOST_STEPS, "no end in sight at {:?}", pair.now);
        users[0].attend(pair.end(Side::Client));
        users[1].attend(pair.end(Side::Server));
        if users.iter().all(|u| u.closed.is_some()) || !pair.step(until) {
            break;
        }
    }
    let [one, other] = &users;
    assert!(one.closed.is_some() && other.closed.is_some(), "{:?} {:?}", one.closed, other.closed);
    assert!(one.read == other.text, "client read {} of {}", one.read.len(), other.text.len());
    assert!(other.read == one.text, "server read {} of {}", other.read.len(), one.text.len());
}
