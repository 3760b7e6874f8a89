//! TCP options between a script and the wire.
//!
//! Options are compared as octets, in order; padding (no-operations and what
//! follows the end of the list) is not compared, since where it stands is a
//! habit of each stack.

use super::mapping::{Mapping, Unusable, cookie_word};
use super::multipath::{Multipath, Place};
use crate::script::{OptionsSpec, TcpOptionSpec};
use anabranch_wire::TcpOptions;
use anabranch_wire::tcp::options::{self, RawOption};
use std::fmt::Write;

/// One option as octets; `None` for padding.
pub(super) fn encode(option: &TcpOptionSpec) -> Result<Option<Vec<u8>>, Unusable> {
    let with = |kind: u8, value: &[u8]| {
        let mut octets = vec![kind, value.len() as u8 + 2];
        octets.extend(value);
        Some(octets)
    };
    Ok(match option {
        TcpOptionSpec::Nop | TcpOptionSpec::Eol => None,
        TcpOptionSpec::Mss(mss) => with(options::MSS, &mss.to_be_bytes()),
        TcpOptionSpec::WindowScale(shift) => with(options::WINDOW_SCALE, &[*shift]),
        TcpOptionSpec::SackPermitted => with(options::SACK_PERMITTED, &[]),
        TcpOptionSpec::Sack(blocks) => {
            let blocks = blocks.iter().flat_map(|(left, right)| [*left, *right]);
            with(options::SACK, &blocks.flat_map(u32::to_be_bytes).collect::<Vec<u8>>())
        }
        TcpOptionSpec::Timestamps { value, echo, .. } => {
            let (value, echo) = (value.unwrap_or(0), echo.unwrap_or(0));
            with(options::TIMESTAMPS, &[value.to_be_bytes(), echo.to_be_bytes()].concat())
        }
        TcpOptionSpec::Md5(digest) => with(19, digest.as_deref().unwrap_or(&[0; 16])),
        TcpOptionSpec::FastOpen { cookie: Err(word), .. } => {
            return Err(format!("the cookie `{word}` is not defined"));
        }
        TcpOptionSpec::FastOpen { experimental: false, cookie: Ok(cookie) } => with(34, cookie),
        TcpOptionSpec::FastOpen { experimental: true, cookie: Ok(cookie) } => {
            with(254, &[&[0xf9, 0x89], cookie.as_slice()].concat())
        }
        TcpOptionSpec::AccEcn(counters) => with_counters(counters),
        TcpOptionSpec::Generic { kind, octets, .. } => with(*kind, octets),
        // Where it stands makes a difference: see `multipath`.
        TcpOptionSpec::Mptcp(_) => None,
    })
}

/// RFC 9768 §3.2.3: three octets a counter, kind 172 with `e0b` first and kind
/// 174 with `e1b` first.
fn with_counters(counters: &[(String, u32)]) -> Option<Vec<u8>> {
    let given: Vec<&(String, u32)> = counters[1..].iter().collect();
    let first_is_e1b = given.first().is_some_and(|(name, _)| name.ends_with("1b"));
    let kind = match counters[0].0.as_str() {
        "AccECN1" => 174,
        "ECN" if first_is_e1b => 174,
        _ => 172,
    };
    let mut octets = vec![kind, given.len() as u8 * 3 + 2];
    octets.extend(given.iter().flat_map(|(_, n)| n.to_be_bytes()[1..].to_vec()));
    Some(octets)
}

/// The options of a packet that comes to the stack.
pub(super) fn inbound(
    spec: &OptionsSpec,
    mapping: &mut Mapping,
    multipath: &mut Multipath,
) -> Result<TcpOptions, Unusable> {
    let OptionsSpec::List(list) = spec else {
        return Err("options of a packet that comes cannot be left open".into());
    };
    let mut octets = Vec::new();
    for option in list {
        if let TcpOptionSpec::Mptcp(option) = option {
            let place = Place { inbound: true, live: None };
            octets.extend(multipath.encode(option, &mut mapping.nonces, place)?);
            continue;
        }
        octets.extend(encode(&mapping.inbound_option(option)?)?.unwrap_or_default());
    }
    if octets.len() > options::MAX_LEN {
        return Err(format!("options of {} octets", octets.len()));
    }
    TcpOptions::parse(&octets).map_err(|error| error.to_string())
}

/// The options of a packet in order, without padding.
pub(super) fn octets_of(options: &TcpOptions) -> Vec<u8> {
    let mut octets = Vec::new();
    // What is too long for a header has been refused by the endpoint.
    _ = options.emit(&mut octets);
    octets
}

