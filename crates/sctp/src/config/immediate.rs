//! These settings say when data asks for its SACK at once.

/// An `ImmediateSacks` says when a packet with new data asks for its SACK at once (the I bit, RFC
/// 9260 §3.3.1, RFC 7053 §4), besides messages whose user asks for it
/// ([`Message::immediate`](crate::Message::immediate)). A chunk that is sent again asks as it did
/// the first time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImmediateSacks {
    /// True: something waits, and no more of it may leave on the path until a SACK comes: its
    /// window is full, or the limit of Max.Burst or the peer's receive window is reached, or T3-rtx
    /// has left one packet (RFC 7053 §5.1, "fills the congestion or receiver window"). What is sent
    /// again asks here too.
    pub window_full: bool,
    /// True: the user has closed, and the end waits for SACKs (RFC 7053 §5.1, SHUTDOWN-PENDING).
    pub shutdown_pending: bool,
    /// True: a change of the streams waits to be asked for (RFC 7053 §4.2).
    pub reconfiguration: bool,
    /// True: nothing more waits to be sent. The RFCs do not name this case; they allow any.
    pub last: bool,
    /// True: each message's last chunk asks, as if its user did (RFC 7053 §7, the flag as a
    /// default).
    pub messages: bool,
}

impl Default for ImmediateSacks {
    /// The default has the cases that RFC 7053 leaves to SCTP.
    fn default() -> ImmediateSacks {
        ImmediateSacks {
            window_full: true,
            shutdown_pending: true,
            reconfiguration: true,
            last: false,
            messages: false,
        }
    }
}
