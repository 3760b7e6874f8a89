//! BTF, the types of a kernel or an object (Documentation/bpf/btf.rst of Linux): reading, and what a kernel
//! wants changed of an object's before it takes it.

use crate::ImageError;
use crate::error::malformed;

/// Kinds of types that are asked for.
pub(crate) mod kind {
    pub const PTR: u32 = 2;
    pub const ARRAY: u32 = 3;
    pub const STRUCT: u32 = 4;
    pub const UNION: u32 = 5;
    pub const TYPEDEF: u32 = 8;
    pub const VOLATILE: u32 = 9;
    pub const CONST: u32 = 10;
    pub const RESTRICT: u32 = 11;
    #[cfg(test)]
    pub const FUNC: u32 = 12;
    pub const VAR: u32 = 14;
    pub const DATASEC: u32 = 15;
    pub const TYPE_TAG: u32 = 18;
}

const MAGIC: u16 = 0xeb9f;

/// Types with their names.
#[derive(Clone, Debug)]
pub struct Btf {
    octets: Vec<u8>,
    /// Offset of each type in `octets`; type 0 is `void` and has none.
    types: Vec<usize>,
    strings: usize,
    file: &'static str,
}

/// A member of a structure or union.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'a> {
    pub name: &'a str,
    pub of: u32,
    /// Place of the field from the start of the structure, in bits.
    pub bits: u32,
    /// Bits of a bit field, 0 for other members.
    pub width: u32,
}

impl Btf {
    /// Reads BTF.
    ///
    /// # Errors
    /// What of it is not as it should be; `file` says whose it is.
    pub fn new(octets: Vec<u8>, file: &'static str) -> Result<Btf, ImageError> {
        let word = |at: usize| read_u32(&octets, at).ok_or_else(|| malformed(file, "BTF is short"));
        if word(0)? & 0xffff != u32::from(MAGIC) {
            return Err(malformed(file, "no BTF of this machine's order of octets"));
        }
        let header = word(4)? as usize;
        let (start, end) = (header + word(8)? as usize, header + (word(8)? + word(12)?) as usize);
        let strings = header + word(16)? as usize;
        let mut btf = Btf { octets: Vec::new(), types: vec![0], strings, file };
        let mut at = start;
        while at < end {
            btf.types.push(at);
            let (kind, count) = (word(at + 4)? >> 24 & 0x1f, (word(at + 4)? & 0xffff) as usize);
            at += 12
                + match kind {
                    1 | kind::VAR | 17 => 4,
                    kind::ARRAY => 12,
                    kind::STRUCT | kind::UNION | kind::DATASEC | 19 => 12 * count,
                    6 | 13 => 8 * count,
                    0 | 2 | 7..=12 | 16 | 18 => 0,
                    other => return Err(malformed(file, format!("BTF of kind {other}"))),
                };
        }
        btf.octets = octets;
        Ok(btf)
    }

    /// Returns the types as they were read, or changed since.
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    fn word(&self, at: usize) -> u32 {
        read_u32(&self.octets, at).unwrap_or(0)
    }

    fn at(&self, id: u32) -> usize {
        self.types.get(id as usize).copied().unwrap_or(0)
    }

    pub(crate) fn kind(&self, id: u32) -> u32 {
        if id == 0 { 0 } else { self.word(self.at(id) + 4) >> 24 & 0x1f }
    }

    fn count(&self, id: u32) -> usize {
        (self.word(self.at(id) + 4) & 0xffff) as usize
    }

    /// Linkage of a function: 0 static, 1 global.
    #[cfg(test)]
    pub(crate) fn linkage(&self, id: u32) -> usize {
        self.count(id)
    }

    /// Size of what has a size; the type that is pointed to, of what points.
    pub(crate) fn size_or_type(&self, id: u32) -> u32 {
        self.word(self.at(id) + 8)
    }

    pub(crate) fn name(&self, id: u32) -> &str {
        self.string(self.word(self.at(id)))
    }

    pub(crate) fn string(&self, offset: u32) -> &str {
        let octets = self.octets.get(self.strings + offset as usize..).unwrap_or_default();
        let end = octets.iter().position(|octet| *octet == 0).unwrap_or(0);
        std::str::from_utf8(&octets[..end]).unwrap_or_default()
    }

    /// The type of this kind and name.
    pub(crate) fn find(&self, kind: u32, name: &str) -> Option<u32> {
        (1..self.types.len() as u32).find(|id| self.kind(*id) == kind && self.name(*id) == name)
    }

