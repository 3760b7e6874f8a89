//! The endpoint of any flow of a scenario, whatever its transport.

use crate::moving::Moving;
use anabranch_attack::Crooked;
use anabranch_endpoint::{
    ByteStream, Endpoint, Event, Messages, Observation, PathObservation, PeerMemory,
};
use anabranch_mptcp::{Connection as Multipath, Phase};
use anabranch_sctp::Association;
use anabranch_tcp::{Connection, State};
use anabranch_units::Time;
use anabranch_wire::{FlowKey, Packet};

/// An endpoint of one of the transports. All but TCP are boxed, so that a
/// hundred thousand idle connections are not larger for their sake.
#[expect(
    clippy::large_enum_variant,
    reason = "TCP, the usual one, stands in place: a box would cost a load with each packet"
)]
pub enum Transport {
    /// RFC 9293.
    Tcp(Connection),
    /// RFC 9260.
    Sctp(Box<Association>),
    /// RFC 9260 with addresses that change, RFC 5061.
    Moving(Box<Moving>),
    /// RFC 8684.
    Mptcp(Box<Multipath>),
    /// Any of them, of a peer that does not tell the truth.
    Crooked(Box<Crooked<Transport>>),
    /// A socket of a kernel, in live runs.
    #[cfg(target_os = "linux")]
    Kernel(Box<anabranch_live::KernelSocket>),
}

/// The same expression for whichever transport it is.
macro_rules! each {
    ($self:expr, $it:ident => $value:expr) => {
        match $self {
            Transport::Tcp($it) => $value,
            Transport::Sctp($it) => $value,
            Transport::Moving($it) => $value,
            Transport::Mptcp($it) => $value,
            Transport::Crooked($it) => $value,
            #[cfg(target_os = "linux")]
            Transport::Kernel($it) => $value,
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

impl From<Moving> for Transport {
    fn from(moving: Moving) -> Transport {
        Transport::Moving(Box::new(moving))
    }
}

impl From<Multipath> for Transport {
    fn from(connection: Multipath) -> Transport {
        Transport::Mptcp(Box::new(connection))
    }
}

impl From<Crooked<Transport>> for Transport {
    fn from(crooked: Crooked<Transport>) -> Transport {
        Transport::Crooked(Box::new(crooked))
    }
}

impl Transport {
    /// Nothing is left of the connection but TIME-WAIT (RFC 9293 §3.6).
    #[cfg(target_os = "linux")]
    pub(crate) fn is_in_time_wait(&self) -> bool {
        match self {
            Transport::Tcp(it) => it.state() == State::TimeWait,
            Transport::Mptcp(it) => it.is_in_time_wait(),
            Transport::Crooked(it) => it.inner().is_in_time_wait(),
            Transport::Sctp(_) | Transport::Moving(_) | Transport::Kernel(_) => false,
        }
    }

    /// Whether a connection of Multipath TCP goes on as TCP; `None` for other
    /// transports.
    pub fn has_fallen_back(&self) -> Option<bool> {
        match self {
            Transport::Mptcp(it) => Some(it.phase() == Phase::Fallback),
            Transport::Crooked(it) => it.inner().has_fallen_back(),
            _ => None,
        }
    }
}

impl Endpoint for Transport {
    #[inline]
    fn handle_input(&mut self, now: Time, packet: &Packet) {
        each!(self, it => it.handle_input(now, packet));
    }

    #[inline]
    fn handle_timeout(&mut self, now: Time) {
        each!(self, it => it.handle_timeout(now));
    }

    #[inline]
    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        each!(self, it => it.poll_transmit(now))
    }

    #[inline]
    fn poll_event(&mut self) -> Option<Event> {
        each!(self, it => it.poll_event())
    }

    #[inline]
    fn poll_timeout(&self) -> Time {
        each!(self, it => it.poll_timeout())
    }

    fn progress_timeout(&self) -> Time {
        each!(self, it => it.progress_timeout())
    }

    fn status(&self) -> String {
        each!(self, it => it.status())
    }

    fn observe(&self) -> Observation {
        each!(self, it => it.observe())
    }

    fn observe_path(&self, path: usize) -> Option<PathObservation> {
        each!(self, it => it.observe_path(path))
    }

    fn recall(&mut self, memory: &PeerMemory) {
        each!(self, it => it.recall(memory));
    }

    fn has_learnt(&self) -> bool {
        each!(self, it => it.has_learnt())
    }

    fn remember(&mut self, memory: &mut PeerMemory) {
        each!(self, it => it.remember(memory));
    }

    fn flow_key(&self) -> FlowKey {
        each!(self, it => it.flow_key())
    }

    fn memory(&self) -> u64 {
        each!(self, it => it.memory())
    }

    fn lingers(&self) -> bool {
        each!(self, it => it.lingers())
    }

    fn gives_way_to(&self, packet: &Packet) -> bool {
        each!(self, it => it.gives_way_to(packet))
    }

    fn has_flow(&self, key: FlowKey) -> bool {
        each!(self, it => it.has_flow(key))
    }

    fn join_token(&self) -> Option<u32> {
        each!(self, it => it.join_token())
    }
}

impl ByteStream for Transport {
    fn connect(&mut self, now: Time) {
        each!(self, it => it.connect(now));
    }

    fn write(&mut self, len: u64) -> u64 {
        each!(self, it => it.write(len))
    }

    fn write_octets(&mut self, octets: &[u8]) -> usize {
        each!(self, it => it.write_octets(octets))
    }

    fn room(&self) -> u64 {
        each!(self, it => it.room())
    }

    #[inline]
    fn read(&mut self, max: u64) -> u64 {
        each!(self, it => it.read(max))
    }

    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        each!(self, it => it.read_octets(buf))
    }

    fn close(&mut self) {
        each!(self, it => it.close());
    }

    #[inline]
    fn has_half_close(&self) -> bool {
        each!(self, it => it.has_half_close())
    }

    fn messages(&mut self) -> Option<&mut dyn Messages> {
        each!(self, it => it.messages())
    }

    fn abort(&mut self) {
        each!(self, it => it.abort());
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
