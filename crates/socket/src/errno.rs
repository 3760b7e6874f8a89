//! Why a call fails.

use crate::flavor::Flavor;
use anabranch_wire::IcmpKind;
use std::fmt;

macro_rules! errors {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        /// Why a call fails, by the names of POSIX and the numbers of Linux.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Errno {
            $(#[doc = $text] $name = $number,)*
        }

        impl Errno {
            /// The error of that name.
            pub fn from_name(name: &str) -> Option<Errno> {
                match name {
                    $(stringify!($name) => Some(Errno::$name),)*
                    _ => None,
                }
            }

            /// Returns the name: `"EAGAIN"`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Errno::$name => stringify!($name),)*
                }
            }
        }

        impl fmt::Display for Errno {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Errno::$name => $text,)*
                })
            }
        }
    };
}

errors! {
    EPERM = 1, "Operation not permitted";
    ENOENT = 2, "No such file or directory";
    EBADF = 9, "Bad file descriptor";
    EAGAIN = 11, "Resource temporarily unavailable";
    EEXIST = 17, "File exists";
    EINVAL = 22, "Invalid argument";
    EPIPE = 32, "Broken pipe";
    EDOM = 33, "Numerical argument out of domain";
    EDESTADDRREQ = 89, "Destination address required";
    EMSGSIZE = 90, "Message too long";
    ENONET = 64, "Machine is not on the network";
    EPROTO = 71, "Protocol error";
    ENOPROTOOPT = 92, "Protocol not available";
    EOPNOTSUPP = 95, "Operation not supported";
    EADDRINUSE = 98, "Address already in use";
    EADDRNOTAVAIL = 99, "Cannot assign requested address";
    ENETUNREACH = 101, "Network is unreachable";
    ECONNABORTED = 103, "Software caused connection abort";
    ECONNRESET = 104, "Connection reset by peer";
    EISCONN = 106, "Transport endpoint is already connected";
    ENOTCONN = 107, "Transport endpoint is not connected";
    ETIMEDOUT = 110, "Connection timed out";
    ECONNREFUSED = 111, "Connection refused";
    EHOSTDOWN = 112, "Host is down";
    EHOSTUNREACH = 113, "No route to host";
    EALREADY = 114, "Operation already in progress";
    EINPROGRESS = 115, "Operation now in progress";
}

impl Errno {
    /// What an error of ICMP means to a socket. FreeBSD: `icmp_errmap`.
    pub(crate) fn of_icmp(flavor: Flavor, kind: IcmpKind) -> Errno {
        use IcmpKind::{HostIsolated, HostUnknown, NoRoute, SourceRouteFailed};
        let refusals =
            [IcmpKind::ProtocolUnreachable, IcmpKind::UnknownNextHeader, IcmpKind::Prohibited];
        let refuses = refusals.contains(&kind);
        let far = matches!(kind, NoRoute | SourceRouteFailed | HostUnknown | HostIsolated);
        match kind {
            _ if refuses && flavor == Flavor::FreeBsd => Errno::ECONNREFUSED,
            _ if far && flavor == Flavor::FreeBsd => Errno::EHOSTUNREACH,
            IcmpKind::NoRoute => Errno::ENETUNREACH,
            IcmpKind::SourceRouteFailed => Errno::EOPNOTSUPP,
            IcmpKind::HostUnknown => Errno::EHOSTDOWN,
            IcmpKind::HostIsolated => Errno::ENONET,
            IcmpKind::ParameterProblem | IcmpKind::UnknownNextHeader => Errno::EPROTO,
            IcmpKind::ProtocolUnreachable => Errno::ENOPROTOOPT,
            IcmpKind::PortUnreachable => Errno::ECONNREFUSED,
            IcmpKind::PacketTooBig { .. } => Errno::EMSGSIZE,
            IcmpKind::HostUnreachable
            | IcmpKind::Prohibited
            | IcmpKind::TimeExceeded
            | IcmpKind::ReassemblyTimeExceeded => Errno::EHOSTUNREACH,
        }
    }

    /// Returns the number that Linux gives it.
    pub fn number(self) -> i32 {
        self as i32
    }
}
impl std::error::Error for Errno {}
