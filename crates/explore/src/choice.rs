//! What can go wrong at a step, and a whole run's list of that: a schedule, which is
//! also a text that can be kept in a test.

use std::fmt;
use std::str::FromStr;

/// A departure from the schedule in which everything arrives in order and on time.
/// The packet is the one that would arrive next, the timer the one that would fire next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fault {
    /// The packet is lost.
    Lose,
    /// The packet arrives behind so many more events (arrivals and timers) of its receiver.
    Behind(u8),
    /// The packet arrives once a timer of its receiver has fired: an acknowledgment that
    /// comes too late.
    AfterReceiverTimer,
    /// The packet arrives once a timer of its sender has fired: before what is sent again.
    AfterSenderTimer,
    /// The packet arrives twice in a row.
    Copy,
    /// The packet arrives, and once more behind so many more events of its receiver.
    CopyBehind(u8),
    /// The packet arrives, and once more when a timer of its sender has fired.
    CopyAfterSenderTimer,
    /// The packet arrives marked: congestion experienced.
    Mark,
    /// From this packet on, middleboxes take the options of Multipath TCP away.
    Strip,
    /// The packet's path loses everything for [`crate::world::OUTAGE`].
    Outage,
    /// The packet's path loses everything from now on.
    Cut,
    /// Both endpoints are called although no timer has expired; the packet arrives.
    Early,
    /// The timer fires late, by [`crate::world::LATENESS`].
    Late,
}

/// The names of all faults, in the order in which they are tried.
const NAMES: [(&str, Fault); 17] = [
    ("lose", Fault::Lose),
    ("behind-1", Fault::Behind(1)),
    ("behind-2", Fault::Behind(2)),
    ("behind-3", Fault::Behind(3)),
    ("behind-5", Fault::Behind(5)),
    ("after-receiver-timer", Fault::AfterReceiverTimer),
    ("after-sender-timer", Fault::AfterSenderTimer),
    ("copy", Fault::Copy),
    ("copy-behind-2", Fault::CopyBehind(2)),
    ("copy-behind-5", Fault::CopyBehind(5)),
    ("copy-after-sender-timer", Fault::CopyAfterSenderTimer),
    ("mark", Fault::Mark),
    ("strip", Fault::Strip),
    ("outage", Fault::Outage),
    ("cut", Fault::Cut),
    ("early", Fault::Early),
    ("late", Fault::Late),
];

impl Fault {
    /// Returns all faults.
    pub fn all() -> impl Iterator<Item = Fault> {
        NAMES.iter().map(|name| name.1)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|name| name.1 == *self) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "{self:?}"),
        }
    }
}

/// The faults of a run, each with the number of its step, ascending.
///
/// ```
/// use anabranch_explore::{Fault, Schedule};
/// let schedule: Schedule = "3:lose 7:behind-2".parse().unwrap();
/// assert_eq!(schedule.faults(), [(3, Fault::Lose), (7, Fault::Behind(2))]);
/// assert_eq!(schedule.to_string(), "3:lose 7:behind-2");
/// assert!("7:lose 3:lose".parse::<Schedule>().is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule(Vec<(u16, Fault)>);

/// A text that is no schedule: the part that is wrong, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduleError {
    part: String,
    why: &'static str,
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.part, self.why)
    }
}

impl std::error::Error for ScheduleError {}

impl Schedule {
    /// The faults and their steps.
    pub fn faults(&self) -> &[(u16, Fault)] {
        &self.0
    }

    /// Returns the schedule with one more fault at a later step.
    #[must_use]
    pub fn with(&self, step: u16, fault: Fault) -> Schedule {
        let mut faults = Vec::with_capacity(self.0.len() + 1);
        faults.extend_from_slice(&self.0);
        faults.push((step, fault));
        Schedule(faults)
    }

    /// Returns the schedule without the `n`-th fault.
    #[must_use]
    pub fn without(&self, n: usize) -> Schedule {
        let mut faults = self.0.clone();
        faults.remove(n);
        Schedule(faults)
    }

    /// Returns the schedules with another, simpler fault in place of the `n`-th.
    pub(crate) fn simpler(&self, n: usize) -> impl Iterator<Item = Schedule> + use<> {
        let (faults, (step, own)) = (self.0.clone(), self.0[n]);
        Fault::all().take_while(move |fault| *fault != own).map(move |fault| {
            let mut faults = faults.clone();
            faults[n] = (step, fault);
            Schedule(faults)
        })
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (step, fault)) in self.0.iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            write!(f, "{space}{step}:{fault}")?;
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Schedule, ScheduleError> {
        let mut faults: Vec<(u16, Fault)> = Vec::new();
        for part in text.split_whitespace() {
            let error = |why| ScheduleError { part: part.to_owned(), why };
            let Some((step, name)) = part.split_once(':') else {
                return Err(error("allowed: STEP:FAULT"));
            };
            let Ok(step) = step.parse() else {
                return Err(error("a step is a number from 0 to 65535"));
            };
            let Some((_, fault)) = NAMES.iter().find(|entry| entry.0 == name) else {
                return Err(error("there is no such fault"));
            };
            if faults.last().is_some_and(|last| last.0 >= step) {
                return Err(error("steps ascend"));
            }
            faults.push((step, *fault));
        }
        Ok(Schedule(faults))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_read_back_by_its_name() {
        for (n, fault) in Fault::all().enumerate() {
            let schedule = Schedule::default().with(n as u16, fault);
            assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
    }

    #[test]
    fn errors_name_the_part() {
        let error = |text: &str| text.parse::<Schedule>().unwrap_err().to_string();
        assert_eq!(error("lose"), "\"lose\": allowed: STEP:FAULT");
        assert_eq!(error("1:lost"), "\"1:lost\": there is no such fault");
        assert_eq!(error("x:lose"), "\"x:lose\": a step is a number from 0 to 65535");
        assert_eq!(error("2:lose 2:copy"), "\"2:copy\": steps ascend");
    }
}