/// Compares options with what the script expects; the difference in words.
pub(super) fn compare(
    spec: &OptionsSpec,
    options: &TcpOptions,
    mapping: &mut Mapping,
    multipath: &mut Multipath,
) -> Result<Option<String>, Unusable> {
    let OptionsSpec::List(list) = spec else { return Ok(None) };
    // The MPTCP project's packetdrill does not compare echoes, and its scripts
    // have some that nobody sent.
    let echoes = !list.iter().any(|option| matches!(option, TcpOptionSpec::Mptcp(_)));
    let octets = octets_of(options);
    let mut actual = options::iter(&octets).flatten();
    for expected in list {
        if let Some(word) = cookie_word(expected)
            && !mapping.cookies.contains_key(word)
        {
            // The first time the word stands for what comes.
            let next = actual.clone().next();
            let head = if next.is_some_and(|option| option.kind == 254) { 2 } else { 0 };
            let cookie = next.and_then(|option| option.value.get(head..)).unwrap_or_default();
            mapping.cookies.insert(word.to_owned(), cookie.to_vec());
        }
        let expected_octets = match expected {
            TcpOptionSpec::Mptcp(option) => {
                let live = actual.clone().next().map(|next| whole(&next));
                let place = Place { inbound: false, live: live.as_deref() };
                multipath.encode(option, &mut mapping.nonces, place)?
            }
            _ => match encode(&mapping.outbound_option(expected))? {
                Some(octets) => octets,
                None => continue,
            },
        };
        let Some(actual) = actual.next() else {
            return Ok(Some(format!("the option {} is missing", name(expected_octets[0]))));
        };
        if actual.kind != expected_octets[0] {
            let (expected, actual) = (name(expected_octets[0]), name(actual.kind));
            return Ok(Some(format!("the option {expected} was expected, {actual} came")));
        }
        if !same_value(expected, &expected_octets, &actual, echoes) {
            return Ok(Some(format!("the option {} differs", name(actual.kind))));
        }
    }
    Ok(actual.next().map(|option| format!("the option {} was not expected", name(option.kind))))
}

/// An option with its kind and length.
fn whole(option: &RawOption<'_>) -> Vec<u8> {
    let mut octets = vec![option.kind, option.value.len() as u8 + 2];
    octets.extend(option.value);
    octets
}

fn same_value(
    expected: &TcpOptionSpec,
    octets: &[u8],
    actual: &RawOption<'_>,
    echoes: bool,
) -> bool {
    match expected {
        // Values of the clock are remembered, not compared.
        TcpOptionSpec::Timestamps { echo, .. } => {
            actual.value.len() == 8
                && (echo.is_none() || !echoes || octets[6..] == actual.value[4..])
        }
        TcpOptionSpec::Md5(None) => true,
        _ => octets[2..] == *actual.value,
    }
}

fn name(kind: u8) -> String {
    match kind {
        2 => "mss".into(),
        3 => "wscale".into(),
        4 => "sackOK".into(),
        5 => "sack".into(),
        8 => "TS".into(),
        19 => "md5".into(),
        30 => "of MPTCP".into(),
        34 => "FO".into(),
        254 => "FOEXP".into(),
        172 | 174 => "ECN".into(),
        kind => format!("of kind {kind}"),
    }
}

/// The options as a script would write them, without padding.
pub(super) fn show(options: &TcpOptions, mapping: &Mapping, inbound: bool) -> String {
    let octets = octets_of(options);
    let mut shown = Vec::new();
    for option in options::iter(&octets).flatten() {
        let value = option.value;
        let number = |at: usize| {
            let part = value.get(at..at + 4).and_then(|word| word.try_into().ok());
            part.map_or(0, u32::from_be_bytes)
        };
        let mut text = match option.kind {
            2 if value.len() == 2 => format!("mss {}", u16::from_be_bytes([value[0], value[1]])),
            3 if value.len() == 1 => format!("wscale {}", value[0]),
            5 => {
                let edge = |at| mapping.shown_sack(number(at), inbound);
                let blocks = (0..value.len() / 8).map(|n| (edge(8 * n), edge(8 * n + 4)));
                blocks.fold("sack".into(), |text, (a, b)| format!("{text} {a}:{b}"))
            }
            8 => format!("TS val {} ecr {}", number(0), number(4)),
            kind => name(kind),
        };
        if matches!(option.kind, 19 | 30 | 34 | 254 | 172 | 174) || text.starts_with("of") {
            let value = if option.kind == 254 { value.get(2..).unwrap_or(value) } else { value };
            text.push(' ');
            for octet in value {
                _ = write!(text, "{octet:02x}");
            }
        }
        shown.push(text.trim_end().to_owned());
    }
    shown.join(", ")
}
