//! The endpoint of any flow of a scenario, whatever its transport.

use crate::mobile::MobileAssociation;
use anabranch_attack::Misbehaving;
use anabranch_endpoint::{
    ByteStream, Demultiplex, Endpoint, Event, HalfClose, MessageOriented, Messages, Observation,
    Observe, PathObservation, PeerMemory, Progress, TemporalSharing, TimeWait,
};
use anabranch_mptcp::{Connection as Multipath, Phase};
use anabranch_sctp::Association;
use anabranch_tcp::Connection;
#[cfg(target_os = "linux")]
use anabranch_tcp::State;
use anabranch_udp::Socket;
use anabranch_units::Time;
use anabranch_wire::{FlowKey, Packet};

/// An endpoint of one of the transports. All but TCP are boxed, so that a
/// hundred thousand idle connections are not larger for their sake.
#[expect(
    clippy::large_enum_variant,
    reason = "TCP, the usual one, stands in place: a box would cost a load with each packet"
)]
pub enum Transport {
    /// TCP (RFC 9293).
    Tcp(Connection),
    /// SCTP (RFC 9260).
    Sctp(Box<Association>),
    /// RFC 9260 with addresses that change, RFC 5061.
    Mobile(Box<MobileAssociation>),
    /// Multipath TCP (RFC 8684).
    Mptcp(Box<Multipath>),
    /// UDP (RFC 768).
    Udp(Box<Socket>),
    /// An endpoint of any transport, of a peer that does not tell the truth.
    Misbehaving(Box<Misbehaving<Transport>>),
    /// A socket of a kernel, in live runs.
    #[cfg(target_os = "linux")]
    Kernel(Box<anabranch_live::KernelSocket>),
    /// A UDP socket of a kernel.
    #[cfg(target_os = "linux")]
    KernelUdp(Box<anabranch_live::KernelDatagrams>),
}

/// Evaluates one expression on the endpoint that is held, whichever transport that is.
macro_rules! each {
    ($self:expr, $endpoint:ident => $value:expr) => {
        match $self {
            Transport::Tcp($endpoint) => $value,
            Transport::Sctp($endpoint) => $value,
            Transport::Mobile($endpoint) => $value,
            Transport::Mptcp($endpoint) => $value,
            Transport::Udp($endpoint) => $value,
            Transport::Misbehaving($endpoint) => $value,
            #[cfg(target_os = "linux")]
            Transport::Kernel($endpoint) => $value,
            #[cfg(target_os = "linux")]
            Transport::KernelUdp($endpoint) => $value,
        }
    };
}

impl From<Connection> for Transport {
    fn from(connection: Connection) -> Transport {
        Transport::Tcp(connection)
    }
}

impl From<Association> for Transport {
    fn from(association: Association) -> Transport {
        Transport::Sctp(Box::new(association))
    }
}

impl From<MobileAssociation> for Transport {
    fn from(mobile: MobileAssociation) -> Transport {
        Transport::Mobile(Box::new(mobile))
    }
}

impl From<Multipath> for Transport {
    fn from(connection: Multipath) -> Transport {
        Transport::Mptcp(Box::new(connection))
    }
}

impl From<Socket> for Transport {
    fn from(socket: Socket) -> Transport {
        Transport::Udp(Box::new(socket))
    }
}

impl From<Misbehaving<Transport>> for Transport {
    fn from(misbehaving: Misbehaving<Transport>) -> Transport {
        Transport::Misbehaving(Box::new(misbehaving))
    }
}

impl Transport {
    /// Nothing is left of the connection but TIME-WAIT (RFC 9293 §3.6).
    #[cfg(target_os = "linux")]
    pub(crate) fn is_in_time_wait(&self) -> bool {
        match self {
            Transport::Tcp(tcp) => tcp.state() == State::TimeWait,
            Transport::Mptcp(mptcp) => mptcp.is_in_time_wait(),
            Transport::Misbehaving(misbehaving) => misbehaving.inner().is_in_time_wait(),
            Transport::Sctp(_) | Transport::Mobile(_) | Transport::Udp(_) => false,
            Transport::Kernel(_) | Transport::KernelUdp(_) => false,
        }
    }

