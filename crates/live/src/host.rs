//! A host outside: a namespace with a device for each interface, addresses,
//! routes and the settings of its kernel.

use crate::error::Doing;
use crate::sys::mptcp::{self, Endpoint};
use crate::sys::netlink::{Netlink, Route};
use crate::sys::tun;
use crate::{LiveError, Namespace, Port};
use anabranch_sim::NodeId;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// What such a host is to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostSettings {
    /// Name of the host, for messages.
    pub name: String,
    /// Interfaces of the host, the first for all that names no source.
    pub interfaces: Vec<InterfaceSettings>,
    /// Files below `/proc/sys/net` and what is written to them.
    pub sysctls: Vec<(String, String)>,
    /// What connections use that do not choose.
    pub congestion_control: Option<String>,
    /// Initial congestion window, in segments.
    pub initial_window: Option<u32>,
    /// Least retransmission timeout, in milliseconds.
    pub min_rto: Option<u32>,
    /// Every segment is acknowledged at once.
    pub quick_ack: bool,
    /// TCP segments that reach it together are handed over as one.
    pub receive_offload: bool,
    /// Destinations that another interface than the first leads to: which.
    pub destinations: Vec<(IpAddr, usize)>,
    /// What its path manager of Multipath TCP is told; `None`: nothing.
    pub subflows: Option<SubflowSettings>,
}

/// Which subflows a host's connections over Multipath TCP get.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubflowSettings {
    /// Subflows beside the first are opened and accepted.
    pub several: bool,
    /// Interfaces whose addresses are endpoints of the path manager, and the flags of each
    /// ([`SIGNAL`](mptcp::SIGNAL), [`SUBFLOW`](mptcp::SUBFLOW)...).
    pub endpoints: Vec<(usize, u32)>,
}

/// An interface of such a host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InterfaceSettings {
    /// The interface's node in the simulation.
    pub node: NodeId,
    /// Name of the device, at most 15 octets.
    pub device: String,
    /// Address of the interface.
    pub ip: IpAddr,
    /// MTU of the interface, in octets.
    pub mtu: u32,
}

/// A host in its namespace.
#[derive(Clone, Debug)]
pub struct ExternalHost {
    name: String,
    namespace: Arc<Namespace>,
}

/// Packets that wait in a device for us: more than any window holds, for the
/// emulated queue is the link's.
const QUEUE: u32 = 20_000;
const MAIN_TABLE: u32 = 254;
/// The table of the first interface; others follow.
const FIRST_TABLE: u32 = 100;

impl ExternalHost {
    /// Makes it, with the ports of its interfaces.
    ///
    /// # Errors
    /// What is missing, or what the kernel refused.
    pub fn new(settings: &HostSettings) -> Result<(ExternalHost, Vec<Port>), LiveError> {
        let namespace = Namespace::new()?;
        let devices = namespace.inside(|| set_up(settings))?;
        let ports =
            settings.interfaces.iter().zip(devices).map(|(interface, (fd, kernel, device))| {
                let name = format!("{} of {}", interface.device, settings.name);
                let port = Port::new(fd, interface.node, name).counted_by(kernel, device);
                if settings.receive_offload { port.gathering() } else { port }
            });
        let ports = ports.collect();
        let host = ExternalHost { name: settings.name.clone(), namespace: Arc::new(namespace) };
        Ok((host, ports))
    }

    /// Whether this machine lets us have such hosts: makes one, and takes it
    /// down.
    ///
    /// # Errors
    /// What is missing.
    pub fn probe() -> Result<(), LiveError> {
        let ip = IpAddr::from([10, 0, 0, 1]);
        let interface = InterfaceSettings { node: NodeId(0), device: "tun0".into(), ip, mtu: 1500 };
        let settings = HostSettings {
            name: "probe".into(),
            interfaces: vec![interface],
            sysctls: Vec::new(),
            congestion_control: None,
            initial_window: None,
            min_rto: None,
            quick_ack: false,
            receive_offload: false,
            destinations: Vec::new(),
            subflows: None,
        };
        ExternalHost::new(&settings).map(drop)
    }

    /// Returns the name of the host.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the network namespace of the host.
    pub fn namespace(&self) -> &Arc<Namespace> {
        &self.namespace
    }
}