    /// The structure of this name.
    pub(crate) fn structure(&self, name: &str) -> Result<u32, ImageError> {
        let found = self.find(kind::STRUCT, name);
        found.ok_or_else(|| ImageError::NoType { name: format!("struct {name}") })
    }

    pub(crate) fn members(&self, id: u32) -> impl Iterator<Item = Member<'_>> {
        let at = self.at(id);
        let flagged = self.word(at + 4) >> 31 == 1;
        let composite = matches!(self.kind(id), kind::STRUCT | kind::UNION);
        (0..if composite { self.count(id) } else { 0 }).map(move |i| {
            let at = at + 12 + 12 * i;
            let offset = self.word(at + 8);
            let (bits, width) =
                if flagged { (offset & 0xff_ffff, offset >> 24) } else { (offset, 0) };
            Member { name: self.string(self.word(at)), of: self.word(at + 4), bits, width }
        })
    }

    /// Element and length of an array.
    pub(crate) fn array(&self, id: u32) -> (u32, u32) {
        let at = self.at(id) + 12;
        (self.word(at), self.word(at + 8))
    }

    /// Behind names and qualifiers.
    pub(crate) fn plain(&self, mut id: u32) -> u32 {
        use kind::{CONST, RESTRICT, TYPE_TAG, TYPEDEF, VOLATILE};
        while matches!(self.kind(id), TYPEDEF | VOLATILE | CONST | RESTRICT | TYPE_TAG) {
            id = self.size_or_type(id);
        }
        id
    }

    /// Returns the octets that a value of the type takes.
    pub(crate) fn size(&self, id: u32) -> u32 {
        let id = self.plain(id);
        match self.kind(id) {
            kind::PTR => 8,
            kind::ARRAY => {
                let (element, length) = self.array(id);
                self.size(element) * length
            }
            _ => self.size_or_type(id),
        }
    }

    /// Entries of a section: type and size of each variable.
    pub(crate) fn variables(&self, section: u32) -> impl Iterator<Item = u32> + '_ {
        let at = self.at(section) + 12;
        (0..self.count(section)).map(move |i| self.word(at + 12 * i))
    }

    /// Writes sizes of sections and offsets of variables, which clang leaves to the loader.
    pub(crate) fn place(
        &mut self,
        size_of: impl Fn(&str) -> Option<u32>,
        offset_of: impl Fn(&str) -> Option<u32>,
    ) -> Result<(), ImageError> {
        let sections: Vec<u32> =
            (1..self.types.len() as u32).filter(|id| self.kind(*id) == kind::DATASEC).collect();
        for section in sections {
            let name = self.name(section).to_owned();
            let lacking = || malformed(self.file, format!("no section or symbol for {name}"));
            let size = size_of(&name).ok_or_else(lacking)?;
            let mut entries = Vec::new();
            for variable in self.variables(section) {
                let offset = offset_of(self.name(variable)).ok_or_else(lacking)?;
                entries.push((offset, variable, self.size(self.size_or_type(variable))));
            }
            entries.sort_unstable();
            let at = self.at(section);
            self.octets[at + 8..at + 12].copy_from_slice(&size.to_ne_bytes());
            for (i, (offset, variable, size)) in entries.into_iter().enumerate() {
                let at = at + 12 + 12 * i;
                let words = [variable, offset, size];
                for (word, to) in words.iter().zip(self.octets[at..at + 12].chunks_exact_mut(4)) {
                    to.copy_from_slice(&word.to_ne_bytes());
                }
            }
        }
        Ok(())
    }
}

pub(crate) fn read_u32(octets: &[u8], at: usize) -> Option<u32> {
    let octets = octets.get(at..at + 4)?;
    Some(u32::from_ne_bytes(octets.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALGORITHMS;
    use crate::link::Object;

    #[test]
    fn what_is_no_btf_is_refused() {
        for octets in [vec![], vec![0; 3], vec![0; 24], [0x9f, 0xeb].repeat(2)] {
            assert!(Btf::new(octets, "the file").is_err());
        }
    }

    #[test]
    fn every_object_has_its_types() {
        for algorithm in ALGORITHMS {
            let btf = Object::new(algorithm.object).unwrap().btf;
            let law = btf.structure("law").unwrap();
            assert_eq!(btf.size(law) as usize, crate::Law::LEN, "{}", algorithm.name);
            let function = btf.find(kind::FUNC, "anabranch_law").unwrap();
            assert_eq!(btf.linkage(function), 1);
        }
    }
}
