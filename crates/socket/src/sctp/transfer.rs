//! Messages: sent, and received in parts as large as the user's buffer.

use super::notification::Notification;
use super::{AssociationId, SctpSockets, Style};
use crate::errno::Errno;
use crate::sockets::Fd;
use anabranch_endpoint::{ByteStream, Demultiplex};
use anabranch_sctp::{Message, Part as Delivered, Reliability, SendError, State};
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::{Addr, Payload};

/// The time after which a message may be given up (RFC 3758, RFC 7496).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lifetime {
    /// The message is never given up.
    #[default]
    Reliable,
    /// It is given up after that time (`SCTP_PR_SCTP_TTL`).
    For(Span),
    /// It is given up after that many retransmissions (`SCTP_PR_SCTP_RTX`).
    Retransmissions(u16),
    /// It is given up when a message of a lower number needs its room (`SCTP_PR_SCTP_PRIO`).
    Priority(u32),
}

/// Options of a message that is sent (`struct sctp_sndinfo` and `struct sctp_prinfo`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sending {
    /// Number of the stream.
    pub stream: u16,
    /// The message is delivered out of the order of its stream.
    pub unordered: bool,
    /// Payload protocol identifier.
    pub ppid: u32,
    /// What the user calls it; kept, without effect.
    pub context: u32,
    /// The time after which it may be given up.
    pub lifetime: Lifetime,
    /// The last chunk asks for a SACK at once (`SCTP_SACK_IMMEDIATELY`, RFC 7053 §7).
    pub immediate: bool,
    /// The association ends after it (`SCTP_EOF`).
    pub last: bool,
    /// The association is aborted, with the message as the reason (`SCTP_ABORT`).
    pub abort: bool,
    /// The association, on a one-to-many socket.
    pub association: Option<AssociationId>,
    /// The peer's address and port, on a one-to-many socket; an association is
    /// begun where there is none.
    pub to: Option<(Addr, u16)>,
}

/// What is known of the message after this one (`struct sctp_nxtinfo`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Next {
    /// Number of its stream.
    pub stream: u16,
    /// The message is out of the order of its stream.
    pub unordered: bool,
    /// Payload protocol identifier.
    pub ppid: u32,
    /// Octets of it that can be read.
    pub len: u32,
}

/// A message, or a part of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The association that it came on.
    pub association: AssociationId,
    /// The peer's primary address and port, from which it came.
    pub from: (Addr, u16),
    /// Number of its stream.
    pub stream: u16,
    /// Stream sequence number, or message identifier with interleaving.
    pub number: u32,
    /// The message is out of the order of its stream.
    pub unordered: bool,
    /// Payload protocol identifier.
    pub ppid: u32,
    /// TSN of its first chunk.
    pub tsn: Serial32,
    /// All up to this TSN had arrived.
    pub cumulative_tsn: Serial32,
    /// Octets that were read.
    pub payload: Payload,
    /// It ends with them (`MSG_EOR`).
    pub end: bool,
    /// What follows, where it has arrived.
    pub next: Option<Next>,
}

/// What a receive returns.
#[derive(Clone, PartialEq, Debug)]
pub enum Arrival {
    /// A message or a part of one.
    Data(Part),
    /// A notification, if the socket asked for its kind.
    Notification(Notification),
    /// The peer sends no more, on a one-to-one socket.
    End,
}

/// What `SCTP_STATUS` reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// State of the association.
    pub state: State,
    /// Room of the peer, octets.
    pub peer_window: u64,
    /// Chunks that are not acknowledged.
    pub unacknowledged: usize,
    /// Messages that wait to be read.
    pub pending: usize,
    /// Number of the peer's streams.
    pub inbound: u16,
    /// Number of streams to send on.
    pub outbound: u16,
    /// User data that fits a packet.
    pub fragmentation_point: u32,
    /// The peer's primary address and port.
    pub primary: (Addr, u16),
}

impl SctpSockets {
    /// Sends a message; all of it or nothing is taken.
    ///
    /// # Errors
    /// `EBADF`, `ENOTCONN` without an association, `EPIPE` once it ends,
    /// `EINVAL` for a stream that is not there or an empty message, `EMSGSIZE`,
    /// `EAGAIN`; on a one-to-one socket the error that waits.
    pub fn send(
        &mut self,
        fd: Fd,
        now: Time,
        sending: Sending,
        payload: Payload,
    ) -> Result<u64, Errno> {
        let socket = self.get_mut(fd)?;
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        if socket.shut_write {
            return Err(Errno::EPIPE);
        }
        let (style, no_fragments) = (socket.style, socket.options.no_fragments);
        let id = match (style, sending.to, sending.association) {
            (Style::OneToMany, Some((peer, port)), None) => match self.find_peer(fd, peer, port) {
                Some(id) => id,
                None => self.begin(fd, now, &[peer], port)?,
            },
            (_, _, named) => self.association_of(fd, named).ok_or(Errno::ENOTCONN)?,
        };
        let held = self.associations.get_mut(&id).ok_or(Errno::ENOTCONN)?;
        let len = payload.len() as u64;
        if sending.abort {
            held.engine.abort_by_user(payload.octets().unwrap_or_default());
            self.hear(id);
            return Ok(len);
        }
        if no_fragments && len > held.engine.fragmentation_point() as u64 {
            return Err(Errno::EMSGSIZE);
        }
        let limit = match sending.lifetime {
            Lifetime::Reliable => Reliability::Reliable,
            Lifetime::For(span) => Reliability::Until(now.saturating_add(span)),
            Lifetime::Retransmissions(most) => Reliability::Retransmissions(most),
            Lifetime::Priority(priority) => Reliability::Priority(priority),
        };
        let Sending { stream, unordered, ppid, immediate, .. } = sending;
        let empty_end = sending.last && payload.is_empty();
        let message = Message { stream, unordered, ppid, immediate, payload };
        let result = if empty_end { Ok(()) } else { held.engine.send_with(message, limit) };
        result.map_err(|error| match error {
            SendError::Closing => Errno::EPIPE,
            SendError::NoSuchStream(_) | SendError::Empty => Errno::EINVAL,
            SendError::TooLong(_) => Errno::EMSGSIZE,
            SendError::Full | SendError::Resetting => Errno::EAGAIN,
        })?;
        if sending.last {
            held.engine.close();
        }
        self.hear(id);
        Ok(len)
    }

