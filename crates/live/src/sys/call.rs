//! Socket calls whose arguments are octets and numbers as somebody wrote them
//! down, wrong ones included: the kernel judges them. Each gives what the kernel
//! returned.

use super::tun::last_error;
use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

/// The value that a call returned, or its error.
pub type Answer<T> = Result<T, Errno>;

/// Options of sockets whose value names memory of the process, by level and number:
/// TCP_ZEROCOPY_RECEIVE and MPTCP_FULL_INFO.
const OF_MEMORY: [(i32, i32); 2] = [(libc::IPPROTO_TCP, 35), (284, 4)];

/// Octets for the kernel to read, or a null pointer with a length.
#[derive(Clone, Copy, Debug)]
pub enum Octets<'a> {
    /// The octets that the kernel reads.
    Given(&'a [u8]),
    /// A null pointer, and as many octets behind it.
    Null(usize),
}

impl Octets<'_> {
    fn pointer(&self) -> *const libc::c_void {
        match self {
            Octets::Given(octets) => octets.as_ptr().cast(),
            Octets::Null(_) => ptr::null(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Octets::Given(octets) => octets.len(),
            Octets::Null(len) => *len,
        }
    }
}

fn checked(status: isize) -> Answer<usize> {
    usize::try_from(status).map_err(|_| last_error())
}

fn owned(status: i32) -> Answer<OwnedFd> {
    match status {
        0.. => {
            // SAFETY: the kernel has just made the descriptor, for nobody else.
            #[expect(unsafe_code, reason = "descriptors of calls that rustix restricts")]
            let fd = unsafe { OwnedFd::from_raw_fd(status) };
            Ok(fd)
        }
        _ => Err(last_error()),
    }
}

/// `socket`.
///
/// # Errors
/// The kernel's.
#[expect(unsafe_code, reason = "rustix has no protocols by number that do not exist")]
pub fn socket(domain: i32, kind: i32, protocol: i32) -> Answer<OwnedFd> {
    // SAFETY: three numbers.
    owned(unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) })
}

/// `accept4`, without the address.
///
/// # Errors
/// The kernel's.
#[expect(unsafe_code, reason = "rustix has no flags that do not exist")]
pub fn accept(fd: BorrowedFd<'_>, flags: i32) -> Answer<OwnedFd> {
    let flags = flags | libc::SOCK_CLOEXEC;
    // SAFETY: the kernel writes no address to a null pointer.
    owned(unsafe { libc::accept4(fd.as_raw_fd(), ptr::null_mut(), ptr::null_mut(), flags) })
}

/// `bind`.
///
/// # Errors
/// The kernel's.
#[expect(unsafe_code, reason = "addresses as octets")]
pub fn bind(fd: BorrowedFd<'_>, address: Octets<'_>) -> Answer<()> {
    let (pointer, len) = (address.pointer().cast(), address.len() as libc::socklen_t);
    // SAFETY: the kernel reads `len` octets of the slice, and none at null.
    checked(unsafe { libc::bind(fd.as_raw_fd(), pointer, len) } as isize).map(drop)
}

/// `connect`.
///
/// # Errors
/// The kernel's.
#[expect(unsafe_code, reason = "addresses as octets")]
pub fn connect(fd: BorrowedFd<'_>, address: Octets<'_>) -> Answer<()> {
    let (pointer, len) = (address.pointer().cast(), address.len() as libc::socklen_t);
    // SAFETY: the kernel reads `len` octets of the slice, and none at null.
    checked(unsafe { libc::connect(fd.as_raw_fd(), pointer, len) } as isize).map(drop)
}

/// `listen`.
///
/// # Errors
/// The kernel's.
#[expect(unsafe_code, reason = "a number as it is")]
pub fn listen(fd: BorrowedFd<'_>, backlog: i32) -> Answer<()> {
    // SAFETY: two numbers.
    checked(unsafe { libc::listen(fd.as_raw_fd(), backlog) } as isize).map(drop)
}

