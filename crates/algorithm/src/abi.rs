//! The boundary between a law and its host: functions of C and structures in C's layout.
//!
//! A library exports one [`Table`] under the name [`SYMBOL`]. The host reads its first word, the [`ABI`] that the library was
//! built with, and nothing else unless that is its own. Laws need nothing of this module: [`export_window!`](crate::export_window)
//! writes the table.
//!
//! This is the one module of the crate with `unsafe`: the host hands out pointers that these functions turn
//! back into references. What they may rely on stands at [`Table`].

#![allow(unsafe_code)]

use crate::{
    Ack, Before, Congestion, LostSegment, Options, Parameter, Report, Sent, Sibling, Window,
    WindowControl,
};
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::{fmt, slice, str};

#[cfg(panic = "abort")]
compile_error!("a law is built with panic = \"unwind\": a panic has to reach the host as an error");

/// Names the layout of everything in this module and of all facts. A change of any of them, or of what a function
/// does, is another number.
pub const ABI: u32 = 1;

/// The name of the exported [`Table`].
pub const SYMBOL: &str = "ANABRANCH_WINDOW";

/// What a law hears and owns, as bits of [`Table::traits`].
pub mod bits {
    /// [`HEARS_SENT`](crate::WindowControl::HEARS_SENT).
    pub const SENT: u32 = 1;
    /// [`HEARS_REPORTS`](crate::WindowControl::HEARS_REPORTS).
    pub const REPORTS: u32 = 2;
    /// [`HEARS_LOSSES`](crate::WindowControl::HEARS_LOSSES).
    pub const LOSSES: u32 = 4;
    /// [`OWNS_RECOVERY`](crate::WindowControl::OWNS_RECOVERY).
    pub const RECOVERY: u32 = 8;
    /// [`COUPLED`](crate::WindowControl::COUPLED).
    pub const COUPLED: u32 = 16;
}

/// A text of a library: UTF-8 that lives as long as the process.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    start: *const u8,
    octets: usize,
}

// SAFETY: it is a `&'static str` in two words, which nobody writes to.
unsafe impl Send for Text {}
// SAFETY: as above.
unsafe impl Sync for Text {}

impl Text {
    pub(crate) const fn new(text: &'static str) -> Text {
        Text { start: text.as_ptr(), octets: text.len() }
    }

