//! What the user hears beside the events of the contract.

use super::Association;
use crate::paths::path::PathState;
use anabranch_wire::Addr;

/// What happened beside the events of the contract.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notification {
    /// A path changed its state.
    Path {
        /// Its index.
        path: usize,
        /// The new state.
        state: PathState,
    },
    /// The peer has restarted: what was not acknowledged is lost (RFC 9260
    /// §5.2.4.1).
    Restarted,
    /// The peer took, or refused, a change of our addresses (RFC 5061).
    AddressChanged {
        /// Our address.
        address: Addr,
        /// It is one more, not one less or the peer's new primary.
        added: bool,
        /// The peer took it.
        accepted: bool,
    },
    /// The peer has an address more or less; indices of paths may have changed.
    PathsChanged,
    /// A stream started anew: its next message has the number 0 (RFC 6525).
    StreamReset {
        /// Stream identifier.
        stream: u16,
        /// It is a stream of the peer's.
        incoming: bool,
    },
    /// There are more streams.
    StreamsAdded {
        /// How many more.
        count: u16,
        /// They are streams of the peer's.
        incoming: bool,
    },
    /// The peer takes fewer streams than were asked for, and messages waited for others: those are not
    /// sent (RFC 9260 §5.1.1). [`Association::poll_undelivered`] gives them back where the settings
    /// keep them.
    StreamsMissing {
        /// How many streams there are.
        streams: u16,
        /// Messages that are not sent.
        messages: u32,
    },
    /// The peer reported an error (RFC 9260 §11.2.6).
    PeerError {
        /// Its cause (§3.3.10).
        code: u16,
    },
    /// All numbers of both directions start anew (RFC 6525 §5.1.4).
    Renumbered,
    /// The peer refused to change the streams.
    ReconfigurationFailed {
        /// What it was asked for.
        request: Reconfiguration,
        /// Result code (RFC 6525 §4.4).
        result: u32,
    },
}

/// What a peer is asked to change of the streams (RFC 6525 §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reconfiguration {
    /// Streams of ours start anew.
    ResetOutgoing,
    /// Streams of the peer's do.
    ResetIncoming,
    /// All numbers of the association do.
    ResetAssociation,
    /// There are more streams.
    AddStreams,
}

/// Notifications kept at most; older ones are dropped.
const MAX_NOTIFICATIONS: usize = 64;

impl Association {
    /// The next notification.
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
