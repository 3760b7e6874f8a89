//! Window algorithms from shared libraries, which [`anabranch_algorithm`] is written against.
//!
//! [`find`] says what the name of one means, as [`Custom`](anabranch_custom::Custom) asks: the file is looked for, its
//! content is named by a digest and loaded, its interface and the options are checked. `control` drives its laws
//! behind the seam of all window algorithms; `library` is the one room with `unsafe`.

mod control;
mod library;
mod options;

/// The files of the crate that laws are written against, with their texts.
pub use anabranch_algorithm::FILES;

use anabranch_congestion::MakeWindow;
use anabranch_custom::{Found, Options};
use control::Control;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Finds the window algorithm in the shared library `name`, which stands in the file `scenario`: relative to
/// its folder, or else to the working directory.
///
/// # Errors
/// What is allowed instead, for a message about the field.
pub fn find(name: &str, scenario: &str, options: &Options) -> Result<Found<MakeWindow>, String> {
    let (path, digest, library) = loaded(name, scenario)?;
    let values: Arc<[f64]> = options::values(library.parameters(), options)?.into();
    // A law that cannot be made is told of now, not in the middle of a run.
    library.make(&values).map_err(|panic| panic.told("in new"))?;
    let found = path.to_string_lossy().replace('\\', "/");
    let algorithm: Arc<str> = found.as_str().into();
    let make: Arc<MakeWindow> = Arc::new(move |place, initial_window, initial_ssthresh| {
        let law = (library, values.clone());
        Box::new(Control::new(&algorithm, law, place, initial_window, initial_ssthresh))
    });
    Ok(Found { name: found, source: digest, make })
}

/// The fields of `tcp` without which the algorithm in the shared library `name` is not itself, as TOML.
///
/// # Errors
/// What is allowed instead.
pub fn needs(name: &str) -> Result<&'static str, String> {
    loaded(name, "").map(|(_, _, library)| library.needs())
}

/// The library of that name with its path and the digest of its content.
fn loaded(name: &str, scenario: &str) -> Result<(PathBuf, String, library::Library), String> {
    let path =
        place(name, scenario).ok_or_else(|| format!("a file that is there: there is no {name}"))?;
    let content = fs::read(&path).map_err(|error| format!("a file that can be read: {error}"))?;
    let (library, digest) = library::load(content)?;
    Ok((path, digest, library))
}

/// Where the file is, seen from the working directory.
fn place(name: &str, scenario: &str) -> Option<PathBuf> {
    let beside = Path::new(scenario).parent().unwrap_or(Path::new("")).join(name);
    [beside, PathBuf::from(name)].into_iter().find(|path| path.is_file())
}