    /// The text itself.
    pub fn as_str(&self) -> &'static str {
        // SAFETY: only `new` makes one, in this library or in one of the same ABI, from a `&'static str`;
        // libraries are never unloaded.
        unsafe { str::from_utf8_unchecked(slice::from_raw_parts(self.start, self.octets)) }
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

/// A law and what went wrong with it; only the library that made it looks inside.
#[repr(C)]
pub struct State {
    _private: [u8; 0],
}

/// The other paths of a connection.
#[repr(C)]
#[derive(Debug)]
pub struct Siblings {
    /// The first of them.
    pub first: *const Sibling,
    /// The number of them.
    pub count: usize,
}

/// A panic of a law. The texts are octets that live until the next call with the same state.
#[repr(C)]
#[derive(Debug)]
pub struct Panic {
    /// The message, in UTF-8.
    pub message: *const u8,
    /// Octets of the message.
    pub message_octets: usize,
    /// The source file, in UTF-8; of no octets where it is not known.
    pub file: *const u8,
    /// Octets of the file's name.
    pub file_octets: usize,
    /// The line in that file.
    pub line: u32,
}

/// A hook that is told an `F`: false after a panic, of which [`Table::panic`] tells.
pub type Hook<F> =
    unsafe extern "C" fn(state: *mut State, window: *mut Window, fact: *const F) -> bool;

/// The functions of a law.
///
/// Every function but `make` is given a state that `make` of the same table returned, which `free` has not
/// taken back, and which no other thread is using. Windows and facts are valid for the call. No function unwinds.
#[repr(C)]
pub struct Table {
    /// The [`ABI`] of the library.
    pub abi: u32,
    /// What the law hears and owns, as [`bits`].
    pub traits: u32,
    /// The first of the options that it takes.
    pub parameters: *const Parameter,
    /// The number of them.
    pub parameter_count: usize,
    /// [`WindowControl::NEEDS`].
    pub needs: Text,
    /// Makes a law with one value for each option. It never returns null; after a panic the state has no law.
    pub make: unsafe extern "C" fn(values: *const f64) -> *mut State,
    /// Takes the state back.
    pub free: unsafe extern "C" fn(state: *mut State),
    /// Whether there was a panic, and which: false leaves `panic` as it is.
    pub panic: unsafe extern "C" fn(state: *const State, panic: *mut Panic) -> bool,
    /// [`WindowControl::on_start`]; the fact is nothing.
    pub on_start: Hook<u8>,
    /// [`WindowControl::on_ack`].
    pub on_ack: Hook<Ack>,
    /// [`WindowControl::on_loss`].
    pub on_loss: Hook<Congestion>,
    /// [`WindowControl::on_timeout`].
    pub on_timeout: Hook<Congestion>,
    /// [`WindowControl::on_mark`].
    pub on_mark: Hook<Congestion>,
    /// [`WindowControl::on_undo`].
    pub on_undo: Hook<Before>,
    /// [`WindowControl::on_idle`]; the fact is the initial window.
    pub on_idle: Hook<f64>,
    /// [`WindowControl::on_sent`].
    pub on_sent: Hook<Sent>,
    /// [`WindowControl::on_report`].
    pub on_report: Hook<Report>,
    /// [`WindowControl::on_lost`].
    pub on_lost: Hook<LostSegment>,
    /// [`WindowControl::on_siblings`].
    pub on_siblings: Hook<Siblings>,
    /// [`WindowControl::on_penalty`]; the fact is nothing.
    pub on_penalty: Hook<u8>,
}

// SAFETY: it is constant: numbers, functions, and a pointer to options that are constant, too.
unsafe impl Sync for Table {}
// SAFETY: as above.
unsafe impl Send for Table {}

/// The function of a table for one hook: `|law, window, fact|` and what it does.
macro_rules! hook {
    ($law:ident, $fact:ty, |$held:ident, $window:ident, $told:ident| $call:expr) => {{
        unsafe extern "C" fn hook<$law: WindowControl>(
            state: *mut State,
            window: *mut Window,
            fact: *const $fact,
        ) -> bool {
            // SAFETY: the host keeps what `Table` says: the state is one that `make::<L>` made, nobody else
            // uses it, and window and fact are valid for this call.
            let (held, $window, $told) =
                unsafe { (&mut *state.cast::<Held<$law>>(), &mut *window, &*fact) };
            held.run(|$held| $call)
        }
        hook::<$law>
    }};
}

impl Table {
    /// The table of `L`.
    pub const fn of<L: WindowControl>() -> Table {
        const fn bit(is_set: bool, bit: u32) -> u32 {
            if is_set { bit } else { 0 }
        }
        Table {
            abi: ABI,
            traits: bit(L::HEARS_SENT, bits::SENT)
                | bit(L::HEARS_REPORTS, bits::REPORTS)
                | bit(L::HEARS_LOSSES, bits::LOSSES)
                | bit(L::OWNS_RECOVERY, bits::RECOVERY)
                | bit(L::COUPLED, bits::COUPLED),
            parameters: L::OPTIONS.as_ptr(),
            parameter_count: L::OPTIONS.len(),
            needs: Text::new(L::NEEDS),
            make: make::<L>,
            free: free::<L>,
            panic: panic::<L>,
            on_start: hook!(L, u8, |law, window, _nothing| law.on_start(window)),
            on_ack: hook!(L, Ack, |law, window, ack| law.on_ack(window, ack)),
            on_loss: hook!(L, Congestion, |law, window, signal| law.on_loss(window, signal)),
            on_timeout: hook!(L, Congestion, |law, window, signal| law.on_timeout(window, signal)),
            on_mark: hook!(L, Congestion, |law, window, signal| law.on_mark(window, signal)),
            on_undo: hook!(L, Before, |law, window, before| law.on_undo(window, before)),
            on_idle: hook!(L, f64, |law, window, initial| law.on_idle(window, *initial)),
            on_sent: hook!(L, Sent, |law, window, sent| law.on_sent(window, sent)),
            on_report: hook!(L, Report, |law, window, report| law.on_report(window, report)),
            on_lost: hook!(L, LostSegment, |law, window, segment| law.on_lost(window, segment)),
            on_siblings: hook!(L, Siblings, |law, window, siblings| {
                // SAFETY: the host says where its list is and how long; it is valid for this call.
                let siblings = unsafe { slice::from_raw_parts(siblings.first, siblings.count) };
                law.on_siblings(window, siblings);
            }),
            on_penalty: hook!(L, u8, |law, window, _nothing| law.on_penalty(window)),
        }
    }
}

/// A law, which is none after a panic in its making, and the first panic.
struct Held<L> {
    law: Option<L>,
    panic: Option<Told>,
}

struct Told {
    message: String,
    file: String,
    line: u32,
}

impl<L> Held<L> {
    /// Runs a hook, unless there was a panic before.
    #[inline]
    fn run(&mut self, hook: impl FnOnce(&mut L)) -> bool {
        let (Some(law), None) = (&mut self.law, &self.panic) else { return false };
        match catch_unwind(AssertUnwindSafe(|| hook(law))) {
            Ok(()) => true,
            Err(payload) => {
                self.panic = Some(told(payload));
                false
            }
        }
    }
}

unsafe extern "C" fn make<L: WindowControl>(values: *const f64) -> *mut State {
    remember_places();
    let made = catch_unwind(|| {
        // SAFETY: the host gives one value for each option of the table.
        let values = unsafe { slice::from_raw_parts(values, L::OPTIONS.len()) };
        L::new(&Options::new(L::OPTIONS, values))
    });
    let held = match made {
        Ok(law) => Held { law: Some(law), panic: None },
        Err(payload) => Held { law: None, panic: Some(told(payload)) },
    };
    Box::into_raw(Box::new(held)).cast()
}

unsafe extern "C" fn free<L: WindowControl>(state: *mut State) {
    // SAFETY: the state is the box of `make::<L>`, and nobody has it any more.
    let held = unsafe { Box::from_raw(state.cast::<Held<L>>()) };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(held))) {
        std::mem::forget(payload); // nobody is left to be told
    }
}

