//! The window algorithms of this laboratory as congestion controls of an unmodified Linux.
//!
//! `bpf/` has their laws in C with integers, which clang compiles to the objects in `objects/`; a test runs
//! these instructions beside the laws of `anabranch-congestion`. [`Image::new`] fits an object to a
//! kernel, whose types it reads from BTF: where fields are (CO-RE), which functions a program
//! calls, what its maps hold. To load an image takes system calls, which are `anabranch-live`'s.
//!
//! No libbpf: it needs libelf to be built, which a machine with a C compiler alone has not. What is needed
//! of it is little, for the objects are ours.

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod btf;
mod catalogue;
mod counts;
mod entry;
mod error;
mod image;
mod law;
mod link;
mod relocate;

pub use btf::Btf;
pub use catalogue::{ALGORITHMS, Algorithm};
pub use counts::Counts;
pub use entry::{ENTRY, Entry, Unit, entries};
pub use error::ImageError;
pub use image::{Image, Map, MapKind, Program, Slot};
pub use law::{Event, Law, OTHERS, Sibling, instructions};
