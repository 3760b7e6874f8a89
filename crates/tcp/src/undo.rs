//! Was the last reduction of the window spurious? Three detectors, each an
//! option:
//!
//! - *F-RTO* (RFC 5682): after a timeout, the ACK of the retransmission lets
//!   two new segments leave instead of more retransmissions; when the next ACK
//!   reports data that was not sent again, the original flight is still
//!   arriving. The basic algorithm (§2.1) without SACK, the SACK-enhanced
//!   one (§3.1) with it.
//! - *Eifel detection* (RFC 3522): the first ACK of new data after a
//!   retransmission echoes a timestamp older than that retransmission.
//! - *DSACK* (RFC 2883, in the manner of RFC 3708): as many octets as were sent
//!   again since the reduction are reported as duplicates.
//!
//! The response is Eifel's (RFC 4015), and the sender's:
//! [`Sender::undo_reduction`](crate::sender::Sender::undo_reduction). RFC 5682
//! leaves it open.

use crate::ack::Ack;
use crate::config::{Config, UndoOptions};
use crate::range_set::Range;
use anabranch_units::Time;

/// An `Undo` knows what happened since the last reduction, and asks the detectors.
#[derive(Debug)]
pub struct Undo {
    /// `options` say which detectors are asked.
    options: UndoOptions,
    /// `episode` is the last reduction, until it is undone.
    episode: Option<Episode>,
    /// `frto` says where F-RTO stands.
    frto: Frto,
    /// `repair` is what was sent again and is not acknowledged.
    repair: Option<Repair>,
    /// `adapt` says that the next round-trip sample lifts the estimate.
    adapt: bool,
    /// `undone` counts the reductions that were undone.
    pub undone: u32,
    /// `reports` says that the peer reports duplicates, which tell of spurious retransmissions.
    reports: bool,
}

/// A `Repair` stands for the retransmissions on their way, of this episode or of those before it:
/// an echo of any of them is no echo of an original.
#[derive(Clone, Copy, Debug)]
struct Repair {
    /// `since` is the millisecond in which the first of them left.
    since: u64,
    /// `end` is the offset at which the last of them ends.
    end: u64,
}

/// An `Episode` is a reduction and the retransmissions since.
#[derive(Debug)]
struct Episode {
    /// `timeout` says that a timeout reduced the window, and not a fast retransmit.
    timeout: bool,
    /// `una` is SND.UNA at the reduction.
    una: u64,
    /// `resent_at` is the millisecond of the first retransmission (RetransmitTS) that may still be
    /// on its way, until the first ACK of new data after one of this episode.
    resent_at: Option<u64>,
    /// `judged` says that that ACK has come.
    judged: bool,
    /// `resent` counts the octets that were sent again and not reported as duplicates.
    resent: u64,
    /// `overtaken_by` is SND.UNA after the first ACK of new data: how far what overtook the segment
    /// had come.
    overtaken_by: Option<u64>,
}

/// An `Frto` says where F-RTO stands; the numbers are the steps of RFC 5682.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Frto {
    Idle,
    /// Step 2: the ACK of the retransmission is awaited.
    First,
    /// Step 3: the ACK after it is awaited. `point` is RecoveryPoint, and `allowance` new segments
    /// may leave.
    Second {
        point: u64,
        allowance: u8,
    },
}

/// An `Allowed` is what F-RTO lets the sender do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Allowed {
    /// F-RTO is not at work, or lets the retransmission leave.
    Usual,
    /// A new segment may leave, whatever the window.
    NewSegment,
    /// Nothing may leave: the second ACK is awaited.
    Wait,
}

/// `Outstanding` is what the detectors need to know of the sender, once an ACK has been read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outstanding {
    /// `una` is SND.UNA, the oldest offset that is not acknowledged.
    pub una: u64,
    /// `max` is the offset after the highest ever sent.
    pub max: u64,
    /// `fack` is the offset after the highest SACKed octet, or SND.UNA.
    pub fack: u64,
    /// `has_new` says that there is window and data for a segment that was never sent.
    pub has_new: bool,
    /// `has_resent` says that some of what was sent again since a timeout is not acknowledged.
    pub has_resent: bool,
}

/// A `Spurious` says that the last reduction was spurious.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spurious {
    /// `overtaken` is set after a fast retransmit: the segment at its start was overtaken by all up
    /// to its end.
    pub overtaken: Option<Range>,
    /// `is_reported` says that reports of duplicates count the spurious retransmissions.
    pub is_reported: bool,
}

impl Undo {
    /// Returns `None` where no detector is asked and DupThresh stays.
    pub fn new(config: &Config) -> Option<Box<Undo>> {
        let options = config.undo;
        let least = config.dupack_threshold;
        let adapts = config.max_dupack_threshold.is_some_and(|most| most > least);
        let any = options.frto || options.eifel || options.dsack || adapts;
        any.then(|| {
            Box::new(Undo {
                options,
                episode: None,
                frto: Frto::Idle,
                repair: None,
                adapt: false,
                undone: 0,
                reports: config.dsack,
            })
        })
    }

    /// Fast retransmit shrinks the window.
    pub fn on_fast_retransmit(&mut self, una: u64) {
        self.frto = Frto::Idle;
        self.episode = Some(Episode::new(false, una));
    }