/// `shutdown`.
///
/// # Errors
/// The kernel's.
#[expect(unsafe_code, reason = "a number as it is")]
pub fn shutdown(fd: BorrowedFd<'_>, how: i32) -> Answer<()> {
    // SAFETY: two numbers.
    checked(unsafe { libc::shutdown(fd.as_raw_fd(), how) } as isize).map(drop)
}

/// `sendto`; `send` where `address` is `None`.
///
/// # Errors
/// The kernel's.
#[expect(unsafe_code, reason = "addresses as octets, and null pointers")]
pub fn send(
    fd: BorrowedFd<'_>,
    data: Octets<'_>,
    flags: i32,
    address: Option<Octets<'_>>,
) -> Answer<usize> {
    let address = address.unwrap_or(Octets::Null(0));
    let (to, to_len) = (address.pointer().cast(), address.len() as libc::socklen_t);
    let fd = fd.as_raw_fd();
    // SAFETY: the kernel reads as many octets of both slices as they have, and
    // none at null.
    checked(unsafe { libc::sendto(fd, data.pointer(), data.len(), flags, to, to_len) })
}

/// `recv`: into `octets`, or to a null pointer.
///
/// # Errors
/// The kernel's.
#[expect(unsafe_code, reason = "flags by number")]
pub fn receive(fd: BorrowedFd<'_>, octets: &mut [u8], flags: i32) -> Answer<usize> {
    // SAFETY: the kernel writes at most as many octets as the slice has.
    checked(unsafe { libc::recv(fd.as_raw_fd(), octets.as_mut_ptr().cast(), octets.len(), flags) })
}

/// `sendmsg`: data in `parts`, with an address and control messages where they
/// are not empty.
///
/// # Errors
/// The kernel's.
#[expect(unsafe_code, reason = "control messages as octets")]
pub fn send_message(
    fd: BorrowedFd<'_>,
    address: &[u8],
    parts: &[&[u8]],
    control: &[u8],
    flags: i32,
) -> Answer<usize> {
    let vector = |part: &&[u8]| libc::iovec {
        iov_base: part.as_ptr().cast_mut().cast(),
        iov_len: part.len(),
    };
    let mut vectors: Vec<libc::iovec> = parts.iter().map(vector).collect();
    let mut header = header(&mut vectors);
    if !address.is_empty() {
        header.msg_name = address.as_ptr().cast_mut().cast();
        header.msg_namelen = address.len() as libc::socklen_t;
    }
    if !control.is_empty() {
        header.msg_control = control.as_ptr().cast_mut().cast();
        header.msg_controllen = control.len() as _;
    }
    // SAFETY: everything that the header names is read alone, and outlives the call.
    checked(unsafe { libc::sendmsg(fd.as_raw_fd(), &header, flags) })
}

/// The result of `recvmsg`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Received {
    /// Octets of data that were received.
    pub len: usize,
    /// Control messages, as octets.
    pub control: Vec<u8>,
    /// Flags of the message: `msg_flags`.
    pub flags: i32,
}

/// `recvmsg` with a buffer of each of these lengths, and room for so many octets
/// of control messages.
///
/// # Errors
/// The kernel's.
#[expect(unsafe_code, reason = "control messages as octets")]
pub fn receive_message(
    fd: BorrowedFd<'_>,
    lengths: &[usize],
    room: usize,
    flags: i32,
) -> Answer<Received> {
    let mut buffers: Vec<Vec<u8>> = lengths.iter().map(|len| vec![0; *len]).collect();
    let vector = |part: &mut Vec<u8>| libc::iovec {
        iov_base: part.as_mut_ptr().cast(),
        iov_len: part.len(),
    };
    let mut vectors: Vec<libc::iovec> = buffers.iter_mut().map(vector).collect();
    let mut control = vec![0; room];
    let mut header = header(&mut vectors);
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = room as _;
    // SAFETY: the kernel writes into the buffers, each as long as the header says;
    // all outlive the call.
    let len = checked(unsafe { libc::recvmsg(fd.as_raw_fd(), &mut header, flags) })?;
    control.truncate(header.msg_controllen as _);
    Ok(Received { len, control, flags: header.msg_flags })
}

