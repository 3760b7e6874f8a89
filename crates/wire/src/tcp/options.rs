//! TCP options as octets (RFC 9293 §3.2).
//!
//! | kind | length | option | reference |
//! |---|---|---|---|
//! | 0 | | end of option list | RFC 9293 §3.2 |
//! | 1 | | no-operation | RFC 9293 §3.2 |
//! | 2 | 4 | maximum segment size | RFC 9293 §3.2 |
//! | 3 | 3 | window scale | RFC 7323 §2.2 |
//! | 4 | 2 | SACK permitted | RFC 2018 §2 |
//! | 5 | 2 + 8n | SACK | RFC 2018 §3 |
//! | 8 | 10 | timestamps | RFC 7323 §3.2 |
//! | 30 | 3 to 30 | Multipath TCP: [`mptcp`] | RFC 8684 §3 |
//! | 34 | 2 to 18 | Fast Open | RFC 7413 §4.1.1 |
//! | 254 | 4 to 20 | Fast Open, experimental | RFC 7413 §9 |
//! | 172, 174 | 2 + 3n | AccECN | RFC 9768 §3.2.3 |
//!
//! Written in this order, which is that of Linux: MSS; SACK permitted with
//! timestamps (a NOP pair stands in for the one that is absent); NOP, window
//! scale; NOP, NOP, SACK; AccECN; DSS; the rare ones ([`RareOptions`]);
//! end-of-list octets up to a multiple of four. With
//! [`TcpOptions::scale_first`] the window scale follows the MSS, as in BSD
//! stacks.
//!
//! Read in any order and with any padding; of the order only `scale_first` is
//! kept. The first option of a kind counts;
//! a second one, and one whose length is not that of its kind, is kept among
//! the unknown. Octets after the end of the list are ignored.

mod accecn;
mod fast_open;
pub mod mptcp;
mod rare;

pub use accecn::{ACC_ECN0, ACC_ECN1, AccEcn, AccEcnOrder};
pub use fast_open::{EXPERIMENTAL, FAST_OPEN, FastOpenCookie, FastOpenOption};
pub use rare::RareOptions;

use crate::error::EmitError;
use crate::tcp::{SackBlock, TcpOptions, Timestamps};
use anabranch_units::Serial32;
use mptcp::{Dss, MptcpOption};
use std::error::Error;
use std::fmt;

/// `MAX_LEN` is how many octets of options a header can hold.
pub const MAX_LEN: usize = 40;

/// `END` is the kind of the end of the option list, one octet.
pub const END: u8 = 0;
/// `NOP` is the kind of the no-operation, one octet.
pub const NOP: u8 = 1;
/// `MSS` is the kind of the maximum segment size, four octets.
pub const MSS: u8 = 2;
/// `WINDOW_SCALE` is the kind of the window scale, three octets.
pub const WINDOW_SCALE: u8 = 3;
/// `SACK_PERMITTED` is the kind of SACK permitted, two octets.
pub const SACK_PERMITTED: u8 = 4;
/// `SACK` is the kind of the SACK blocks, two octets and eight for each.
pub const SACK: u8 = 5;
/// `TIMESTAMPS` is the kind of the timestamps, ten octets.
pub const TIMESTAMPS: u8 = 8;

/// `OptionError` says why octets are not a list of options. RFC 9293 §3.1 (MUST-7) wants illegal
/// lengths survived and logged: the error says which option it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionError {
    /// The option, or its length octet, reaches past the header.
    Truncated {
        /// `kind` is the first octet of the option that is cut off.
        kind: u8,
    },
    /// The length does not even cover kind and length.
    Length {
        /// `kind` is the first octet of the option with that length.
        kind: u8,
        /// `len` is the value of the length octet, 0 or 1.
        len: u8,
    },
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Truncated { kind } => write!(f, "option {kind} is truncated"),
            OptionError::Length { kind, len } => write!(f, "option {kind} of length {len}"),
        }
    }
}
impl Error for OptionError {}

/// `RawOption` is one option as it stands in the header, not understood yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawOption<'a> {
    /// `octets` are all of the option: kind, length and value.
    pub octets: &'a [u8],
    /// `kind` is the first octet of the option.
    pub kind: u8,
    /// `value` is what follows kind and length; it may be empty.
    pub value: &'a [u8],
}

/// Goes through the options in `octets` without NOPs, up to the end of the list; after an error
/// there is nothing more.
pub fn iter(octets: &[u8]) -> Options<'_> {
    Options { rest: octets }
}

/// `Options` are the options of a header in order, made by [`iter`].
#[derive(Clone, Debug)]
pub struct Options<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<RawOption<'a>, OptionError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest;
        let start = rest.iter().position(|kind| *kind != NOP)?;
        let option = next_option(&rest[start..]);
        self.rest = match option {
            Some(Ok(option)) => &rest[start + option.octets.len()..],
            _ => &[],
        };
        option
    }
}

fn next_option(rest: &[u8]) -> Option<Result<RawOption<'_>, OptionError>> {
    let (kind, len) = match *rest {
        [] | [END, ..] => return None,
        [kind] => return Some(Err(OptionError::Truncated { kind })),
        [kind, len, ..] => (kind, len),
    };
    if len < 2 {
        return Some(Err(OptionError::Length { kind, len }));
    }
    Some(match rest.get(..len as usize) {
        Some(octets) => Ok(RawOption { octets, kind, value: &octets[2..] }),
        None => Err(OptionError::Truncated { kind }),
    })
}

