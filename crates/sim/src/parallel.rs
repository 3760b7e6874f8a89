//! One run on several threads, with the results of one.
//!
//! The nodes are divided into parts ([`Plan`]); each part is simulated by a thread of its own, which has a
//! whole [`Simulation`] and lets its own nodes alone act. What a packet does in another part begins when
//! it arrives there, a propagation delay after it was sent at the earliest. So all parts may go on for the
//! least delay of the links between them, the *lookahead*, before they have to hear of each other: they do,
//! meet, exchange the packets that have crossed, and go on (conservative synchronization by windows of
//! time, as in Chandy and Misra's and in Nicol's YAWNS).
//!
//! ```text
//! part 0    |--- events of a window ---|            |--- events of the next ---
//!                                      meet, packets
//! part 1    |--- events of a window ---|            |--- events of the next ---
//! ```
//!
//! Events of a part have the same dates and the same order as in a run on one thread, and nothing is
//! shared: so the results are the same, bit for bit. Where they end when all transfers are complete, the
//! last event has to be found before others go beyond it: in a window in which all readers may get what
//! they wait for, parts with readers go first, and the others follow up to the event at which they ended.

mod meeting;
mod merge;
mod plan;

pub use plan::{Obstacle, Plan};

use crate::FlowEndpoint;
use crate::network::Crossing;
use crate::simulation::{EventKey, Simulation};
use anabranch_units::{Span, Time};
use meeting::Meeting;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The point up to which a simulation runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// This date; the clock then shows it.
    Date(Time),
    /// Every stream of known length has reached its reader, or this date.
    Completion(Time),
}

impl Until {
    fn end(self) -> Time {
        match self {
            Until::Date(end) | Until::Completion(end) => end,
        }
    }
}

/// Why a divided run has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Incomplete {
    /// The caller asked for the end of the run: `is_stopped` returned true, or another part was gone.
    Stopped,
    /// The last reader that waited ended without what it waited for, by a reset or a timeout, and other parts
    /// have gone beyond that event: on one thread the run would have ended there.
    WentTooFar,
}

/// Runs the parts of `plan` through these stages, each on a thread of its own. `simulations` are as many as
/// there are parts, all made of the same as the one that was planned. `is_stopped` is asked on the calling
/// thread now and then; once it says true the run ends.
///
/// What is returned tells what became of everything, and does not go on.
///
/// # Errors
/// [`Incomplete`] if the run was stopped, or cannot have the results of one thread.
///
/// # Panics
/// A panic of a part is passed on.
pub fn run<E: FlowEndpoint + Send>(
    mut simulations: Vec<Simulation<E>>,
    plan: &Plan,
    stages: &[Until],
    is_stopped: &dyn Fn() -> bool,
) -> Result<Simulation<E>, Incomplete> {
    assert_eq!(simulations.len(), plan.parts(), "a simulation for each part");
    let shared = Shared::new(plan);
    let work = |mine: usize, simulation: &mut Simulation<E>, is_stopped: &dyn Fn() -> bool| {
        let whole = catch_unwind(AssertUnwindSafe(|| {
            simulation.become_part(mine as u32, plan.parts(), plan.part_of());
            let mut part = Part::new(mine, simulation, &shared);
            stages.iter().try_for_each(|until| part.drive(*until, is_stopped))
        }));
        whole.unwrap_or_else(|panic| {
            shared.meeting.break_up();
            resume_unwind(panic)
        })
    };
    let whole = std::thread::scope(|scope| {
        let (first, others) = simulations.split_first_mut().expect("a plan has parts");
        let threads: Vec<_> = others
            .iter_mut()
            .zip(1..)
            .map(|(simulation, mine)| scope.spawn(move || work(mine, simulation, &|| false)))
            .collect();
        let first = catch_unwind(AssertUnwindSafe(|| work(0, first, is_stopped)));
        let others: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        let mut all = std::iter::once(first).chain(others);
        // One that was left alone has no panic of its own: the panic of the other counts.
        all.try_fold(Ok(()), |all: Result<(), Incomplete>, part| part.map(|part| all.and(part)))
            .unwrap_or_else(|panic| resume_unwind(panic))
    });
    whole.map(|()| merge::merge(simulations, plan.part_of()))
}