    /// Whether a connection of Multipath TCP goes on as TCP; `None` for other
    /// transports.
    pub fn has_fallen_back(&self) -> Option<bool> {
        match self {
            Transport::Mptcp(mptcp) => Some(mptcp.phase() == Phase::Fallback),
            Transport::Misbehaving(misbehaving) => misbehaving.inner().has_fallen_back(),
            _ => None,
        }
    }
}

impl Endpoint for Transport {
    #[inline]
    fn handle_input(&mut self, now: Time, packet: &Packet) {
        each!(self, endpoint => endpoint.handle_input(now, packet));
    }

    #[inline]
    fn handle_timeout(&mut self, now: Time) {
        each!(self, endpoint => endpoint.handle_timeout(now));
    }

    #[inline]
    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        each!(self, endpoint => endpoint.poll_transmit(now))
    }

    #[inline]
    fn poll_event(&mut self) -> Option<Event> {
        each!(self, endpoint => endpoint.poll_event())
    }

    #[inline]
    fn poll_timeout(&self) -> Time {
        each!(self, endpoint => endpoint.poll_timeout())
    }
}

impl ByteStream for Transport {
    fn connect(&mut self, now: Time) {
        each!(self, endpoint => endpoint.connect(now));
    }

    fn write(&mut self, len: u64) -> u64 {
        each!(self, endpoint => endpoint.write(len))
    }

    fn write_octets(&mut self, octets: &[u8]) -> usize {
        each!(self, endpoint => endpoint.write_octets(octets))
    }

    fn room(&self) -> u64 {
        each!(self, endpoint => endpoint.room())
    }

    #[inline]
    fn read(&mut self, max: u64) -> u64 {
        each!(self, endpoint => endpoint.read(max))
    }

    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        each!(self, endpoint => endpoint.read_octets(buf))
    }

    fn close(&mut self) {
        each!(self, endpoint => endpoint.close());
    }

    fn abort(&mut self) {
        each!(self, endpoint => endpoint.abort());
    }
}

impl HalfClose for Transport {
    #[inline]
    fn has_half_close(&self) -> bool {
        each!(self, endpoint => endpoint.has_half_close())
    }
}

impl MessageOriented for Transport {
    fn messages(&mut self) -> Option<&mut dyn Messages> {
        each!(self, endpoint => endpoint.messages())
    }
}

impl Observe for Transport {
    fn status(&self) -> String {
        each!(self, endpoint => endpoint.status())
    }

    fn observe(&self) -> Observation {
        each!(self, endpoint => endpoint.observe())
    }

    fn observe_path(&self, path: usize) -> Option<PathObservation> {
        each!(self, endpoint => endpoint.observe_path(path))
    }

    fn memory(&self) -> u64 {
        each!(self, endpoint => endpoint.memory())
    }
}

impl Demultiplex for Transport {
    fn flow_key(&self) -> FlowKey {
        each!(self, endpoint => endpoint.flow_key())
    }

    fn has_flow(&self, key: FlowKey) -> bool {
        each!(self, endpoint => endpoint.has_flow(key))
    }

    #[inline]
    fn accepts(&self, packet: &Packet) -> bool {
        match self {
            Transport::Tcp(connection) => connection.accepts(packet),
            Transport::Sctp(association) => association.accepts(packet),
            Transport::Mobile(mobile) => mobile.accepts(packet),
            Transport::Misbehaving(endpoint) => endpoint.accepts(packet),
            _ => true,
        }
    }

    fn join_token(&self) -> Option<u32> {
        each!(self, endpoint => endpoint.join_token())
    }
}

impl TemporalSharing for Transport {
    fn recall(&mut self, memory: &PeerMemory) {
        each!(self, endpoint => endpoint.recall(memory));
    }

    fn has_learnt(&self) -> bool {
        each!(self, endpoint => endpoint.has_learnt())
    }

    fn remember(&mut self, memory: &mut PeerMemory) {
        each!(self, endpoint => endpoint.remember(memory));
    }
}

impl TimeWait for Transport {
    fn lingers(&self) -> bool {
        each!(self, endpoint => endpoint.lingers())
    }

    fn gives_way_to(&self, packet: &Packet) -> bool {
        each!(self, endpoint => endpoint.gives_way_to(packet))
    }
}

impl Progress for Transport {
    fn progress_timeout(&self) -> Time {
        each!(self, endpoint => endpoint.progress_timeout())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_not_larger_for_the_others_sake() {
        assert_eq!(size_of::<Transport>(), size_of::<Connection>());
    }
}
