//! Observers: attached from outside, and nothing is computed when none is.

mod capture;
mod cells;
mod check;
mod compression;
mod flow_events;
mod hash;
mod occupancy;
mod packets;
mod paths;
mod queue;
mod queueing;
mod recording;
mod regulator;
mod series;

pub use capture::Capture;
pub use cells::CellRecorder;
pub use check::ConservationChecker;
pub use compression::{Compression, CompressionRecorder};
pub use flow_events::{Cause, EventRecorder, FlowEvent, FlowEventKind, Paths, Signal};
pub use hash::TraceHash;
pub use packets::{Arrivals, Lane, PacketRecorder, Ranges, Sends};
pub use paths::{PathQuantity, PathRecorder};
pub use queue::QueueRecorder;
pub use queueing::{Queueing, QueueingRecorder};
pub use recording::Series;
pub use regulator::RegulatorRecorder;
pub use series::{Quantity, SeriesRecorder};

use crate::flow::{FlowId, Side};
use anabranch_endpoint::{Observation, Observe, PathObservation};
use anabranch_network::abr::CellNote;
use anabranch_network::{Link, LinkEvent, LinkId, NodeId, Regulator};
use anabranch_units::{Span, Time};
use anabranch_wire::Packet;
use std::any::Any;
use std::marker::PhantomData;

/// What an observer wants to hear.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Interests {
    /// Calls [`Observer::packet`] for every event of a packet.
    pub packets: bool,
    /// [`Observer::endpoint`].
    pub endpoints: bool,
    /// Calls [`Observer::path`] for every path of an endpoint.
    pub paths: bool,
    /// Calls for endpoints and paths at the dates of [`Observer::next_look`] alone, not after each
    /// call.
    pub looks: bool,
    /// [`Observer::after_event`].
    pub events: bool,
    /// Calls [`Observer::cell`] for what happens to cells.
    pub cells: bool,
}

/// The place at which a packet event happens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// On a link, or at its regulator.
    Link(LinkId),
    /// At a node: a host or a router.
    Node(NodeId),
}

/// Why a node dropped a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NodeDrop {
    /// Its TTL was used up at a router.
    Ttl,
    /// The node has no route to the destination, or is a host that would have to forward.
    NoRoute,
    /// No endpoint at the destination has the port.
    NoEndpoint,
    /// The transport's checksum does not match, at the destination.
    Checksum,
}

/// What happens to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketEventKind {
    /// An endpoint hands it to its host.
    Sent,
    /// It is handed to an endpoint.
    Received,
    /// Something happens to it on a link.
    Link(LinkEvent),
    /// A node drops it for this reason.
    Dropped(NodeDrop),
    /// It comes to the regulator of a link.
    Held,
    /// It leaves the regulator of a link and goes on.
    Released {
        /// Time for which it was held.
        waited: Span,
    },
    /// The regulator of a link could not hold it: it is dropped.
    Refused,
}

impl PacketEventKind {
    /// Returns whether the packet is gone after it.
    pub fn is_drop(self) -> bool {
        use PacketEventKind::{Dropped, Link, Refused};
        matches!(self, Dropped(_) | Refused | Link(LinkEvent::Dropped(_) | LinkEvent::Removed(_)))
    }
}

/// Something that happens to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketEvent {
    /// The kind of event that happens.
    pub kind: PacketEventKind,
    /// The link or node where it happens.
    pub place: Place,
    /// The endpoint, for what is sent and received.
    pub flow: Option<(FlowId, Side)>,
}

/// Hears what happens in a simulation; cannot change it.
pub trait Observer {
    /// What to call; asked once, when attached.
    fn interests(&self) -> Interests;

    /// Something happened to a packet.
    fn packet(&mut self, _now: Time, _event: &PacketEvent, _packet: &Packet) {}

    /// An endpoint was handled.
    fn endpoint(&mut self, _now: Time, _flow: FlowId, _side: Side, _state: &Observation) {}

    /// An endpoint was handled that has this path.
    fn path(&mut self, _now: Time, _flow: FlowId, _side: Side, _state: &PathObservation) {}

    /// The next date, not before `from`, at which it wants to hear of what was handled since the
    /// last; with [`Interests::looks`].
    fn next_look(&self, _from: Time) -> Time {
        Time::NEVER
    }

    /// Something happened to a cell, or to the rate of a source of cells.
    fn cell(&mut self, _note: &CellNote) {}

    /// Whether a run may be divided over threads that have one such observer each: each hears of its own
    /// endpoints alone, and at the end one of them takes what the others have heard.
    fn is_divisible(&self) -> bool {
        false
    }

    /// Takes what another such observer has heard of other endpoints; for one that is divisible.
    fn absorb(&mut self, _other: &mut dyn Any) {}

    /// An event was handled. `in_network` is the number of packets in the
    /// arena.
    fn after_event(
        &mut self,
        _now: Time,
        _links: &[Link],
        _regulators: &[Regulator],
        _in_network: usize,
    ) {
    }
}

/// Finds an attached observer again, with its type.
pub struct Handle<O> {
    index: usize,
    kind: PhantomData<fn() -> O>,
}

impl<O> Clone for Handle<O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Handle<O> {}

/// An observer that can be found again by its type.
trait Attached: Send {
    fn observer(&mut self) -> &mut dyn Observer;
    fn any(&self) -> &dyn Any;
    fn any_mut(&mut self) -> &mut dyn Any;
}

impl<O: Observer + Send + 'static> Attached for O {
    fn observer(&mut self) -> &mut dyn Observer {
        self
    }
    fn any(&self) -> &dyn Any {
        self
    }
    fn any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// All observers of a simulation.
