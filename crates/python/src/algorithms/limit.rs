//! A limit for each call of an algorithm in Python: one that loops for ever ends its run.
//!
//! A thread looks now and then which calls have not returned since, and raises
//! [`CallTooLong`] in the threads of those that are over the limit. Calls only count
//! themselves: no clock is read for them.

use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use std::cell::{Cell, OnceCell};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};
use std::time::Duration;

pyo3::create_exception!(
    _core,
    CallTooLong,
    PyBaseException,
    "A call of an algorithm did not return within the limit."
);

/// Time between two looks at the calls.
const LOOK: Duration = Duration::from_millis(50);

/// The limit in looks; 0 for none.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// A thread that calls algorithms.
struct Caller {
    /// Number by which the interpreter knows the thread.
    ident: u64,
    /// Begun and ended calls: odd during one.
    calls: AtomicU64,
    /// The exception was raised during this call.
    raised: AtomicBool,
    /// What `calls` was at the last look, and for how many looks.
    seen: AtomicU64,
    looks: AtomicU64,
}

static CALLERS: Mutex<Vec<Weak<Caller>>> = Mutex::new(Vec::new());

thread_local! {
    static CALLER: OnceCell<Arc<Caller>> = const { OnceCell::new() };
    /// Calls within calls: an algorithm may run a simulation of its own.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Sets the limit in seconds of real time; `None` for none.
#[pyfunction]
#[pyo3(signature = (seconds))]
pub(crate) fn set_call_limit(seconds: Option<f64>) {
    let looks = seconds.map_or(0, |second| ((second / LOOK.as_secs_f64()).ceil() as u64).max(2));
    LIMIT.store(looks, Ordering::Relaxed);
}

/// The limit in seconds as it is kept.
pub(super) fn limit_s() -> f64 {
    LIMIT.load(Ordering::Relaxed) as f64 * LOOK.as_secs_f64()
}

/// The largest number of limits that a call of any thread has been under way for, whole
/// ones: 0 while all are within theirs.
#[pyfunction]
pub(crate) fn limits_passed() -> u64 {
    let limit = LIMIT.load(Ordering::Relaxed);
    let callers = CALLERS.lock().unwrap_or_else(PoisonError::into_inner);
    let looks =
        callers.iter().filter_map(Weak::upgrade).map(|item| item.looks.load(Ordering::Relaxed));
    looks.max().and_then(|looks| looks.checked_div(limit)).unwrap_or(0)
}

/// Calls `call`, which calls an algorithm, under the limit: one that caught
/// [`CallTooLong`] and then returned was too long all the same.
#[inline]
pub(super) fn limited<R>(py: Python<'_>, call: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    let under_way = UnderWay::begin(py);
    let result = call();
    match (under_way.is_late(), result) {
        (true, Err(error)) if error.is_instance_of::<CallTooLong>(py) => Err(error),
        (true, _) => Err(CallTooLong::new_err(())),
        (false, result) => result,
    }
}

/// A call that has not ended.
struct UnderWay<'py>(Python<'py>);

impl<'py> UnderWay<'py> {
    #[inline]
    fn begin(py: Python<'py>) -> UnderWay<'py> {
        let depth = DEPTH.get();
        DEPTH.set(depth + 1);
        if depth == 0 {
            CALLER.with(|caller| {
                caller.get_or_init(|| enter(py)).calls.fetch_add(1, Ordering::Relaxed)
            });
        }
        UnderWay(py)
    }

    /// [`CallTooLong`] was raised in it.
    #[inline]
    fn is_late(&self) -> bool {
        CALLER
            .with(|caller| caller.get().is_some_and(|caller| caller.raised.load(Ordering::Relaxed)))
    }
}

impl Drop for UnderWay<'_> {
    #[inline]
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth > 0 {
            return;
        }
        CALLER.with(|caller| {
            let Some(caller) = caller.get() else { return };
            caller.calls.fetch_add(1, Ordering::Relaxed);
            if caller.raised.swap(false, Ordering::Relaxed) {
                // The call may have ended before it saw the exception, which must not
                // come up in what the thread does next.
                _ = raise(self.0, caller.ident, false);
            }
        });
    }
}

/// Makes the calling thread one whose calls are looked at.
#[cold]
fn enter(py: Python<'_>) -> Arc<Caller> {
    let ident = || py.import("threading")?.call_method0("get_ident")?.extract::<u64>();
    let caller = Arc::new(Caller {
        ident: ident().unwrap_or(0),
        calls: AtomicU64::new(0),
        raised: AtomicBool::new(false),
        seen: AtomicU64::new(0),
        looks: AtomicU64::new(0),
    });
    CALLERS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&caller));
    static WATCH: Once = Once::new();
    WATCH.call_once(|| drop(std::thread::Builder::new().name("calls".into()).spawn(watch)));
    caller
}

/// Looks at the calls of all threads, as long as the process lives.
fn watch() {
    loop {
        std::thread::sleep(LOOK);
        let limit = LIMIT.load(Ordering::Relaxed);
        let mut late = Vec::new();
        let mut callers = CALLERS.lock().unwrap_or_else(PoisonError::into_inner);
        callers.retain(|caller| caller.strong_count() > 0);
        for caller in callers.iter().filter_map(Weak::upgrade) {
            let calls = caller.calls.load(Ordering::Relaxed);
            let stays = calls % 2 == 1 && calls == caller.seen.swap(calls, Ordering::Relaxed);
            let looks = if stays { caller.looks.load(Ordering::Relaxed) + 1 } else { 0 };
            caller.looks.store(looks, Ordering::Relaxed);
            if limit > 0 && looks >= limit {
                late.push((caller, calls));
            }
        }
        drop(callers);
        for (caller, calls) in late {
            Python::attach(|py| {
                // Whoever has the interpreter begins and ends no call meanwhile.
                if caller.calls.load(Ordering::Relaxed) == calls {
                    caller.raised.store(true, Ordering::Relaxed);
                    _ = raise(py, caller.ident, true);
                }
            });
        }
    }
}

/// Raises [`CallTooLong`] in a thread, or takes it back.
fn raise(py: Python<'_>, ident: u64, raised: bool) -> PyResult<()> {
    let kind = raised.then(|| py.get_type::<CallTooLong>());
    py.import("anabranch.algorithms.limits")?.call_method1("raise_in", (ident, kind)).map(drop)
}
