//! TUN devices: IP packets of a namespace's kernel as messages of a descriptor.
//! With IFF_VNET_HDR and what it offers, so that the kernel hands over TCP
//! segments as it has them, many in one and without checksums.

use crate::LiveError;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd};

const DEVICE: &str = "/dev/net/tun";

/// Makes the device `name`, of at most 15 octets, in the namespace of the
/// calling thread; it lasts as long as the descriptor, which does not block.
///
/// # Errors
/// [`LiveError::Missing`] when there is no TUN or it may not be used.
pub fn create(name: &str) -> Result<OwnedFd, LiveError> {
    open_device(name, libc::IFF_VNET_HDR, offer)
}

/// Makes the device `name` in the namespace of the calling thread, without anything
/// before the packets and without offers: the kernel cuts segments and computes
/// checksums itself, as for the plainest of cards.
///
/// # Errors
/// [`LiveError::Missing`] when there is no TUN or it may not be used.
pub fn create_plain(name: &str) -> Result<OwnedFd, LiveError> {
    open_device(name, 0, |_| Ok(()))
}

fn open_device(
    name: &str,
    more: libc::c_int,
    prepare: impl FnOnce(&OwnedFd) -> Result<(), Errno>,
) -> Result<OwnedFd, LiveError> {
    let missing = |error: Errno| {
        let remedy = match error {
            Errno::NOENT | Errno::NODEV | Errno::NXIO => {
                "the kernel needs its TUN driver (modprobe tun) and the device node".into()
            }
            Errno::ACCESS => format!("run as root, or let this user read and write {DEVICE}"),
            _ => "run as root, with the capability CAP_NET_ADMIN".into(),
        };
        LiveError::Missing { what: DEVICE, error: error.into(), remedy }
    };
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = open(DEVICE, flags, Mode::empty()).map_err(missing)?;
    set_interface(&fd, name, more).map_err(missing)?;
    prepare(&fd).map_err(missing)?;
    Ok(fd)
}

/// Offers to compute checksums and to cut TCP segments.
#[expect(unsafe_code, reason = "rustix has no TUNSETOFFLOAD")]
fn offer(fd: &OwnedFd) -> Result<(), Errno> {
    let what = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
    // SAFETY: TUNSETOFFLOAD takes a number.
    let status = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETOFFLOAD, what) };
    if status == 0 { Ok(()) } else { Err(last_error()) }
}

#[expect(unsafe_code, reason = "rustix has no TUNSETIFF")]
fn set_interface(fd: &OwnedFd, name: &str, more: libc::c_int) -> Result<(), Errno> {
    assert!(name.len() < libc::IFNAMSIZ, "the name of a device fits");
    // SAFETY: all of an ifreq's fields may be zero.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (slot, octet) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *slot = octet as libc::c_char;
    }
    let flags = libc::IFF_TUN | libc::IFF_NO_PI | more;
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one ifreq, which outlives the call.
    let status = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETIFF, &mut request) };
    if status == 0 { Ok(()) } else { Err(last_error()) }
}

/// The error of the last call of libc.
pub(super) fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}
