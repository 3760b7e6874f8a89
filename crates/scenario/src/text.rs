//! Reads a file's text, and a table from text.

use crate::InputError;
use toml::Table;

/// Largest file that is read: the biggest sensible scenario is far below.
pub const LARGEST_FILE: u64 = 16 << 20;

/// Reads the text of the scenario in the file at `path`: refuses what is too
/// large before reading it, and what is not UTF-8.
pub fn load(path: &std::path::Path) -> Result<String, InputError> {
    let file = path.display().to_string();
    let failed = |problem: std::io::Error| InputError::whole_file(&file, problem.to_string());
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(InputError::whole_file(&file, "is not a regular file"));
    }
    if metadata.len() > LARGEST_FILE {
        let problem = format!(
            "is {} octets long; a scenario has at most {} MiB",
            metadata.len(),
            LARGEST_FILE >> 20
        );
        return Err(InputError::whole_file(&file, problem));
    }
    let octets = std::fs::read(path).map_err(failed)?;
    String::from_utf8(octets).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        InputError::whole_file(&file, format!("is not UTF-8 text (octet {at} is not valid)"))
    })
}

/// The table of a scenario; `file` is named in errors.
pub(crate) fn parse(text: &str, file: &str) -> Result<Table, InputError> {
    if text.len() as u64 > LARGEST_FILE {
        let problem = format!("is {} octets long; a scenario has at most 16 MiB", text.len());
        return Err(InputError::whole_file(file, problem));
    }
    if text.trim().is_empty() {
        return Err(InputError::whole_file(
            file,
            "is empty; a scenario has at least `hosts`, `links` and `flows`",
        ));
    }
    text.parse::<Table>().map_err(|error| {
        let place = error.span().map_or(String::new(), |span| {
            let before = text.get(..span.start).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            format!("line {line}, column {column}: ")
        });
        let message = error.message().lines().collect::<Vec<_>>().join("; ");
        InputError::whole_file(file, format!("{place}not valid TOML: {message}"))
    })
}
