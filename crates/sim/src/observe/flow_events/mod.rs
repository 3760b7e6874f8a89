//! What happens to a flow besides its data, at both ends: handshakes, marks and what they cost, fast
//! retransmits and timeouts, heartbeats, changes of addresses and of path states, the end.
//!
//! Signals and marks are read from packets where an endpoint sends or receives them; timeouts,
//! retransmits and reductions are found where a count of the endpoint has grown, changes of states
//! where two looks differ. Equal events at one place that follow each other within [`TOGETHER`] are
//! one, with their number.

mod signal;
#[cfg(test)]
mod tests;

pub use signal::Signal;

use super::{Interests, Observer, PacketEvent, PacketEventKind};
use crate::flow::{FlowId, Side};
use anabranch_endpoint::{Observation, PathId, PathObservation, PathState};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, Ecn, FlowKey, Packet};
use std::collections::BTreeMap;

/// Equal events that are not farther apart than this are one.
pub const TOGETHER: Span = Span::from_millis(50);

/// Kinds of events that an observer of flows hears of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FlowEventKind {
    /// The endpoint sent such a packet or chunk.
    Sent(Signal),
    /// The endpoint received it.
    Received(Signal),
    /// A packet arrived that a router had marked (CE, RFC 3168 §5).
    Marked,
    /// The window answered an echo of marks.
    EcnReduction,
    /// Fast retransmit was entered.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout,
    /// A tail loss probe left (RFC 8985 §7).
    TailLossProbe,
    /// A reduction was undone as spurious (RFC 4015).
    Undone,
    /// The endpoint's view of a path changed to this.
    Path(PathState),
}

impl FlowEventKind {
    /// Returns the group of the kind: `handshake`, `close`, `address`, `heartbeat`, `mark`, `ecn`,
    /// `fast-retransmit`, `timeout`, `probe`, `undo` or `state`.
    pub const fn group(self) -> &'static str {
        match self {
            FlowEventKind::Sent(signal) | FlowEventKind::Received(signal) => signal.names().1,
            FlowEventKind::Marked => "mark",
            FlowEventKind::EcnReduction => "ecn",
            FlowEventKind::FastRetransmit => "fast-retransmit",
            FlowEventKind::Timeout => "timeout",
            FlowEventKind::TailLossProbe => "probe",
            FlowEventKind::Undone => "undo",
            FlowEventKind::Path(_) => "state",
        }
    }

    /// Returns a description in words, for one event.
    pub fn text(self) -> String {
        match self {
            FlowEventKind::Sent(signal) => format!("{} sent", signal.names().0),
            FlowEventKind::Received(signal) => format!("{} received", signal.names().0),
            FlowEventKind::Marked => "packet with CE received".to_owned(),
            FlowEventKind::EcnReduction => "window reduced for marks".to_owned(),
            FlowEventKind::FastRetransmit => "fast retransmit".to_owned(),
            FlowEventKind::Timeout => "retransmission timeout".to_owned(),
            FlowEventKind::TailLossProbe => "tail loss probe".to_owned(),
            FlowEventKind::Undone => "spurious reduction undone".to_owned(),
            FlowEventKind::Path(PathState::Unconfirmed) => "path unconfirmed".to_owned(),
            FlowEventKind::Path(PathState::Active) => "path active".to_owned(),
            FlowEventKind::Path(PathState::PotentiallyFailed) => {
                "path potentially failed".to_owned()
            }
            FlowEventKind::Path(PathState::Inactive) => "path inactive".to_owned(),
        }
    }
}

/// An event of a flow, or several equal ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowEvent {
    /// Time of the first of them.
    pub from: Time,
    /// Time of the last of them.
    pub until: Time,
    /// Number of equal events in a row.
    pub count: u64,
    /// Side of the flow at which it happened.
    pub side: Side,
    /// Path of the event, seen from the sender of the data; `None` of a flow that has one, and of
    /// what belongs to no path.
    pub path: Option<PathId>,
    /// The kind of event that happened.
    pub kind: FlowEventKind,
    /// What brought the first of them about, where that is known.
    pub cause: Option<Cause>,
}

/// The state of a timer or of a path's errors that brought an event about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The timer ran for `expired`; the retransmission timeout is `next` from now on. `errors` is
    /// how many errors in a row the path has had, of a transport that counts them.
    Timer {
        /// Retransmission timeout that had been in force.
        expired: Span,
        /// Retransmission timeout now in force.
        next: Span,
        /// Errors in a row, with this one.
        errors: Option<u32>,
    },
    /// So many errors in a row: timeouts and unanswered heartbeats (RFC 9260 §8.2).
    Errors(u32),
}

