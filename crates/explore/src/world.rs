//! A small world: two endpoints with their applications, a network, virtual time. It moves
//! by steps; at each, one thing happens: a packet arrives (or what a [`Fault`] makes of
//! that), a timer of an endpoint fires, or an application reads.

use crate::app::{App, Plan};
use crate::choice::Fault;
use crate::fingerprint::mix;
pub use crate::network::OUTAGE;
use crate::network::{self, Network, PATHS};
use crate::trace::Trace;
use anabranch_endpoint::{CloseReason, Observe, PathObservation, PathState, Service};
use anabranch_units::{Span, Time};

/// Time by which [`Fault::Late`] delays a timer: more than a latency, less than a round trip.
pub const LATENESS: Span = Span::from_millis(15);

/// Packets that an endpoint may send at once.
const MOST_AT_ONCE: u32 = 100;

/// What a world is made of, but for the endpoints.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The applications of client and server.
    pub plans: [Plan; 2],
    /// One-way latency of each path.
    pub latency: [Span; PATHS],
    /// Number of paths that are in use.
    pub paths: usize,
    /// Middleboxes take the options of Multipath TCP away from the start.
    pub strips: bool,
    /// Faults that can happen.
    pub faults: Vec<Fault>,
    /// Virtual time by which everything is over.
    pub patience: Span,
    /// A connection may end for another reason than that both streams ended.
    pub may_report: bool,
}

/// One side: an endpoint and its application.
#[derive(Debug)]
struct End<'a, E> {
    endpoint: E,
    app: App<'a>,
    /// A hash of the calls that it was given, with their times.
    history: u64,
    /// Packets that it has sent.
    sent: u32,
    /// Time before which its timers do not fire.
    snooze: Time,
}

impl<E: Service + Observe> End<'_, E> {
    fn deadline(&self) -> Time {
        match self.endpoint.poll_timeout() {
            Time::NEVER => Time::NEVER,
            date => date.max(self.snooze),
        }
    }
}

/// What happens next, if nothing goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// This packet of those in flight arrives.
    Packet(usize),
    /// The timer of a side fires.
    Timer(usize),
    /// The application of a side reads.
    App(usize),
    /// Nothing is pending.
    Nothing,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All octets arrived, and both sides ended in order.
    Delivered,
    /// A side gave a reason for its end; the other may never have been connected.
    Reported([Option<CloseReason>; 2]),
    /// Something happened that must not.
    Wrong(String),
}

#[derive(Debug)]
pub(crate) struct World<'a, E> {
    setting: &'a Setting,
    pub now: Time,
    ends: [End<'a, E>; 2],
    network: Network,
    trace: Option<&'a mut Trace>,
    wrong: Option<String>,
    /// Something happened that nobody need survive: a path broke for ever while the other was not
    /// in use, or a middlebox began to take options away.
    is_excused: bool,
}

/// Words by which calls differ in histories.
const INPUT: u64 = 1;
const TIMEOUT: u64 = 2;
const READING: u64 = 3;

pub(crate) const NAMES: [&str; 2] = ["client", "server"];

