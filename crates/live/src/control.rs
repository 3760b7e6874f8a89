//! Window algorithms of ours in the running kernel: loading, names, and what they count.
//!
//! The kernel keeps a registration as long as its link, which is a descriptor of this process or
//! has a name below [`DIRECTORY`]. So one that belongs to a run ends with it, whatever ends it, kill -9
//! included; sockets that have the algorithm keep it until they are closed. Names of congestion
//! controls belong to the whole machine, whatever the namespace, so those of a run are its own.

use crate::LiveError;
use crate::couplings::Couplings;
use crate::error::Doing;
use crate::sys::bpf;
use anabranch_kernel::{Algorithm, Btf, Counts, Image, ImageError, Map, Program, Unit};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The directory with the names of what outlives its loader.
pub const DIRECTORY: &str = "/sys/fs/bpf/anabranch";
/// The place where the file system of BPF belongs.
const FILE_SYSTEM: &str = "/sys/fs/bpf";
const MAGIC: u32 = 0xcafe_4a11;
const TYPES: &str = "/sys/kernel/btf/vmlinux";
const COUNTS: &str = "counts";
const LINK: &str = "link";
const CONNECTIONS: &str = "connections";
/// Octets that a verifier may say.
const MOST_TOLD: usize = 1 << 20;

/// An algorithm in the kernel.
#[derive(Debug)]
pub struct KernelControl {
    name: String,
    link: OwnedFd,
    counts: OwnedFd,
    couplings: Option<Arc<Couplings>>,
}

impl KernelControl {
    /// Loads an algorithm, which the kernel will know as `name`.
    ///
    /// # Errors
    /// What the kernel lacks, refuses, or has already.
    pub fn load(algorithm: &Algorithm, name: &str) -> Result<KernelControl, LiveError> {
        if available().iter().any(|known| known == name) {
            return Err(LiveError::Control(format!(
                "the kernel has a congestion control `{name}` already; choose another name"
            )));
        }
        let refused = |what: String| LiveError::Control(format!("{}: {what}", algorithm.name));
        let kernel = types_of_the_kernel().map_err(|error| refused(error.to_string()))?;
        let image = Image::new(algorithm, &kernel, name);
        let image = image.map_err(|error| match error {
            ImageError::Name { .. } => LiveError::Control(error.to_string()),
            lacking => refused(format!("{lacking} (Linux {})", version())),
        })?;
        load(&image, name, algorithm.coupling)
    }

    /// One with a name of this process's own.
    ///
    /// # Errors
    /// See [`KernelControl::load`].
    pub fn load_for_run(algorithm: &Algorithm) -> Result<KernelControl, LiveError> {
        let mut number = std::process::id() & 0xffff;
        let known = available();
        let name = loop {
            let name = format!("ab_{}_{number:04x}", algorithm.short);
            if !known.contains(&name) {
                break name;
            }
            number = (number + 0x9e37) & 0xffff; // odd: all numbers come
        };
        KernelControl::load(algorithm, &name)
    }

    /// Returns the name under which the kernel knows it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What couples the subflows that have it; `None` of one that is not coupled.
    pub fn couplings(&self) -> Option<Arc<Couplings>> {
        self.couplings.clone()
    }

    /// Returns its totals since it was loaded.
    ///
    /// # Errors
    /// The kernel's.
    pub fn counts(&self) -> Result<Counts, LiveError> {
        read_counts(&self.counts).doing(format!("what `{}` counted", self.name))
    }

    /// Keeps it in the kernel when this process has ended, until [`unload`].
    ///
    /// # Errors
    /// The kernel's; without a file system of BPF there is nowhere to have a name.
    pub fn keep(&self) -> Result<(), LiveError> {
        let directory = Path::new(DIRECTORY).join(&self.name);
        mount_file_system().map_err(|error| no_place(&error))?;
        fs::create_dir_all(&directory).map_err(|error| no_place(&error))?;
        let pin = |fd: &OwnedFd, name: &str| bpf::pin(fd.as_fd(), &directory.join(name));
        let kept = pin(&self.counts, COUNTS).and_then(|()| pin(&self.link, LINK));
        kept.map_err(|error| {
            remove(&directory);
            no_place(&error)
        })
    }
}