unsafe extern "C" fn panic<L: WindowControl>(state: *const State, panic: *mut Panic) -> bool {
    // SAFETY: the state is one of `make::<L>`, and no hook is running; the host may be written to.
    let (held, panic) = unsafe { (&*state.cast::<Held<L>>(), &mut *panic) };
    let Some(told) = &held.panic else { return false };
    *panic = Panic {
        message: told.message.as_ptr(),
        message_octets: told.message.len(),
        file: told.file.as_ptr(),
        file_octets: told.file.len(),
        line: told.line,
    };
    true
}

thread_local! {
    /// Where the last panic of this thread was.
    static PLACE: RefCell<Option<(String, u32)>> = const { RefCell::new(None) };
}

/// From now on panics of this library are not printed, but their places are remembered: a library has a standard
/// library of its own, so that nothing else in the process is concerned.
fn remember_places() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let place = panic.location().map(|place| (place.file().to_owned(), place.line()));
            PLACE.with(|last| *last.borrow_mut() = place);
        }));
    });
}

/// What a panic says, and where it was.
fn told(payload: Box<dyn Any + Send>) -> Told {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    std::mem::forget(payload); // what it holds may panic when it is dropped
    let (file, line) = PLACE.with(|last| last.borrow_mut().take()).unwrap_or_default();
    Told { message: text.unwrap_or_else(|| "a panic without a text".into()), file, line }
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    use crate::Path;
    use std::mem::{offset_of, size_of};

    /// Whoever changes a number here changes `ABI`.
    #[test]
    fn the_layout_is_that_of_this_abi() {
        assert_eq!(ABI, 1);
        let sizes = [
            size_of::<Window>(),
            size_of::<Path>(),
            size_of::<Ack>(),
            size_of::<Congestion>(),
            size_of::<Before>(),
            size_of::<Sent>(),
            size_of::<Report>(),
            size_of::<LostSegment>(),
            size_of::<Sibling>(),
            size_of::<Siblings>(),
            size_of::<Parameter>(),
            size_of::<Panic>(),
            size_of::<Table>(),
        ];
        assert_eq!(sizes, [48, 64, 88, 72, 16, 72, 168, 104, 48, 16, 40, 40, 160]);
        let offsets = [
            offset_of!(Path, app_limited),
            offset_of!(Ack, after_timeout),
            offset_of!(Congestion, repeated),
            offset_of!(Report, rate),
            offset_of!(Report, in_recovery),
            offset_of!(LostSegment, app_limited),
            offset_of!(Sibling, in_slow_start),
            offset_of!(Window, seed),
            offset_of!(Table, make),
            offset_of!(Table, on_penalty),
        ];
        assert_eq!(offsets, [56, 80, 68, 104, 160, 96, 40, 40, 40, 152]);
    }
}
