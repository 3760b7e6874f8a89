//! What every sender keeps when it drives a window algorithm, and an algorithm of the user's own that
//! records how it is driven.
//!
//! [`Recorder`] wraps an algorithm: it answers as that one does, and remembers each call of a hook.
//! [`broken`] holds what it remembers against what [`Controller`]'s comments promise, whatever the
//! protocol is. What a protocol promises beside stands in its own tests.

use anabranch_congestion::{
    Acked, Algorithm, Cause, Congestion, CongestionEvent, Controller, Feedback, MakeWindow,
    PathView, RateSample, Shared, Sibling,
};
use anabranch_custom::{Custom, Place};
use anabranch_units::{Rate, Span, Time};
use std::sync::{Arc, Mutex, PoisonError};

/// A hook that was called, with what it was told.
#[derive(Clone, Debug)]
pub enum Call {
    /// [`Controller::on_sent`]
    Sent(Time, u64, PathView),
    /// [`Controller::on_ack`]
    Ack(Acked, PathView),
    /// [`Controller::on_feedback`]
    Feedback(Feedback, PathView),
    /// [`Controller::on_congestion`]
    Congestion(CongestionEvent, PathView),
    /// [`Controller::on_undo`]
    Undo,
    /// [`Controller::on_idle`]
    Idle(u64),
    /// [`Controller::on_siblings`]
    Siblings(Vec<Sibling>),
    /// [`Controller::on_penalty`]
    Penalty(u64),
}

impl Call {
    /// Returns when it was called, where it was told, and how the path was.
    pub fn scene(&self) -> Option<(Time, &PathView)> {
        match self {
            Call::Sent(now, _, path) => Some((*now, path)),
            Call::Ack(acked, path) => Some((acked.now, path)),
            Call::Feedback(feedback, path) => Some((feedback.now, path)),
            Call::Congestion(event, path) => Some((event.now, path)),
            Call::Undo | Call::Idle(_) | Call::Siblings(_) | Call::Penalty(_) => None,
        }
    }

    /// The signal, where it is one.
    pub fn cause(&self) -> Option<Cause> {
        match self {
            Call::Congestion(event, _) => Some(event.cause),
            _ => None,
        }
    }
}

/// The signals of a life, in order.
pub fn causes(life: &[Call]) -> Vec<Cause> {
    life.iter().filter_map(Call::cause).collect()
}

/// Returns date and octets of each segment that was sent, in order.
pub fn sent(life: &[Call]) -> Vec<(Time, u64)> {
    let of = |call: &Call| match call {
        Call::Sent(now, octets, _) => Some((*now, *octets)),
        _ => None,
    };
    life.iter().filter_map(of).collect()
}

/// The delivery rates that feedback brought, in order.
pub fn rates(life: &[Call]) -> Vec<RateSample> {
    let of = |call: &Call| match call {
        Call::Feedback(feedback, _) => feedback.rate,
        _ => None,
    };
    life.iter().filter_map(of).collect()
}

/// Sums of the octets acknowledged, delivered, lost and marked of all feedback.
pub fn sums(life: &[Call]) -> (u64, u64, u64, u64) {
    life.iter().fold((0, 0, 0, 0), |sum, call| match call {
        Call::Feedback(f, _) => {
            (sum.0 + f.acked, sum.1 + f.delivered, sum.2 + f.lost, sum.3 + f.marked)
        }
        _ => sum,
    })
}

type Calls = Arc<Mutex<Vec<Call>>>;

/// Remembers the calls that senders make to the controllers that it made.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    lives: Arc<Mutex<Vec<Calls>>>,
}

impl Recorder {
    /// An algorithm that answers as `inner` does, but for `hears`: whether it wants feedback.
    pub fn algorithm(&self, inner: Algorithm, hears: bool) -> Algorithm {
        let lives = Arc::clone(&self.lives);
        let make: Arc<MakeWindow> = Arc::new(move |_: &Place, initial: u64, ssthresh: u64| {
            let calls = Calls::default();
            lives.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&calls));
            let inner = inner.build(initial, ssthresh);
            Box::new(Recording { inner, hears, calls }) as Box<dyn Controller + Send>
        });
        Algorithm::Custom(Box::new(Custom::made_by("recorder", make)))
    }

    /// The calls to each controller that data has left under, in the order in which they were made.
    pub fn lives(&self) -> Vec<Vec<Call>> {
        let lives = self.lives.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = lives.iter().map(|c| c.lock().unwrap_or_else(PoisonError::into_inner).clone());
        calls.filter(|life| life.iter().any(|call| matches!(call, Call::Sent(..)))).collect()
    }
}

/// A controller that remembers what it is told.
struct Recording {
    inner: Congestion,
    hears: bool,
    calls: Calls,
}

impl Recording {
    fn note(&self, call: Call) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }
}

