//! The subflows of a kernel's Multipath TCP connection, by `MPTCP_TCPINFO`,
//! `MPTCP_SUBFLOW_ADDRS` and `MPTCP_INFO` (include/uapi/linux/mptcp.h, Linux 5.16
//! and later; an older kernel tells nothing, and the connection has no paths).
//!
//! A subflow that is gone keeps the numbers of the last look at it.

use crate::couplings::{Couplings, Place};
use crate::info::{MptcpInfo, TcpInfo};
use crate::sys::socket::{mptcp_info, mptcp_subflows};
use anabranch_endpoint::{Observation, PathObservation, PathState};
use anabranch_wire::AddressBook;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// What has been seen of a connection's subflows, the oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subflows {
    book: Arc<AddressBook>,
    list: Vec<Subflow>,
    connection: MptcpInfo,
    /// The couplings of the window algorithm, where it is ours.
    couplings: Option<Arc<Couplings>>,
    place: Place,
}

#[derive(Clone, Debug)]
struct Subflow {
    ends: [SocketAddr; 2],
    info: TcpInfo,
    seen: PathObservation,
    is_there: bool,
}

impl Subflows {
    /// Makes the subflows of a connection that has none yet, of hosts with these addresses;
    /// `couplings` where the window algorithm is ours and coupled.
    pub(crate) fn new(book: Arc<AddressBook>, couplings: Option<Arc<Couplings>>) -> Subflows {
        Subflows { book, couplings, ..Subflows::default() }
    }

    /// Reads the subflows from the kernel.
    pub(crate) fn look(&mut self, fd: &OwnedFd) {
        let Ok(found) = mptcp_subflows(fd) else { return };
        if let Ok(info) = mptcp_info(fd) {
            self.connection = info;
        }
        for subflow in &mut self.list {
            subflow.is_there = false;
        }
        for (ends, info) in found {
            self.see(ends, info);
        }
        for subflow in self.list.iter_mut().filter(|subflow| !subflow.is_there) {
            (subflow.seen.state, subflow.seen.in_flight) = (PathState::Inactive, 0);
        }
        self.look_at_couplings();
    }

    fn look_at_couplings(&mut self) {
        let Some(couplings) = &self.couplings else { return };
        let token = self.connection.get("token") as u32;
        for (ports, value) in couplings.of(token, &mut self.place) {
            let is = |subflow: &&mut Subflow| {
                subflow.is_there && subflow.ends.map(|end| end.port()) == ports
            };
            if let Some(subflow) = self.list.iter_mut().find(is) {
                subflow.seen.coupling = Some(value);
            }
        }
    }

    fn see(&mut self, ends: [SocketAddr; 2], info: TcpInfo) {
        // A socket of both families has those of IPv4 within those of IPv6.
        let ends = ends.map(|end| SocketAddr::new(end.ip().to_canonical(), end.port()));
        let [local, remote] = ends.map(|end| self.book.addr(end.ip()));
        let (Some(local), Some(remote)) = (local, remote) else { return };
        let known = self.list.iter().position(|subflow| subflow.ends == ends);
        let between =
            |subflow: &&Subflow| (subflow.seen.local, subflow.seen.remote) == (local, remote);
        let number = match known {
            Some(at) => self.list[at].seen.subflow,
            None => u8::try_from(self.list.iter().filter(between).count()).ok(),
        };
        let told = info.observation();
        let seen = PathObservation {
            local,
            remote,
            subflow: number,
            state: if info.is_established() { PathState::Active } else { PathState::Inactive },
            cwnd: told.cwnd,
            ssthresh: told.ssthresh,
            in_flight: told.in_flight,
            srtt: told.srtt,
            rto: told.rto,
            errors: info.get("backoff") as u32,
            timeouts: told.timeouts,
            // A kernel does not tell.
            fast_retransmits: 0,
            ecn_reductions: 0,
            packets: told.packets_sent,
            retransmitted: told.retransmitted_packets,
            bytes_acked: told.bytes_acked,
            // A kernel counts what came twice as well.
            bytes_received: None,
            heartbeats: 0,
            coupling: known.and_then(|at| self.list[at].seen.coupling),
        };
        let subflow = Subflow { ends, info, seen, is_there: true };
        match known {
            Some(at) => self.list[at] = subflow,
            None => self.list.push(subflow),
        }
    }

