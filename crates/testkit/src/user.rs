//! The application on one side of a transfer of real octets in both directions.

use anabranch_endpoint::{ByteStream, CloseReason, Event};

/// Writes its text, reads what comes, closes when everything is written.
#[derive(Debug)]
pub struct User {
    /// What it writes.
    pub text: Vec<u8>,
    /// Octets of it that its endpoint has taken.
    pub written: usize,
    /// What it has read.
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
