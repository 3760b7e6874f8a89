//! The Fast Open option (RFC 7413 §4.1.1), and its experimental form
//! (§9; RFC 6994 §3).
//!
//! ```text
//! +---------+---------+----------------------------+
//! | kind 34 | length  | cookie, 0 or 4 to 16 octets |
//! +---------+---------+----------------------------+
//! | kind 254| length  | 0xF989 | cookie             |
//! +---------+---------+----------------------------+
//! ```
//!
//! An option of another length is none (it is kept among the unknown), so is
//! one with a cookie of an odd length.

use crate::tcp::options::RawOption;
use std::fmt;

/// `FAST_OPEN` is the kind of the Fast Open option (RFC 7413 §4.1.1).
pub const FAST_OPEN: u8 = 34;
/// `EXPERIMENTAL` is a kind that experiments share (RFC 6994 §3).
pub const EXPERIMENTAL: u8 = 254;
/// `MAGIC` is the identifier by which Fast Open is told from other experiments (RFC 7413 §9).
const MAGIC: [u8; 2] = [0xf9, 0x89];

/// `FastOpenCookie` is a cookie: 4 to 16 octets, an even number of them; or none, which asks for
/// one.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct FastOpenCookie {
    len: u8,
    octets: [u8; 16],
}

impl FastOpenCookie {
    /// `REQUEST` has no octets: the client asks the server for a cookie.
    pub const REQUEST: FastOpenCookie = FastOpenCookie { len: 0, octets: [0; 16] };

    /// Makes a cookie of these octets, or a request of none; `None` when so many are no cookie.
    pub fn new(octets: &[u8]) -> Option<FastOpenCookie> {
        let is_length = matches!(octets.len(), 0 | 4..=16) && octets.len().is_multiple_of(2);
        is_length.then(|| {
            let mut cookie = FastOpenCookie { len: octets.len() as u8, octets: [0; 16] };
            cookie.octets[..octets.len()].copy_from_slice(octets);
            cookie
        })
    }

    /// Returns the octets of the cookie; none for a request.
    pub fn octets(&self) -> &[u8] {
        &self.octets[..self.len as usize]
    }

    /// Returns whether there is no cookie: the option asks for one.
    pub fn is_request(&self) -> bool {
        self.len == 0
    }
}

impl fmt::Debug for FastOpenCookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FastOpenCookie(")?;
        self.octets().iter().try_for_each(|octet| write!(f, "{octet:02x}"))?;
        f.write_str(")")
    }
}

/// `FastOpenOption` is the Fast Open option, in either of its forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FastOpenOption {
    /// `cookie` is the server's cookie, or the request for one.
    pub cookie: FastOpenCookie,
    /// `experimental` says that the option has the form of kind 254, which was used before kind 34
    /// was assigned.
    pub experimental: bool,
}

impl FastOpenOption {
    /// Reads kind 34 or 254; `None` when it is something else.
    pub(super) fn parse(option: &RawOption<'_>) -> Option<FastOpenOption> {
        let (octets, experimental) = match option.kind {
            FAST_OPEN => (option.value, false),
            EXPERIMENTAL => (option.value.strip_prefix(&MAGIC)?, true),
            _ => return None,
        };
        FastOpenCookie::new(octets).map(|cookie| FastOpenOption { cookie, experimental })
    }

    /// Returns the length on the wire, in octets without padding.
    pub(super) fn wire_len(&self) -> u32 {
        2 + 2 * self.experimental as u32 + self.cookie.len as u32
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        let kind = if self.experimental { EXPERIMENTAL } else { FAST_OPEN };
        out.extend_from_slice(&[kind, self.wire_len() as u8]);
        if self.experimental {
            out.extend_from_slice(&MAGIC);
        }
        out.extend_from_slice(self.cookie.octets());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::TcpOptions;

    fn emitted(cookie: &[u8], experimental: bool) -> Vec<u8> {
        let mut options = TcpOptions::default();
        let cookie = FastOpenCookie::new(cookie).unwrap();
        options.rare_mut().fast_open = Some(FastOpenOption { cookie, experimental });
        let mut out = Vec::new();
        options.emit(&mut out).unwrap();
        assert_eq!(out.len() as u32, options.wire_len());
        assert_eq!(TcpOptions::parse(&out), Ok(options));
        out
    }

    #[test]
    fn requests_and_cookies_are_written_as_in_the_rfc() {
        assert_eq!(emitted(&[], false), [34, 2, 0, 0]);
        assert_eq!(emitted(&[1, 2, 3, 4], false), [34, 6, 1, 2, 3, 4, 0, 0]);
        assert_eq!(emitted(&[9; 16], false)[..3], [34, 18, 9]);
        assert_eq!(emitted(&[], true), [254, 4, 0xf9, 0x89]);
        assert_eq!(emitted(&[1, 2, 3, 4], true), [254, 8, 0xf9, 0x89, 1, 2, 3, 4]);
    }

    /// RFC 7413 §4.1.1: invalid lengths are ignored; so are other experiments.
    #[test]
    fn what_is_no_cookie_is_unknown() {
        for octets in [
            &[34, 3, 1][..],
            &[34, 4, 1, 2],
            &[34, 7, 1, 2, 3, 4, 5],
            &[34, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[254, 4, 0xf9, 0x88],
            &[254, 6, 0xf9, 0x89, 1, 2],
            &[253, 4, 0xf9, 0x89],
        ] {
            let options = TcpOptions::parse(octets).unwrap();
            assert_eq!(options.fast_open(), None);
            assert_eq!(options.unknown(), octets);
        }
    }

    /// The first of both forms counts.
    #[test]
    fn a_second_option_is_kept() {
        let options = TcpOptions::parse(&[254, 4, 0xf9, 0x89, 34, 2, 0, 0]).unwrap();
        assert!(
            options
                .fast_open()
                .is_some_and(|fast_open| fast_open.experimental && fast_open.cookie.is_request())
        );
        assert_eq!(options.unknown(), [34, 2]);
    }
}
