//! What an application at work does, with the numbers of what it shares with others.

use super::App;
use crate::app_context::AppContext;
use crate::messages::Channel;
use crate::traffic::Source;
use std::num::NonZeroU32;

/// A count of octets that needs no alignment, so that a [`Task`] has 12 octets and not 16.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(4))]
pub(super) struct Total(u64);

impl Total {
    /// Returns the octets; `u64::MAX` stands for a stream without end.
    pub(super) fn get(self) -> u64 {
        self.0
    }
}

/// A channel of messages in [`AppContext::channels`], by its number from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChannelId(NonZeroU32);

impl ChannelId {
    /// Opens a channel for the messages that `app` sends, if it sends any.
    pub(crate) fn open(app: &App, context: &mut AppContext) -> Option<ChannelId> {
        let App::Messages(messages) = app else { return None };
        context.channels.push(Channel::new(messages.clone()));
        NonZeroU32::new(context.channels.len() as u32).map(ChannelId)
    }

    /// Returns its place in the list.
    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// What an application does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    /// It writes so many octets at once and then closes.
    Bulk(Total),
    /// It writes nothing and closes after the peer.
    Sink,
    /// It writes what the source of this number in [`AppContext::sources`] allows.
    Traffic(u32),
    /// It sends the messages of one channel and reads those of the peer's. One that sends none
    /// closes after the peer.
    Messages {
        /// `own` has what it sends.
        own: Option<ChannelId>,
        /// `peer` has what the peer sends.
        peer: Option<ChannelId>,
    },
}

impl Task {
    /// Begins what `app` describes; the channels are its own and the peer's.
    pub(super) fn new(
        app: &App,
        [own, peer]: [Option<ChannelId>; 2],
        context: &mut AppContext,
    ) -> Task {
        match app {
            App::Bulk { bytes } | App::BulkAndSink { bytes } => {
                Task::Bulk(Total(bytes.unwrap_or(u64::MAX)))
            }
            App::Sink => Task::Sink,
            App::Traffic(traffic) => {
                context.sources.push(Source::new(traffic.clone()));
                Task::Traffic(context.sources.len() as u32 - 1)
            }
            App::Messages(_) | App::MessageSink => Task::Messages { own, peer },
        }
    }

    /// Returns whether it writes nothing and closes after the peer.
    pub(super) fn is_sink(self) -> bool {
        matches!(self, Task::Sink | Task::Messages { own: None, .. })
    }

    /// Returns the number of its source, where traffic says how much may be written.
    pub(super) fn source(self) -> Option<usize> {
        match self {
            Task::Traffic(number) => Some(number as usize),
            _ => None,
        }
    }

    /// Returns the place of the channel that it sends on.
    pub(super) fn own_channel(self) -> Option<usize> {
        match self {
            Task::Messages { own, .. } => own.map(ChannelId::index),
            _ => None,
        }
    }

    /// Returns the place of the channel that the peer sends on.
    pub(super) fn peer_channel(self) -> Option<usize> {
        match self {
            Task::Messages { peer, .. } => peer.map(ChannelId::index),
            _ => None,
        }
    }
}
