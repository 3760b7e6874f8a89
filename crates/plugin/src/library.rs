//! Shared libraries: what is loaded, and calls into it. The one room with `unsafe` of this crate.
//!
//! What is loaded is a copy of the octets that were read, under a name of its own. So a digest is that of the code that
//! runs, a library that was built anew while the process lives (a notebook, the playground) is another, and a file that is
//! written to does not change under our feet: the loader of the system would hand out what it loaded earlier under
//! the same path. A library is never unloaded, since its functions, texts and threads' variables may still be in use.
//!
//! A shared library is native code: loading it runs what it likes. `unsafe` here relies on its having been made by
//! `export_window!` of the same ABI, which the name of the symbol and its first word say.

#![allow(unsafe_code)]

use anabranch_algorithm::abi::{Hook, Panic, SYMBOL, State, Table};
use anabranch_algorithm::{ABI, Parameter, Window};
use anabranch_endpoint::mac::sha256;
use std::error::Error as _;
use std::io::Write as _;
use std::path::Path;
use std::ptr::NonNull;
use std::slice;
use std::sync::{Mutex, PoisonError};
use tempfile::TempPath;

#[cfg(not(unix))]
use libloading::Library as Loaded;
#[cfg(unix)]
use libloading::os::unix::{Library as Loaded, RTLD_LOCAL, RTLD_NOW};

/// Hexadecimal digits of a digest in resolved scenarios.
const DIGITS: usize = 16;

/// A library with a law.
#[derive(Clone, Copy)]
pub(crate) struct Library {
    table: &'static Table,
}

/// A library that was loaded.
struct Known {
    content: Vec<u8>,
    digest: String,
    library: Library,
}

/// What was loaded. The loader's list belongs to the process, so does this.
static LOADED: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// The library with this content, and the digest of it; loaded once.
///
/// # Errors
/// What is allowed instead.
pub(crate) fn load(content: Vec<u8>) -> Result<(Library, String), String> {
    let mut all = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    // A sweep reads it for each point: to compare is a hundred times as fast as to digest.
    if let Some(known) = all.iter().find(|known| known.content == content) {
        return Ok((known.library, known.digest.clone()));
    }
    let library = open(&copied(&content)?)?;
    let digest: String =
        sha256(&content).iter().take(DIGITS / 2).map(|octet| format!("{octet:02x}")).collect();
    all.push(Known { content, digest: digest.clone(), library });
    Ok((library, digest))
}

/// A file of its own with this content.
fn copied(content: &[u8]) -> Result<TempPath, String> {
    tempfile::Builder::new()
        .prefix("anabranch-")
        .suffix(std::env::consts::DLL_SUFFIX)
        .tempfile()
        .and_then(|mut file| file.write_all(content).map(|()| file.into_temp_path()))
        .map_err(|error| {
            let folder = std::env::temp_dir();
            format!("a library of which a copy fits into {}: {error}", folder.display())
        })
}