impl Controller for Recording {
    fn on_sent(&mut self, now: Time, bytes: u64, path: &PathView) {
        self.note(Call::Sent(now, bytes, *path));
        self.inner.on_sent(now, bytes, path);
    }
    fn on_ack(&mut self, acked: &Acked, path: &PathView) {
        self.note(Call::Ack(*acked, *path));
        self.inner.on_ack(acked, path);
    }
    fn wants_feedback(&self) -> bool {
        self.hears
    }
    fn owns_recovery(&self) -> bool {
        self.inner.owns_recovery()
    }
    fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
        self.note(Call::Feedback(*feedback, *path));
        self.inner.on_feedback(feedback, path);
    }
    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
        self.note(Call::Congestion(*event, *path));
        self.inner.on_congestion(event, path);
    }
    fn on_undo(&mut self) {
        self.note(Call::Undo);
        self.inner.on_undo();
    }
    fn on_idle(&mut self, initial: u64) {
        self.note(Call::Idle(initial));
        self.inner.on_idle(initial);
    }
    fn is_coupled(&self) -> bool {
        self.inner.is_coupled()
    }
    fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.note(Call::Siblings(siblings.to_vec()));
        self.inner.on_siblings(siblings);
    }
    fn shared(&self) -> Shared {
        self.inner.shared()
    }
    fn on_penalty(&mut self, mss: u64) {
        self.note(Call::Penalty(mss));
        self.inner.on_penalty(mss);
    }
    fn window(&self) -> u64 {
        self.inner.window()
    }
    fn ssthresh(&self) -> u64 {
        self.inner.ssthresh()
    }
    fn pacing_rate(&self, srtt: Option<Span>) -> Option<Rate> {
        self.inner.pacing_rate(srtt)
    }
    fn longest_burst(&self) -> Option<Span> {
        self.inner.longest_burst()
    }
}

/// What of the contract the calls of one life break, each with the number of the call; empty where
/// they keep it. `hears` says whether the controller wanted feedback, `coupled` whether it asked for
/// its siblings.
pub fn broken(life: &[Call], hears: bool, coupled: bool) -> Vec<String> {
    let mut problems = Vec::new();
    let mut state = State::default();
    for (at, call) in life.iter().enumerate() {
        let rules = [
            state.time_and_counts(call),
            state.signals(call),
            state.order(call, hears),
            rate(call),
            values(call),
            match call {
                Call::Feedback(..) if !hears => Some("feedback that nobody wanted".to_owned()),
                Call::Siblings(_) if !coupled => Some("siblings that nobody wanted".to_owned()),
                _ => None,
            },
        ];
        problems
            .extend(rules.into_iter().flatten().map(|text| format!("call {at}: {text}: {call:?}")));
    }
    problems
}

/// What the calls so far have told.
#[derive(Default)]
struct State {
    now: Time,
    sent: u64,
    acked: u64,
    /// What had been sent at the last signal that counts once in a window of data.
    reduced: Option<u64>,
    /// A reduction may be undone.
    undoable: bool,
    /// An `on_ack` waits for its feedback: its date and the flight before.
    owed: Option<(Time, u64)>,
}

impl State {
    /// Dates do not go back, nor do counts; no more is acknowledged than was sent.
    fn time_and_counts(&mut self, call: &Call) -> Option<String> {
        let (now, path) = call.scene()?;
        let before = (self.now, self.sent, self.acked);
        (self.now, self.sent, self.acked) = (now, path.sent, path.acked);
        let back = now < before.0 || path.sent < before.1 || path.acked < before.2;
        let beyond = path.acked > path.sent;
        (back || beyond).then(|| format!("after {before:?}"))
    }

    /// A loss or a mark counts once in a window of data; an undo takes back a reduction.
    fn signals(&mut self, call: &Call) -> Option<String> {
        match call {
            Call::Congestion(event, path) => {
                let again = self.reduced.filter(|sent| path.acked < *sent);
                self.undoable = true;
                self.reduced = (event.cause != Cause::Timeout).then_some(path.sent);
                let once = event.cause != Cause::Timeout;
                again.filter(|_| once).map(|sent| format!("{sent} had been sent at the last"))
            }
            Call::Undo => {
                self.reduced = None;
                let undoable = std::mem::take(&mut self.undoable);
                (!undoable).then(|| "nothing to undo".to_owned())
            }
            _ => None,
        }
    }

    /// Feedback comes last of what an acknowledgment causes, with no more in flight than before it.
    fn order(&mut self, call: &Call, hears: bool) -> Option<String> {
        match call {
            Call::Ack(acked, path) if hears => {
                let owed = self.owed.replace((acked.now, path.in_flight));
                owed.map(|_| "the acknowledgment before had no feedback".to_owned())
            }
            Call::Feedback(feedback, path) => {
                let (now, flight) = self.owed.take()?;
                let wrong = now != feedback.now || path.in_flight > flight;
                wrong.then(|| format!("the acknowledgment came at {now:?} with {flight}"))
            }
            Call::Sent(..) => self.owed.map(|_| "sent before the feedback".to_owned()),
            _ => None,
        }
    }
}

/// What a delivery-rate sample says of itself.
fn rate(call: &Call) -> Option<String> {
    let Call::Feedback(Feedback { rate: Some(rate), .. }, _) = call else { return None };
    let sums = rate.prior_delivered + rate.delivered == rate.total_delivered;
    (!sums || rate.interval == Span::ZERO).then(|| "a sample that contradicts itself".to_owned())
}

/// Values that mean something.
fn values(call: &Call) -> Option<String> {
    let wrong = match call {
        Call::Sent(_, _, path) => path.mss == 0,
        Call::Ack(acked, _) => acked.bytes == 0 || acked.rtt == Some(Span::ZERO),
        Call::Feedback(feedback, _) => feedback.rtt == Some(Span::ZERO),
        Call::Siblings(siblings) => siblings.is_empty(),
        _ => false,
    };
    wrong.then(|| "a value that means nothing".to_owned())
}
