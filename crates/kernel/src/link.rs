//! The object as a file: sections, symbols, and programs with the functions that they call.

use crate::ImageError;
use crate::btf::{Btf, read_u32};
use crate::error::malformed;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};
use object::{RelocationTarget, SymbolIndex};

pub(crate) const FILE: &str = "the object of the algorithm";
/// Octets of an instruction.
pub(crate) const INSTRUCTION: usize = 8;
const CALL: u8 = 0x85;
const LOAD_64: u8 = 0x18;
const TO_FUNCTION: u8 = 1;
const TO_MAP: u8 = 1;
/// The section of functions that programs call.
const TEXT: &str = ".text";

type Elf = ElfFile64<'static, Endianness>;

/// The file of an object, taken apart.
#[derive(Debug)]
pub(crate) struct Object {
    elf: Elf,
    pub btf: Btf,
    extra: &'static [u8],
}

/// A program with all that it calls.
#[derive(Clone, Debug)]
pub(crate) struct Linked {
    pub instructions: Vec<u8>,
    /// Where functions begin in `instructions`, and where in their sections.
    pub functions: Vec<Function>,
    /// Instructions (by number) that load a map, and its name.
    pub maps: Vec<(usize, String)>,
}

/// A function of a linked program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Function {
    /// Number of its first instruction in the program.
    pub at: usize,
    pub section: String,
    /// Octets from the start of the section.
    pub offset: usize,
    pub length: usize,
}

/// A record of `.BTF.ext`: octets from the start of a section, and the rest as words.
pub(crate) struct Record {
    pub section: String,
    pub offset: usize,
    pub words: Vec<u32>,
}

impl Object {
    pub fn new(file: &'static [u8]) -> Result<Object, ImageError> {
        let broken = |error: object::Error| malformed(FILE, error.to_string());
        let elf = ElfFile64::<Endianness>::parse(file).map_err(broken)?;
        let section = |name: &str| {
            let found = elf.section_by_name(name).and_then(|section| section.data().ok());
            found.ok_or_else(|| malformed(FILE, format!("no section {name}")))
        };
        let btf = Btf::new(section(".BTF")?.to_vec(), FILE)?;
        let extra = section(".BTF.ext")?;
        Ok(Object { elf, btf, extra })
    }

