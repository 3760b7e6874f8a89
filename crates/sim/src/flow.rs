//! Flows: two endpoints, their applications and dates.

use crate::app::App;
use anabranch_endpoint::CloseReason;
use anabranch_network::NodeId;
use anabranch_units::Time;

/// A flow of a simulation, in the order in which they were added.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowId(pub u32);

impl FlowId {
    /// The number of the endpoint of a side.
    pub(crate) const fn endpoint(self, side: Side) -> u32 {
        self.0 << 1 | side as u32
    }

    /// Returns the flow and the side of the endpoint with this number.
    pub(crate) fn of_endpoint(number: u32) -> (FlowId, Side) {
        (FlowId(number >> 1), if number & 1 == 0 { Side::Client } else { Side::Server })
    }
}

/// A side of a flow, by who opens the connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// The side that opens the connection.
    Client = 0,
    /// The side that waits for the connection.
    Server = 1,
}

impl Side {
    /// Returns the other side of the flow.
    #[must_use]
    pub const fn peer(self) -> Side {
        match self {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        }
    }
}

/// Description of a flow. The endpoints must be bound to the addresses and
/// ports given here (`SimulationBuilder::addr`).
#[derive(Clone, Debug)]
pub struct FlowSpec<E> {
    /// Name; flows may share one, which is then stored once.
    pub name: String,
    /// Node and port of the client; of an interface, the port of its host.
    pub client: (NodeId, u16),
    /// Node and port of the server.
    pub server: (NodeId, u16),
    /// The endpoint that connects.
    pub client_endpoint: E,
    /// The endpoint that listens.
    pub server_endpoint: E,
    /// What runs on the client.
    pub client_app: App,
    /// What runs on the server.
    pub server_app: App,
    /// Time at which the client connects.
    pub start: Time,
    /// Time at which both applications stop: one with an endless stream aborts, one of known length
    /// is left to finish.
    pub stop: Option<Time>,
    /// Carry real octets of a pattern that depends on the position alone, and
    /// check them at the reader.
    pub octets: bool,
}

/// What became of a flow by the end of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowResult {
    /// Time at which the client connected or was to connect.
    pub start: Time,
    /// Time at which the last octet of all streams of known length reached the receiving
    /// application; `None` when it did not, or for endless streams.
    pub finish: Option<Time>,
    /// Octets that the server's application received.
    pub bytes: u64,
    /// Octets that the client's application received.
    pub reverse_bytes: u64,
    /// Data packets sent again, by both sides.
    pub retransmitted_packets: u64,
    /// Entries into fast retransmit, of both sides.
    pub fast_retransmits: u64,
    /// Expiries of the retransmission timers of both sides.
    pub timeouts: u64,
    /// Reductions of the window that were undone, of both sides.
    pub undone_reductions: u64,
    /// Tail loss probes, of both sides.
    pub tail_loss_probes: u64,
    /// Retransmissions that turned out spurious to the sender, of both sides; see
    /// [`Observation`](anabranch_endpoint::Observation).
    pub spurious_retransmissions: u64,
    /// The connection was established at the client.
    pub established: bool,
    /// Why the client's endpoint ended, once it has.
    pub closed: Option<CloseReason>,
    /// Octets that differed from the pattern (runs with real octets).
    pub wrong_octets: u64,
}