impl<'a, E: Service + Observe> World<'a, E> {
    /// The client has connected.
    pub fn new(
        setting: &'a Setting,
        endpoints: [E; 2],
        trace: Option<&'a mut Trace>,
    ) -> World<'a, E> {
        let [one, other] = &setting.plans;
        let mut sides = [(0, one, other), (1, other, one)].into_iter();
        let ends = endpoints.map(|endpoint| {
            let (side, own, peer) = sides.next().expect("two sides");
            let app = App::new(own, peer, side);
            End { endpoint, app, history: side, sent: 0, snooze: Time::ZERO }
        });
        let network = Network::new(setting.latency, setting.strips);
        let mut world = World {
            setting,
            now: Time::ZERO,
            ends,
            network,
            trace,
            wrong: None,
            is_excused: false,
        };
        let client = &mut world.ends[0];
        client.endpoint.connect(world.now);
        client.app.write(&mut client.endpoint);
        world.attend(0);
        world
    }

    /// What tells this state from others.
    pub fn fingerprint(&self) -> u64 {
        let of = |hash, end: &End<'_, E>| mix(mix(hash, end.history), end.snooze.as_picos());
        let sides = self.ends.iter().fold(self.network.fingerprint(), of);
        mix(sides, self.now.as_picos())
    }

    /// What happens next; packets before timers of the same date.
    pub fn next(&mut self) -> Next {
        loop {
            let packet = self.network.next();
            let arrival =
                packet.map_or(Time::NEVER, |packet| self.network.flight()[packet].arrival);
            let mut first = (arrival, packet.map_or(Next::Nothing, Next::Packet));
            for (side, end) in self.ends.iter().enumerate() {
                for item in [(end.deadline(), Next::Timer(side)), (end.app.due, Next::App(side))] {
                    if item.0 < first.0 {
                        first = item;
                    }
                }
            }
            if first.1 != Next::Nothing || !self.network.release_all(self.now) {
                return first.1;
            }
        }
    }

    /// What can go wrong with that.
    pub fn faults(&self, next: Next) -> impl Iterator<Item = Fault> {
        let flying = match next {
            Next::Packet(index) => {
                let flying = &self.network.flight()[index];
                (!self.network.is_down(flying, self.now.max(flying.arrival))).then_some(flying)
            }
            _ => None,
        };
        let is_timer = matches!(next, Next::Timer(_));
        self.setting.faults.iter().copied().filter(move |fault| match flying {
            Some(flying) => self.network.can(*fault, flying),
            None => is_timer && *fault == Fault::Late,
        })
    }

    /// It happens, or what the fault makes of it.
    pub fn step(&mut self, number: u16, next: Next, fault: Option<Fault>) {
        match next {
            Next::Packet(index) => self.arrive(number, index, fault),
            Next::Timer(side) => {
                let deadline = self.ends[side].deadline();
                if fault == Some(Fault::Late) {
                    self.ends[side].snooze = self.now.max(deadline) + LATENESS;
                    self.note(|now, trace| trace.timer(number, now, side, true));
                    return;
                }
                self.now = self.now.max(deadline);
                self.note(|now, trace| trace.timer(number, now, side, false));
                self.expire(side);
                let after = self.ends[side].endpoint.poll_timeout();
                if after <= self.now {
                    let name = NAMES[side];
                    self.blame(format!("a timer of the {name} that has fired is still due"));
                }
            }
            Next::App(side) => {
                let end = &mut self.ends[side];
                self.now = self.now.max(end.app.due);
                end.history = mix(mix(end.history, READING), self.now.as_picos());
                end.app.handle_timeout(self.now, &mut end.endpoint);
                self.note(|now, trace| trace.reading(number, now, side));
                self.attend(side);
            }
            Next::Nothing => {}
        }
    }

    fn arrive(&mut self, number: u16, index: usize, fault: Option<Fault>) {
        let flying = &self.network.flight()[index];
        self.now = self.now.max(flying.arrival);
        let is_lost = self.network.is_down(flying, self.now);
        if let Some(trace) = &mut self.trace {
            trace.packet(number, self.now, flying, fault, is_lost);
        }
        if is_lost {
            self.network.take(index);
            return;
        }
        match fault {
            Some(Fault::Cut) => self.is_excused |= !self.can_do_without(flying.path),
            Some(Fault::Strip) => self.is_excused = true,
            _ => {}
        }
        if fault == Some(Fault::Early) {
            self.expire(0);
            self.expire(1);
        }
        if let Some(fault) = fault
            && !self.network.suffer(self.now, fault, index)
        {
            return;
        }
        let mut flying = self.network.take(index);
        self.network.strip(&mut flying.packet);
        let side = flying.to;
        let end = &mut self.ends[side];
        let strips = u64::from(self.network.strips);
        let words = [INPUT + 8 * strips, self.now.as_picos(), flying.id];
        end.history = words.into_iter().fold(end.history, mix);
        end.endpoint.handle_input(self.now, &flying.packet);
        self.attend(side);
        self.network.on_event(self.now, side, false);
    }

    /// Both sides are connected, do not end yet, and have another path in use.
    fn can_do_without(&self, path: usize) -> bool {
        let has_other = |end: &End<'_, E>| {
            let mut paths = (0..).map_while(|n| end.endpoint.observe_path(n));
            let is_other = |path_observation: &PathObservation| {
                path_observation.state == PathState::Active
                    && network::path_of(path_observation.local, path_observation.remote) != path
            };
            end.app.connected && !end.app.is_closing() && paths.any(|path| is_other(&path))
        };
        self.ends.iter().all(has_other)
    }

    /// The endpoint is told that a deadline may have passed.
    fn expire(&mut self, side: usize) {
        let end = &mut self.ends[side];
        let was_due = end.endpoint.poll_timeout() <= self.now;
        end.history = mix(mix(end.history, TIMEOUT), self.now.as_picos());
        end.snooze = Time::ZERO;
        end.endpoint.handle_timeout(self.now);
        self.attend(side);
        if was_due {
            self.network.on_event(self.now, side, true);
        }
    }

    /// The application hears what its endpoint reports, and what that has to send leaves.
    fn attend(&mut self, side: usize) {
        let end = &mut self.ends[side];
        let mut packets = 0;
        let mut event = end.endpoint.poll_event();
        loop {
            while let Some(heard) = event {
                if let Some(trace) = &mut self.trace {
                    trace.event(self.now, side, heard);
                }
                end.app.handle_event(self.now, heard, &mut end.endpoint);
                event = end.endpoint.poll_event();
            }
            while packets < MOST_AT_ONCE
                && let Some(packet) = end.endpoint.poll_transmit(self.now)
            {
                let id = mix(end.history, u64::from(end.sent));
                self.network.send(self.now, side, end.sent, id, packet);
                end.sent += 1;
                packets += 1;
            }
            event = end.endpoint.poll_event();
            if event.is_none() {
                break;
            }
        }
        if packets == MOST_AT_ONCE {
            self.blame(format!("the {} sends {packets} packets at once", NAMES[side]));
        }
        if let Some(what) = self.ends[side].app.wrong.take() {
            self.blame(format!("the {}: {what}", NAMES[side]));
        }
    }

    fn blame(&mut self, what: String) {
        self.wrong.get_or_insert(what);
    }

    fn note(&mut self, line: impl FnOnce(Time, &mut Trace)) {
        if let Some(trace) = &mut self.trace {
            line(self.now, trace);
        }
    }

    /// Both applications have nothing more to do.
    pub fn is_over(&self) -> bool {
        self.ends.iter().all(|end| end.app.is_over())
    }

    /// Ends the run as one that may not be, for this reason.
    pub fn fail(&mut self, why: String) {
        let states = self.states();
        self.blame(format!("{why}: {states}"));
    }

    /// Something is already wrong, or it takes too long.
    pub fn has_failed(&mut self) -> bool {
        let is_late = self.now.saturating_since(Time::ZERO) > self.setting.patience;
        // Over a dead path, or beside one that takes options away, a side that has nothing to send
        // may wait, and try to open another, for ever.
        let is_broken = self.is_excused || self.network.is_dead(self.setting.paths);
        let may_wait = is_late && is_broken && !self.is_stuck();
        if is_late && !may_wait {
            let states = self.states();
            self.blame(format!("no end after {:.0} s: {states}", self.now.as_secs_f64()));
        }
        is_late || self.wrong.is_some()
    }

    /// A side has not ended, and should have.
    fn is_stuck(&self) -> bool {
        (0..2).any(|side| !self.ends[side].app.is_over() && !self.cannot_know(side))
    }

    /// What became of it; when nothing happens any more, or [`World::is_over`].
    pub fn verdict(&mut self) -> Verdict {
        if self.wrong.is_none() {
            self.judge();
        }
        if let Some(what) = self.wrong.take() {
            return Verdict::Wrong(what);
        }
        let reasons = [0, 1].map(|side| self.ends[side].app.closed);
        match reasons.iter().all(|reason| *reason == Some(CloseReason::Normal)) {
            true => Verdict::Delivered,
            false => Verdict::Reported(reasons),
        }
    }

    /// An endpoint that cannot know that its peer gave up: it still listens, or has nothing
    /// unacknowledged (and no keep-alives).
    fn cannot_know(&self, side: usize) -> bool {
        let (end, peer) = (&self.ends[side], self.ends[1 - side].app.closed);
        let has_nothing_to_send = end.endpoint.observe().bytes_acked >= end.app.written;
        let is_silent = !end.app.connected || has_nothing_to_send;
        is_silent && peer.is_some_and(|peer| peer != CloseReason::Normal)
    }

    fn judge(&mut self) {
        if self.is_stuck() {
            let states = self.states();
            let at = self.now.as_secs_f64();
            return self.blame(format!("nothing happens any more after {at:.3} s: {states}"));
        }
        for (side, name) in NAMES.iter().enumerate() {
            let app = &self.ends[side].app;
            if app.closed == Some(CloseReason::Normal) && !app.is_satisfied() {
                let states = self.states();
                self.blame(format!("the {name} ended normally without all data: {states}"));
            }
        }
        let reported = self.ends.iter().any(|end| end.app.closed != Some(CloseReason::Normal));
        let is_allowed =
            self.setting.may_report || self.is_excused || self.network.is_dead(self.setting.paths);
        if reported && !is_allowed {
            let states = self.states();
            self.blame(format!("gave up: {states}"));
        }
    }

    fn states(&self) -> String {
        let of = |side: usize| format!("the {} {}", NAMES[side], self.ends[side].app.lacks());
        format!("{}; {}", of(0), of(1))
    }
}
