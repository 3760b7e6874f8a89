//! The algorithms that there are objects for.

use crate::Unit;

/// A window algorithm as an object for the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm {
    /// The name in scenarios, as in `anabranch list`.
    pub name: &'static str,
    /// The name in at most seven octets, for names in the kernel, which has room for fifteen.
    pub short: &'static str,
    /// It depends on the other subflows of a Multipath TCP connection: the unit of the term that couples them.
    pub coupling: Option<Unit>,
    /// The object: ELF with BTF.
    pub object: &'static [u8],
}

macro_rules! object {
    ($file:literal) => {
        include_bytes!(concat!("../objects/", $file, ".o"))
    };
}

/// The catalogue of all such algorithms.
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm { name: "lia", short: "lia", coupling: Some(Unit::Alpha), object: object!("lia") },
    Algorithm {
        name: "olia",
        short: "olia",
        coupling: Some(Unit::Growth),
        object: object!("olia"),
    },
    Algorithm {
        name: "balia",
        short: "balia",
        coupling: Some(Unit::Growth),
        object: object!("balia"),
    },
    Algorithm {
        name: "wvegas",
        short: "wvegas",
        coupling: Some(Unit::Segments),
        object: object!("wvegas"),
    },
    Algorithm {
        name: "mcubic",
        short: "mcubic",
        coupling: Some(Unit::Micros),
        object: object!("mcubic"),
    },
    Algorithm {
        name: "mcubic-share",
        short: "mcshare",
        coupling: Some(Unit::Share),
        object: object!("mcubic_share"),
    },
    Algorithm { name: "westwood", short: "westwd", coupling: None, object: object!("westwood") },
    Algorithm { name: "vegas", short: "vegas", coupling: None, object: object!("vegas") },
    Algorithm { name: "highspeed", short: "hstcp", coupling: None, object: object!("highspeed") },
];

impl Algorithm {
    /// It depends on the other subflows of a connection.
    pub fn is_coupled(&self) -> bool {
        self.coupling.is_some()
    }

    /// Finds the algorithm by its name in scenarios.
    pub fn from_name(name: &str) -> Option<&'static Algorithm> {
        ALGORITHMS.iter().find(|algorithm| algorithm.name == name)
    }
}