fn open(path: &Path) -> Result<Library, String> {
    // Symbols that are missing are missing now, not in the middle of a run.
    #[cfg(unix)]
    // SAFETY: what the library does when it is loaded is up to it: the user named it as his own code.
    let loaded = unsafe { Loaded::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    #[cfg(not(unix))]
    // SAFETY: as above.
    let loaded = unsafe { Loaded::new(path) };
    let loaded = loaded.map_err(|error| {
        let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        let reason = reason.replace(&format!("{}: ", path.display()), "");
        format!("a shared library for this machine: {reason}")
    })?;
    // SAFETY: the symbol is a static variable if there is one; its type is looked at below.
    let table = unsafe { loaded.get::<*const Table>(SYMBOL) }.map(|symbol| *symbol);
    let table = table.ok().filter(|table| !table.is_null());
    let table =
        table.ok_or_else(|| format!("a library with `export_window!`: it has no {SYMBOL}"))?;
    // SAFETY: every version of the interface begins with its number.
    let abi = unsafe { table.cast::<u32>().read() };
    if abi != ABI {
        return Err(format!(
            "a library of interface {ABI}, not {abi}: build it with the anabranch-algorithm of this \
             version, which `anabranch new algorithm` writes"
        ));
    }
    std::mem::forget(loaded);
    // SAFETY: it is a table of this ABI, constant, in a library that is never unloaded.
    Ok(Library { table: unsafe { &*table } })
}

impl Library {
    /// What the law hears and owns.
    pub(crate) fn has(self, bit: u32) -> bool {
        self.table.traits & bit != 0
    }

    /// The options that the law takes.
    pub(crate) fn parameters(self) -> &'static [Parameter] {
        // SAFETY: the table says where its constant list is and how long.
        unsafe { slice::from_raw_parts(self.table.parameters, self.table.parameter_count) }
    }

    /// The fields of `tcp` that the law needs.
    pub(crate) fn needs(self) -> &'static str {
        self.table.needs.as_str()
    }

    /// A law with these values, one for each option.
    pub(crate) fn make(self, values: &[f64]) -> Result<Law, Panicked> {
        assert_eq!(values.len(), self.parameters().len(), "a value for each option");
        // SAFETY: there are as many values as the table has options.
        let state = unsafe { (self.table.make)(values.as_ptr()) };
        let state = NonNull::new(state).expect("`make` never returns null");
        let law = Law { table: self.table, state };
        match law.panic() {
            None => Ok(law),
            Some(panic) => Err(panic),
        }
    }
}

/// A law that a library made.
pub(crate) struct Law {
    table: &'static Table,
    state: NonNull<State>,
}

// SAFETY: `WindowControl` asks for `Send`, and a law is used through `&mut` alone.
unsafe impl Send for Law {}

impl Law {
    /// Calls the hook that `of` selects.
    #[inline]
    pub(crate) fn call<F>(
        &mut self,
        of: impl Fn(&Table) -> Hook<F>,
        window: &mut Window,
        fact: &F,
    ) -> Result<(), Panicked> {
        // SAFETY: the state is one of this table, borrowed for the call, as window and fact are.
        if unsafe { of(self.table)(self.state.as_ptr(), window, fact) } {
            return Ok(());
        }
        Err(self.panic().unwrap_or_else(Panicked::unsaid))
    }

    /// The panic that ended the law.
    #[cold]
    fn panic(&self) -> Option<Panicked> {
        let mut panic = Panic {
            message: std::ptr::null(),
            message_octets: 0,
            file: std::ptr::null(),
            file_octets: 0,
            line: 0,
        };
        // SAFETY: the state is one of this table, and no hook is running; the panic is ours.
        if !unsafe { (self.table.panic)(self.state.as_ptr(), &raw mut panic) } {
            return None;
        }
        let text = |start, octets| {
            // SAFETY: the table says where its text is and how long; it lives until the next call.
            let octets = unsafe { slice::from_raw_parts(start, octets) };
            String::from_utf8_lossy(octets).into_owned()
        };
        let file = text(panic.file, panic.file_octets);
        Some(Panicked {
            message: one_line(&text(panic.message, panic.message_octets)),
            place: (!file.is_empty()).then_some((file, panic.line)),
        })
    }
}

impl Drop for Law {
    fn drop(&mut self) {
        // SAFETY: the state is one of this table, and nobody has it after this.
        unsafe { (self.table.free)(self.state.as_ptr()) }
    }
}

/// A panic of a law.
pub(crate) struct Panicked {
    /// What it said.
    pub message: String,
    /// File and line of it.
    pub place: Option<(String, u32)>,
}

impl Panicked {
    fn unsaid() -> Panicked {
        Panicked { message: "it failed and does not say why".into(), place: None }
    }

    /// `FILE:LINE: WHERE: panic: MESSAGE`.
    pub(crate) fn told(&self, at: &str) -> String {
        match &self.place {
            Some((file, line)) => format!("{file}:{line}: {at}: panic: {}", self.message),
            None => format!("{at}: panic: {}", self.message),
        }
    }
}

/// The first of a text of any length, as one line.
fn one_line(text: &str) -> String {
    const MOST: usize = 300;
    let line = text.lines().map(str::trim).collect::<Vec<_>>().join("; ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}
