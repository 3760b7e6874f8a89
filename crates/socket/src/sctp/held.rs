//! An association of a host's, and what it has to say.

use super::notification::{AddressState, AssociationState, Event, Notification, Refusal};
use super::{AssociationId, Queued, SctpSockets, Sending};
use crate::errno::Errno;
use crate::sockets::Fd;
use anabranch_endpoint::{CloseReason, Demultiplex, Endpoint, Event as Heard, Observe, PathState};
use anabranch_sctp::{Association, Message, Notification as Told, Reconfiguration, Undelivered};
use anabranch_wire::{Addr, Packet};

#[derive(Debug)]
pub(super) struct Held {
    pub engine: Association,
    /// The socket that has it; nobody's, it ends by itself.
    pub owner: Option<Fd>,
    pub local_port: u16,
    pub peer_port: u16,
    pub connected: bool,
    /// The peer will send no more.
    pub peer_ended: bool,
    pub ended: Option<CloseReason>,
    /// Messages that the user has taken.
    pub taken: u64,
    /// Something was sent since the user was told that nothing waits.
    pub was_wet: bool,
}

impl Held {
    pub fn new(engine: Association, owner: Fd, local_port: u16) -> Held {
        let peer_port = engine.flow_key().dst_port;
        Held {
            engine,
            owner: Some(owner),
            local_port,
            peer_port,
            connected: false,
            peer_ended: false,
            ended: None,
            taken: 0,
            was_wet: false,
        }
    }

    /// Returns the addresses of the peer.
    pub fn peers(&self) -> impl Iterator<Item = Addr> + '_ {
        self.engine.observe_paths().map(|path| path.remote)
    }

    /// The primary address of the peer.
    pub fn peer(&self) -> Addr {
        self.engine.flow_key().dst
    }

    pub fn is_connecting(&self) -> bool {
        !self.connected && self.ended.is_none()
    }
}

/// Features of an association that is up, by their numbers (RFC 6458 §6.1.1).
fn features(engine: &Association) -> Vec<u8> {
    let all = [
        (1, engine.gives_up_messages()),
        (2, engine.authenticates()),
        (3, engine.changes_addresses()),
        (4, true),
        (5, engine.changes_streams()),
        (6, engine.interleaves()),
    ];
    all.iter().filter(|(_, on)| *on).map(|(feature, _)| *feature).collect()
}

impl SctpSockets {
    /// Takes in what an association has to say; call it after each of its
    /// engine's methods.
    pub(super) fn hear(&mut self, id: AssociationId) {
        let Some(held) = self.associations.get_mut(&id) else { return };
        let mut said: Vec<Notification> = Vec::new();
        while let Some(event) = held.engine.poll_event() {
            match event {
                Heard::Connected => {
                    held.connected = true;
                    held.peer_port = held.engine.flow_key().dst_port;
                    said.push(association_change(id, held, AssociationState::Up));
                    if let Some(code) = held.engine.peer_adaptation() {
                        said.push(Notification::Adaptation { id, code });
                    }
                    if !held.engine.authenticates() {
                        said.push(Notification::NoAuthentication { id });
                    }
                }
                Heard::PeerClosed if !held.peer_ended => {
                    held.peer_ended = true;
                    said.push(Notification::Shutdown { id });
                }
                Heard::Closed(reason) => {
                    held.ended = Some(reason);
                    let state = match reason {
                        CloseReason::Normal => AssociationState::ShutdownComplete,
                        _ if held.connected => AssociationState::Lost,
                        _ => AssociationState::CannotStart,
                    };
                    said.push(association_change(id, held, state));
                }
                _ => {}
            }
        }
        while let Some(told) = held.engine.poll_notification() {
            said.extend(translate(id, held, told));
        }
        while let Some(Undelivered { message, sent }) = held.engine.poll_undelivered() {
            let Message { stream, unordered, ppid, immediate, payload } = message;
            let sending = Sending { stream, unordered, ppid, immediate, ..Sending::default() };
            said.push(Notification::SendFailed { id, sent, sending, payload });
        }
        let (connected, ended) = (held.connected, held.ended);
        let wet = !held.engine.is_dry();
        if held.was_wet && !wet && connected && ended.is_none() {
            said.push(Notification::SenderDry { id });
        }
        held.was_wet = wet;
        let after = held.taken + held.engine.waiting().len() as u64;
        let Some(owner) = held.owner else { return };
        let Some(socket) = self.table.get_mut(&owner) else { return };
        if let Some(reason) = ended
            && socket.style == super::Style::OneToOne
            && socket.listener.is_none()
            && said.iter().any(|notification| notification.event() == Event::Association)
        {
            socket.error = match reason {
                CloseReason::Reset => Some(Errno::ECONNRESET),
                CloseReason::Refused => Some(Errno::ECONNREFUSED),
                CloseReason::TimedOut => Some(Errno::ETIMEDOUT),
                CloseReason::Normal => socket.error,
                CloseReason::Aborted if connected => Some(Errno::ECONNABORTED),
                CloseReason::Aborted => Some(Errno::ECONNREFUSED),
            };
        }
        let wanted =
            said.into_iter().filter(|notification| socket.options.events.has(notification.event()));
        let queued =
            wanted.map(|notification| Queued { notification, after, association: Some(id) });
        socket.notifications.extend(queued);
    }