    pub fn section(&self, name: &str) -> Result<&'static [u8], ImageError> {
        let section = self.elf.section_by_name(name).and_then(|section| section.data().ok());
        section.ok_or_else(|| malformed(FILE, format!("no section {name}")))
    }

    /// Value of a symbol: octets from the start of its section.
    pub fn offset(&self, symbol: &str) -> Option<u32> {
        let found = self.elf.symbols().find(|found| found.name() == Ok(symbol))?;
        u32::try_from(found.address()).ok()
    }

    /// The BTF with what clang leaves to loaders.
    pub fn placed_btf(&self) -> Result<Btf, ImageError> {
        let mut btf = self.btf.clone();
        let size = |name: &str| Some(self.section(name).ok()?.len() as u32);
        btf.place(size, |name| self.offset(name))?;
        Ok(btf)
    }

    /// Relocations of a section: where, symbol and what it is relative to.
    fn relocations(&self, section: &str) -> Vec<(usize, SymbolIndex)> {
        let Some(section) = self.elf.section_by_name(section) else { return Vec::new() };
        let of = |(at, relocation): (u64, object::Relocation)| match relocation.target() {
            RelocationTarget::Symbol(symbol) => Some((at as usize, symbol)),
            _ => None,
        };
        section.relocations().filter_map(of).collect()
    }

    /// Names of the functions that a section's pointers lead to, by offset.
    pub fn pointers(&self, section: &str) -> Vec<(usize, String)> {
        let name = |(at, symbol)| {
            let symbol = self.elf.symbol_by_index(symbol).ok()?;
            Some((at, symbol.name().ok()?.to_owned()))
        };
        self.relocations(section).into_iter().filter_map(name).collect()
    }

    /// The function at this offset of a section, with its length, both in octets.
    fn function_at(&self, section: &str, offset: usize) -> Result<(usize, usize), ImageError> {
        let index = self.elf.section_by_name(section).map(|section| section.index());
        let found = self.elf.symbols().find(|symbol| {
            symbol.kind() == SymbolKind::Text
                && symbol.section_index() == index
                && symbol.address() as usize == offset
                && symbol.size() > 0
        });
        let found = found
            .ok_or_else(|| malformed(FILE, format!("no function at {offset} of {section}")))?;
        Ok((offset, found.size() as usize))
    }

    /// The function of this name: its section's octets, cut out.
    pub fn function(&self, name: &str) -> Result<&'static [u8], ImageError> {
        let lacking = || malformed(FILE, format!("no function {name}"));
        let symbol = self.elf.symbols().find(|symbol| symbol.name() == Ok(name));
        let symbol = symbol.ok_or_else(lacking)?;
        let text = self.section(TEXT)?;
        let (from, length) = (symbol.address() as usize, symbol.size() as usize);
        text.get(from..from + length).ok_or_else(lacking)
    }

    /// The program in a section of its own, and what it calls behind it.
    pub fn link(&self, section: &str) -> Result<Linked, ImageError> {
        let mut linked =
            Linked { instructions: Vec::new(), functions: Vec::new(), maps: Vec::new() };
        let whole = self.section(section)?.len();
        linked.functions.push(Function {
            at: 0,
            section: section.into(),
            offset: 0,
            length: whole,
        });
        let mut calls = Vec::new();
        let mut next = 0;
        while let Some(function) = linked.functions.get(next).cloned() {
            self.append(&function, &mut linked, &mut calls)?;
            next += 1;
        }
        for (from, offset) in calls {
            let in_text = |f: &&Function| f.section == TEXT && f.offset == offset;
            let to = linked.functions.iter().find(in_text).map_or(0, |function| function.at);
            let relative = to as i32 - from as i32 - 1;
            let at = from * INSTRUCTION + 4;
            linked.instructions[at..at + 4].copy_from_slice(&relative.to_ne_bytes());
        }
        Ok(linked)
    }

    /// Copies a function; what it calls joins the list, once each.
    fn append(
        &self,
        function: &Function,
        linked: &mut Linked,
        calls: &mut Vec<(usize, usize)>,
    ) -> Result<(), ImageError> {
        let octets = self.section(&function.section)?;
        let (from, to) = (function.offset, function.offset + function.length);
        let octets =
            octets.get(from..to).ok_or_else(|| malformed(FILE, "a function beyond its section"))?;
        let relocations = self.relocations(&function.section);
        for (i, instruction) in octets.chunks_exact(INSTRUCTION).enumerate() {
            let (at, here) = (function.at + i, from + i * INSTRUCTION);
            let relocation = relocations.iter().find(|(offset, _)| *offset == here);
            let symbol = relocation.map(|(_, symbol)| self.elf.symbol_by_index(*symbol));
            let symbol = symbol.transpose().map_err(|error| malformed(FILE, error.to_string()))?;
            let mut instruction: [u8; INSTRUCTION] = instruction.try_into().unwrap_or_default();
            if instruction[0] == LOAD_64
                && let Some(symbol) = &symbol
            {
                instruction[1] = instruction[1] & 0x0f | TO_MAP << 4;
                linked.maps.push((at, symbol.name().unwrap_or_default().to_owned()));
            } else if instruction[0] == CALL && instruction[1] >> 4 == TO_FUNCTION {
                let relative = i64::from(read_u32(&instruction, 4).unwrap_or(0) as i32);
                // Of a function's own symbol, of its section, or as clang has resolved it.
                let offset = match &symbol {
                    Some(symbol) => symbol.address() as i64 + (relative + 1) * INSTRUCTION as i64,
                    None => here as i64 + (relative + 1) * INSTRUCTION as i64,
                };
                calls.push((at, offset as usize));
                self.call(offset as usize, linked)?;
            }
            linked.instructions.extend_from_slice(&instruction);
        }
        Ok(())
    }

    fn call(&self, offset: usize, linked: &mut Linked) -> Result<(), ImageError> {
        let known = linked.functions.iter().any(|f| f.section == TEXT && f.offset == offset);
        if !known {
            let (offset, length) = self.function_at(TEXT, offset)?;
            let last = linked.functions.last().map_or(0, |f| f.at + f.length / INSTRUCTION);
            linked.functions.push(Function { at: last, section: TEXT.into(), offset, length });
        }
        Ok(())
    }

    /// Records of a part of `.BTF.ext`: 0 for functions, 2 for relocations of fields.
    pub fn records(&self, part: usize) -> Vec<Record> {
        let word = |at: usize| read_u32(self.extra, at).unwrap_or(0) as usize;
        let start = word(4) + word(8 + 8 * part);
        let end = start + word(12 + 8 * part);
        let size = word(start);
        let mut records = Vec::new();
        let mut at = start + 4;
        while at < end && size >= 8 {
            let (section, count) = (self.btf.string(word(at) as u32), word(at + 4));
            at += 8;
            for _ in 0..count {
                let words = (1..size / 4).map(|i| word(at + 4 * i) as u32).collect();
                records.push(Record { section: section.into(), offset: word(at), words });
                at += size;
            }
        }
        records
    }
}
