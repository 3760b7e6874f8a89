//! bpf(2): types, maps, programs and links. Each attribute is laid out as `union bpf_attr` of
//! include/uapi/linux/bpf.h has it.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::Path;

/// Commands (`enum bpf_cmd`).
const MAP_CREATE: i64 = 0;
const MAP_LOOKUP: i64 = 1;
const MAP_UPDATE: i64 = 2;
const NEXT_KEY: i64 = 4;
const PROGRAM_LOAD: i64 = 5;
const PIN: i64 = 6;
const GET: i64 = 7;
const BTF_LOAD: i64 = 18;
const LINK_CREATE: i64 = 28;

/// `BPF_PROG_TYPE_STRUCT_OPS` and `BPF_STRUCT_OPS`.
const STRUCT_OPS: u32 = 27;
const ATTACH_STRUCT_OPS: u32 = 44;
/// Octets of an attribute; a kernel that knows fewer wants the others 0.
const LENGTH: usize = 144;

/// An attribute under construction.
#[derive(Debug)]
struct Attribute([u8; LENGTH]);

impl Attribute {
    fn new() -> Attribute {
        Attribute([0; LENGTH])
    }

    fn u32(mut self, at: usize, value: u32) -> Attribute {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    fn descriptor(self, at: usize, fd: BorrowedFd<'_>) -> Attribute {
        self.u32(at, fd.as_raw_fd() as u32)
    }

    /// The address of octets, which have to outlive the call.
    fn address(mut self, at: usize, octets: &[u8]) -> Attribute {
        self.0[at..at + 8].copy_from_slice(&(octets.as_ptr() as u64).to_ne_bytes());
        self
    }

    /// The address of octets that the kernel writes.
    fn room(mut self, at: usize, octets: &mut [u8]) -> Attribute {
        self.0[at..at + 8].copy_from_slice(&(octets.as_mut_ptr() as u64).to_ne_bytes());
        self
    }

    /// A name of at most 15 octets; a longer one is cut.
    fn name(mut self, at: usize, name: &str) -> Attribute {
        let length = name.len().min(15);
        self.0[at..at + length].copy_from_slice(&name.as_bytes()[..length]);
        self
    }

    #[expect(unsafe_code, reason = "libc has no function for bpf(2)")]
    fn call(&self, command: i64) -> io::Result<i64> {
        // SAFETY: the attribute is as long as is said; the addresses in it are those of slices with the lengths in
        // it, which the functions below borrow until this returns.
        let answer = unsafe { libc::syscall(libc::SYS_bpf, command, self.0.as_ptr(), LENGTH) };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
    }

    fn open(&self, command: i64) -> io::Result<OwnedFd> {
        let fd = self.call(command)?;
        #[expect(unsafe_code, reason = "a descriptor comes as a number")]
        // SAFETY: the kernel has just made it for us.
        Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
    }
}

/// Loads types.
///
/// # Errors
/// The kernel's.
pub fn load_btf(octets: &[u8]) -> io::Result<OwnedFd> {
    Attribute::new().address(0, octets).u32(16, octets.len() as u32).open(BTF_LOAD)
}

/// What a new map is to be.
#[derive(Clone, Copy, Debug)]
pub struct NewMap<'a> {
    /// Name of the map.
    pub name: &'a str,
    /// Kind, flags and entries.
    pub kind: (u32, u32, u32),
    /// Octets of keys and values.
    pub sizes: (u32, u32),
    /// The types, and which of them keys and values have.
    pub types: (BorrowedFd<'a>, u32, u32),
}

/// Makes a map.
///
/// # Errors
/// The kernel's.
pub fn make_map(map: &NewMap<'_>) -> io::Result<OwnedFd> {
    let ((kind, flags, entries), (types, key, value)) = (map.kind, map.types);
    Attribute::new()
        .u32(0, kind)
        .u32(4, map.sizes.0)
        .u32(8, map.sizes.1)
        .u32(12, entries)
        .u32(16, flags)
        .name(28, map.name)
        .descriptor(48, types)
        .u32(52, key)
        .u32(56, value)
        .open(MAP_CREATE)
}

/// Makes the map that registers operations: its value has a type of the kernel's, and a link begins and ends
/// the registration (Linux 6.4 and later).
///
/// # Errors
/// The kernel's.
pub fn make_operations(size: u32, value_type: u32, types: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    const KIND: u32 = 26;
    const LINKED: u32 = 1 << 13;
    Attribute::new()
        .u32(0, KIND)
        .u32(4, 4)
        .u32(8, size)
        .u32(12, 1)
        .u32(16, LINKED)
        .name(28, "anabranch")
        .descriptor(48, types)
        .u32(60, value_type)
        .open(MAP_CREATE)
}

/// Writes the entry of the key 0.
///
/// # Errors
/// The kernel's.
pub fn write_first(map: BorrowedFd<'_>, value: &[u8]) -> io::Result<()> {
    let key = [0; 4];
    let attribute = Attribute::new().descriptor(0, map).address(8, &key).address(16, value);
    attribute.call(MAP_UPDATE).map(drop)
}

/// Reads the entry of the key 0, as long as the map's values are.
///
/// # Errors
/// The kernel's.
pub fn read_first<const N: usize>(map: BorrowedFd<'_>) -> io::Result<[u8; N]> {
    let (key, mut value) = ([0; 4], [0; N]);
    let attribute = Attribute::new().descriptor(0, map).address(8, &key).room(16, &mut value);
    attribute.call(MAP_LOOKUP)?;
    Ok(value)
}

/// The entry of a key of eight octets, as long as the map's values are; `None` without one.
///
/// # Errors
/// The kernel's.
pub fn read<const N: usize>(map: BorrowedFd<'_>, key: u64) -> io::Result<Option<[u8; N]>> {
    let (key, mut value) = (key.to_ne_bytes(), [0; N]);
    let attribute = Attribute::new().descriptor(0, map).address(8, &key).room(16, &mut value);
    found(attribute.call(MAP_LOOKUP)).map(|found| found.map(|_| value))
}

/// The key of eight octets after `key`, or the first; `None` after the last.
///
/// # Errors
/// The kernel's.
pub fn next_key(map: BorrowedFd<'_>, key: Option<u64>) -> io::Result<Option<u64>> {
    let (key, mut next) = (key.map(u64::to_ne_bytes), [0; 8]);
    let mut attribute = Attribute::new().descriptor(0, map).room(16, &mut next);
    if let Some(key) = &key {
        attribute = attribute.address(8, key);
    }
    found(attribute.call(NEXT_KEY)).map(|found| found.map(|_| u64::from_ne_bytes(next)))
}

fn found(answer: io::Result<i64>) -> io::Result<Option<i64>> {
    match answer {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        answer => answer.map(Some),
    }
}

/// What a new program is to be.
#[derive(Clone, Copy, Debug)]
pub struct NewProgram<'a> {
    /// Name of the program.
    pub name: &'a str,
    /// Instructions of the program.
    pub instructions: &'a [u8],
    /// The types, and pairs of words: first instruction and type of each function.
    pub types: (BorrowedFd<'a>, &'a [u8]),
    /// Type of the operations among the kernel's, and which member the program is.
    pub member: (u32, u32),
}