/// Nothing but what the scenario has: no addresses of the kernel's own making,
/// and nobody looks for routers or for others with the same address.
fn set_up_ipv6(write: &impl Fn(&str, &str) -> Result<(), LiveError>) -> Result<(), LiveError> {
    if !std::path::Path::new("/proc/sys/net/ipv6").exists() {
        let error = std::io::Error::from(std::io::ErrorKind::Unsupported);
        let remedy = "the scenario has `ip = 6`, and this kernel no IPv6".into();
        return Err(LiveError::Missing { what: "IPv6", error, remedy });
    }
    for conf in ["all", "default"] {
        for (name, value) in [
            ("disable_ipv6", "0"),
            ("accept_ra", "0"),
            ("router_solicitations", "0"),
            ("accept_dad", "0"),
            ("addr_gen_mode", "1"),
        ] {
            write(&format!("ipv6/conf/{conf}/{name}"), value)?;
        }
    }
    Ok(())
}

/// A setting that the kernel refused: said in words where it stands for what some kernels lack.
fn lacking(path: &str, text: &str, error: LiveError) -> LiveError {
    match error {
        LiveError::System { error, .. } if path == "ipv4/tcp_ecn" && text == "3" => {
            let remedy = "its `tcp_ecn` does not take 3; at the host, \
                          sysctl = [\"net.ipv4.tcp_ecn=1\"] leaves it with RFC 3168, to which our \
                          end falls back";
            let what = "this kernel has no Accurate ECN";
            LiveError::Missing { what, error, remedy: remedy.into() }
        }
        error => error,
    }
}

/// In the host's namespace: of each interface the descriptor, the kernel's
/// tables there, and the device's number in them.
fn set_up(settings: &HostSettings) -> Result<Vec<(OwnedFd, Netlink, u32)>, LiveError> {
    let write = |path: &str, text: &str| {
        let path = format!("/proc/sys/net/{path}");
        std::fs::write(&path, text).doing(format!("writing `{text}` to {path}"))
    };
    // Nothing of an earlier connection is to tell.
    write("ipv4/tcp_no_metrics_save", "1")?;
    for (path, text) in &settings.sysctls {
        write(path, text).map_err(|error| lacking(path, text, error))?;
    }
    if settings.interfaces.iter().all(|interface| interface.ip.is_ipv4()) {
        // Else the kernel would look for routers. Some have no IPv6.
        let _ = write("ipv6/conf/all/disable_ipv6", "1");
        let _ = write("ipv6/conf/default/disable_ipv6", "1");
    } else {
        set_up_ipv6(&write)?;
    }
    let mut netlink = Netlink::open()?;
    netlink.up(netlink.index("lo")?, 0, 0)?;
    let (mut devices, mut routes) = (Vec::new(), Vec::new());
    for (i, interface) in settings.interfaces.iter().enumerate() {
        let fd = tun::create(&interface.device)?;
        let device = netlink.index(&interface.device)?;
        devices.push((fd, Netlink::open()?, device));
        netlink.address(device, interface.ip)?;
        netlink.up(device, interface.mtu, QUEUE)?;
        let (i, source) = (i as u32, interface.ip);
        let route = Route {
            to: None,
            source: Some(source),
            device,
            table: MAIN_TABLE,
            priority: 100 + i,
            initial_window: settings.initial_window,
            min_rto: settings.min_rto,
            quick_ack: settings.quick_ack,
            congestion_control: settings.congestion_control.as_deref(),
            metrics: &[],
        };
        netlink.route(&route)?;
        if settings.interfaces.len() > 1 {
            // What names a source leaves over the source's interface.
            netlink.route(&Route { table: FIRST_TABLE + i, ..route.clone() })?;
            netlink.rule(source, FIRST_TABLE + i)?;
        }
        routes.push(route);
    }
    for (ip, interface) in &settings.destinations {
        let route = routes[*interface].clone();
        netlink.route(&Route { to: Some(*ip), priority: 1, ..route })?;
    }
    if let Some(subflows) = &settings.subflows {
        let endpoint = |(i, flags): &(usize, u32)| Endpoint {
            ip: settings.interfaces[*i].ip,
            id: None,
            flags: *flags,
            device: Some(routes[*i].device),
            port: None,
        };
        let endpoints: Vec<_> = subflows.endpoints.iter().map(endpoint).collect();
        mptcp::set_up(subflows.several, &endpoints)?;
    }
    Ok(devices)
}
