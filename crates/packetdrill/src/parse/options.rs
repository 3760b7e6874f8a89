//! TCP options: what stands between `<` and `>`.

use super::cursor::Cursor;
use super::error::Parsed;
use super::mptcp;
use crate::script::{OptionsSpec, TcpOptionSpec};

const EXPECTED: &str = "an option of TCP: mss, wscale, sackOK, sack, TS, nop, eol, md5, FO, \
    FOEXP, exp-FO, ECN, AccECN0, AccECN1, exp-tarr, gen-K, exp-K, or one of MPTCP";

pub(super) fn tcp_options(c: &mut Cursor<'_>) -> Parsed<OptionsSpec> {
    if c.take("...") {
        c.expect(">")?;
        return Ok(OptionsSpec::Any);
    }
    let mut options = Vec::new();
    if c.take(">") {
        return Ok(OptionsSpec::List(options));
    }
    loop {
        options.push(option(c)?);
        if c.take(">") {
            return Ok(OptionsSpec::List(options));
        }
        if !c.take(",") {
            return c.fail("`,` or `>` after an option");
        }
    }
}

fn option(c: &mut Cursor<'_>) -> Parsed<TcpOptionSpec> {
    let before = c.clone();
    let name = c.word(EXPECTED)?;
    Ok(match name {
        "nop" => TcpOptionSpec::Nop,
        "eol" => TcpOptionSpec::Eol,
        "mss" => TcpOptionSpec::Mss(c.unsigned("a size from 0 to 65535")?),
        "wscale" => TcpOptionSpec::WindowScale(c.unsigned("a shift from 0 to 255")?),
        "sackOK" => TcpOptionSpec::SackPermitted,
        "sack" => {
            let mut blocks = Vec::new();
            while c.at_number() {
                let left = c.unsigned("a number")?;
                c.expect(":")?;
                blocks.push((left, c.unsigned("a number")?));
            }
            TcpOptionSpec::Sack(blocks)
        }
        "TS" => timestamps(c)?,
        "md5" => TcpOptionSpec::Md5(match c.take("...") {
            true => None,
            false => Some(octets(c)?.unwrap_or_default()),
        }),
        "FO" => fast_open(c, false)?,
        "FOEXP" => fast_open(c, true)?,
        "exp" | "gen" => experimental(c, name)?,
        "ECN" | "AccECN0" | "AccECN1" => {
            let mut counters = vec![(name.to_owned(), 0)];
            while c.peek().is_some_and(|first| first.is_ascii_alphabetic()) {
                let counter = c.word("a counter")?.to_owned();
                counters.push((counter, c.unsigned("a number")?));
            }
            TcpOptionSpec::AccEcn(counters)
        }
        _ if mptcp::is_name(name) => TcpOptionSpec::Mptcp(mptcp::option(c, name)?),
        _ => {
            *c = before;
            return c.fail(EXPECTED);
        }
    })
}

/// `exp-FO`, `exp-tarr`, `gen-K HEX` and `exp-K HEX`.
fn experimental(c: &mut Cursor<'_>, name: &str) -> Parsed<TcpOptionSpec> {
    c.expect("-")?;
    if c.take_word("FO") {
        return fast_open(c, true);
    }
    if c.take_word("tarr") {
        let octets = match c.at_number() {
            true => vec![c.unsigned("an octet")?],
            false => Vec::new(),
        };
        // RFC 9768 §4 has the identifier, 0x00AC.
        let octets = [vec![0x00, 0xAC], octets].concat();
        return Ok(TcpOptionSpec::Generic { kind: 254, experimental: true, octets });
    }
    let kind = c.unsigned("the kind of an option")?;
    let octets = octets(c)?.unwrap_or_default();
    Ok(TcpOptionSpec::Generic { kind, experimental: name == "exp", octets })
}

fn timestamps(c: &mut Cursor<'_>) -> Parsed<TcpOptionSpec> {
    fn stamp(c: &mut Cursor<'_>) -> Parsed<Option<u32>> {
        match c.take("...") {
            true => Ok(None),
            false => c.unsigned("a timestamp").map(Some),
        }
    }
    let key = |c: &mut Cursor<'_>, word: &str| match c.take_word(word) {
        true => Ok(()),
        false => c.fail(format!("`{word}`")),
    };
    key(c, "val")?;
    let value = stamp(c)?;
    key(c, "ecr")?;
    let echo = stamp(c)?;
    Ok(TcpOptionSpec::Timestamps { value, echo, absolute: c.take("!") })
}

fn fast_open(c: &mut Cursor<'_>, experimental: bool) -> Parsed<TcpOptionSpec> {
    let cookie = match octets(c)? {
        Some(cookie) => Ok(cookie),
        None => Err(c.word("a cookie")?.to_owned()),
    };
    Ok(TcpOptionSpec::FastOpen { experimental, cookie })
}

/// Octets in hexadecimal, none where the option ends; `None` before a word
/// that is neither hexadecimal nor defined.
fn octets(c: &mut Cursor<'_>) -> Parsed<Option<Vec<u8>>> {
    let digits = match c.defined() {
        Some(digits) => digits,
        None => c.peek_word(),
    };
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    if digits.is_empty() {
        return Ok(Some(Vec::new()));
    }
    if !digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return Ok(None);
    }
    if digits.len() % 2 != 0 {
        return c.fail("an even number of hexadecimal digits");
    }
    c.word("octets")?;
    let pair = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).unwrap_or(0);
    Ok(Some((0..digits.len()).step_by(2).map(pair).collect()))
}
