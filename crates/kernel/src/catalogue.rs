//! The algorithms that there are objects for.

/// A window algorithm as an object for the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm {
    /// Its name in scenarios, as in `anabranch list`.
    pub name: &'static str,
    /// The same in at most seven octets, for names in the kernel, which has room for fifteen.
    pub short: &'static str,
    /// It depends on the other subflows of a Multipath TCP connection.
    pub coupled: bool,
    /// The object: ELF with BTF.
    pub object: &'static [u8],
}

macro_rules! object {
    ($file:literal) => {
        include_bytes!(concat!("../objects/", $file, ".o"))
    };
}

/// All of them.
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm { name: "lia", short: "lia", coupled: true, object: object!("lia") },
    Algorithm { name: "olia", short: "olia", coupled: true, object: object!("olia") },
    Algorithm { name: "balia", short: "balia", coupled: true, object: object!("balia") },
    Algorithm { name: "wvegas", short: "wvegas", coupled: true, object: object!("wvegas") },
    Algorithm { name: "mcubic", short: "mcubic", coupled: true, object: object!("mcubic") },
    Algorithm {
        name: "mcubic-share",
        short: "mcshare",
        coupled: true,
        object: object!("mcubic_share"),
    },
    Algorithm { name: "westwood", short: "westwd", coupled: false, object: object!("westwood") },
    Algorithm { name: "vegas", short: "vegas", coupled: false, object: object!("vegas") },
    Algorithm { name: "highspeed", short: "hstcp", coupled: false, object: object!("highspeed") },
];

impl Algorithm {
    /// That of a scenario's name.
    pub fn from_name(name: &str) -> Option<&'static Algorithm> {
        ALGORITHMS.iter().find(|algorithm| algorithm.name == name)
    }
}
