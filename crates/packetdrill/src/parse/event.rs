//! The outline: options, events, times.

use super::call::call;
use super::code;
use super::cursor::Cursor;
use super::error::Parsed;
use super::packet::packet;

use crate::script::{Action, Event, Script, Shell, ToolOption, When};
use anabranch_units::Span;

pub(super) fn script(c: &mut Cursor<'_>) -> Parsed<Script> {
    let options = options(c)?;
    let init = match c.peek() {
        Some('`') => Some(shell(c)?),
        _ => None,
    };
    let mut events = Vec::new();
    let mut cleanup = None;
    while !c.is_at_end() {
        if c.peek() == Some('`') {
            cleanup = Some(shell(c)?);
            if !c.is_at_end() {
                return c.fail("the end of the script after its last command");
            }
        } else {
            events.push(event(c)?);
        }
    }
    Ok(Script { name: c.name().into(), options, init, events, cleanup })
}

fn options(c: &mut Cursor<'_>) -> Parsed<Vec<ToolOption>> {
    let mut options = Vec::new();
    while c.peek().is_some() && c.rest().starts_with("--") {
        let pos = c.pos();
        c.expect("--")?;
        let name = c.word("the name of an option")?.to_owned();
        let value = c.rest().starts_with('=').then(|| {
            c.take("=");
            c.take_while(|c| !c.is_whitespace()).to_owned()
        });
        options.push(ToolOption { pos, name, value });
    }
    Ok(options)
}

fn shell(c: &mut Cursor<'_>) -> Parsed<Shell> {
    let pos = c.pos();
    c.expect("`")?;
    Ok(Shell { pos, text: c.until("`")?.to_owned() })
}

fn event(c: &mut Cursor<'_>) -> Parsed<Event> {
    c.skip_space();
    let pos = c.pos();
    let (time, end) = time(c)?;
    let before = {
        c.skip_space();
        c.rest()
    };
    let action = match c.peek() {
        Some('`') => Action::Shell(shell(c)?),
        Some('<' | '>') => Action::Packet(Box::new(packet(c)?)),
        Some('%') => {
            c.expect("%{")?;
            let start = c.pos();
            let text = c.until("}%")?;
            Action::Code(code::parse(c.name(), text, start)?)
        }
        Some(letter) if letter.is_ascii_alphabetic() => Action::Call(call(c)?),
        _ => return c.fail("a packet, a call, a command in backquotes or code in `%{ }%`"),
    };
    let written = &before[..before.len() - c.rest().len()];
    let text = written.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Event { pos, text, time, end, action })
}

/// The time of an event, and when a blocking call ends.
fn time(c: &mut Cursor<'_>) -> Parsed<(When, Option<Span>)> {
    if c.take("*") {
        return Ok((When::Any, None));
    }
    let relative = c.take("+");
    let start = seconds(c)?;
    if c.take("...") {
        c.take("+");
        let end = seconds(c)?;
        let when = if relative { When::Relative(start) } else { When::Absolute(start) };
        return Ok((when, Some(end)));
    }
    let when = if c.take("~") {
        c.take("+");
        let end = seconds(c)?;
        match relative {
            true => When::RelativeRange(start, end),
            false => When::AbsoluteRange(start, end),
        }
    } else if relative {
        When::Relative(start)
    } else {
        When::Absolute(start)
    };
    Ok((when, None))
}

/// Seconds, with up to nine decimals.
fn seconds(c: &mut Cursor<'_>) -> Parsed<Span> {
    const EXPECTED: &str = "a time: `0.1`, `+.1`, `+.1~+.2`, `+0...0.1` or `*`";
    c.skip_space();
    let whole = c.take_while(|c| c.is_ascii_digit());
    let mut decimals = "";
    let mut following = c.rest().chars();
    if following.next() == Some('.') && following.next().is_some_and(|c| c.is_ascii_digit()) {
        c.take(".");
        decimals = c.take_while(|c| c.is_ascii_digit());
    }
    if whole.is_empty() && decimals.is_empty() {
        return c.fail(EXPECTED);
    }
    let nanos = format!("{decimals:0<9}");
    let parse = |digits: &str| match digits {
        "" => Some(0),
        digits => digits.parse::<u64>().ok().filter(|n| *n < 10_000_000_000),
    };
    match (parse(whole), parse(&nanos[..9])) {
        (Some(seconds), Some(nanos)) if seconds < 10_000_000 => {
            Ok(Span::from_nanos(seconds * 1_000_000_000 + nanos))
        }
        _ => c.fail(EXPECTED),
    }
}