impl TcpOptions {
    /// Reads what stands between the fixed header and the data.
    ///
    /// # Errors
    /// See [`OptionError`].
    pub fn parse(octets: &[u8]) -> Result<TcpOptions, OptionError> {
        let mut options = TcpOptions::default();
        let mut unknown = Vec::new();
        for option in iter(octets) {
            let option = option?;
            let scaled = options.window_scale.is_some();
            if !options.take(&option) {
                unknown.extend_from_slice(option.octets);
            } else if matches!(option.kind, SACK_PERMITTED | TIMESTAMPS) {
                options.scale_first |= scaled;
            }
        }
        if !unknown.is_empty() {
            options.rare_mut().unknown = unknown.into();
        }
        Ok(options)
    }

    /// Understands `option` and takes it in; false, and nothing is changed, for another kind or
    /// length, and for a second one of a kind.
    fn take(&mut self, option: &RawOption<'_>) -> bool {
        match (option.kind, option.value) {
            (MSS, &[a, b]) if self.mss.is_none() => self.mss = Some(u16::from_be_bytes([a, b])),
            (WINDOW_SCALE, &[shift]) if self.window_scale.is_none() => {
                self.window_scale = Some(shift);
            }
            (SACK_PERMITTED, []) if !self.sack_permitted => self.sack_permitted = true,
            (TIMESTAMPS, &[a, b, c, d, e, f, g, h]) if self.timestamps.is_none() => {
                let value = u32::from_be_bytes([a, b, c, d]);
                let echo = u32::from_be_bytes([e, f, g, h]);
                self.timestamps = Some(Timestamps { value, echo });
            }
            (SACK, value) if self.sack.is_empty() => return self.take_sack(value),
            (mptcp::KIND, value) => return self.take_mptcp(value),
            (ACC_ECN0 | ACC_ECN1, value) if self.acc_ecn.is_none() => {
                self.acc_ecn = Some(Box::new(AccEcn::parse(option.kind, value)));
            }
            _ => return self.take_rare(option),
        }
        true
    }

    /// Takes one to four blocks in; false, and nothing is changed, for anything else.
    fn take_sack(&mut self, value: &[u8]) -> bool {
        let mut sack = self.sack;
        for block in value.chunks(8) {
            let &[a, b, c, d, e, f, g, h] = block else { return false };
            let left = Serial32(u32::from_be_bytes([a, b, c, d]));
            let right = Serial32(u32::from_be_bytes([e, f, g, h]));
            if !sack.push(SackBlock { left, right }) {
                return false;
            }
        }
        self.sack = sack;
        !sack.is_empty()
    }

    fn take_mptcp(&mut self, value: &[u8]) -> bool {
        if value.first().is_some_and(|first| first >> 4 == mptcp::DSS) {
            return self.dss().is_none() && Dss::parse(value).is_some_and(|dss| self.set_dss(&dss));
        }
        let option = MptcpOption::parse(value);
        if let Some(option) = option {
            self.rare_mut().mptcp.push(option);
        }
        option.is_some()
    }

    /// Appends the options, [`TcpOptions::wire_len`] octets.
    ///
    /// # Errors
    /// More than 40 octets, or [`RareOptions::unknown`] is not a list of
    /// options; `out` is unchanged.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let unknown = self.unknown();
        if unknown.len() > MAX_LEN || self.wire_len() as usize > MAX_LEN {
            let len = unknown.len().max(self.wire_len() as usize);
            return Err(EmitError::OptionsTooLong(len as u64));
        }
        if !is_option_list(unknown) {
            return Err(EmitError::MalformedOptions);
        }
        let end = out.len() + self.wire_len() as usize;
        if let Some(mss) = self.mss {
            out.extend_from_slice(&[MSS, 4]);
            out.extend_from_slice(&mss.to_be_bytes());
        }
        if self.scale_first {
            self.emit_scale(out);
        }
        if self.timestamps.is_some() || self.sack_permitted {
            let permitted = [SACK_PERMITTED, 2];
            out.extend_from_slice(if self.sack_permitted { &permitted } else { &[NOP, NOP] });
            match self.timestamps {
                Some(Timestamps { value, echo }) => {
                    out.extend_from_slice(&[TIMESTAMPS, 10]);
                    out.extend_from_slice(&value.to_be_bytes());
                    out.extend_from_slice(&echo.to_be_bytes());
                }
                None => out.extend_from_slice(&[NOP, NOP]),
            }
        }
        if !self.scale_first {
            self.emit_scale(out);
        }
        if !self.sack.is_empty() {
            let blocks = self.sack.as_slice();
            out.extend_from_slice(&[NOP, NOP, SACK, 2 + 8 * blocks.len() as u8]);
            for SackBlock { left, right } in blocks {
                out.extend_from_slice(&left.0.to_be_bytes());
                out.extend_from_slice(&right.0.to_be_bytes());
            }
        }
        if let Some(acc_ecn) = &self.acc_ecn {
            acc_ecn.emit(out);
        }
        if let Some(dss) = self.dss() {
            dss.emit(out);
        }
        self.emit_rare(out);
        out.extend_from_slice(unknown);
        out.resize(end, END);
        Ok(())
    }
}

impl TcpOptions {
    fn emit_scale(&self, out: &mut Vec<u8>) {
        if let Some(shift) = self.window_scale {
            out.extend_from_slice(&[NOP, WINDOW_SCALE, 3, shift]);
        }
    }
}

/// Returns whether there are options and NOPs to the last octet: an end-of-list octet would hide
/// what follows it.
fn is_option_list(octets: &[u8]) -> bool {
    let mut rest = octets;
    loop {
        match rest {
            [] => return true,
            [NOP, after @ ..] => rest = after,
            _ => match next_option(rest) {
                Some(Ok(option)) => rest = &rest[option.octets.len()..],
                Some(Err(_)) | None => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests;
