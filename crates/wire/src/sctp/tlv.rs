//! Reading and writing of what chunks, parameters and causes are made of:
//! numbers, and values behind a type and a length (RFC 9260 §3.2, §3.2.1).

use super::address::Address;
use super::packet::SctpError;
use crate::address::AddressBook;
use crate::error::EmitError;
use crate::packet::{Addr, Payload};
use crate::pattern;
use anabranch_units::Serial32;
use std::net::IpAddr;

/// `Reader` has octets to read from, and what to say when they do not last.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    octets: &'a [u8],
    error: SctpError,
}

impl<'a> Reader<'a> {
    pub fn new(octets: &'a [u8], error: SctpError) -> Reader<'a> {
        Reader { octets, error }
    }
    pub fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }
    pub fn len(&self) -> usize {
        self.octets.len()
    }
    pub fn error<T>(&self) -> Result<T, SctpError> {
        Err(self.error)
    }
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], SctpError> {
        let (head, rest) = self.octets.split_at_checked(n).ok_or(self.error)?;
        self.octets = rest;
        Ok(head)
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N], SctpError> {
        let (head, rest) = self.octets.split_first_chunk::<N>().ok_or(self.error)?;
        self.octets = rest;
        Ok(*head)
    }
    pub fn u16(&mut self) -> Result<u16, SctpError> {
        self.array().map(u16::from_be_bytes)
    }
    pub fn u32(&mut self) -> Result<u32, SctpError> {
        self.array().map(u32::from_be_bytes)
    }
    pub fn serial(&mut self) -> Result<Serial32, SctpError> {
        self.u32().map(Serial32)
    }
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.octets)
    }
    pub fn boxed(&mut self) -> Box<[u8]> {
        self.rest().into()
    }
    /// Reads all that is left, as numbers of 16 bits; an odd octet is an error.
    pub fn u16s(&mut self) -> Result<Vec<u16>, SctpError> {
        if !self.octets.len().is_multiple_of(2) {
            return self.error();
        }
        Ok(self.rest().chunks_exact(2).map(|c| u16::from_be_bytes([c[0], c[1]])).collect())
    }

    /// Reads the next value behind a type and a length, and its padding; `error` makes the error
    /// about it. The last one's padding may be missing, since a chunk's length does not count it.
    pub fn tlv(
        &mut self,
        error: fn(u16, u16) -> SctpError,
    ) -> Result<(u16, Reader<'a>), SctpError> {
        let kind = self.u16()?;
        let len = self.u16()?;
        let error = error(kind, len);
        let value = (len as usize).checked_sub(4).ok_or(error)?;
        let value = self.octets.get(..value).ok_or(error)?;
        let padded = value.len().next_multiple_of(4).min(self.octets.len());
        self.octets = &self.octets[padded..];
        Ok((kind, Reader { octets: value, error }))
    }
}

/// `Sink` is where chunks are written to: octets, or a mere count of them, so that lengths cannot
/// disagree with what is written.
pub(super) trait Sink {
    fn put(&mut self, octets: &[u8]);
    fn payload(&mut self, payload: &Payload, position: u64);
    /// Returns how many octets were written so far.
    fn len(&self) -> usize;
    /// Writes a length into the 16 bits at `at`.
    fn set_length(&mut self, at: usize, len: usize);
    /// Returns the IP address that stands for `address`.
    fn resolve(&mut self, address: Address) -> IpAddr;

    fn u8(&mut self, value: u8) {
        self.put(&[value]);
    }
    fn u16(&mut self, value: u16) {
        self.put(&value.to_be_bytes());
    }
    fn u32(&mut self, value: u32) {
        self.put(&value.to_be_bytes());
    }
    /// Appends zeros up to a multiple of four octets.
    fn pad(&mut self) {
        let len = self.len();
        self.put(&[0; 3][..len.next_multiple_of(4) - len]);
    }
    /// Appends a value behind its type and length, on a multiple of four octets.
    fn tlv(&mut self, kind: u16, value: impl FnOnce(&mut Self)) {
        self.pad();
        let start = self.len();
        self.u16(kind);
        self.u16(0);
        value(self);
        self.set_length(start + 2, self.len() - start);
    }
}

/// `Count` counts. Addresses that are numbers count as IPv4, but for those that are said to be of
/// IPv6.
#[derive(Default)]
pub(super) struct Count<'a> {
    len: usize,
    is_ipv6: Option<&'a dyn Fn(Addr) -> bool>,
}

impl<'a> Count<'a> {
    pub fn with_ipv6(is_ipv6: &'a dyn Fn(Addr) -> bool) -> Count<'a> {
        Count { len: 0, is_ipv6: Some(is_ipv6) }
    }
}

impl Sink for Count<'_> {
    #[inline]
    fn put(&mut self, octets: &[u8]) {
        self.len += octets.len();
    }
    #[inline]
    fn payload(&mut self, payload: &Payload, _position: u64) {
        self.len += payload.len() as usize;
    }
    #[inline]
    fn len(&self) -> usize {
        self.len
    }
    #[inline]
    fn set_length(&mut self, _at: usize, _len: usize) {}
    fn resolve(&mut self, address: Address) -> IpAddr {
        match address {
            Address::Number(addr) if self.is_ipv6.is_some_and(|item| item(addr)) => {
                [0_u16; 8].into()
            }
            Address::Number(_) => [0, 0, 0, 0].into(),
            Address::Ip(ip) => ip,
        }
    }
}

/// `Octets` appends octets, and remembers the first error.
pub(super) struct Octets<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    book: &'a AddressBook,
    error: Option<EmitError>,
}

impl<'a> Octets<'a> {
    pub fn new(out: &'a mut Vec<u8>, book: &'a AddressBook) -> Octets<'a> {
        let start = out.len();
        Octets { out, start, book, error: None }
    }
    /// Returns what was appended; nothing remains of it after an error.
    pub fn finish(self) -> Result<&'a mut [u8], EmitError> {
        match self.error {
            None => Ok(&mut self.out[self.start..]),
            Some(error) => {
                self.out.truncate(self.start);
                Err(error)
            }
        }
    }
}

impl Sink for Octets<'_> {
    fn put(&mut self, octets: &[u8]) {
        self.out.extend_from_slice(octets);
    }
    fn payload(&mut self, payload: &Payload, position: u64) {
        match payload.octets() {
            Some(octets) => self.out.extend_from_slice(octets),
            // A length that no chunk has is not worth gigabytes.
            None if payload.len() > u16::MAX as u32 => {
                self.error = Some(EmitError::TooLong(payload.len() as u64));
            }
            None => {
                let start = self.out.len();
                self.out.resize(start + payload.len() as usize, 0);
                pattern::fill(position, &mut self.out[start..]);
            }
        }
    }
    fn len(&self) -> usize {
        self.out.len() - self.start
    }
    fn set_length(&mut self, at: usize, len: usize) {
        match u16::try_from(len) {
            Ok(len) => {
                let at = self.start + at;
                self.out[at..at + 2].copy_from_slice(&len.to_be_bytes());
            }
            Err(_) => {
                let value = len as u32;
                self.error = Some(EmitError::FieldRange { field: "SCTP length", value });
            }
        }
    }
    fn resolve(&mut self, address: Address) -> IpAddr {
        let ip = match address {
            Address::Ip(ip) => Ok(ip),
            Address::Number(addr) => self.book.ip(addr).ok_or(EmitError::UnknownAddress(addr)),
        };
        ip.unwrap_or_else(|error| {
            self.error = Some(error);
            IpAddr::from([0, 0, 0, 0])
        })
    }
}
