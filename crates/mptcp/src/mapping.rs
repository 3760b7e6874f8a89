//! Maps the octets of a subflow to data (RFC 8684 §3.3.1), for what is sent and
//! for what arrives.

use anabranch_tcp::Range;
use std::collections::VecDeque;

/// A piece of a subflow's stream that this side sent: linear, and never crossed
/// by a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SentMapping {
    /// Offset of its first octet in the subflow's stream.
    pub start: u64,
    /// Length in octets.
    pub len: u32,
    /// Data offset of its first octet.
    pub data: u64,
    /// The DATA_FIN follows its last octet.
    pub fin: bool,
    /// Checksum of its mapping, where checksums are in use; otherwise 0.
    pub checksum: u16,
}

impl SentMapping {
    /// Returns the data offsets that it covers.
    pub fn data_range(&self) -> Range {
        Range { start: self.data, end: self.data + self.len as u64 }
    }

    /// A subflow offset inside stands for this data offset.
    pub fn data_at(&self, offset: u64) -> u64 {
        self.data + (offset - self.start)
    }
}

/// The pieces that were sent and are not acknowledged on the subflow, in the order of sending.
#[derive(Debug, Default)]
pub(crate) struct SentMappings {
    units: VecDeque<SentMapping>,
    /// Data offset after the last octet that was added; 0 before the first.
    next: u64,
    /// An octet was added that was not the next of the stream.
    has_strayed: bool,
}

impl SentMappings {
    /// Adds a piece at the end; true when it goes on where the last ended, and
    /// is one with it, unless `apart`.
    pub fn push(&mut self, unit: SentMapping, apart: bool) -> bool {
        let before = std::mem::replace(&mut self.next, unit.data + unit.len as u64);
        if !apart
            && let Some(last) = self.units.back_mut()
            && !last.fin
            && last.start + last.len as u64 == unit.start
            && last.data + last.len as u64 == unit.data
            && last.len.checked_add(unit.len).is_some()
        {
            last.len += unit.len;
            last.fin = unit.fin;
            return true;
        }
        self.has_strayed |= before != unit.data && before != 0;
        self.units.push_back(unit);
        false
    }

    /// The piece that holds a subflow offset.
    pub fn find(&self, offset: u64) -> Option<&SentMapping> {
        // Nearly every question is about the newest.
        let last = self.units.back()?;
        let unit = if last.start <= offset {
            last
        } else {
            &self.units[self.units.partition_point(|unit| unit.start <= offset).checked_sub(1)?]
        };
        (offset < unit.start + unit.len as u64).then_some(unit)
    }

    /// Forgets what is acknowledged on the subflow; never half of a piece.
    pub fn drop_below(&mut self, una: u64) {
        while self.units.front().is_some_and(|unit| unit.start + unit.len as u64 <= una) {
            self.units.pop_front();
        }
    }

    /// The mapping that was added last, while it is not acknowledged.
    pub fn last(&self) -> Option<&SentMapping> {
        self.units.back()
    }

    /// Returns the mappings that are not acknowledged, in the order of sending.
    pub fn iter(&self) -> impl Iterator<Item = &SentMapping> {
        self.units.iter()
    }

    /// The piece that carries a data offset.
    pub fn carrying(&self, data: u64) -> Option<&SentMapping> {
        self.units.iter().find(|unit| {
            let range = unit.data_range();
            range.start <= data && data < range.end
        })
    }

    /// All pieces that were ever added, also those that are acknowledged, are one line of the stream: nothing
    /// is left out, and nothing was added twice.
    pub fn is_linear(&self) -> bool {
        !self.has_strayed
    }
}

/// A mapping that arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReceivedMapping {
    /// Offset of its first octet in the subflow's stream.
    pub start: u64,
    /// Length in octets of data.
    pub len: u32,
    /// Data offset of its first octet.
    pub data: u64,
    /// The DATA_FIN follows its last octet.
    pub fin: bool,
    /// The checksum that came with it, where checksums are in use.
    pub checksum: Option<u16>,
    /// The peer numbered it with 64 bits.
    pub long: bool,
}

