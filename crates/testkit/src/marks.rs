//! What a test measured beside what a formula or a publication says, for the
//! page that lists them all (`make validation`, docs/validation.md).

use std::fmt::Display;
use std::io::Write;

/// Variable with the file that [`record`] writes; nothing is written when it is not set.
pub const FILE: &str = "ANABRANCH_MARKS";

/// Notes a measurement: `row` names the formula (`T12`), `mark` the tolerance
/// within which the calling test accepts `measured`.
///
/// # Panics
/// When the file that [`FILE`] names cannot be written.
pub fn record(
    row: &str,
    quantity: &str,
    expected: impl Display,
    measured: impl Display,
    mark: &str,
) {
    let Some(path) = std::env::var_os(FILE) else { return };
    let line = format!("{row}\t{quantity}\t{expected}\t{measured}\t{mark}\n");
    // One write of one line: tests run side by side.
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the marks' file");
}