/// What the threads share.
struct Shared {
    meeting: Meeting,
    lookahead: Span,
    /// The date of the next event of each part.
    next: Vec<AtomicU64>,
    /// What each part says of its readers before a window, and where it went first, after it.
    readers: [Vec<Mutex<Readers>>; 2],
    /// What has left each part for each other, `from * parts + to`.
    crossing: Vec<Mutex<Vec<Crossing>>>,
    is_stopped: AtomicBool,
}

/// What a part says of the readers that it simulates.
#[derive(Clone, Copy, Debug)]
enum Readers {
    /// None of them waits; the last event that gave one what it waited for, if that was in this window.
    Done(Option<EventKey>),
    /// One of them waits, and will not have all at the end of the window.
    Waiting,
    /// All that wait may have what they wait for at the end of the window.
    MayEnd,
}

/// Before a window, or after it.
#[derive(Clone, Copy, Debug)]
enum When {
    Before,
    After,
}

impl Shared {
    fn new(plan: &Plan) -> Shared {
        let parts = plan.parts();
        Shared {
            meeting: Meeting::new(parts),
            lookahead: plan.lookahead(),
            next: (0..parts).map(|_| AtomicU64::new(0)).collect(),
            readers: [(); 2].map(|()| (0..parts).map(|_| Mutex::new(Readers::Waiting)).collect()),
            crossing: (0..parts * parts).map(|_| Mutex::default()).collect(),
            is_stopped: AtomicBool::new(false),
        }
    }

    fn parts(&self) -> usize {
        self.next.len()
    }

    /// A part says what is true of its readers, and hears it of all; nothing if one is gone. What is said
    /// before a window and after it is kept apart, since some may still read one when others say the other.
    fn tell(
        &self,
        when: When,
        part: usize,
        readers: Readers,
    ) -> Option<impl Iterator<Item = Readers>> {
        let all = &self.readers[when as usize];
        *locked(&all[part]) = readers;
        self.meeting.meet().then(|| all.iter().map(|readers| *locked(readers)))
    }
}

/// The lock of what no thread leaves half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part at work.
struct Part<'a, E> {
    mine: usize,
    simulation: &'a mut Simulation<E>,
    shared: &'a Shared,
    /// A reader that waited when somebody looked last.
    waiting: Option<u32>,
    /// Windows since the last question whether to stop.
    windows: u32,
}

/// It is asked after so many windows whether to stop.
const BETWEEN_QUESTIONS: u32 = 256;