/// Loads a program of operations; `told` is what the verifier says.
///
/// # Errors
/// The kernel's.
pub fn load_program(program: &NewProgram<'_>, told: Option<&mut [u8]>) -> io::Result<OwnedFd> {
    let (types, functions) = program.types;
    let mut attribute = Attribute::new()
        .u32(0, STRUCT_OPS)
        .u32(4, (program.instructions.len() / 8) as u32)
        .address(8, program.instructions)
        .address(16, b"Dual MIT/GPL\0")
        .name(48, program.name)
        .u32(68, program.member.1)
        .descriptor(72, types)
        .u32(76, 8)
        .address(80, functions)
        .u32(88, (functions.len() / 8) as u32)
        .u32(108, program.member.0);
    if let Some(told) = told {
        attribute = attribute.u32(24, 1).u32(28, told.len() as u32).room(32, told);
    }
    attribute.open(PROGRAM_LOAD)
}

/// Registers operations for as long as the link lives.
///
/// # Errors
/// The kernel's.
pub fn link(operations: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    Attribute::new().descriptor(0, operations).u32(8, ATTACH_STRUCT_OPS).open(LINK_CREATE)
}

/// Gives a name in a file system of BPF to a map or link, which then outlives the process.
///
/// # Errors
/// The kernel's.
pub fn pin(fd: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let path = with_zero(path)?;
    Attribute::new().address(0, &path).descriptor(8, fd).call(PIN).map(drop)
}

/// What has a name there.
///
/// # Errors
/// The kernel's.
pub fn open(path: &Path) -> io::Result<OwnedFd> {
    let path = with_zero(path)?;
    Attribute::new().address(0, &path).open(GET)
}

fn with_zero(path: &Path) -> io::Result<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    Ok(path.into_bytes_with_nul())
}
