//! What has arrived of a stream, by offset, where a connection carries real octets.

use std::collections::VecDeque;

/// A window of real octets over a stream.
#[derive(Debug)]
pub struct Octets {
    /// Offset of the first octet kept.
    start: u64,
    data: VecDeque<u8>,
}

impl Octets {
    /// Nothing, before `start`.
    pub fn starting_at(start: u64) -> Octets {
        Octets { start, data: VecDeque::new() }
    }
    /// Returns how many octets are kept.
    pub fn len(&self) -> u64 {
        self.data.len() as u64
    }
    /// Whether no octets are kept.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }
    /// Writes at an offset, leaving zeros in a gap; octets before the start
    /// are ignored.
    pub fn write_at(&mut self, offset: u64, octets: &[u8]) {
        let skip = self.start.saturating_sub(offset).min(octets.len() as u64) as usize;
        let octets = &octets[skip..];
        if octets.is_empty() {
            return;
        }
        let at = (offset + skip as u64 - self.start) as usize;
        let kept = self.data.len();
        if at > kept {
            self.data.resize(at, 0);
        }
        let (over, new) = octets.split_at(kept.saturating_sub(at).min(octets.len()));
        let (first, second) = self.data.as_mut_slices();
        let split = first.len().saturating_sub(at).min(over.len());
        if split > 0 {
            first[at..at + split].copy_from_slice(&over[..split]);
        }
        if split < over.len() {
            let at = at.saturating_sub(first.len());
            second[at..at + over.len() - split].copy_from_slice(&over[split..]);
        }
        self.data.extend(new);
    }
    /// Takes octets from the start.
    pub fn take(&mut self, buf: &mut [u8]) {
        let [first, second] = self.slices(0, buf.len());
        let kept = first.len() + second.len();
        buf[..first.len()].copy_from_slice(first);
        buf[first.len()..kept].copy_from_slice(second);
        buf[kept..].fill(0);
        self.data.drain(..kept);
        self.start += buf.len() as u64;
    }
    /// Returns at most `len` octets from the `at`-th kept one on, in two pieces.
    fn slices(&self, at: usize, len: usize) -> [&[u8]; 2] {
        let (first, second) = self.data.as_slices();
        let mid = first.len();
        let end = at.saturating_add(len).min(self.data.len());
        let at = at.min(end);
        [&first[at.min(mid)..end.min(mid)], &second[at.max(mid) - mid..end.max(mid) - mid]]
    }
    /// Drops what lies below `offset`.
    pub fn drop_below(&mut self, offset: u64) {
        let n = offset.saturating_sub(self.start);
        self.data.drain(..(n as usize).min(self.data.len()));
        self.start += n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_endpoint::Generator;

    /// Random operations beside a vector that never forgets: the ring wraps
    /// around, pieces overlap, gaps are filled later.
    #[test]
    fn any_sequence_of_operations_gives_the_octets_of_a_plain_vector() {
        let mut generator = Generator::from_u64(7);
        let mut below = move |n: u64| generator.below(n);
        for _ in 0..50 {
            let mut octets = Octets::starting_at(1);
            let mut model = vec![0_u8];
            let mut start = 1;
            for step in 0..400 {
                let piece: Vec<u8> = (0..below(40)).map(|i| (step + i) as u8).collect();
                let kept = model.len() as u64 - start;
                match below(4) {
                    0 | 1 => {
                        let at = start.saturating_sub(5) + below(kept + 20);
                        octets.write_at(at, &piece);
                        let end = at as usize + piece.len();
                        if !piece.is_empty() && end as u64 > start {
                            model.resize(model.len().max(end), 0);
                        }
                        for (i, octet) in piece.iter().enumerate() {
                            let at = at as usize + i;
                            if at as u64 >= start {
                                model[at] = *octet;
                            }
                        }
                    }
                    2 => {
                        let mut buf = vec![7; below(kept + 1) as usize];
                        octets.take(&mut buf);
                        let from = start as usize;
                        assert_eq!(buf, model[from..from + buf.len()]);
                        start += buf.len() as u64;
                    }
                    _ => {
                        start += below(kept.min(30) + 1);
                        octets.drop_below(start);
                    }
                }
                assert_eq!(octets.len(), model.len() as u64 - start);
            }
        }
    }
}
