//! The external hosts of a scenario: addresses, and what of the flows' options
//! a kernel can be told.
//!
//! | field of `tcp` | in the kernel |
//! |---|---|
//! | `sack`, `timestamps`, `window_scale` | `tcp_sack`, `tcp_timestamps`, `tcp_window_scaling` |
//! | `dsack` | `tcp_dsack` |
//! | `recovery` | `rack`: `tcp_recovery` 1 and `tcp_early_retrans` 3 (TLP), else 0 and 0 |
//! | `ecn` | `tcp_ecn`: `off` 0, `on` and `dctcp` 1, `passive` 2, `accurate` 3 |
//! | `initial_window` | `initcwnd` of the host's routes |
//! | `rto.min` | `rto_min` of the routes, where the host sends |
//! | `delayed_ack.count` of 1 | `quickack` of the routes |
//! | `window` | the socket's congestion control, where the host sends; loaded if the kernel lacks it |
//! | `receive_buffer` | `SO_RCVBUF`; less where `initial_receive_window` is a share |
//!
//! Of a flow over MPTCP the same for its subflows. The kernel's path manager is told which
//! subflows there are to be ([`subflows`]).
//!
//! Its other options the kernel has its own way.

use super::controls::Controls;
use crate::InputError;
use crate::graph::Graph;
use crate::run_error::RunError;
use crate::schema::{FlowSpec, Protocol, Scenario};
use anabranch_live::kernel::mptcp;
use anabranch_live::{HostSettings, InterfaceSettings, SubflowSettings};
use anabranch_mptcp::PathManager;
use anabranch_sim::{NodeId, Side};
use anabranch_tcp::recovery::Recovery;
use anabranch_tcp::{Config, EcnMode, InitialReceiveWindow};
use anabranch_wire::{Addr, AddressBook};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Data of the flow leaves this side.
pub(super) fn sends(flow: &FlowSpec, side: Side) -> bool {
    match side {
        Side::Client => flow.size != Some(0),
        Side::Server => flow.reverse_size.is_some() || flow.workload.asks(),
    }
}

/// What a socket's `SO_RCVBUF` is to be, octets. The window that Linux advertises
/// begins there, and grows beyond it.
pub(super) fn receive_buffer(config: &Config) -> u64 {
    match config.initial_receive_window {
        share @ InitialReceiveWindow::Share(_) => share.of(config.receive_buffer),
        InitialReceiveWindow::Whole | InitialReceiveWindow::Octets(_) => None,
    }
    .unwrap_or(config.receive_buffer)
}

/// Makes the settings of each external host.
pub(super) fn settings(
    scenario: &Scenario,
    graph: &Graph<'_>,
    book: &AddressBook,
    controls: &mut Controls,
    has_programs: impl Fn(&str) -> bool,
) -> Result<Vec<HostSettings>, RunError> {
    let mut list = Vec::new();
    for host in scenario.hosts.iter().filter(|host| host.external) {
        let first = graph.interface(&host.name).expect("names are checked");
        let interfaces = graph.siblings(first).enumerate().map(|(i, node)| {
            let named = host.interfaces.get(i).filter(|name| name.len() <= 15);
            InterfaceSettings {
                node: NodeId(node as u32),
                device: named.cloned().unwrap_or_else(|| format!("tun{i}")),
                ip: book.ip(Addr(node as u32)).expect("every node has an address"),
                mtu: mtu(scenario, &graph.names()[node]),
            }
        });
        let mut settings = HostSettings {
            name: host.name.clone(),
            interfaces: interfaces.collect(),
            sysctls: Vec::new(),
            congestion_control: None,
            initial_window: None,
            min_rto: None,
            quick_ack: false,
            receive_offload: host.receive_offload,
            destinations: destinations(graph, book, first),
            subflows: None,
        };
        let mut sysctls: BTreeMap<&str, String> = BTreeMap::new();
        let mut own_windows = false;
        for (i, flow) in scenario.flows.iter().enumerate() {
            let sides = [(Side::Client, &flow.from), (Side::Server, &flow.to)];
            let owner = |name: &str| graph.interface(name).map(|node| graph.owner(node));
            let side = sides.into_iter().find(|(_, name)| owner(name) == Some(&host.name));
            let Some((side, _)) = side else { continue };
            let config = match &flow.protocol {
                Protocol::Tcp(config) => config.as_ref(),
                Protocol::Mptcp(config) => {
                    let wanted = subflows(config, side, settings.interfaces.len(), i)?;
                    let first = settings.subflows.get_or_insert_with(|| wanted.clone());
                    if *first != wanted {
                        let value = config.path_manager.name();
                        let allowed = format!(
                            "the same, and at the same end, for all flows of the external host {}, \
                             whose kernel has one path manager for all",
                            host.name
                        );
                        let field = format!("flows[{i}].mptcp.path_manager");
                        return Err(InputError::field(field, value, allowed).into());
                    }
                    &config.subflow
                }
                Protocol::Sctp(_) | Protocol::Udp(_) => continue,
            };
            let field = |name: &str| format!("flows[{i}].tcp.{name}");
            for (name, path, value) in of_kernel(config) {
                if let Some(other) = sysctls.insert(path, value.clone())
                    && other != value
                {
                    let allowed = format!(
                        "the same for all flows of the external host {}, whose kernel has one \
                         setting ({path}) for all",
                        host.name
                    );
                    return Err(InputError::field(field(name), value, allowed).into());
                }
            }
            settings.quick_ack |= config.delayed_ack.count == 1 && !config.adaptive_acks;
            if !sends(flow, side) {
                continue;
            }
            let name = controls.offer(&config.window, &field("window"), &host.name)?;
            let first = settings.congestion_control.get_or_insert_with(|| name.clone());
            if *first != name && has_programs(&host.name) {
                let allowed = format!(
                    "the same for all flows of the external host {}, whose programs have one \
                     default ({first})",
                    host.name
                );
                return Err(InputError::field(field("window"), name, allowed).into());
            }
            own_windows |= *first != name;
            let window = config.initial_window.octets(config.mss.into()) / u64::from(config.mss);
            settings.initial_window.get_or_insert(window as u32);
            let min_rto = config.rto.min.as_millis();
            settings.min_rto.get_or_insert(min_rto.max(1) as u32);
        }
        if own_windows {
            // A route's takes the place of what a socket has asked for.
            settings.congestion_control = None;
        }
        let path = |(name, value): (&str, String)| (format!("ipv4/{name}"), value);
        // A setting of the host's own takes the place of what its flows ask for, which the kernel
        // may not know.
        let own: BTreeMap<String, String> = host.settings().collect();
        let of_flows = sysctls.into_iter().map(path).filter(|(path, _)| !own.contains_key(path));
        settings.sysctls = of_flows.chain(host.settings()).collect();
        list.push(settings);
    }
    Ok(list)
}

