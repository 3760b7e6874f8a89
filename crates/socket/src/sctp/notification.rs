//! Notifications (RFC 6458 §6), and which of them a socket wants.

use super::AssociationId;
use anabranch_wire::{Addr, Payload};

/// Kinds of notifications; the numbers count from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Event {
    /// `SCTP_ASSOC_CHANGE`.
    Association,
    /// `SCTP_PEER_ADDR_CHANGE`.
    PeerAddress,
    /// `SCTP_REMOTE_ERROR`.
    RemoteError,
    /// `SCTP_SEND_FAILED`.
    SendFailed,
    /// `SCTP_SEND_FAILED_EVENT`.
    SendFailedEvent,
    /// `SCTP_SHUTDOWN_EVENT`.
    Shutdown,
    /// `SCTP_ADAPTATION_INDICATION`.
    Adaptation,
    /// `SCTP_PARTIAL_DELIVERY_EVENT`.
    PartialDelivery,
    /// `SCTP_AUTHENTICATION_EVENT`.
    Authentication,
    /// `SCTP_SENDER_DRY_EVENT`.
    SenderDry,
    /// `SCTP_NOTIFICATIONS_STOPPED_EVENT`.
    Stopped,
    /// `SCTP_STREAM_RESET_EVENT` (RFC 6525 §6.1.1).
    StreamReset,
    /// `SCTP_ASSOC_RESET_EVENT` (RFC 6525 §6.1.2).
    AssociationReset,
    /// `SCTP_STREAM_CHANGE_EVENT` (RFC 6525 §6.1.3).
    StreamChange,
}

/// The kinds that are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Events(u32);

impl Events {
    /// The kind is wanted.
    pub fn has(self, event: Event) -> bool {
        self.0 >> event as u8 & 1 == 1
    }
    /// It is wanted from now on, or not.
    pub fn set(&mut self, event: Event, on: bool) {
        self.0 = self.0 & !(1 << event as u8) | (on as u32) << event as u8;
    }
}

/// `sac_state`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AssociationState {
    /// `SCTP_COMM_UP`.
    Up,
    /// `SCTP_COMM_LOST`.
    Lost,
    /// `SCTP_RESTART`.
    Restart,
    /// `SCTP_SHUTDOWN_COMP`.
    ShutdownComplete,
    /// `SCTP_CANT_STR_ASSOC`.
    CannotStart,
}

/// `spc_state`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressState {
    /// `SCTP_ADDR_AVAILABLE`.
    Available,
    /// `SCTP_ADDR_UNREACHABLE`.
    Unreachable,
    /// `SCTP_ADDR_CONFIRMED`.
    Confirmed,
}

/// What a user is told.
#[derive(Clone, PartialEq, Debug)]
pub enum Notification {
    /// An association began, ended or began anew (§6.1.1).
    Association {
        /// Which.
        id: AssociationId,
        /// What happened.
        state: AssociationState,
        /// Code of the cause, where the peer gave one.
        error: u16,
        /// Streams to send on.
        outbound: u16,
        /// Streams of the peer's.
        inbound: u16,
        /// Features of one that is up: 1 for partial reliability, 2 for
        /// authentication, 3 for changes of addresses, 4 for several buffers, 5
        /// for changes of streams, 6 for interleaving.
        features: Vec<u8>,
    },
    /// An address of the peer's (§6.1.2).
    PeerAddress {
        /// Whose.
        id: AssociationId,
        /// Which.
        address: Addr,
        /// Its new state.
        state: AddressState,
    },
    /// A message will not be sent again (§6.1.4, §6.1.11).
    SendFailed {
        /// Whose.
        id: AssociationId,
        /// Some of it was sent.
        sent: bool,
        /// What it was sent with.
        sending: super::Sending,
        /// Its octets.
        payload: Payload,
    },
    /// The peer ends the association (§6.1.5).
    Shutdown {
        /// Whose.
        id: AssociationId,
    },
    /// The rest of a message that was read in part is not coming (§6.1.7).
    PartialDelivery {
        /// Whose.
        id: AssociationId,
        /// Stream.
        stream: u16,
        /// Its number.
        number: u32,
    },
    /// The peer's adaptation code point (§6.1.6).
    Adaptation {
        /// Whose.
        id: AssociationId,
        /// The code point.
        code: u32,
    },
    /// The peer does not authenticate chunks (§6.1.8).
    NoAuthentication {
        /// Whose.
        id: AssociationId,
    },
    /// Nothing waits to be sent or acknowledged (§6.1.9).
    SenderDry {
        /// Whose.
        id: AssociationId,
    },
    /// Streams began anew (RFC 6525 §6.1.1).
    StreamReset {
        /// Whose.
        id: AssociationId,
        /// They are the peer's.
        incoming: bool,
        /// Whether they did not.
        refusal: Refusal,
        /// Which.
        streams: Vec<u16>,
    },
    /// There are more streams (RFC 6525 §6.1.3).
    StreamChange {
        /// Whose.
        id: AssociationId,
        /// Streams of the peer's.
        inbound: u16,
        /// Streams to send on.
        outbound: u16,
        /// Whether there are not.
        refusal: Refusal,
    },
    /// All sequence numbers began anew (RFC 6525 §6.1.2).
    AssociationReset {
        /// Whose.
        id: AssociationId,
        /// Whether they did not.
        refusal: Refusal,
        /// The next TSN of this side.
        local_tsn: u32,
        /// The next TSN of the peer.
        remote_tsn: u32,
    },
}

/// Why the peer has not changed what it was asked to (RFC 6525 §6.1): neither where it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Refusal {
    /// It denied the request.
    pub denied: bool,
    /// The request failed.
    pub failed: bool,
}

impl Notification {
    /// Its kind.
    pub fn event(&self) -> Event {
        match self {
            Notification::Association { .. } => Event::Association,
            Notification::PeerAddress { .. } => Event::PeerAddress,
            Notification::SendFailed { .. } => Event::SendFailed,
            Notification::Shutdown { .. } => Event::Shutdown,
            Notification::PartialDelivery { .. } => Event::PartialDelivery,
            Notification::Adaptation { .. } => Event::Adaptation,
            Notification::NoAuthentication { .. } => Event::Authentication,
            Notification::SenderDry { .. } => Event::SenderDry,
            Notification::StreamReset { .. } => Event::StreamReset,
            Notification::StreamChange { .. } => Event::StreamChange,
            Notification::AssociationReset { .. } => Event::AssociationReset,
        }
    }
}
