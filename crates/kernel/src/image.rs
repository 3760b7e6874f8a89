//! An object fitted to a kernel: what `bpf(2)` is to be told.

use crate::btf::{Btf, kind};
use crate::error::malformed;
use crate::link::{FILE, INSTRUCTION, Linked, Object};
use crate::relocate::{find, relocate};
use crate::{Algorithm, ImageError};

/// The operations of a congestion control, and the value of a map that registers them.
const OPERATIONS: &str = "tcp_congestion_ops";
const VALUE: &str = "bpf_struct_ops_tcp_congestion_ops";
/// Sections of the object.
const OURS: &str = ".struct_ops";
const PROGRAMS: &str = "struct_ops/";
const MAPS: &str = ".maps";
/// The part of `.BTF.ext` that says where functions are.
const FUNCTIONS: usize = 0;

/// All that is to be loaded for an algorithm.
#[derive(Clone, Debug)]
pub struct Image {
    /// The object's types, as BTF.
    pub btf: Vec<u8>,
    /// Maps, which programs name.
    pub maps: Vec<Map>,
    /// Programs, one for each operation.
    pub programs: Vec<Program>,
    /// Type of the registering map's value among the kernel's.
    pub value_type: u32,
    /// Octets of that value, but for its programs: their descriptors belong at their slots.
    pub value: Vec<u8>,
    /// Type of the operations among the kernel's.
    pub operations: u32,
}

/// The kind and size of a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapKind {
    /// Number of the kind (`enum bpf_map_type`).
    pub number: u32,
    /// Flags of the map: `BPF_F_...`.
    pub flags: u32,
    /// Most entries of the map.
    pub entries: u32,
}

/// A map of the object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Map {
    /// Name of the map.
    pub name: String,
    /// Kind and size of the map.
    pub kind: MapKind,
    /// Type and octets of its keys.
    pub key: (u32, u32),
    /// Type and octets of its values.
    pub value: (u32, u32),
}

/// A program of the operations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Name of the program.
    pub name: String,
    /// The member of the operations that it belongs to.
    pub slot: Slot,
    /// Instructions of the program; those of `maps` lack the descriptor in their immediate value.
    pub instructions: Vec<u8>,
    /// Number of the first instruction and type of each function.
    pub functions: Vec<(u32, u32)>,
    /// Numbers of the instructions that load a map, and which of [`Image::maps`].
    pub maps: Vec<(usize, usize)>,
}

/// A function among the operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Number of the member in the structure of operations.
    pub member: u32,
    /// Place of the member in the value, in octets.
    pub offset: usize,
}

impl Image {
    /// Fits an algorithm to the kernel with these types, which will know it as `name`.
    ///
    /// # Errors
    /// What the kernel lacks, or what is wrong with the name.
    pub fn new(algorithm: &Algorithm, kernel: &Btf, name: &str) -> Result<Image, ImageError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        if name.is_empty() || name.len() > 15 || !name.chars().all(fits) {
            return Err(ImageError::Name { name: name.into() });
        }
        let object = Object::new(algorithm.object)?;
        let btf = object.placed_btf()?;
        let maps = maps(&btf)?;
        let operations = kernel.structure(OPERATIONS)?;
        let value_type = kernel.structure(VALUE)?;
        let mut value = vec![0; kernel.size(value_type) as usize];
        let data = find(kernel, value_type, "data").map_or(0, |(bits, ..)| bits as usize / 8);
        copy_plain(&object, kernel, operations, &mut value[data..], name)?;
        let mut programs = Vec::new();
        for (at, function) in object.pointers(OURS) {
            let slot = slot(&btf, kernel, operations, at, data)?;
            let mut linked = object.link(&format!("{PROGRAMS}{function}"))?;
            relocate(&mut linked, &object, kernel)?;
            programs.push(program(function, slot, linked, &object, &maps)?);
        }
        Ok(Image { btf: btf.octets().to_vec(), maps, programs, value_type, value, operations })
    }

    /// Returns the number of the map of this name.
    pub fn map(&self, name: &str) -> Option<usize> {
        self.maps.iter().position(|map| map.name == name)
    }
}

/// The member of the operations of which our structure has the offset `at`.
fn slot(
    ours: &Btf,
    kernel: &Btf,
    operations: u32,
    at: usize,
    data: usize,
) -> Result<Slot, ImageError> {
    let our = ours.structure(OPERATIONS)?;
    let member = ours.members(our).find(|member| member.bits as usize / 8 == at);
    let name = member.map_or("", |member| member.name);
    let found = kernel.members(operations).zip(0..).find(|(member, _)| member.name == name);
    let lacking = || ImageError::NoField { name: format!("{OPERATIONS}.{name}") };
    let (member, number) = found.ok_or_else(lacking)?;
    Ok(Slot { member: number, offset: data + member.bits as usize / 8 })
}