impl<E: FlowEndpoint> Part<'_, E> {
    fn new<'a>(mine: usize, simulation: &'a mut Simulation<E>, shared: &'a Shared) -> Part<'a, E> {
        Part { mine, simulation, shared, waiting: None, windows: 0 }
    }

    /// Simulates up to then. A part that is gone stops all others.
    fn drive(&mut self, until: Until, is_stopped: &dyn Fn() -> bool) -> Result<(), Incomplete> {
        let shared = self.shared;
        let mut has_gone_on = false;
        loop {
            self.windows += 1;
            if self.windows.is_multiple_of(BETWEEN_QUESTIONS) && is_stopped() {
                shared.is_stopped.store(true, Ordering::Relaxed);
            }
            let next = self.simulation.next_event();
            shared.next[self.mine].store(next.as_picos(), Ordering::Relaxed);
            if !shared.meeting.meet() {
                return Err(Incomplete::Stopped);
            }
            let dates = shared.next.iter().map(|date| date.load(Ordering::Relaxed));
            let first = dates.min().map_or(Time::NEVER, Time::from_picos);
            let stops = shared.is_stopped.load(Ordering::Relaxed);
            let window_end = self.window_end(first).min(until.end());
            let is_over = first > until.end() || first == Time::NEVER;
            let readers = match until {
                Until::Date(_) => Some(Readers::Waiting),
                Until::Completion(_) => self.agree_on_readers(window_end),
            };
            let Some(readers) = readers.filter(|_| !stops) else {
                return Err(Incomplete::Stopped);
            };
            let is_complete = matches!(readers, Readers::Done(_));
            if is_complete && has_gone_on {
                return Err(Incomplete::WentTooFar);
            }
            if is_complete || is_over {
                self.end(until, is_complete);
                return Ok(());
            }
            if matches!(readers, Readers::MayEnd) {
                match self.look_for_end(window_end) {
                    None => return Err(Incomplete::Stopped),
                    Some(true) => return Ok(()),
                    Some(false) => {}
                }
            }
            self.simulation.advance_part(window_end, false);
            has_gone_on = true;
            if !self.exchange() {
                return Err(Incomplete::Stopped);
            }
        }
    }

    /// The last date of a window in which `first` is the first event: what leaves a part at `first` arrives
    /// in another a lookahead later.
    fn window_end(&self, first: Time) -> Time {
        first.saturating_add(self.shared.lookahead - Span::from_picos(1))
    }

    /// Tells the others of this part's readers, and returns what is true of all together; nothing if one is
    /// gone.
    fn agree_on_readers(&mut self, window_end: Time) -> Option<Readers> {
        let mine = self.readers(window_end);
        let told = self.shared.tell(When::Before, self.mine, mine)?;
        let (mut all, mut any_waits) = (Readers::Done(None), false);
        for readers in told {
            match readers {
                Readers::Done(_) => {}
                Readers::Waiting => any_waits = true,
                Readers::MayEnd => all = Readers::MayEnd,
            }
        }
        Some(if any_waits { Readers::Waiting } else { all })
    }

    /// What is true of this part's readers, if it goes on up to `window_end`.
    fn readers(&mut self, window_end: Time) -> Readers {
        let simulation = &self.simulation;
        if simulation.have_all_ended() {
            return Readers::Done(None);
        }
        let waits = |index: &u32| !simulation.may_end(*index, window_end);
        let known = self.waiting.filter(|index| simulation.is_waiting(*index)).filter(waits);
        self.waiting = known.or_else(|| simulation.waiting_readers().find(waits));
        if self.waiting.is_some() { Readers::Waiting } else { Readers::MayEnd }
    }

    /// Goes up to the event after which all readers have what they wait for, if there is one in this window:
    /// says whether there was, and nothing if another part is gone.
    fn look_for_end(&mut self, window_end: Time) -> Option<bool> {
        let simulation = &mut self.simulation;
        let had_ended = simulation.have_all_ended();
        let key = if had_ended { None } else { simulation.advance_part(window_end, true) };
        let readers = match had_ended || key.is_some() {
            true => Readers::Done(key),
            false => Readers::Waiting,
        };
        let told = self.shared.tell(When::After, self.mine, readers)?;
        let mut last = None;
        for readers in told {
            match readers {
                Readers::Done(key) => last = last.max(key),
                _ => return Some(false),
            }
        }
        let last = last.expect("some part's readers waited before this window");
        match key {
            Some(key) if key == last => self.simulation.finish_at(last),
            _ => self.simulation.advance_before(last),
        }
        Some(true)
    }

    /// Nothing more happens before the end of this stage.
    fn end(&mut self, until: Until, is_complete: bool) {
        match until {
            Until::Date(end) => self.simulation.run_until(end),
            Until::Completion(_) if is_complete => {}
            Until::Completion(end) => {
                self.simulation.advance_part(end, false);
            }
        }
    }

    /// Gives what has left this part to the others, and takes what comes from them; false if one is gone.
    fn exchange(&mut self) -> bool {
        let (shared, mine, parts) = (self.shared, self.mine, self.shared.parts());
        for other in (0..parts).filter(|other| *other != mine) {
            let leaving = self.simulation.network.take_leaving(other);
            *locked(&shared.crossing[mine * parts + other]) = leaving;
        }
        if !shared.meeting.meet() {
            return false;
        }
        for other in (0..parts).filter(|other| *other != mine) {
            let coming = std::mem::take(&mut *locked(&shared.crossing[other * parts + mine]));
            coming.into_iter().for_each(|crossing| self.simulation.network.receive(crossing));
        }
        true
    }
}