/// An algorithm that is kept in the kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// Name under which the kernel knows it.
    pub name: String,
    /// Totals since it was loaded.
    pub counts: Counts,
}

/// Returns the algorithms that are kept, by name.
///
/// # Errors
/// The kernel's.
pub fn kept() -> Result<Vec<Kept>, LiveError> {
    let entries = match fs::read_dir(DIRECTORY) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).doing(DIRECTORY),
    };
    let mut kept = Vec::new();
    for entry in entries {
        let entry = entry.doing(DIRECTORY)?;
        if !entry.path().join(LINK).exists() {
            continue; // its loader was killed half-way: the kernel has forgotten it
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let counts = bpf::open(&entry.path().join(COUNTS)).and_then(|fd| read_counts(&fd));
        kept.push(Kept { counts: counts.doing(format!("what `{name}` counted"))?, name });
    }
    kept.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(kept)
}

/// Takes one that was kept out of the kernel.
///
/// # Errors
/// There is none of this name, or the kernel's.
pub fn unload(name: &str) -> Result<(), LiveError> {
    let directory = PathBuf::from(DIRECTORY).join(name);
    if name.contains('/') || name.starts_with('.') || !directory.is_dir() {
        let names: Vec<_> = kept()?.into_iter().map(|kept| kept.name).collect();
        let names = if names.is_empty() { "none".into() } else { names.join(", ") };
        return Err(LiveError::Control(format!(
            "no algorithm of ours is loaded as `{name}`; loaded are {names}"
        )));
    }
    fs::remove_file(directory.join(LINK)).doing(format!("unloading `{name}`"))?;
    remove(&directory);
    Ok(())
}

/// Best effort: what is left of a directory that could not be filled.
fn remove(directory: &Path) {
    for name in [LINK, COUNTS] {
        let _ = fs::remove_file(directory.join(name));
    }
    let _ = fs::remove_dir(directory);
}

/// Mounts the file system of BPF where nobody has done so; systemd does.
fn mount_file_system() -> io::Result<()> {
    use rustix::mount::{MountFlags, mount};
    let found = rustix::fs::statfs(FILE_SYSTEM)?;
    if found.f_type as u32 != MAGIC {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount("bpf", FILE_SYSTEM, "bpf", flags, None)?;
    }
    Ok(())
}

fn no_place(error: &io::Error) -> LiveError {
    LiveError::Control(format!(
        "to outlive this command an algorithm needs a name below {DIRECTORY}: {error}; \
         `mount -t bpf bpf /sys/fs/bpf` may help"
    ))
}

fn read_counts(map: &OwnedFd) -> io::Result<Counts> {
    let octets = bpf::read_first::<{ Counts::LEN }>(map.as_fd())?;
    Ok(Counts::from_octets(&octets))
}

fn types_of_the_kernel() -> Result<Btf, LiveError> {
    let octets = fs::read(TYPES).map_err(|error| {
        LiveError::Control(format!(
            "this kernel does not tell its types ({TYPES}: {error}); one built with CONFIG_DEBUG_INFO_BTF \
             is needed"
        ))
    })?;
    Btf::new(octets, TYPES).map_err(|error| LiveError::Control(error.to_string()))
}