    /// The next packet of an association; those that are over and nobody's are
    /// forgotten.
    pub(super) fn poll_associations(&mut self, now: anabranch_units::Time) -> Option<Packet> {
        let ids: Vec<AssociationId> = self.associations.keys().copied().collect();
        for id in ids {
            let held = self.associations.get_mut(&id)?;
            let packet = held.engine.poll_transmit(now);
            self.hear(id);
            if packet.is_some() {
                return packet;
            }
            let held = &self.associations[&id];
            if held.ended.is_some() && held.owner.is_none() {
                self.associations.remove(&id);
            }
        }
        None
    }
}

fn association_change(id: AssociationId, held: &Held, state: AssociationState) -> Notification {
    let engine = &held.engine;
    Notification::Association {
        id,
        state,
        error: 0,
        outbound: engine.outbound_streams(),
        inbound: engine.inbound_streams(),
        features: match state {
            AssociationState::Up | AssociationState::Restart => features(engine),
            _ => Vec::new(),
        },
    }
}

/// A request of the user's that the peer has denied (result 2 of RFC 6525 §4.4), or that failed.
fn refused(
    id: AssociationId,
    engine: &Association,
    request: Reconfiguration,
    result: u32,
) -> Notification {
    let refusal = Refusal { denied: result == 2, failed: result != 2 };
    match request {
        Reconfiguration::ResetOutgoing | Reconfiguration::ResetIncoming => {
            let incoming = request == Reconfiguration::ResetIncoming;
            Notification::StreamReset { id, incoming, refusal, streams: Vec::new() }
        }
        Reconfiguration::ResetAssociation => {
            let (local_tsn, remote_tsn) = (engine.next_tsn().0, engine.cumulative_tsn().add(1).0);
            Notification::AssociationReset { id, refusal, local_tsn, remote_tsn }
        }
        Reconfiguration::AddStreams => {
            let (inbound, outbound) = (engine.inbound_streams(), engine.outbound_streams());
            Notification::StreamChange { id, inbound, outbound, refusal }
        }
    }
}

fn translate(id: AssociationId, held: &Held, told: Told) -> Option<Notification> {
    let engine = &held.engine;
    Some(match told {
        Told::Path { path, state } => Notification::PeerAddress {
            id,
            address: engine.observe_path(path)?.remote,
            state: match state {
                PathState::Active => AddressState::Available,
                PathState::Inactive => AddressState::Unreachable,
                PathState::Unconfirmed | PathState::PotentiallyFailed => return None,
            },
        },
        Told::Restarted => association_change(id, held, AssociationState::Restart),
        Told::StreamReset { stream, incoming } => {
            let refusal = Refusal::default();
            Notification::StreamReset { id, incoming, refusal, streams: vec![stream] }
        }
        Told::StreamsAdded { .. } => Notification::StreamChange {
            id,
            inbound: engine.inbound_streams(),
            outbound: engine.outbound_streams(),
            refusal: Refusal::default(),
        },
        Told::Renumbered => Notification::AssociationReset {
            id,
            refusal: Refusal::default(),
            local_tsn: engine.next_tsn().0,
            remote_tsn: engine.cumulative_tsn().add(1).0,
        },
        Told::ReconfigurationFailed { request, result } => refused(id, engine, request, result),
        // Each message that is not sent is told by itself.
        Told::AddressChanged { .. }
        | Told::PathsChanged
        | Told::StreamsMissing { .. }
        | Told::PeerError { .. } => return None,
    })
}