/// A header with these vectors and nothing else.
#[expect(unsafe_code, reason = "its padding differs between systems")]
fn header(vectors: &mut [libc::iovec]) -> libc::msghdr {
    // SAFETY: all of its fields may be zero.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = vectors.as_mut_ptr();
    header.msg_iovlen = vectors.len() as _;
    header
}

/// `setsockopt`; an option whose value names memory is refused with EINVAL.
///
/// # Errors
/// The kernel's.
#[expect(unsafe_code, reason = "options by number")]
pub fn set_option(fd: BorrowedFd<'_>, level: i32, option: i32, value: Octets<'_>) -> Answer<()> {
    if OF_MEMORY.contains(&(level, option)) {
        return Err(Errno::INVAL);
    }
    let len = value.len() as libc::socklen_t;
    let fd = fd.as_raw_fd();
    // SAFETY: the kernel reads `len` octets of the slice, and none at null.
    checked(unsafe { libc::setsockopt(fd, level, option, value.pointer(), len) } as isize).map(drop)
}

/// `getsockopt` into `value`: how many octets the kernel wrote. What it would read
/// from there is what stands there. An option whose value names memory is refused
/// with EINVAL.
///
/// # Errors
/// The kernel's.
#[expect(unsafe_code, reason = "options by number")]
pub fn option(fd: BorrowedFd<'_>, level: i32, option: i32, value: &mut [u8]) -> Answer<usize> {
    if OF_MEMORY.contains(&(level, option)) {
        return Err(Errno::INVAL);
    }
    let mut len = value.len() as libc::socklen_t;
    let fd = fd.as_raw_fd();
    // SAFETY: the kernel writes at most `len` octets into the slice.
    let status =
        unsafe { libc::getsockopt(fd, level, option, value.as_mut_ptr().cast(), &mut len) };
    checked(status as isize).map(|_| len as usize)
}

/// `fcntl` with F_GETFL, F_SETFL, F_GETFD or F_SETFD; EINVAL for others.
///
/// # Errors
/// The kernel's.
#[expect(unsafe_code, reason = "flags by number")]
pub fn control(fd: BorrowedFd<'_>, command: i32, argument: i32) -> Answer<usize> {
    match command {
        libc::F_GETFL | libc::F_SETFL | libc::F_GETFD | libc::F_SETFD => {}
        _ => return Err(Errno::INVAL),
    }
    // SAFETY: these commands take a number.
    checked(unsafe { libc::fcntl(fd.as_raw_fd(), command, argument) } as isize)
}

/// A number that `ioctl` tells of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// `SIOCINQ`: octets that can be read.
    ToRead,
    /// `SIOCOUTQ`: octets that are not acknowledged.
    Unacknowledged,
    /// `SIOCOUTQNSD`: octets that are not sent.
    Unsent,
    /// `SIOCATMARK`: whether the next octet is the urgent one.
    AtMark,
}