fn load(image: &Image, name: &str, coupling: Option<Unit>) -> Result<KernelControl, LiveError> {
    let types = bpf::load_btf(&image.btf).map_err(|error| not_allowed(name, "its types", error))?;
    let make = |map: &Map| {
        let new = bpf::NewMap {
            name: &map.name,
            kind: (map.kind.number, map.kind.flags, map.kind.entries),
            sizes: (map.key.1, map.value.1),
            types: (types.as_fd(), map.key.0, map.value.0),
        };
        let what = format!("its map `{}`", map.name);
        bpf::make_map(&new).map_err(|error| not_allowed(name, &what, error))
    };
    let maps = image.maps.iter().map(make).collect::<Result<Vec<_>, _>>()?;
    let mut value = image.value.clone();
    let mut programs = Vec::new();
    for program in &image.programs {
        let loaded = load_program(program, image, &maps, &types, name)?;
        let at = program.slot.offset;
        value[at..at + 8].copy_from_slice(&(loaded.as_raw_fd() as u64).to_ne_bytes());
        programs.push(loaded);
    }
    let size = value.len() as u32;
    let operations = bpf::make_operations(size, image.value_type, types.as_fd())
        .map_err(|error| too_old(name, error))?;
    bpf::write_first(operations.as_fd(), &value)
        .and_then(|()| bpf::link(operations.as_fd()))
        .map_err(|error| not_allowed(name, "its registration", error))
        .and_then(|link| {
            let mut maps: Vec<_> = maps.into_iter().map(Some).collect();
            let mut take = |map: &str| {
                let made = image.map(map).and_then(|index| maps[index].take());
                made.ok_or_else(|| LiveError::Control(format!("`{name}` has no map `{map}`")))
            };
            let couplings =
                coupling.map(|unit| Ok(Arc::new(Couplings::new(take(CONNECTIONS)?, unit))));
            let counts = take(COUNTS)?;
            Ok(KernelControl {
                name: name.to_owned(),
                link,
                counts,
                couplings: couplings.transpose()?,
            })
        })
}

fn load_program(
    program: &Program,
    image: &Image,
    maps: &[OwnedFd],
    types: &OwnedFd,
    name: &str,
) -> Result<OwnedFd, LiveError> {
    let mut instructions = program.instructions.clone();
    for (at, map) in &program.maps {
        let descriptor = maps[*map].as_raw_fd().to_ne_bytes();
        instructions[8 * at + 4..8 * at + 8].copy_from_slice(&descriptor);
    }
    let words = program.functions.iter().flat_map(|(at, of)| [*at, *of]);
    let functions: Vec<u8> = words.flat_map(u32::to_ne_bytes).collect();
    let new = bpf::NewProgram {
        name: &program.name,
        instructions: &instructions,
        types: (types.as_fd(), &functions),
        member: (image.operations, program.slot.member),
    };
    // What the verifier says takes time to write: it is asked when it has refused.
    bpf::load_program(&new, None).or_else(|error| {
        let mut told = vec![0; MOST_TOLD];
        bpf::load_program(&new, Some(&mut told)).map_err(|_| {
            let reason = last_lines(&told);
            if reason.is_empty() {
                return not_allowed(name, &format!("its program `{}`", program.name), error);
            }
            LiveError::Control(format!(
                "the verifier of Linux {} refuses the program `{}` of `{name}`: {reason}",
                version(),
                program.name
            ))
        })
    })
}

/// What a verifier says last before its statistics.
fn last_lines(told: &[u8]) -> String {
    let end = told.iter().position(|octet| *octet == 0).unwrap_or(told.len());
    let text = String::from_utf8_lossy(&told[..end]);
    let said = |line: &&str| !line.trim().is_empty() && !line.starts_with("processed ");
    text.lines().rev().find(said).unwrap_or_default().trim().to_owned()
}

fn not_allowed(name: &str, what: &str, error: io::Error) -> LiveError {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => LiveError::Control(format!(
            "loading `{name}` needs the capabilities CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN; run as root"
        )),
        Some(libc::EEXIST) => LiveError::Control(format!(
            "the kernel has a congestion control `{name}` already; choose another name"
        )),
        _ => LiveError::System {
            what: format!("loading `{name}` into Linux {}: {what}", version()),
            error,
        },
    }
}

fn too_old(name: &str, error: io::Error) -> LiveError {
    match error.raw_os_error() {
        Some(libc::EINVAL | libc::ENOTSUP) => LiveError::Control(format!(
            "Linux {} cannot register `{name}`: 6.4 or later is needed, with CONFIG_BPF_JIT and \
             CONFIG_BPF_SYSCALL",
            version()
        )),
        _ => not_allowed(name, "its registration", error),
    }
}

fn version() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// The kernel's congestion controls.
pub fn available() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    text.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}