impl Cause {
    /// Returns the cause in words.
    pub fn text(self) -> String {
        match self {
            Cause::Timer { expired, next, errors } => {
                let errors = errors.map_or_else(String::new, |count| format!(", {}", row(count)));
                format!(
                    "after {:.3} s, next after {:.3} s{errors}",
                    expired.as_secs_f64(),
                    next.as_secs_f64()
                )
            }
            Cause::Errors(count) => row(count),
        }
    }
}

/// Errors in a row, in words.
fn row(count: u32) -> String {
    format!("{count} error{} in a row", if count == 1 { "" } else { "s" })
}

/// What the paths of a flow are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Paths {
    /// The flow has one path.
    One,
    /// Addresses of the receiver of the data, as with SCTP.
    Destinations,
    /// Pairs of addresses, as with Multipath TCP.
    Pairs,
}

/// Records the events of chosen flows.
#[derive(Clone, Debug, Default)]
pub struct EventRecorder {
    tracks: Vec<Option<Track>>,
}

#[derive(Clone, Debug)]
struct Track {
    sender: Side,
    paths: Paths,
    events: Vec<FlowEvent>,
    /// The last event of its kind and place.
    last: BTreeMap<(Side, Option<PathId>, FlowEventKind), usize>,
    /// Both ends, and their paths, when they were last looked at; an end at first is not.
    ends: [Option<Look>; 2],
    of_paths: BTreeMap<(Side, PathId), Look>,
    /// Subflows in the order in which they were seen first, by the direction of the data.
    subflows: Vec<FlowKey>,
}

/// An endpoint or a path when it was looked at.
#[derive(Clone, Copy, Debug)]
struct Look {
    counts: Counts,
    /// Retransmission timeout in force.
    rto: Span,
    /// Errors in a row and state, of a path.
    path: Option<(u32, PathState)>,
}

/// Counts of an endpoint or a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Counts {
    timeouts: u64,
    fast_retransmits: u64,
    ecn_reductions: u64,
    tail_loss_probes: u64,
    undone: u64,
}

impl EventRecorder {
    /// Makes a recorder that records nothing yet.
    pub fn new() -> EventRecorder {
        EventRecorder::default()
    }

    /// Also records this flow, whose data `sender` sends.
    pub fn record(&mut self, flow: FlowId, sender: Side, paths: Paths) {
        let index = flow.0 as usize;
        if self.tracks.len() <= index {
            self.tracks.resize(index + 1, None);
        }
        self.tracks[index] = Some(Track {
            sender,
            paths,
            events: Vec::new(),
            last: BTreeMap::new(),
            ends: [None; 2],
            of_paths: BTreeMap::new(),
            subflows: Vec::new(),
        });
    }

    /// What happened, by the date of the first of equal events.
    pub fn events(&self, flow: FlowId) -> &[FlowEvent] {
        let track = self.tracks.get(flow.0 as usize).and_then(Option::as_ref);
        track.map_or(&[], |track| &track.events)
    }

    fn track(&mut self, flow: FlowId) -> Option<&mut Track> {
        self.tracks.get_mut(flow.0 as usize)?.as_mut()
    }
}

impl Observer for EventRecorder {
    fn interests(&self) -> Interests {
        let several = |track: &Track| track.paths != Paths::One;
        let paths = self.tracks.iter().flatten().any(several);
        Interests { packets: true, endpoints: true, paths, ..Interests::default() }
    }

    fn packet(&mut self, now: Time, event: &PacketEvent, packet: &Packet) {
        let Some((flow, side)) = event.flow else { return };
        let Some(track) = self.track(flow) else { return };
        match event.kind {
            PacketEventKind::Sent => {
                signal::of(packet, |signal| {
                    track.note_packet(now, side, packet, FlowEventKind::Sent(signal));
                });
            }
            PacketEventKind::Received => {
                if packet.ecn == Ecn::Ce {
                    track.note_packet(now, side, packet, FlowEventKind::Marked);
                }
                signal::of(packet, |signal| {
                    track.note_packet(now, side, packet, FlowEventKind::Received(signal));
                });
            }
            _ => {}
        }
    }

    fn endpoint(&mut self, now: Time, flow: FlowId, side: Side, state: &Observation) {
        let Some(track) = self.track(flow) else { return };
        let mut counts = Counts {
            tail_loss_probes: state.tail_loss_probes,
            undone: state.undone_reductions,
            ..Counts::default()
        };
        // Of several paths each has its own.
        if track.paths == Paths::One {
            counts.timeouts = state.timeouts;
            counts.fast_retransmits = state.fast_retransmits;
            counts.ecn_reductions = state.ecn_reductions;
        }
        let look = Look { counts, rto: state.rto, path: None };
        let before = track.ends[side as usize].replace(look);
        track.note_changes(now, side, None, before, look);
    }