    /// Takes what is next: a notification, or up to `max` octets of a message.
    ///
    /// # Errors
    /// `EBADF`, `EAGAIN`; on a one-to-one socket `ENOTCONN` and the error that
    /// waits.
    pub fn receive(&mut self, fd: Fd, max: u32) -> Result<Arrival, Errno> {
        let socket = self.get_mut(fd)?;
        if let Some(rest) = socket.rest.take() {
            return Ok(Arrival::Data(self.cut(fd, rest, max)));
        }
        // Notifications have their place among the messages of their association.
        let first = socket.notifications.front().map(|queued| (queued.association, queued.after));
        if let Some((association, after)) = first {
            let held = association.and_then(|id| self.associations.get(&id));
            if held.is_none_or(|held| held.taken >= after)
                && let Some(queued) = self.get_mut(fd)?.notifications.pop_front()
            {
                return Ok(Arrival::Notification(queued.notification));
            }
        }
        let socket = self.get(fd)?;
        let listens = socket.listener.is_some() && socket.style == Style::OneToOne;
        let ids = socket.associations.clone();
        for id in ids.iter().copied().filter(|_| !listens) {
            while let Some((part, aborted)) = self.take(id) {
                if !aborted {
                    return Ok(Arrival::Data(self.cut(fd, part, max)));
                }
                let notification =
                    Notification::PartialDelivery { id, stream: part.stream, number: part.number };
                if self.get(fd)?.options.events.has(notification.event()) {
                    return Ok(Arrival::Notification(notification));
                }
            }
        }
        let socket = self.get_mut(fd)?;
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        if socket.style == Style::OneToMany {
            return Err(Errno::EAGAIN);
        }
        let over = socket.shut_read;
        match ids.first().and_then(|id| self.associations.get(id)) {
            _ if over => Ok(Arrival::End),
            Some(held) if held.peer_ended || held.ended.is_some() => Ok(Arrival::End),
            Some(_) => Err(Errno::EAGAIN),
            None => Err(Errno::ENOTCONN),
        }
    }

    /// The next message of an association, whole unless the receive buffer could
    /// not hold it; or that the rest of one is not coming.
    fn take(&mut self, id: AssociationId) -> Option<(Part, bool)> {
        let held = self.associations.get_mut(&id)?;
        let received = held.engine.receive_part()?;
        held.taken += 1;
        let next = held.engine.waiting().next().map(|waiting| Next {
            stream: waiting.message.stream,
            unordered: waiting.message.unordered,
            ppid: waiting.message.ppid,
            len: waiting.message.payload.len(),
        });
        let part = Part {
            association: id,
            from: (held.peer(), held.engine.flow_key().dst_port),
            stream: received.message.stream,
            number: received.number,
            unordered: received.message.unordered,
            ppid: received.message.ppid,
            tsn: received.tsn,
            cumulative_tsn: held.engine.cumulative_tsn(),
            payload: received.message.payload,
            end: received.part.is_last(),
            next,
        };
        self.hear(id);
        Some((part, received.part == Delivered::Aborted))
    }

    /// The first `max` octets; the socket keeps the rest.
    fn cut(&mut self, fd: Fd, part: Part, max: u32) -> Part {
        let len = part.payload.len();
        if len <= max {
            return part;
        }
        let (head, rest) = (part.payload.part(0, max), part.payload.part(max, len - max));
        let head = Part { payload: head, end: false, next: None, ..part.clone() };
        let rest = Part { payload: rest, ..part };
        if let Some(socket) = self.table.get_mut(&fd) {
            socket.rest = Some(rest);
        }
        head
    }

    /// Something can be read without waiting.
    pub fn is_readable(&self, fd: Fd) -> bool {
        let Ok(socket) = self.get(fd) else { return false };
        let held = || socket.associations.iter().filter_map(|id| self.associations.get(id));
        if socket.listener.is_some() && socket.style == Style::OneToOne {
            return !socket.associations.is_empty();
        }
        let over = socket.style == Style::OneToOne
            && held().any(|held| held.peer_ended || held.ended.is_some());
        socket.rest.is_some()
            || socket.error.is_some()
            || !socket.notifications.is_empty()
            || over
            || held().any(|held| held.engine.waiting().len() > 0)
    }

    /// `SCTP_STATUS`.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL` without an association.
    pub fn status(&self, fd: Fd, id: Option<AssociationId>) -> Result<Status, Errno> {
        self.get(fd)?;
        let id = self.association_of(fd, id).ok_or(Errno::EINVAL)?;
        let held = self.associations.get(&id).ok_or(Errno::EINVAL)?;
        let engine = &held.engine;
        Ok(Status {
            state: engine.state(),
            peer_window: engine.peer_window(),
            unacknowledged: engine.unacknowledged_chunks(),
            pending: engine.waiting().len(),
            inbound: engine.inbound_streams(),
            outbound: engine.outbound_streams(),
            fragmentation_point: engine.fragmentation_point(),
            primary: (held.peer(), engine.flow_key().dst_port),
        })
    }
}
