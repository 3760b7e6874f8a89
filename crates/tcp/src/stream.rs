//! Octets of a stream by offset, where a connection carries real ones.

use std::collections::VecDeque;

/// A window of real octets over a stream.
#[derive(Debug)]
pub(crate) struct Octets {
    /// Offset of the first octet kept.
    start: u64,
    data: VecDeque<u8>,
}

impl Octets {
    pub fn starting_at(start: u64) -> Octets {
        Octets { start, data: VecDeque::new() }
    }
    /// Octets kept.
    pub fn len(&self) -> u64 {
        self.data.len() as u64
    }
    /// Appends.
    pub fn append(&mut self, octets: &[u8]) {
        self.data.extend(octets);
    }
    /// Writes at an offset, leaving zeros in a gap; octets before the start
    /// are ignored.
    pub fn write_at(&mut self, offset: u64, octets: &[u8]) {
        let skip = self.start.saturating_sub(offset).min(octets.len() as u64) as usize;
        let at = (offset + skip as u64 - self.start) as usize;
        let octets = &octets[skip..];
        let end = at + octets.len();
        if self.data.len() < end {
            self.data.resize(end, 0);
        }
        for (slot, octet) in self.data.range_mut(at..end).zip(octets) {
            *slot = *octet;
        }
    }
    /// A copy of the octets from `offset`; zeros beyond what is kept.
    pub fn copy(&self, offset: u64, len: usize) -> Vec<u8> {
        let at = (offset - self.start) as usize;
        let mut copy: Vec<u8> = self.data.iter().skip(at).take(len).copied().collect();
        copy.resize(len, 0);
        copy
    }
    /// Takes octets from the start.
    pub fn take(&mut self, buf: &mut [u8]) {
        let kept = self.data.len().min(buf.len());
        for (slot, octet) in buf.iter_mut().zip(self.data.drain(..kept)) {
            *slot = octet;
        }
        buf[kept..].fill(0);
        self.start += buf.len() as u64;
    }
    /// Drops what lies below `offset`.
    pub fn drop_below(&mut self, offset: u64) {
        let n = offset.saturating_sub(self.start);
        self.data.drain(..(n as usize).min(self.data.len()));
        self.start += n;
    }
}