/// `ioctl`.
///
/// # Errors
/// The kernel's.
#[expect(unsafe_code, reason = "rustix has SIOCINQ alone")]
pub fn ask(fd: BorrowedFd<'_>, asked: Asked) -> Answer<i32> {
    let request = match asked {
        Asked::ToRead => 0x541b,
        Asked::Unacknowledged => 0x5411,
        Asked::Unsent => 0x894b,
        Asked::AtMark => 0x8905,
    };
    let mut number: libc::c_int = 0;
    // SAFETY: each of these requests writes one int.
    let status = unsafe { libc::ioctl(fd.as_raw_fd(), request as _, &mut number) };
    checked(status as isize).map(|_| number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    const LOOPBACK: [u8; 16] = [2, 0, 0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];

    /// 127.0.0.1 with the port that the kernel gave to `fd`.
    fn address_of(fd: &OwnedFd) -> [u8; 16] {
        let socket = std::net::TcpListener::from(fd.try_clone().unwrap());
        let mut address = LOOPBACK;
        address[2..4].copy_from_slice(&socket.local_addr().unwrap().port().to_be_bytes());
        address
    }

    #[test]
    fn a_connection_over_the_loopback_carries_what_is_sent() {
        let make = || socket(libc::AF_INET, libc::SOCK_STREAM, 0).unwrap();
        let (server, client) = (make(), make());
        bind(server.as_fd(), Octets::Given(&LOOPBACK)).unwrap();
        listen(server.as_fd(), 1).unwrap();
        connect(client.as_fd(), Octets::Given(&address_of(&server))).unwrap();
        let accepted = accept(server.as_fd(), libc::SOCK_NONBLOCK).unwrap();
        assert_eq!(receive(accepted.as_fd(), &mut [0; 9], 0), Err(Errno::AGAIN));
        assert_eq!(send(client.as_fd(), Octets::Given(b"one"), 0, None), Ok(3));
        assert_eq!(send_message(client.as_fd(), &[], &[b"tw", b"o"], &[], 0), Ok(3));
        assert_eq!(ask(accepted.as_fd(), Asked::ToRead), Ok(6));
        let got = receive_message(accepted.as_fd(), &[2, 2], 64, 0).unwrap();
        assert_eq!(got, Received { len: 4, control: Vec::new(), flags: 0 });
        shutdown(client.as_fd(), libc::SHUT_WR).unwrap();
        assert_eq!(receive(accepted.as_fd(), &mut [0; 9], 0), Ok(2));
        assert_eq!(receive(accepted.as_fd(), &mut [0; 9], 0), Ok(0));
    }

    #[test]
    fn the_kernel_judges_what_is_wrong() {
        let fd = socket(libc::AF_INET, libc::SOCK_STREAM, 0).unwrap();
        assert_eq!(bind(fd.as_fd(), Octets::Given(&LOOPBACK[..4])), Err(Errno::INVAL));
        assert_eq!(connect(fd.as_fd(), Octets::Null(16)), Err(Errno::FAULT));
        assert_eq!(shutdown(fd.as_fd(), 7), Err(Errno::INVAL));
        assert_eq!(socket(libc::AF_INET, libc::SOCK_STREAM, 999).err(), Some(Errno::INVAL));
        let (level, nodelay) = (libc::IPPROTO_TCP, libc::TCP_NODELAY);
        let set = |value| set_option(fd.as_fd(), level, nodelay, value);
        assert_eq!(set(Octets::Given(&[1])), Err(Errno::INVAL));
        assert_eq!(set(Octets::Null(4)), Err(Errno::FAULT));
        assert_eq!(set(Octets::Given(&1_i32.to_ne_bytes())), Ok(()));
        let mut value = [0; 8];
        assert_eq!(option(fd.as_fd(), level, nodelay, &mut value), Ok(4));
        assert_eq!(value[..4], 1_i32.to_ne_bytes());
        assert_eq!(control(fd.as_fd(), libc::F_DUPFD, 0), Err(Errno::INVAL));
        let flags = control(fd.as_fd(), libc::F_GETFL, 0).unwrap() as i32;
        assert_eq!(flags & libc::O_NONBLOCK, 0);
    }

    /// The kernel would write to an address that stands in the value.
    #[test]
    fn an_option_that_names_memory_never_reaches_the_kernel() {
        let fd = socket(libc::AF_INET, libc::SOCK_STREAM, 0).unwrap();
        let mut value = [0xff; 64];
        assert_eq!(option(fd.as_fd(), libc::IPPROTO_TCP, 35, &mut value), Err(Errno::INVAL));
        assert_eq!(value, [0xff; 64]);
    }
}