    /// Returns a subflow as a path, by its age: 0 is the oldest.
    pub(crate) fn path(&self, number: usize) -> Option<PathObservation> {
        self.list.get(number).map(|subflow| subflow.seen)
    }

    /// What the kernel told of the connection and of each subflow, with its ends.
    pub(crate) fn facts(&self) -> (&MptcpInfo, impl Iterator<Item = (&[SocketAddr; 2], &TcpInfo)>) {
        (&self.connection, self.list.iter().map(|subflow| (&subflow.ends, &subflow.info)))
    }

    /// All of them as one; `None` when none has been seen. Windows are those of
    /// the subflows that are there, counts those of all.
    pub(crate) fn observation(&self) -> Option<Observation> {
        let connection = &self.connection;
        let mut all = Observation {
            bytes_acked: connection.get("bytes_acked"),
            bytes_received: connection.get("bytes_received"),
            ..Observation::default()
        };
        for subflow in &self.list {
            let told = subflow.info.observation();
            all.packets_sent += told.packets_sent;
            all.retransmitted_packets += told.retransmitted_packets;
            all.timeouts += told.timeouts;
            all.spurious_retransmissions += told.spurious_retransmissions;
            if !subflow.is_there {
                continue;
            }
            all.cwnd += told.cwnd;
            all.ssthresh = all.ssthresh.saturating_add(told.ssthresh);
            all.in_flight += told.in_flight;
            all.rto = all.rto.max(told.rto);
            all.in_recovery |= told.in_recovery;
            if told.srtt.is_some() && (all.srtt.is_none() || told.srtt < all.srtt) {
                all.srtt = told.srtt;
            }
        }
        (!self.list.is_empty()).then_some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::Addr;

    fn ends(local: &str, remote: &str) -> [SocketAddr; 2] {
        [local, remote].map(|text| text.parse().unwrap())
    }

    fn info(state: u8, cwnd: u32, segments: u32) -> TcpInfo {
        let mut octets = [0; TcpInfo::SIZE];
        octets[0] = state;
        octets[16..20].copy_from_slice(&1000_u32.to_ne_bytes());
        octets[80..84].copy_from_slice(&cwnd.to_ne_bytes());
        octets[156..160].copy_from_slice(&segments.to_ne_bytes());
        TcpInfo(octets)
    }

    #[test]
    fn a_path_keeps_its_place_and_its_number() {
        let mut subflows = Subflows::new(Arc::new(AddressBook::new()), None);
        assert_eq!((subflows.path(0), subflows.observation()), (None, None));
        subflows.see(ends("10.0.0.1:5", "10.0.0.3:7"), info(1, 10, 3));
        subflows.see(ends("10.0.0.1:6", "10.0.0.3:7"), info(1, 20, 4));
        subflows.see(ends("10.0.0.2:6", "10.0.0.4:7"), info(4, 30, 5));
        subflows.see(ends("10.0.0.1:5", "10.0.0.3:7"), info(1, 11, 9));
        subflows.see(ends("[::ffff:10.0.0.1]:6", "[::ffff:10.0.0.3]:7"), info(1, 20, 4));
        subflows.see(ends("192.0.2.1:5", "10.0.0.3:7"), info(1, 11, 9));
        let paths: Vec<_> = (0..).map_while(|n| subflows.path(n)).collect();
        let told: Vec<_> = paths
            .iter()
            .map(|subflows| (subflows.local, subflows.remote, subflows.subflow))
            .collect();
        let [a, b, c, d] = [0, 1, 2, 3].map(Addr);
        assert_eq!(told, [(a, c, Some(0)), (a, c, Some(1)), (b, d, Some(0))]);
        assert_eq!((paths[0].cwnd, paths[0].packets), (11_000, 9));
        assert_eq!(paths[2].state, PathState::Inactive);
        let all = subflows.observation().unwrap();
        assert_eq!((all.cwnd, all.packets_sent), (61_000, 18));
    }
}
