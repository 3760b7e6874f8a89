//! Finds where a kernel has the fields that a program reads (CO-RE): the object names them by the path
//! through its own types, which are looked up by their names in the kernel's.

use crate::ImageError;
use crate::btf::{Btf, kind};
use crate::error::malformed;
use crate::link::{FILE, INSTRUCTION, Linked, Object, Record};

/// The part of `.BTF.ext` that has these relocations.
const PART: usize = 2;

/// A field where it lies in a structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Field {
    /// Place of the field from the start of the outermost structure, in bits.
    bits: u32,
    /// Bits of a bit field, else 0.
    width: u32,
    /// Octets of the field's type.
    size: u32,
}

impl Field {
    /// Octets of the word that holds it, and where that begins: as large as its type, or larger where a bit
    /// field crosses its end.
    fn word(self) -> (u32, u32) {
        if self.width == 0 {
            return (self.bits / 8, self.size);
        }
        let mut size = self.size.max(1);
        let mut start = self.bits / 8 / size * size;
        while self.bits + self.width > (start + size) * 8 && size < 8 {
            size *= 2;
            start = self.bits / 8 / size * size;
        }
        (start, size)
    }

    /// What an instruction asks for.
    fn answer(self, what: u32) -> Option<u32> {
        let (start, size) = self.word();
        let width = if self.width == 0 { size * 8 } else { self.width };
        match what {
            0 => Some(start),
            1 => Some(size),
            2 => Some(1),
            4 => Some(64 - (self.bits + width - start * 8)),
            5 => Some(64 - width),
            _ => None,
        }
    }
}

/// Writes into a program where this kernel has what it reads.
pub(crate) fn relocate(
    linked: &mut Linked,
    object: &Object,
    kernel: &Btf,
) -> Result<(), ImageError> {
    for record in object.records(PART) {
        let Some(at) = place(linked, &record) else { continue };
        let [of, path, what] = record.words[..] else {
            return Err(malformed(FILE, "a relocation of another length"));
        };
        let path = object.btf.string(path);
        let (ours, theirs, name) = fields(&object.btf, kernel, of, path)?;
        let Some(value) = theirs.answer(what) else {
            return Err(malformed(FILE, format!("a relocation of kind {what}")));
        };
        if what == 0 && ours.word().1 != theirs.word().1 && ours.width == 0 {
            return Err(ImageError::NoField { name });
        }
        write(&mut linked.instructions[at * INSTRUCTION..(at + 1) * INSTRUCTION], value);
    }
    Ok(())
}

/// The instruction that a record is about, where the program has it.
fn place(linked: &Linked, record: &Record) -> Option<usize> {
    let holds = |function: &&crate::link::Function| {
        function.section == record.section
            && (function.offset..function.offset + function.length).contains(&record.offset)
    };
    let function = linked.functions.iter().find(holds)?;
    Some(function.at + (record.offset - function.offset) / INSTRUCTION)
}

/// Loads and stores have offsets, all others an immediate value.
fn write(instruction: &mut [u8], value: u32) {
    if matches!(instruction[0] & 7, 1..=3) {
        instruction[2..4].copy_from_slice(&(value as u16).to_ne_bytes());
    } else {
        instruction[4..8].copy_from_slice(&value.to_ne_bytes());
    }
}

/// A field in the object's types and in the kernel's, with its name for messages.
fn fields(
    object: &Btf,
    kernel: &Btf,
    of: u32,
    path: &str,
) -> Result<(Field, Field, String), ImageError> {
    let mut steps = path.split(':').map(|step| step.parse::<u32>().unwrap_or(0));
    if steps.next() != Some(0) {
        return Err(malformed(FILE, format!("a path {path} into an array")));
    }
    let mut ours = object.plain(of);
    let mut name = object.name(ours).to_owned();
    let mut theirs = kernel.structure(&name)?;
    let mut here = Field { bits: 0, width: 0, size: object.size(ours) };
    let mut there = Field { bits: 0, width: 0, size: kernel.size(theirs) };
    for step in steps {
        let lacking = |name: &str| ImageError::NoField { name: name.to_owned() };
        if object.kind(ours) == kind::ARRAY {
            let (element, their_element) = (object.array(ours).0, kernel.array(theirs).0);
            if kernel.kind(theirs) != kind::ARRAY || step >= kernel.array(theirs).1 {
                return Err(lacking(&name));
            }
            here.bits += step * object.size(element) * 8;
            there.bits += step * kernel.size(their_element) * 8;
            (ours, theirs) = (object.plain(element), kernel.plain(their_element));
        } else {
            let member = object.members(ours).nth(step as usize);
            let member = member.ok_or_else(|| malformed(FILE, format!("a path {path}")))?;
            name = format!("{name}.{}", member.name);
            let (bits, width, of) =
                find(kernel, theirs, member.name).ok_or_else(|| lacking(&name))?;
            here = Field { bits: here.bits + member.bits, width: member.width, size: 0 };
            there = Field { bits: there.bits + bits, width, size: 0 };
            (ours, theirs) = (object.plain(member.of), kernel.plain(of));
        }
        here.size = object.size(ours);
        there.size = kernel.size(theirs);
    }
    Ok((here, there, name))
}

/// A member by its name, also within members without one: offset and width in bits, and its type.
pub(crate) fn find(btf: &Btf, of: u32, name: &str) -> Option<(u32, u32, u32)> {
    btf.members(of).find_map(|member| {
        if member.name == name {
            return Some((member.bits, member.width, member.of));
        }
        let inner = btf.plain(member.of);
        let nameless =
            member.name.is_empty() && matches!(btf.kind(inner), kind::STRUCT | kind::UNION);
        let (bits, width, of) = nameless.then(|| find(btf, inner, name)).flatten()?;
        Some((member.bits + bits, width, of))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of struct { u32 a; u8 b:3, c:5; } the word of `c` is the octet at 4, its bits the upper five.
    #[test]
    fn a_bit_field_is_shifted_to_the_top_and_down() {
        let field = Field { bits: 35, width: 5, size: 1 };
        let answers = [0, 1, 2, 4, 5].map(|what| field.answer(what).unwrap());
        assert_eq!(answers, [4, 1, 1, 56, 59]);
        let crossing = Field { bits: 38, width: 5, size: 1 };
        assert_eq!(crossing.word(), (4, 2));
    }

    #[test]
    fn a_plain_field_is_its_own_word() {
        let field = Field { bits: 96, width: 0, size: 4 };
        let answers = [0, 1, 2, 4, 5].map(|what| field.answer(what).unwrap());
        assert_eq!(answers, [12, 4, 1, 32, 32]);
        assert_eq!(field.answer(7), None);
    }
}
