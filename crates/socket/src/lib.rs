//! Sockets over the endpoints, as POSIX describes them and Linux has them:
//! descriptors, accept queues, `shutdown`, `SO_LINGER`, `EPIPE` and
//! `ECONNRESET`, buffers that fill up, readiness for `poll`. Without I/O: time
//! is an argument, packets come by [`Sockets::handle_input`] and leave by
//! [`Sockets::poll_transmit`], and no call blocks.
//!
//! A call that would block answers `EAGAIN` (`EINPROGRESS` for a connect).
//! Whoever wants it to block repeats it after each packet and each timeout,
//! until it answers something else; [`Sockets::is_blocking`] says what the
//! user asked for.
//!
//! Sockets of SCTP are in [`sctp`], with a table of their own.
//!
//! ```
//! use anabranch_endpoint::Seed;
//! use anabranch_socket::{Data, Errno, SendFlags, Sockets};
//! use anabranch_tcp::Config;
//! use anabranch_units::Time;
//! use anabranch_wire::Addr;
//!
//! let mut server = Sockets::new(Config::linux(), Addr(0), Seed { seed: 1, replication: 0 });
//! let mut client = Sockets::new(Config::linux(), Addr(1), Seed { seed: 2, replication: 0 });
//! let now = Time::ZERO;
//! let listener = server.socket();
//! server.bind(listener, 80)?;
//! server.listen(listener, 5)?;
//! let fd = client.socket();
//! assert_eq!(client.connect(fd, now, (Addr(0), 80)), Err(Errno::EINPROGRESS));
//! assert_eq!(client.write(fd, now, Data::Counted(5), SendFlags::default()), Err(Errno::EAGAIN));
//! // The handshake, over a wire without delay.
//! while let Some(packet) = client.poll_transmit(now).or_else(|| server.poll_transmit(now)) {
//!     let to = if packet.dst == Addr(0) { &mut server } else { &mut client };
//!     to.handle_input(now, &packet);
//! }
//! assert_eq!(client.write(fd, now, Data::Counted(5), SendFlags::default()), Ok(5));
//! assert!(server.accept(listener, now).is_ok());
//! # Ok::<(), Errno>(())
//! ```

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod errno;
mod flavor;
mod multipath;
mod options;
pub mod sctp;
mod sockets;
mod stream;
mod traffic;

pub use errno::Errno;
pub use flavor::Flavor;
pub use options::{Name, Options};
pub use sockets::{
    BlackHole, FastOpen, Fd, MultipathSettings, Settings, Shutdown, Sockets, UdpTunnel,
};
pub use stream::{Data, Readiness, SendFlags, TcpInfo};
pub use traffic::Traffic;
