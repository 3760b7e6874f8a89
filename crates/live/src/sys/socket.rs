//! Options of sockets that rustix does not have.

use super::tun::last_error;
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd};

/// Reads `TCP_INFO`; what the kernel does not tell is zero.
#[expect(unsafe_code, reason = "rustix has no TCP_INFO")]
pub fn tcp_info(fd: impl AsFd) -> Result<[u8; 256], Errno> {
    let mut info = [0_u8; 256];
    let mut len = info.len() as libc::socklen_t;
    let raw = fd.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `len` octets into the array.
    let status = unsafe {
        libc::getsockopt(raw, libc::IPPROTO_TCP, libc::TCP_INFO, info.as_mut_ptr().cast(), &mut len)
    };
    if status == 0 { Ok(info) } else { Err(last_error()) }
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
