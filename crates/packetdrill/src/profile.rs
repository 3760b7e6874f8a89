//! The systems whose defaults a stack may have.

/// The system whose defaults a stack is expected to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// The defaults of Linux 6.x.
    Linux,
    /// What the RFCs say where they leave nothing open.
    Rfc,
    /// FreeBSD 14, as far as settings of ours can tell.
    FreeBsd,
}

impl Profile {
    /// The profile of that name.
    pub fn from_name(name: &str) -> Option<Profile> {
        match name {
            "linux" => Some(Profile::Linux),
            "rfc" => Some(Profile::Rfc),
            "freebsd" => Some(Profile::FreeBsd),
            _ => None,
        }
    }

    /// The system where the script `text` is at home: FreeBSD where its sysctls are named, and for
    /// SCTP, by which public suites are written there; Linux for all others.
    pub fn at_home(text: &str) -> Profile {
        match text.contains("IPPROTO_SCTP") || text.contains("net.inet.") {
            true => Profile::FreeBsd,
            false => Profile::Linux,
        }
    }

    /// Symbols that scripts test for the system with `#ifdef`.
    pub fn symbol(self) -> Option<&'static str> {
        match self {
            Profile::Linux => Some("Linux"),
            Profile::FreeBsd => Some("FreeBSD"),
            Profile::Rfc => None,
        }
    }
}
