//! The systems whose sockets these can be, where POSIX leaves a choice and
//! systems differ.
//!
//! | | Linux | FreeBSD |
//! |---|---|---|
//! | `SO_SNDBUF`, `SO_RCVBUF` | twice what is set | what is set |
//! | `SO_RCVBUF` of a connection | what was set | the buffer as it is: whole segments |
//! | a reset after the peer's end | `EPIPE` | `ECONNRESET` |
//! | `SO_ERROR` | has what a router reported and did not end the connection | has not |
//! | prohibited, protocol unreachable | `EHOSTUNREACH`, `ENOPROTOOPT` | `ECONNREFUSED` |
//! | PSH | where a write ended | where the send buffer ended |
//! | data before the handshake is over | with Fast Open, as far as the SYN carries it | `sendto` connects, and all of it waits |
//! | keep-alive | off | on (`net.inet.tcp.always_keepalive`) |

/// The system that sockets behave as those of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Flavor {
    /// Sockets behave as on Linux.
    #[default]
    Linux,
    /// Sockets behave as on FreeBSD.
    FreeBsd,
}
