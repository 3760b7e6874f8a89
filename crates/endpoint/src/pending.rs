//! What an endpoint has to report and nobody has heard yet.

use crate::event::{CloseReason, Event};

/// Events not yet polled, each at most once, in the order in which they are
/// reported.
#[derive(Clone, Copy, Debug, Default)]
pub struct PendingEvents {
    /// [`Event::Connected`] waits to be polled.
    pub connected: bool,
    /// [`Event::Readable`] waits to be polled.
    pub readable: bool,
    /// [`Event::Writable`] waits to be polled.
    pub writable: bool,
    /// [`Event::Urgent`] waits to be polled.
    pub urgent: bool,
    /// [`Event::Stalled`] waits to be polled.
    pub stalled: bool,
    /// [`Event::PeerClosed`] waits to be polled.
    pub peer_closed: bool,
    /// [`Event::Closed`]; an endpoint sets it once.
    pub closed: Option<CloseReason>,
}

impl PendingEvents {
    /// Nothing is pending, as at most times: one question, where the next one takes seven.
    #[inline]
    pub fn is_empty(&self) -> bool {
        let flags = self.connected | self.readable | self.writable | self.urgent;
        !(flags | self.stalled | self.peer_closed | self.closed.is_some())
    }

    /// The next one, which is then no longer pending.
    #[inline]
    pub fn take(&mut self) -> Option<Event> {
        if self.is_empty() {
            return None;
        }
        let take = |flag: &mut bool| std::mem::take(flag);
        if take(&mut self.connected) {
            Some(Event::Connected)
        } else if take(&mut self.readable) {
            Some(Event::Readable)
        } else if take(&mut self.writable) {
            Some(Event::Writable)
        } else if take(&mut self.urgent) {
            Some(Event::Urgent)
        } else if take(&mut self.stalled) {
            Some(Event::Stalled)
        } else if take(&mut self.peer_closed) {
            Some(Event::PeerClosed)
        } else {
            self.closed.take().map(Event::Closed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_once_and_the_end_comes_last() {
        let closed = Some(CloseReason::Normal);
        let mut pending = PendingEvents {
            closed,
            peer_closed: true,
            readable: true,
            connected: true,
            ..PendingEvents::default()
        };
        let heard: Vec<_> = std::iter::from_fn(|| pending.take()).collect();
        let end = Event::Closed(CloseReason::Normal);
        assert_eq!(heard, [Event::Connected, Event::Readable, Event::PeerClosed, end]);
        assert!(pending.is_empty());
    }
}