/// Mappings whose octets have not all been read, by subflow offset.
#[derive(Debug, Default)]
pub(crate) struct ReceivedMappings {
    maps: VecDeque<ReceivedMapping>,
}

impl ReceivedMappings {
    /// Adds a mapping; `read` is the next subflow offset to be read, and `most`
    /// how many mappings are kept. One that says otherwise about octets than an
    /// earlier one counts only where that does not reach.
    pub fn insert(&mut self, map: ReceivedMapping, read: u64, most: usize) {
        self.drop_below(read);
        let end = map.start + map.len as u64;
        if end <= read {
            return;
        }
        if let Some(last) = self.maps.back_mut()
            && map.checksum.is_none()
            && last.checksum.is_none()
            && !last.fin
            && last.start + last.len as u64 == map.start
            && last.data + last.len as u64 == map.data
            && last.len.checked_add(map.len).is_some()
        {
            last.len += map.len;
            last.fin = map.fin;
            return;
        }
        let at = self.maps.partition_point(|known| known.start <= map.start);
        let known = at > 0 && {
            let before = &self.maps[at - 1];
            before.start + before.len as u64 >= end
        };
        if !known && self.maps.len() < most {
            self.maps.insert(at, map);
        }
    }

    /// A subflow offset has this mapping.
    pub fn find(&self, offset: u64) -> Option<&ReceivedMapping> {
        self.maps
            .iter()
            .find(|known| known.start <= offset && offset < known.start + known.len as u64)
    }

    /// Whether no mapping is kept.
    pub fn is_empty(&self) -> bool {
        self.maps.is_empty()
    }

    /// Forgets the mappings that end at or before the subflow offset `read`.
    pub fn drop_below(&mut self, read: u64) {
        while self.maps.front().is_some_and(|known| known.start + known.len as u64 <= read) {
            self.maps.pop_front();
        }
    }

    /// Returns how many mappings are kept.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.maps.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(start: u64, len: u32, data: u64) -> SentMapping {
        SentMapping { start, len, data, fin: false, checksum: 0 }
    }

    #[test]
    fn neighbours_are_one_piece_unless_they_must_stay_apart() {
        let mut map = SentMappings::default();
        assert!(!map.push(sent(1, 100, 1), false));
        assert!(map.push(sent(101, 100, 101), false));
        assert!(map.is_linear());
        assert!(!map.push(sent(201, 100, 301), false), "another subflow had 201 to 300");
        assert!(!map.push(sent(301, 100, 401), true));
        assert_eq!(map.find(150).unwrap().data_at(150), 150);
        assert_eq!(map.find(201).unwrap().data_at(201), 301);
        assert_eq!(map.find(401), None);
        map.drop_below(200);
        assert_eq!(map.iter().next().unwrap().start, 1, "never half of a piece");
        map.drop_below(201);
        assert_eq!((map.find(150), map.is_linear()), (None, false), "for good");
        assert_eq!(map.carrying(450).unwrap().start, 301);
    }

    #[test]
    fn the_first_mapping_of_an_octet_counts() {
        let map = |start, len, data| ReceivedMapping {
            start,
            len,
            data,
            fin: false,
            checksum: None,
            long: false,
        };
        let mut all = ReceivedMappings::default();
        all.insert(map(101, 100, 301), 1, 10);
        all.insert(map(1, 100, 1), 1, 10);
        all.insert(map(101, 100, 901), 1, 10);
        assert_eq!(all.find(150).unwrap().data, 301);
        all.insert(map(1, 50, 1), 60, 10);
        assert_eq!(all.count(), 2);
        all.insert(map(201, 10, 401), 201, 10);
        assert_eq!((all.count(), all.find(101)), (1, None));
        for i in 0..20 {
            all.insert(map(1001 + 20 * i, 10, 7), 201, 10);
        }
        assert_eq!(all.count(), 10);
    }
}