/// What the kernel at this end of flow `i` over Multipath TCP is told, whose host has so many
/// interfaces. Linux opens subflows at the side that opened the connection: from its endpoints to
/// the peer's first address and, in a full mesh, to those that the peer announces. Without endpoints
/// it opens them to what is announced alone, from where its routes lead there.
fn subflows(
    config: &anabranch_mptcp::Config,
    side: Side,
    interfaces: usize,
    i: usize,
) -> Result<SubflowSettings, InputError> {
    let refuse = |name: &str, manager: PathManager, allowed: &str| {
        let field = format!("flows[{i}].mptcp.{name}");
        Err(InputError::field(field, manager.name(), allowed.to_owned()))
    };
    let others = |flags: u32| (1..interfaces).map(move |i| (i, flags));
    if side == Side::Server {
        let passive = config.passive_path_manager;
        if passive != PathManager::Single {
            let allowed = "\"single\" with an external host as `to`: Linux opens no subflows there";
            return refuse("passive_path_manager", passive, allowed);
        }
        let endpoints = others(mptcp::SIGNAL).collect();
        return Ok(SubflowSettings { several: true, endpoints });
    }
    let mesh = mptcp::SUBFLOW | mptcp::FULL_MESH;
    let endpoints = match config.path_manager {
        PathManager::Single | PathManager::Pairs | PathManager::Signal => Vec::new(),
        PathManager::FullMesh => (0..interfaces).map(|i| (i, mesh)).collect(),
        // The endpoint of the first subflow would make a backup of it.
        PathManager::Backup => others(mesh | mptcp::BACKUP).collect(),
        manager @ PathManager::NDiffports(_) => {
            let allowed = "a path manager that Linux has: \"single\", \"full-mesh\", \"pairs\", \
                           \"signal\", \"backup\", with an external host as `from`";
            return refuse("path_manager", manager, allowed);
        }
    };
    let several = config.path_manager != PathManager::Single;
    Ok(SubflowSettings { several, endpoints })
}

/// The options that a namespace has for all its connections: field, file, value.
fn of_kernel(config: &Config) -> [(&'static str, &'static str, String); 7] {
    let flag = |on: bool| u8::from(on).to_string();
    let rack = matches!(config.recovery, Recovery::Rack(_) | Recovery::DecoupledRack(_));
    let ecn = match config.ecn {
        EcnMode::Off => 0,
        EcnMode::On | EcnMode::Dctcp => 1,
        EcnMode::Passive => 2,
        EcnMode::Accurate => 3,
    };
    [
        ("sack", "tcp_sack", flag(config.sack)),
        ("dsack", "tcp_dsack", flag(config.dsack)),
        ("timestamps", "tcp_timestamps", flag(config.timestamps)),
        ("window_scale", "tcp_window_scaling", flag(config.window_scale)),
        ("recovery", "tcp_recovery", flag(rack)),
        ("recovery", "tcp_early_retrans", if rack { "3" } else { "0" }.to_owned()),
        ("ecn", "tcp_ecn", ecn.to_string()),
    ]
}

/// Destinations that the first interface, whose node this is, does not lead to,
/// and the interface that does.
fn destinations(graph: &Graph<'_>, book: &AddressBook, first: usize) -> Vec<(IpAddr, usize)> {
    let own: Vec<usize> = graph.siblings(first).collect();
    let others = graph.interfaces().filter(|node| !own.contains(node));
    let leading = others.filter_map(|to| {
        let by = own.iter().position(|from| graph.reaches(*from, to)).filter(|by| *by > 0)?;
        Some((book.ip(Addr(to as u32))?, by))
    });
    leading.collect()
}

/// The least MTU of the links that leave a node.
fn mtu(scenario: &Scenario, node: &str) -> u32 {
    let leaving = scenario.links.iter().filter_map(|link| match &link.ends {
        [a, _] if a == node => Some(link.forward.mtu),
        [_, b] if b == node => Some(link.reverse.mtu),
        _ => None,
    });
    leaving.map(|mtu| mtu.0).min().unwrap_or(1500).clamp(68, 65_535) as u32
}