    fn path(&mut self, now: Time, flow: FlowId, side: Side, state: &PathObservation) {
        let Some(track) = self.track(flow).filter(|track| track.paths != Paths::One) else {
            return;
        };
        let counts = Counts {
            timeouts: state.timeouts,
            fast_retransmits: state.fast_retransmits,
            ecn_reductions: state.ecn_reductions,
            ..Counts::default()
        };
        let path = track.path(side, state.local, state.remote, state.subflow.unwrap_or(0));
        // Destinations share the address of this end: each is a path of its own here.
        let look = Look { counts, rto: state.rto, path: Some((state.errors, state.state)) };
        let before = track.of_paths.insert((side, state.id()), look);
        track.note_changes(now, side, path, before, look);
    }
}

impl Track {
    /// The path between two addresses, seen from the sender of the data.
    fn path(&self, side: Side, local: Addr, remote: Addr, subflow: u8) -> Option<PathId> {
        let (from, to) = if side == self.sender { (local, remote) } else { (remote, local) };
        match self.paths {
            Paths::One => None,
            Paths::Destinations => Some(PathId { local: None, remote: to, subflow: 0 }),
            Paths::Pairs => Some(PathId { local: Some(from), remote: to, subflow }),
        }
    }

    fn note_packet(&mut self, now: Time, side: Side, packet: &Packet, kind: FlowEventKind) {
        let outbound = matches!(kind, FlowEventKind::Sent(_));
        let (local, remote) =
            if outbound { (packet.src, packet.dst) } else { (packet.dst, packet.src) };
        let subflow = match self.paths {
            Paths::Pairs => self.subflow(side, outbound, packet),
            _ => 0,
        };
        let path = self.path(side, local, remote, subflow);
        self.note(now, (side, path, kind), 1, None);
    }

    /// Returns the index of the packet's subflow among those between its addresses.
    fn subflow(&mut self, side: Side, outbound: bool, packet: &Packet) -> u8 {
        let key = packet.flow_key();
        let key = if (side == self.sender) == outbound { key } else { key.reversed() };
        if !self.subflows.contains(&key) {
            self.subflows.push(key);
        }
        let between = self.subflows.iter().filter(|it| (it.src, it.dst) == (key.src, key.dst));
        let number = between.take_while(|it| **it != key).count();
        u8::try_from(number).unwrap_or(u8::MAX)
    }

    /// Notes what has changed since the look `before`, if there was one.
    fn note_changes(
        &mut self,
        now: Time,
        side: Side,
        path: Option<PathId>,
        before: Option<Look>,
        look: Look,
    ) {
        if let (Some((errors, state)), Some((_, earlier))) =
            (look.path, before.and_then(|look| look.path))
            && state != earlier
        {
            let cause = (errors > 0).then_some(Cause::Errors(errors));
            self.note(now, (side, path, FlowEventKind::Path(state)), 1, cause);
        }
        let counts = look.counts;
        let earlier = before.map_or(Counts::default(), |look| look.counts);
        if earlier == counts {
            return;
        }
        let timer = before.map(|before| Cause::Timer {
            expired: before.rto,
            next: look.rto,
            errors: look.path.map(|(errors, _)| errors),
        });
        for (kind, before, count, cause) in [
            (FlowEventKind::Timeout, earlier.timeouts, counts.timeouts, timer),
            (
                FlowEventKind::FastRetransmit,
                earlier.fast_retransmits,
                counts.fast_retransmits,
                None,
            ),
            (FlowEventKind::EcnReduction, earlier.ecn_reductions, counts.ecn_reductions, None),
            (FlowEventKind::TailLossProbe, earlier.tail_loss_probes, counts.tail_loss_probes, None),
            (FlowEventKind::Undone, earlier.undone, counts.undone, None),
        ] {
            if count > before {
                self.note(now, (side, path, kind), count - before, cause);
            }
        }
    }

    /// Notes `count` equal events at a place.
    fn note(
        &mut self,
        now: Time,
        place: (Side, Option<PathId>, FlowEventKind),
        count: u64,
        cause: Option<Cause>,
    ) {
        let last = self.last.get(&place).map(|at| &mut self.events[*at]);
        if let Some(last) = last.filter(|last| now <= last.until + TOGETHER) {
            last.until = now;
            last.count += count;
            return;
        }
        self.last.insert(place, self.events.len());
        let (side, path, kind) = place;
        self.events.push(FlowEvent { from: now, until: now, count, side, path, kind, cause });
    }
}
