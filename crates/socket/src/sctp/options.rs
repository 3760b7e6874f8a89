//! Options of SCTP sockets (RFC 6458 §8), as values.

use super::notification::Events;
use super::transfer::Sending;
use anabranch_sctp::Config;

/// What is set on a socket; its associations, and those that it accepts, have
/// it too.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Settings of its associations.
    pub config: Config,
    /// Notifications that are wanted (`SCTP_EVENT`).
    pub events: Events,
    /// Messages come with what the wire said (`SCTP_RECVRCVINFO`, or the data
    /// event of `SCTP_EVENTS`).
    pub receive_info: bool,
    /// Received messages come with what is known of the next one (`SCTP_RECVNXTINFO`).
    pub next_info: bool,
    /// The older form of the first, `struct sctp_sndrcvinfo`.
    pub old_receive_info: bool,
    /// Received messages come with both, as `struct sctp_extrcvinfo` (`SCTP_USE_EXT_RCVINFO`).
    pub extended_info: bool,
    /// `SCTP_FRAGMENT_INTERLEAVE`, 0 to 2.
    pub fragment_interleave: u32,
    /// `SCTP_ENABLE_STREAM_RESET`: 1 for streams, 2 for the association, 4 for
    /// more streams; which requests may be made and are taken.
    pub stream_reset: u32,
    /// `SO_LINGER`: with 0 seconds a close aborts.
    pub linger: Option<u32>,
    /// Messages must fit a packet (`SCTP_DISABLE_FRAGMENTS`).
    pub no_fragments: bool,
    /// What a send has that says nothing (`SCTP_DEFAULT_SNDINFO`).
    pub sending: Sending,
    /// `SCTP_AUTOCLOSE`, seconds; kept, without effect.
    pub autoclose: u32,
    /// `SCTP_PARTIAL_DELIVERY_POINT`, octets; kept, without effect.
    pub partial_delivery_point: u32,
    /// `SO_REUSEADDR` or `SCTP_REUSE_PORT`.
    pub reuse: bool,
}

impl Options {
    /// Returns the options of a new socket.
    pub fn new(config: Config) -> Options {
        Options {
            config,
            events: Events::default(),
            receive_info: false,
            next_info: false,
            old_receive_info: false,
            extended_info: false,
            fragment_interleave: 1,
            stream_reset: 0,
            linger: None,
            no_fragments: false,
            sending: Sending::default(),
            autoclose: 0,
            partial_delivery_point: 0,
            reuse: false,
        }
    }
}
