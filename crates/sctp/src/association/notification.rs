//! The user hears of some things beside the events of the contract.

use super::Association;
use crate::paths::path::PathState;
use anabranch_wire::Addr;

/// A `Notification` is what happened beside the events of the contract.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notification {
    /// A path changed its state.
    Path {
        /// `path` is the index of the path.
        path: usize,
        /// `state` is the new state.
        state: PathState,
    },
    /// The peer has restarted: what was not acknowledged is lost (RFC 9260
    /// §5.2.4.1).
    Restarted,
    /// The peer took, or refused, a change of this side's addresses (RFC 5061).
    AddressChanged {
        /// `address` is the own address.
        address: Addr,
        /// `added` says that the address was to be one more; else it was to go, or to be the peer's
        /// new primary.
        added: bool,
        /// `accepted` says that the peer took the change.
        accepted: bool,
    },
    /// The peer has one address more, or fewer; indices of paths may have changed.
    PathsChanged,
    /// A stream started anew: its next message has the number 0 (RFC 6525).
    StreamReset {
        /// `stream` is the stream identifier.
        stream: u16,
        /// `incoming` says that it is a stream of the peer's.
        incoming: bool,
    },
    /// There are more streams.
    StreamsAdded {
        /// `count` is how many more there are.
        count: u16,
        /// `incoming` says that they are streams of the peer's.
        incoming: bool,
    },
    /// The peer takes fewer streams than were asked for, and messages waited for others: those are
    /// not sent (RFC 9260 §5.1.1). [`Association::poll_undelivered`] gives them back where the
    /// settings keep them.
    StreamsMissing {
        /// `streams` is how many streams there are.
        streams: u16,
        /// `messages` is how many messages are not sent.
        messages: u32,
    },
    /// The peer reported an error (RFC 9260 §11.2.6).
    PeerError {
        /// `code` is the cause of the error (§3.3.10).
        code: u16,
    },
    /// All numbers of both directions start anew (RFC 6525 §5.1.4).
    Renumbered,
    /// The peer refused to change the streams.
    ReconfigurationFailed {
        /// `request` is what the peer was asked for.
        request: Reconfiguration,
        /// `result` is the result code (RFC 6525 §4.4).
        result: u32,
    },
}

/// A `Reconfiguration` is what a peer is asked to change of the streams (RFC 6525 §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reconfiguration {
    /// Streams of this side start anew.
    ResetOutgoing,
    /// Streams of the peer's start anew.
    ResetIncoming,
    /// All numbers of the association start anew.
    ResetAssociation,
    /// There are more streams, of this side or of the peer's.
    AddStreams,
}

/// At most this many notifications are kept; older ones are dropped.
const MAX_NOTIFICATIONS: usize = 64;

impl Association {
    /// Takes the next notification.
    pub fn poll_notification(&mut self) -> Option<Notification> {
        self.notifications.pop_front()
    }

    pub(super) fn notify(&mut self, notification: Notification) {
        if self.notifications.len() == MAX_NOTIFICATIONS {
            self.notifications.pop_front();
        }
        self.notifications.push_back(notification);
    }
}
