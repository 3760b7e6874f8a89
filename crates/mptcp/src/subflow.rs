//! A subflow: a TCP connection, and what the whole keeps of it.

use crate::mapping::{ReceivedMap, SentMap};
use crate::path_manager::Wanted;
use crate::scheduler::Candidate;
use anabranch_endpoint::{Endpoint, PathObservation, PathState, Timer};
use anabranch_tcp::{Connection as Tcp, State as TcpState};
use anabranch_units::{Span, Time};
use anabranch_wire::tcp::mptcp::MptcpOption;
use anabranch_wire::{Addr, FlowKey};

/// How far a subflow has come (RFC 8684 §3.1, §3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// The first one: its handshake is the connection's.
    First,
    /// Opened by this side: MP_JOIN is on its SYN.
    Joining {
        /// This side's random number.
        nonce: u32,
    },
    /// Both HMACs are sent; the peer has not acknowledged the third ACK, which is
    /// sent again until it does. No data yet (PRE_ESTABLISHED of §3.2).
    Unconfirmed {
        /// This side's HMAC.
        mac: [u8; 20],
    },
    /// Opened by the peer; its HMAC has not come.
    Joined {
        /// This side's random number.
        nonce: u32,
        /// The peer's.
        peer: u32,
    },
    /// It carries data.
    Ready,
}

/// A subflow.
#[derive(Debug)]
pub(crate) struct Subflow {
    pub tcp: Tcp,
    /// Names it in bit masks; free again when it is gone.
    pub id: u32,
    /// Number of its path in the ledger.
    pub path: usize,
    pub stage: Stage,
    /// Which of the path manager's it is, where this side opened it.
    pub wanted: Option<Wanted>,
    /// Number of this side's address, and of the peer's.
    pub own_address: u8,
    pub peer_address: u8,
    /// This side wants it to be a backup; the peer does.
    pub backup: bool,
    pub peer_backup: bool,
    pub sent: SentMap,
    pub received: ReceivedMap,
    /// The data offset after the last that it was given.
    pub sent_to: u64,
    /// Its last segments were lost to a timeout, and nothing was acknowledged
    /// since.
    pub failed: bool,
    /// Timeouts and acknowledged offset that are known already.
    pub timeouts: u32,
    pub una: u64,
    /// When it may be penalised again.
    pub penalty: Time,
    /// The third ACK is sent again, and how often it was.
    pub timer: Timer,
    pub tries: u32,
    /// What leaves with the next ACK.
    pub options: Vec<MptcpOption>,
    /// What leaves with its reset.
    pub farewell: Option<MptcpOption>,
    /// Its FIN was asked for.
    pub closed: bool,
    /// It has ended; only a reset may still have to leave.
    pub gone: bool,
    /// Its address was removed: it is not opened again.
    pub removed: bool,
    /// Addresses and ports of what it sends.
    pub key: FlowKey,
    /// Octets new to the stream that came over it.
    pub brought: u64,
}

impl Subflow {
    pub fn new(tcp: Tcp, id: u32, path: usize, stage: Stage) -> Subflow {
        let key = tcp.flow_key();
        Subflow {
            tcp,
            id,
            path,
            stage,
            wanted: None,
            own_address: 0,
            peer_address: 0,
            backup: false,
            peer_backup: false,
            sent: SentMap::default(),
            received: ReceivedMap::default(),
            sent_to: 1,
            failed: false,
            timeouts: 0,
            una: 0,
            penalty: Time::ZERO,
            timer: Timer::IDLE,
            tries: 0,
            options: Vec::new(),
            farewell: None,
            closed: false,
            gone: false,
            removed: false,
            key,
            brought: 0,
        }
    }

    pub fn bit(&self) -> u64 {
        1 << self.id
    }

    /// It carries data in the direction of the peer.
    pub fn is_usable(&self) -> bool {
        let open = matches!(self.tcp.state(), TcpState::Established | TcpState::CloseWait);
        self.stage == Stage::Ready && open && !self.closed
    }

    /// Either side wants it to be a backup (RFC 8684 §3.3.8).
    pub fn is_backup(&self) -> bool {
        self.backup || self.peer_backup
    }

    /// Address and port of this side, and of the peer.
    pub fn key(&self) -> FlowKey {
        self.key
    }

    pub fn local(&self) -> Addr {
        self.key().src
    }

    pub fn srtt(&self) -> Span {
        self.tcp.rtt().srtt().unwrap_or(Span::from_secs(1))
    }

    /// As a scheduler sees it.
    pub fn candidate(&self, has_room: bool) -> Candidate {
        let sibling = self.tcp.sibling();
        Candidate {
            id: self.id,
            has_room,
            srtt: self.srtt(),
            rttvar: self.tcp.rtt().rttvar().unwrap_or(Span::ZERO),
            cwnd: sibling.window,
            in_flight: self.tcp.in_flight(),
            mss: self.tcp.mss(),
            sent_to: self.sent_to,
        }
    }

    /// As observers see it.
    pub fn observe(&self) -> PathObservation {
        let it = self.tcp.observe();
        let state = match self.stage {
            Stage::Ready if self.failed => PathState::PotentiallyFailed,
            Stage::Ready if self.is_usable() => PathState::Active,
            Stage::Ready => PathState::Inactive,
            _ => PathState::Unconfirmed,
        };
        PathObservation {
            local: self.key().src,
            remote: self.key().dst,
            subflow: Some(self.wanted.map_or(0, |it| it.copy)),
            state,
            cwnd: it.cwnd,
            ssthresh: it.ssthresh,
            in_flight: it.in_flight,
            srtt: it.srtt,
            rto: it.rto,
            errors: self.tcp.rtt().backoff(),
            timeouts: it.timeouts,
            fast_retransmits: it.fast_retransmits,
            packets: it.packets_sent,
            retransmitted: it.retransmitted_packets,
            bytes_acked: it.bytes_acked,
            bytes_received: Some(self.brought),
            heartbeats: 0,
        }
    }
}
