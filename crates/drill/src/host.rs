//! The host that a script runs on: a namespace with one TUN device, and the thread
//! that works in it.

use crate::network::Addresses;
use crate::worker::Worker;
use anabranch_live::kernel::{Netlink, Route, create_plain};
use anabranch_live::{LiveError, Namespace};
use anabranch_packetdrill::stack::IpVersion;
use std::fs;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

/// Packets that wait in the device for us: more than any script makes.
const QUEUE: u32 = 5_000;
/// MTU where the script says nothing.
const MTU: u32 = 1500;
const MAIN_TABLE: u32 = 254;
const DEVICE: &str = "tun0";

/// A namespace, its device and its routes.
#[derive(Debug)]
pub(crate) struct Host {
    namespace: Namespace,
    pub worker: Worker,
    /// A call of the script has not returned: its thread does nothing else.
    pub waits: bool,
    pub tun: OwnedFd,
    pub netlink: Netlink,
    pub device: u32,
    /// Metrics of the route to everywhere, by their number.
    metrics: Vec<(u16, u32)>,
    /// Congestion control of the route: the sysctl would not do, since a namespace may
    /// not set every algorithm that there is.
    congestion_control: String,
}

impl Host {
    /// Makes a namespace with its device, addresses and routes.
    pub fn new(addresses: &Addresses, mtu: Option<u32>) -> Result<Host, LiveError> {
        let namespace = Namespace::new()?;
        let v6 = addresses.version == IpVersion::V6;
        let (tun, netlink, device) = namespace.inside(|| {
            quiet(v6);
            usual()?;
            let mut netlink = Netlink::open()?;
            netlink.up(netlink.index("lo")?, 0, 0)?;
            let tun = create_plain(DEVICE)?;
            let device = netlink.index(DEVICE)?;
            netlink.up(device, mtu.unwrap_or(MTU), QUEUE)?;
            netlink.address(device, addresses.local)?;
            await_delivery(addresses.local)?;
            Ok((tun, netlink, device))
        })?;
        let (metrics, congestion_control) = (Vec::new(), "cubic".to_owned());
        let worker = Worker::new(&namespace).map_err(|error| LiveError::System {
            what: "the thread of a script's calls".into(),
            error,
        })?;
        let mut host = Host {
            namespace,
            worker,
            waits: false,
            tun,
            netlink,
            device,
            metrics,
            congestion_control,
        };
        host.set_route(addresses)?;
        Ok(host)
    }

    /// Does `work` inside the namespace, by the thread that is there unless that waits.
    pub fn inside<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, LiveError> {
        match self.waits {
            true => self.namespace.inside(|| Ok(work())),
            false => self.worker.perform(work).map_err(|error| LiveError::System {
                what: "the thread of a script's calls".into(),
                error,
            }),
        }
    }

    /// Gives the route to everywhere one more metric.
    pub fn set_metric(
        &mut self,
        addresses: &Addresses,
        number: u16,
        value: u32,
    ) -> Result<(), LiveError> {
        self.metrics.retain(|(known, _)| *known != number);
        self.metrics.push((number, value));
        self.set_route(addresses)
    }

    /// Connections use the congestion control of that name.
    pub fn set_congestion_control(
        &mut self,
        addresses: &Addresses,
        name: &str,
    ) -> Result<(), LiveError> {
        self.congestion_control = name.to_owned();
        self.set_route(addresses)
    }

    fn set_route(&mut self, addresses: &Addresses) -> Result<(), LiveError> {
        self.netlink.route(&Route {
            source: Some(addresses.local),
            device: self.device,
            table: MAIN_TABLE,
            priority: 100,
            metrics: &self.metrics,
            congestion_control: Some(&self.congestion_control),
            ..Route::default()
        })
    }
}

/// Waits until packets to an address of IPv6 are delivered: the kernel enters its route
/// some time after the address, by a thread of its own.
fn await_delivery(ip: IpAddr) -> Result<(), LiveError> {
    let IpAddr::V6(ip) = ip else { return Ok(()) };
    let digits: String = ip.octets().iter().map(|octet| format!("{octet:02x}")).collect();
    let entry = format!("{digits} 80");
    for _ in 0..1000 {
        let routes = fs::read_to_string("/proc/thread-self/net/ipv6_route").unwrap_or_default();
        if routes.lines().any(|line| line.starts_with(&entry) && is_local(line)) {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let error = std::io::ErrorKind::TimedOut.into();
    Err(LiveError::System { what: format!("the route to {ip}"), error })
}

/// The route of that line is to the host itself (RTF_LOCAL, the highest flag).
fn is_local(line: &str) -> bool {
    let flags = line.split_whitespace().nth(8);
    flags
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .is_some_and(|flags| flags >> 31 == 1)
}

/// What Linux has by itself, where a namespace has what was set for the machine, or
/// what follows from its memory.
fn usual() -> Result<(), LiveError> {
    for (name, value) in [("tcp_rmem", "4096 131072 6291456"), ("tcp_wmem", "4096 16384 4194304")] {
        let path = format!("/proc/sys/net/ipv4/{name}");
        fs::write(&path, value).map_err(|error| LiveError::System {
            what: format!("writing `{value}` to {path}"),
            error,
        })?;
    }
    Ok(())
}

/// Nobody looks for routers or for others with the same address.
fn quiet(v6: bool) {
    for conf in ["all", "default"] {
        for (name, value) in [
            ("disable_ipv6", if v6 { "0" } else { "1" }),
            ("accept_ra", "0"),
            ("router_solicitations", "0"),
            ("accept_dad", "0"),
            ("addr_gen_mode", "1"),
        ] {
            // A kernel without IPv6 says so when the address is set.
            _ = fs::write(format!("/proc/sys/net/ipv6/conf/{conf}/{name}"), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_to_the_host_itself_is_told_from_others() {
        let zeros = "0".repeat(32);
        let line = |flags: &str| {
            let to = "fd000000000000000000000000000001";
            format!("{to} 80 {zeros} 00 {zeros} 00000000 00000002 00000000 {flags}     tun0")
        };
        // As they stand in /proc/net/ipv6_route.
        assert!(is_local(&line("80200001")));
        assert!(!is_local(&line("00200200")));
    }
}