/// Copies flags and name into the value.
fn copy_plain(
    object: &Object,
    kernel: &Btf,
    operations: u32,
    to: &mut [u8],
    name: &str,
) -> Result<(), ImageError> {
    let place = |btf: &Btf, of, field: &str| {
        let found = find(btf, of, field).map(|(bits, ..)| bits as usize / 8);
        found.ok_or_else(|| ImageError::NoField { name: format!("{OPERATIONS}.{field}") })
    };
    let our = object.btf.structure(OPERATIONS)?;
    let from = place(&object.btf, our, "flags")?;
    let flags = object.section(OURS)?.get(from..from + 4);
    let flags = flags.ok_or_else(|| malformed(FILE, "no flags"))?;
    let at = place(kernel, operations, "flags")?;
    to[at..at + 4].copy_from_slice(flags);
    let at = place(kernel, operations, "name")?;
    to[at..at + name.len()].copy_from_slice(name.as_bytes());
    Ok(())
}

fn program(
    name: String,
    slot: Slot,
    linked: Linked,
    object: &Object,
    maps: &[Map],
) -> Result<Program, ImageError> {
    let types = object.records(FUNCTIONS);
    let mut functions = Vec::new();
    for function in &linked.functions {
        let about = |record: &&crate::link::Record| {
            record.section == function.section && record.offset == function.offset
        };
        let record = types.iter().find(about);
        let of = record.and_then(|record| record.words.first().copied());
        let of = of.ok_or_else(|| malformed(FILE, format!("no type for a function of {name}")))?;
        functions.push((function.at as u32, of));
    }
    let mut used = Vec::new();
    for (at, map) in linked.maps {
        let index = maps.iter().position(|known| known.name == map);
        used.push((at, index.ok_or_else(|| malformed(FILE, format!("no map {map}")))?));
    }
    debug_assert!(linked.instructions.len().is_multiple_of(INSTRUCTION));
    Ok(Program { name, slot, instructions: linked.instructions, functions, maps: used })
}

/// What the section of maps describes: numbers are lengths of arrays, types are pointed to.
fn maps(btf: &Btf) -> Result<Vec<Map>, ImageError> {
    let section = btf.find(kind::DATASEC, MAPS);
    let section = section.ok_or_else(|| malformed(FILE, "no maps"))?;
    let map = |variable: u32| {
        let of = btf.plain(btf.size_or_type(variable));
        let field = |name: &str| {
            let member = btf.members(of).find(|member| member.name == name)?;
            Some(btf.plain(btf.size_or_type(btf.plain(member.of))))
        };
        let number = |name: &str| field(name).map_or(0, |array| btf.array(array).1);
        let typed = |name: &str| {
            let id = field(name).unwrap_or(0);
            (id, btf.size(id))
        };
        let kind = MapKind {
            number: number("type"),
            flags: number("map_flags"),
            entries: number("max_entries"),
        };
        let name = btf.name(variable).to_owned();
        Map { name, kind, key: typed("key"), value: typed("value") }
    };
    Ok(btf.variables(section).map(map).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALGORITHMS;

    #[test]
    fn maps_are_as_the_source_describes_them() {
        let object = Object::new(Algorithm::from_name("lia").unwrap().object).unwrap();
        let mut told: Vec<_> = maps(&object.placed_btf().unwrap()).unwrap();
        told.sort_by(|a, b| a.name.cmp(&b.name));
        let told = told.iter().map(|map| {
            let MapKind { number, flags, entries } = map.kind;
            (map.name.as_str(), number, flags, entries, map.key.1)
        });
        let expected = [
            ("connections", 1, 0, 4096, 8),
            ("counts", 2, 0, 1, 4),
            ("empty", 2, 0, 1, 4),
            ("flows", 24, 1, 0, 4),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_program_has_what_it_calls_once_and_behind_it() {
        for algorithm in ALGORITHMS {
            let object = Object::new(algorithm.object).unwrap();
            let linked = object.link("struct_ops/ab_cong_avoid").unwrap();
            let expected = if algorithm.is_coupled() { 5 } else { 2 };
            assert_eq!(linked.functions.len(), expected, "{}", algorithm.name);
            let last = linked.functions.last().unwrap();
            let end = last.at * INSTRUCTION + last.length;
            assert_eq!(linked.instructions.len(), end, "{}", algorithm.name);
        }
    }

    /// The object's own types stand for a kernel's that lacks what registers operations.
    #[test]
    fn a_kernel_without_the_operations_is_refused_by_name() {
        let lia = Algorithm::from_name("lia").unwrap();
        let kernel = Object::new(lia.object).unwrap().btf;
        let refused = Image::new(lia, &kernel, "ab_lia").unwrap_err();
        let said = "this kernel has no struct bpf_struct_ops_tcp_congestion_ops";
        assert!(refused.to_string().starts_with(said), "{refused}");
        for name in ["", "a name", "a-name", "a_name_of_16_oct"] {
            let refused = Image::new(lia, &kernel, name).unwrap_err();
            assert_eq!(refused, ImageError::Name { name: name.into() });
        }
    }
}