    /// A timeout shrinks the window; `recover` is the end of the last recovery.
    pub fn on_timeout(&mut self, una: u64, recover: u64) {
        // Step 1: in the recovery of an earlier loss, the conventional way. A timeout raises `recover`
        // when its first ACK comes (step 2), so that a further one of the same segment is none of that.
        let fresh = recover <= una || self.frto == Frto::First;
        self.frto = if self.options.frto && fresh { Frto::First } else { Frto::Idle };
        // A second timeout of the same segment: the first retransmission is
        // the one to hold the echo against (RFC 3522 §3.2 step 2).
        let same = self.episode.as_ref().is_some_and(|e| e.timeout && e.una == una && !e.judged);
        if !same {
            self.episode = Some(Episode::new(true, una));
        }
    }

    /// `range` leaves, which was sent before.
    pub fn on_resent(&mut self, now: Time, range: Range) {
        let first = Repair { since: now.as_millis(), end: range.end };
        let repair = self.repair.get_or_insert(first);
        repair.end = repair.end.max(range.end);
        if let Some(episode) = &mut self.episode {
            episode.resent_at.get_or_insert(repair.since);
            episode.resent += range.len();
        }
    }

    /// F-RTO stands at step 2.
    pub(crate) fn awaits_repair(&self) -> bool {
        self.frto == Frto::First
    }

    /// Returns what may be sent.
    pub(crate) fn allowed(&self) -> Allowed {
        match self.frto {
            Frto::Idle | Frto::First => Allowed::Usual,
            Frto::Second { allowance: 0, .. } => Allowed::Wait,
            Frto::Second { .. } => Allowed::NewSegment,
        }
    }

    /// A new segment left; true when F-RTO let it.
    pub fn takes_new_segment(&mut self) -> bool {
        match &mut self.frto {
            Frto::Second { allowance, .. } if *allowance > 0 => {
                *allowance -= 1;
                true
            }
            _ => false,
        }
    }

    /// The estimate is to be lifted with this sample.
    pub fn take_adaptation(&mut self) -> bool {
        std::mem::take(&mut self.adapt)
    }

    /// The conventional way is taken: all that was outstanding is sent again.
    fn give_up(&mut self) {
        self.frto = Frto::Idle;
    }
}

impl Episode {
    fn new(timeout: bool, una: u64) -> Episode {
        Episode { timeout, una, resent_at: None, judged: false, resent: 0, overtaken_by: None }
    }

    /// RFC 3522 §3.2, steps 4 to 6: the first ACK of new data echoes an original.
    fn eifel(&mut self, ack: &Ack) -> bool {
        if ack.acked == 0 || self.judged {
            return false;
        }
        let Some(resent_at) = self.resent_at else { return false };
        self.judged = true;
        ack.echoed_from.is_some_and(|echo| echo < resent_at)
    }

    /// Everything sent again was a duplicate.
    fn dsack(&mut self, duplicate: Option<Range>) -> bool {
        let Some(duplicate) = duplicate.filter(|d| d.start >= self.una) else { return false };
        self.resent = self.resent.saturating_sub(duplicate.len());
        self.resent == 0 && self.resent_at.is_some()
    }
}

impl Undo {
    /// Asks the detectors about the last reduction, before the scheme hears of the ACK. Returns
    /// `None` where the reduction was needed, as far as is known.
    pub fn judge(&mut self, ack: &Ack, outstanding: &Outstanding) -> Option<Spurious> {
        if !self.is_spurious(ack, outstanding) {
            return None;
        }
        self.frto = Frto::Idle;
        self.undone += 1;
        let episode = self.episode.take();
        self.adapt = episode.as_ref().map_or(self.adapt, |episode| episode.timeout);
        let overtaken = episode.filter(|episode| !episode.timeout).and_then(|episode| {
            let end = episode.overtaken_by?;
            Some(Range { start: episode.una, end })
        });
        Some(Spurious { overtaken, is_reported: self.reports })
    }

    /// A detector says that the last reduction was spurious.
    fn is_spurious(&mut self, ack: &Ack, outstanding: &Outstanding) -> bool {
        let frto = self.frto(ack, outstanding);
        if self.repair.is_some_and(|repair| repair.end <= outstanding.una) {
            self.repair = None;
        }
        let Some(episode) = &mut self.episode else { return false };
        if ack.acked > 0 {
            episode.overtaken_by.get_or_insert(outstanding.una);
        }
        let eifel = episode.eifel(ack) && self.options.eifel;
        let dsack = episode.dsack(ack.dsack) && self.options.dsack;
        frto || eifel || dsack
    }

    /// RFC 5682 §2.1 and §3.1, steps 2 and 3: the timeout was spurious.
    fn frto(&mut self, ack: &Ack, outstanding: &Outstanding) -> bool {
        let &Outstanding { una, max, fack, .. } = outstanding;
        match self.frto {
            Frto::Idle => false,
            Frto::First => {
                if ack.acked == 0 {
                    if ack.duplicate && !ack.uses_sack {
                        self.give_up(); // §2.1 (2a)
                    }
                    return false;
                }
                // Window and data for something new: else the conventional
                // way. So too when all that was sent is acknowledged, or not
                // all that was sent again.
                let Outstanding { has_new, has_resent, .. } = *outstanding;
                if una >= max || has_resent || !has_new {
                    self.give_up();
                } else {
                    self.frto = Frto::Second { point: max, allowance: 2 };
                }
                false
            }
            Frto::Second { point, .. } => {
                if ack.acked == 0 && !ack.duplicate {
                    return false;
                }
                let beyond = una > point || fack > point;
                let genuine =
                    if ack.uses_sack { beyond || ack.delivered == 0 } else { ack.acked == 0 };
                self.give_up();
                !genuine
            }
        }
    }
}
