//! Notifications (RFC 6458 §6), and which of them a socket wants.

use super::AssociationId;
use anabranch_wire::{Addr, Payload};

/// Kinds of notifications; the numbers count from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Event {
    /// `SCTP_ASSOC_CHANGE` (RFC 6458 §6.1.1).
    Association,
    /// `SCTP_PEER_ADDR_CHANGE`.
    PeerAddress,
    /// `SCTP_REMOTE_ERROR` (RFC 6458 §6.1.3).
    RemoteError,
    /// `SCTP_SEND_FAILED` (RFC 6458 §6.1.4).
    SendFailed,
    /// `SCTP_SEND_FAILED_EVENT`.
    SendFailedEvent,
    /// `SCTP_SHUTDOWN_EVENT` (RFC 6458 §6.1.5).
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
    /// Whether the kind is wanted.
    pub fn has(self, event: Event) -> bool {
        self.0 >> event as u8 & 1 == 1
    }
    /// It is wanted from now on, or not.
    pub fn set(&mut self, event: Event, on: bool) {
        self.0 = self.0 & !(1 << event as u8) | (on as u32) << event as u8;
    }
}

/// What has happened to an association (`sac_state`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AssociationState {
    /// It is up (`SCTP_COMM_UP`).
    Up,
    /// It has failed (`SCTP_COMM_LOST`).
    Lost,
    /// The peer has begun it anew (`SCTP_RESTART`).
    Restart,
    /// It has ended in order (`SCTP_SHUTDOWN_COMP`).
    ShutdownComplete,
    /// It could not be set up (`SCTP_CANT_STR_ASSOC`).
    CannotStart,
}

/// The state of an address of the peer's (`spc_state`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressState {
    /// It can be reached again (`SCTP_ADDR_AVAILABLE`).
    Available,
    /// `SCTP_ADDR_UNREACHABLE`.
    Unreachable,
    /// It is confirmed (`SCTP_ADDR_CONFIRMED`).
    Confirmed,
}

/// A notification that a user reads in place of a message.
#[derive(Clone, PartialEq, Debug)]
pub enum Notification {
    /// An association began, ended or began anew (§6.1.1).
    Association {
        /// The association that began or ended.
        id: AssociationId,
        /// What has happened to it.
        state: AssociationState,
        /// Code of the cause, where the peer gave one.
        error: u16,
        /// Number of streams to send on.
        outbound: u16,
        /// Number of the peer's streams.
        inbound: u16,
        /// Features of one that is up: 1 for partial reliability, 2 for
        /// authentication, 3 for changes of addresses, 4 for several buffers, 5
        /// for changes of streams, 6 for interleaving.
        features: Vec<u8>,
    },
    /// An address of the peer's (§6.1.2).
    PeerAddress {
        /// The association that the address belongs to.
        id: AssociationId,
        /// The address of the peer.
        address: Addr,
        /// The address's new state.
        state: AddressState,
    },
    /// A message will not be sent again (§6.1.4, §6.1.11).
    SendFailed {
        /// The association of the message.
        id: AssociationId,
        /// Some of the message was sent.
        sent: bool,
        /// The options with which it was sent.
        sending: super::Sending,
        /// Octets of the message.
        payload: Payload,
    },
    /// The peer ends the association (§6.1.5).
    Shutdown {
        /// The association that ends.
        id: AssociationId,
    },
    /// The rest of a message that was read in part is not coming (§6.1.7).
    PartialDelivery {
        /// The association of the message.
        id: AssociationId,
        /// Number of the message's stream.
        stream: u16,
        /// Number of the message in its stream.
        number: u32,
    },
    /// The peer's adaptation code point (§6.1.6).
    Adaptation {
        /// The association with that peer.
        id: AssociationId,
        /// The code point that the peer announced.
        code: u32,
    },
    /// The peer does not authenticate chunks (§6.1.8).
    NoAuthentication {
        /// The association with that peer.
        id: AssociationId,
    },
    /// Nothing waits to be sent or acknowledged (§6.1.9).
    SenderDry {
        /// The association that is idle.
        id: AssociationId,
    },
    /// Streams began anew (RFC 6525 §6.1.1).
    StreamReset {
        /// The association of the streams.
        id: AssociationId,
        /// The streams are the peer's.
        incoming: bool,
        /// Why they did not begin anew, if they did not.
        refusal: Refusal,
        /// Numbers of the streams.
        streams: Vec<u16>,
    },
    /// There are more streams (RFC 6525 §6.1.3).
    StreamChange {
        /// The association of the streams.
        id: AssociationId,
        /// Number of the peer's streams.
        inbound: u16,
        /// Number of streams to send on.
        outbound: u16,
        /// Why there are no more, if there are not.
        refusal: Refusal,
    },
    /// All sequence numbers began anew (RFC 6525 §6.1.2).
    AssociationReset {
        /// The association whose numbers began anew.
        id: AssociationId,
        /// Why they did not begin anew, if they did not.
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
    /// The peer denied the request.
    pub denied: bool,
    /// The request failed at the peer.
    pub failed: bool,
}

impl Notification {
    /// Returns the kind of the notification.
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
