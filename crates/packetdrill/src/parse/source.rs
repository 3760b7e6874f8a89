//! Blanks comments and the branches of `#ifdef` that are not taken.

use super::cursor::position;
use super::error::{Definitions, ParseError};

/// The text with spaces for what does not count: as long as before, line by
/// line. (`//` and `/* */`; `#ifdef NAME` to `#endif`, which do not nest.)
pub(super) fn prepare(
    name: &str,
    text: &str,
    definitions: &Definitions,
) -> Result<String, ParseError> {
    let chosen = choose(name, text, definitions)?;
    strip(name, &chosen)
}

fn error(name: &str, text: &str, at: usize, expected: &str, found: &str) -> ParseError {
    ParseError {
        script: name.into(),
        pos: position(text, at),
        expected: expected.into(),
        found: found.into(),
    }
}

/// Adds as many spaces as `text` has octets, with its line ends, so that places stay right.
fn blank(text: &str, out: &mut String) {
    out.extend(text.bytes().map(|octet| if octet == b'\n' { '\n' } else { ' ' }));
}

fn choose(name: &str, text: &str, definitions: &Definitions) -> Result<String, ParseError> {
    let mut out = String::with_capacity(text.len());
    // Where the condition stands, and whether it holds.
    let mut condition: Option<(usize, bool)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (words.first().copied(), condition) {
            (Some("#ifdef" | "#ifndef"), None) => {
                let Some(symbol) = words.get(1) else {
                    return Err(error(name, text, at, "a symbol after #ifdef", "the end of line"));
                };
                let defined = definitions.contains_key(*symbol);
                condition = Some((at, defined == (words[0] == "#ifdef")));
                blank(line, &mut out);
            }
            (Some("#ifdef" | "#ifndef"), Some(_)) => {
                return Err(error(name, text, at, "#endif (conditions do not nest)", words[0]));
            }
            (Some("#else"), Some((start, holds))) => {
                condition = Some((start, !holds));
                blank(line, &mut out);
            }
            (Some("#endif"), Some(_)) => {
                condition = None;
                blank(line, &mut out);
            }
            (Some("#endif" | "#else"), None) => {
                return Err(error(name, text, at, "#ifdef before", words[0]));
            }
            (_, Some((_, false))) => blank(line, &mut out),
            _ => out.push_str(line),
        }
        at += line.len();
    }
    match condition {
        Some((start, _)) => Err(error(name, text, start, "#endif", "the end of the script")),
        None => Ok(out),
    }
}

fn strip(name: &str, text: &str) -> Result<String, ParseError> {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        // Where the thing that begins here ends, and whether it counts.
        let (len, keep) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), false)
        } else if let Some(inside) = rest.strip_prefix("/*") {
            let end = inside.find("*/").map(|end| end + 4);
            (end.ok_or_else(|| error(name, text, at, "`*/`", "the end of the script"))?, false)
        } else if let Some(inside) = rest.strip_prefix('`') {
            let end = inside.find('`').map(|end| end + 2);
            let closing = "a closing backquote";
            (end.ok_or_else(|| error(name, text, at, closing, "the end of the script"))?, true)
        } else if rest.starts_with("%{") {
            let end = rest.find("}%").map(|end| end + 2);
            (end.ok_or_else(|| error(name, text, at, "`}%`", "the end of the script"))?, true)
        } else if let Some(inside) = rest.strip_prefix('"') {
            let end = inside.find(['"', '\n']).map(|end| end + 2);
            (end.ok_or_else(|| error(name, text, at, "`\"`", "the end of the script"))?, true)
        } else {
            (rest.chars().next().map_or(1, char::len_utf8), true)
        };
        match keep {
            true => out.push_str(&rest[..len]),
            false => blank(&rest[..len], &mut out),
        }
        at += len;
    }
    Ok(out)
}