#[derive(Default)]
pub(crate) struct Observers {
    list: Vec<(Interests, Box<dyn Attached>)>,
    any: Interests,
    /// Endpoints that were handled since the last look, where somebody looks.
    handled: Vec<u32>,
    is_handled: Vec<bool>,
    /// One of them has to hear all that there is to hear.
    any_is_whole: bool,
}

impl Observers {
    pub(crate) fn attach<O: Observer + Send + 'static>(&mut self, observer: O) -> Handle<O> {
        let interests = observer.interests();
        self.any_is_whole |= !observer.is_divisible();
        self.any.packets |= interests.packets;
        self.any.endpoints |= interests.endpoints;
        self.any.paths |= interests.paths;
        self.any.looks |= interests.looks;
        self.any.events |= interests.events;
        self.any.cells |= interests.cells;
        self.list.push((interests, Box::new(observer)));
        Handle { index: self.list.len() - 1, kind: PhantomData }
    }

    pub(crate) fn get<O: 'static>(&self, handle: Handle<O>) -> &O {
        let found = self.list[handle.index].1.any().downcast_ref();
        found.expect("a handle belongs to the simulation that gave it")
    }

    pub(crate) fn get_mut<O: 'static>(&mut self, handle: Handle<O>) -> &mut O {
        let found = self.list[handle.index].1.any_mut().downcast_mut();
        found.expect("a handle belongs to the simulation that gave it")
    }

    /// Whether each part of a divided run may have such observers.
    pub(crate) fn are_divisible(&self) -> bool {
        !self.any_is_whole
    }

    /// Takes what the observers of another part have heard, which are as many and of the same kinds.
    pub(crate) fn absorb(&mut self, others: &mut Observers) {
        for ((_, observer), (_, other)) in self.list.iter_mut().zip(&mut others.list) {
            observer.observer().absorb(other.any_mut());
        }
    }

    /// Somebody listens to packets.
    #[inline]
    pub(crate) fn packets(&self) -> bool {
        self.any.packets
    }

    /// Somebody wants to hear of endpoints or paths, now or at the next look.
    #[inline]
    pub(crate) fn states(&self) -> bool {
        self.any.endpoints | self.any.paths
    }

    /// Somebody hears of states at looks alone.
    #[inline]
    pub(crate) fn looks(&self) -> bool {
        self.any.looks
    }

    /// An endpoint was handled: those who hear of each are told, the others at the next look.
    pub(crate) fn handled(&mut self, now: Time, index: u32, endpoint: &impl Observe) {
        self.tell(now, index, endpoint, false);
        if self.any.looks {
            let at = index as usize;
            if self.is_handled.len() <= at {
                self.is_handled.resize(at + 1, false);
            }
            if !std::mem::replace(&mut self.is_handled[at], true) {
                self.handled.push(index);
            }
        }
    }

    /// The next date, not before `from`, at which somebody looks.
    pub(crate) fn next_look(&mut self, from: Time) -> Time {
        let looking = self.list.iter_mut().filter(|item| item.0.looks);
        looking.map(|observer| observer.1.observer().next_look(from)).min().unwrap_or(Time::NEVER)
    }

    /// Those who look hear of the endpoints that were handled since.
    pub(crate) fn look<'a, E: Observe + 'a>(&mut self, now: Time, of: impl Fn(u32) -> &'a E) {
        let mut handled = std::mem::take(&mut self.handled);
        for index in handled.drain(..) {
            self.is_handled[index as usize] = false;
            self.tell(now, index, of(index), true);
        }
        self.handled = handled;
    }

    /// Tells the state of an endpoint to those who look, or to those who do not.
    fn tell(&mut self, now: Time, index: u32, endpoint: &impl Observe, looking: bool) {
        let (flow, side) = FlowId::of_endpoint(index);
        let wanted = |of: fn(&Interests) -> bool| {
            move |interests: &&mut (Interests, Box<dyn Attached>)| {
                interests.0.looks == looking && of(&interests.0)
            }
        };
        let mut state = None;
        for (_, item) in self.list.iter_mut().filter(wanted(|item| item.endpoints)) {
            let state = state.get_or_insert_with(|| endpoint.observe());
            item.observer().endpoint(now, flow, side, state);
        }
        if !self.list.iter().any(|item| item.0.looks == looking && item.0.paths) {
            return;
        }
        for path in (0..).map_while(|path| endpoint.observe_path(path)) {
            for (_, item) in self.list.iter_mut().filter(wanted(|item| item.paths)) {
                item.observer().path(now, flow, side, &path);
            }
        }
    }

    /// Somebody wants to be called after every event.
    #[inline]
    pub(crate) fn events(&self) -> bool {
        self.any.events
    }

    /// Somebody listens to cells.
    pub(crate) fn cells(&self) -> bool {
        self.any.cells
    }

    pub(crate) fn cell(&mut self, note: &CellNote) {
        for (_, item) in self.list.iter_mut().filter(|item| item.0.cells) {
            item.observer().cell(note);
        }
    }

    pub(crate) fn packet(&mut self, now: Time, event: PacketEvent, packet: &Packet) {
        for (_, item) in self.list.iter_mut().filter(|item| item.0.packets) {
            item.observer().packet(now, &event, packet);
        }
    }

    pub(crate) fn after_event(
        &mut self,
        now: Time,
        links: &[Link],
        regulators: &[Regulator],
        in_network: usize,
    ) {
        for (_, item) in self.list.iter_mut().filter(|item| item.0.events) {
            item.observer().after_event(now, links, regulators, in_network);
        }
    }
}
