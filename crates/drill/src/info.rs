//! What the kernel tells of a connection, by the names that scripts use.

use anabranch_live::kernel::{mptcp_info, tcp_info};
use anabranch_packetdrill::code::Names;
use rustix::net::{getpeername, getsockname};
use std::net::SocketAddr;
use std::os::fd::AsFd;

/// The port of a socket, if it is one of IP and has one.
pub(crate) fn local_port(fd: impl AsFd) -> Option<u16> {
    let address = SocketAddr::try_from(getsockname(fd).ok()?).ok()?;
    Some(address.port()).filter(|port| *port != 0)
}

/// The port of a connected socket's peer.
pub(crate) fn remote_port(fd: impl AsFd) -> Option<u16> {
    let address = SocketAddr::try_from(getpeername(fd).ok()??).ok()?;
    Some(address.port())
}

/// Writes the fields of `struct tcp_info`, and of `struct mptcp_info` where there
/// is one, into `names`.
pub(crate) fn report(fd: impl AsFd, names: &mut Names) {
    if let Ok(info) = tcp_info(&fd) {
        let fields = info.fields().chain(info.bit_fields());
        names.extend(fields.map(|(name, n)| (format!("tcpi_{}", plain(name)), n as i64)));
    }
    if let Ok(info) = mptcp_info(&fd) {
        names.extend(info.fields().map(|(name, n)| (format!("mptcpi_{name}"), n as i64)));
    }
}

/// The kernel's name of a field: without the unit.
fn plain(name: &str) -> &str {
    name.strip_suffix("_us").or(name.strip_suffix("_ms")).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_the_kernels_names() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(local_port(&listener), Some(port));
        assert_eq!(remote_port(&listener), None);
        let client = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        assert_eq!(remote_port(&client), Some(port));
        let mut names = Names::new();
        report(&client, &mut names);
        assert_eq!(names.get("tcpi_state"), Some(&1));
        assert!(names["tcpi_rto"] > 0 && names["tcpi_snd_wscale"] > 0, "{names:?}");
        assert!(names.contains_key("tcpi_last_data_sent") && !names.contains_key("tcpi_rtt_us"));
    }
}
