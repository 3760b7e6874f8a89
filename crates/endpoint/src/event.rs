//! What endpoints report to their applications.

use std::io::{self, ErrorKind};

/// What an application hears from its endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The connection is established.
    Connected,
    /// In-order data can be read (edge-triggered).
    Readable,
    /// Send-buffer space was freed after a write was cut short.
    Writable,
    /// The peer has marked data ahead as urgent (RFC 9293 §3.8.5).
    Urgent,
    /// Delivery is in trouble: a segment has been sent again several times
    /// without acknowledgment (RFC 9293 §3.8.3, R1).
    Stalled,
    /// The peer has ended its stream and all its data has been received.
    PeerClosed,
    /// The endpoint is gone; the last event.
    Closed(CloseReason),
}

/// The reason for which an endpoint ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CloseReason {
    /// Both streams ended in order.
    Normal,
    /// The peer reset the connection.
    Reset,
    /// The peer refused the connection.
    Refused,
    /// Retransmissions were exhausted.
    TimedOut,
    /// The local application aborted.
    Aborted,
}

impl CloseReason {
    /// Whether the end was in order, as programs with sockets have it.
    ///
    /// # Errors
    /// The end was none in order: `ConnectionReset`, `ConnectionRefused`, `TimedOut` or
    /// `ConnectionAborted`.
    pub fn into_result(self) -> io::Result<()> {
        Err(io::Error::from(match self {
            CloseReason::Normal => return Ok(()),
            CloseReason::Reset => ErrorKind::ConnectionReset,
            CloseReason::Refused => ErrorKind::ConnectionRefused,
            CloseReason::TimedOut => ErrorKind::TimedOut,
            CloseReason::Aborted => ErrorKind::ConnectionAborted,
        }))
    }
}
