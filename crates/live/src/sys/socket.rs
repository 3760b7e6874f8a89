//! Options of sockets that rustix does not have.

use super::tun::last_error;
use crate::info::{MptcpInfo, TcpInfo};
use rustix::io::Errno;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};

/// Reads `TCP_INFO`; what the kernel does not tell is zero.
pub fn tcp_info(fd: impl AsFd) -> Result<TcpInfo, Errno> {
    let mut info = [0; TcpInfo::SIZE];
    read_option(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info)?;
    Ok(TcpInfo(info))
}

/// Level and options of linux/mptcp.h.
const SOL_MPTCP: libc::c_int = 284;
const MPTCP_INFO: libc::c_int = 1;
const MPTCP_TCPINFO: libc::c_int = 2;
const MPTCP_SUBFLOW_ADDRS: libc::c_int = 3;
/// `struct mptcp_subflow_data`, which stands before the subflows.
const HEADER: usize = 16;
/// More than the kernel allows a connection.
const MOST_SUBFLOWS: usize = 16;
/// Two times a `struct __kernel_sockaddr_storage`.
const ENDS: usize = 256;

/// Reads `MPTCP_INFO`; what the kernel does not tell is zero.
pub fn mptcp_info(fd: impl AsFd) -> Result<MptcpInfo, Errno> {
    let mut info = MptcpInfo::default();
    read_option(fd, SOL_MPTCP, MPTCP_INFO, &mut info.0)?;
    Ok(info)
}

/// The subflows that there are: their ends, ours first, and what `TCP_INFO`
/// tells of them. The kernel lists both in the same order.
pub fn mptcp_subflows(fd: impl AsFd) -> Result<Vec<([SocketAddr; 2], TcpInfo)>, Errno> {
    let infos = subflow_array::<{ TcpInfo::SIZE }>(&fd, MPTCP_TCPINFO)?;
    let ends = subflow_array::<ENDS>(&fd, MPTCP_SUBFLOW_ADDRS)?;
    if infos.len() != ends.len() {
        return Err(Errno::AGAIN); // one has come or gone meanwhile
    }
    let both = ends.iter().zip(infos).filter_map(|(ends, info)| {
        let (local, remote) = ends.split_at(ENDS / 2);
        Some(([socket_address(local)?, socket_address(remote)?], TcpInfo(info)))
    });
    Ok(both.collect())
}

/// What an option tells of each subflow, in `N` octets.
fn subflow_array<const N: usize>(
    fd: impl AsFd,
    option: libc::c_int,
) -> Result<Vec<[u8; N]>, Errno> {
    let mut octets = vec![0; HEADER + MOST_SUBFLOWS * N];
    octets[..4].copy_from_slice(&(HEADER as u32).to_ne_bytes());
    octets[12..16].copy_from_slice(&(N as u32).to_ne_bytes());
    read_option(fd, SOL_MPTCP, option, &mut octets)?;
    let count = TcpInfo::number(&octets, 4, 4) as usize;
    Ok(octets[HEADER..].as_chunks().0.iter().take(count).copied().collect())
}

/// A `struct sockaddr_in` or `sockaddr_in6`.
fn socket_address(octets: &[u8]) -> Option<SocketAddr> {
    let port = u16::from_be_bytes(*octets.get(2..)?.first_chunk()?);
    match TcpInfo::number(octets, 0, 2) as libc::c_int {
        libc::AF_INET => Some((*octets.get(4..)?.first_chunk::<4>()?, port).into()),
        libc::AF_INET6 => Some((*octets.get(8..)?.first_chunk::<16>()?, port).into()),
        _ => None,
    }
}

#[expect(unsafe_code, reason = "rustix has neither TCP_INFO nor the options of MPTCP")]
fn read_option(
    fd: impl AsFd,
    level: libc::c_int,
    option: libc::c_int,
    octets: &mut [u8],
) -> Result<(), Errno> {
    let mut len = octets.len() as libc::socklen_t;
    let raw = fd.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `len` octets into the slice.
    let status =
        unsafe { libc::getsockopt(raw, level, option, octets.as_mut_ptr().cast(), &mut len) };
    if status == 0 { Ok(()) } else { Err(last_error()) }
}

/// Sets `TCP_NOTSENT_LOWAT`: a socket is writable while fewer octets than this
/// wait to be sent for the first time.
#[expect(unsafe_code, reason = "rustix has no TCP_NOTSENT_LOWAT")]
pub fn set_notsent_lowat(fd: impl AsFd, octets: u32) -> Result<(), Errno> {
    let raw = fd.as_fd().as_raw_fd();
    // SAFETY: the kernel reads the four octets of the value.
    let status = unsafe {
        let value = (&raw const octets).cast();
        libc::setsockopt(raw, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, value, 4)
    };
    if status == 0 { Ok(()) } else { Err(last_error()) }
}
