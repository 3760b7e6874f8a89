//! A case, and one run of it by a schedule.

use crate::choice::{Fault, Schedule};
use crate::trace::Trace;
use crate::world::{Next, Setting, Verdict, World};
use anabranch_endpoint::{Observe, Service};
use anabranch_units::Time;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Steps that a run may take.
const MOST_STEPS: u16 = 4000;

/// Steps that may follow once both applications are done: packets still in flight and
/// timers that run out.
const MOST_AFTERWARDS: u16 = 500;

/// A transfer to be explored: how its endpoints are made, and their world.
pub struct Case<E> {
    /// Name, unique among the cases of a catalogue.
    pub name: String,
    /// The world of the transfer, without its endpoints.
    pub setting: Setting,
    /// Makes client and server, always the same.
    pub make: Box<dyn Fn() -> [E; 2]>,
}

/// The result of one run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// `None` where the visitor had seen enough.
    pub verdict: Option<Verdict>,
    pub steps: u16,
    /// Virtual time at which everything was over.
    pub end: Time,
    /// Faults of the schedule that happened.
    pub suffered: usize,
    pub trace: Option<Trace>,
}

/// Hears the states after the last fault of a schedule: step, fingerprint, and a bit for
/// each of the setting's faults that can happen next. False ends the run.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(u16, u64, u32) -> bool;

impl<E: Service + Observe> Case<E> {
    /// Runs the schedule; a panic is a verdict, too.
    pub(crate) fn run(&self, schedule: &Schedule, trace: bool, visit: Visit<'_>) -> Run {
        let mut run = Run { verdict: None, steps: 0, end: Time::ZERO, suffered: 0, trace: None };
        let mut trace = trace.then(Trace::default);
        let drive = || self.drive(schedule, &mut run, trace.as_mut(), visit);
        let outcome = catch_unwind(AssertUnwindSafe(drive));
        if let Err(panic) = outcome {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            let what = format!("panic: {}", text.unwrap_or("of an unknown kind"));
            run.verdict = Some(Verdict::Wrong(what));
        }
        run.trace = trace;
        run
    }

    fn drive<'a>(
        &'a self,
        schedule: &Schedule,
        run: &mut Run,
        trace: Option<&'a mut Trace>,
        visit: Visit<'_>,
    ) {
        let mut world = World::new(&self.setting, (self.make)(), trace);
        let mut faults = schedule.faults().iter().copied().peekable();
        loop {
            let next = world.next();
            if world.is_over() || next == Next::Nothing || world.has_failed() {
                break;
            }
            if run.steps == MOST_STEPS {
                world.fail(format!("no end after {MOST_STEPS} steps"));
                break;
            }
            let step = run.steps;
            let due = faults.next_if(|fault| fault.0 == step).map(|item| item.1);
            let possible = due.filter(|due| world.faults(next).any(|fault| fault == *due));
            run.suffered += usize::from(possible.is_some());
            if due.is_none() && faults.peek().is_none() {
                let mask = self.mask(world.faults(next));
                if !visit(step, world.fingerprint(), mask) {
                    return;
                }
            }
            world.step(step, next, possible);
            run.steps += 1;
        }
        run.end = world.now;
        if world.is_over() {
            self.finish(&mut world, run.steps);
        }
        run.verdict = Some(world.verdict());
    }

    /// Lets what is still in flight arrive, and timers run out.
    fn finish(&self, world: &mut World<'_, E>, steps: u16) {
        for step in steps..steps + MOST_AFTERWARDS {
            let next = world.next();
            if next == Next::Nothing {
                return;
            }
            world.step(step, next, None);
        }
        world.fail(format!("both sides have ended, and {MOST_AFTERWARDS} steps follow"));
    }

    /// A bit for each fault of the setting that is among these.
    fn mask(&self, possible: impl Iterator<Item = Fault>) -> u32 {
        let all = &self.setting.faults;
        let bit = |fault| all.iter().position(|item| *item == fault).map_or(0, |n| 1 << n);
        possible.fold(0, |mask, fault| mask | bit(fault))
    }
}
