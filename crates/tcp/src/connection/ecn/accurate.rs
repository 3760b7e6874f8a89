//! More accurate ECN feedback: RFC 9768, between two hosts that agreed on it.
//!
//! The two halves are machines of their own: [`Counters`] is the data receiver,
//! [`Tally`] the data sender. Here is what joins them to the connection: the
//! handshake's encoding of IP-ECN fields (§3.1.1, §3.2.2.1), the ACE field on
//! every segment after it (§3.2.2), and room for the option (§3.2.3).
//!
//! docs/tcp.md lists the sections with the choices made, and what is left out.

use super::counters::Counters;
use super::tally::{Marks, Tally, may_become};
use super::{Connection, EcnState};
use crate::ack::Ack;
use crate::state::State;
use anabranch_units::Time;
use anabranch_wire::{Ecn, Packet, TcpFlags, TcpSegment};

/// AE, CWR and ECE, in this order the ACE field (§3.2.2).
const FIELD: u16 = TcpFlags::AE.0 | TcpFlags::CWR.0 | TcpFlags::ECE.0;
const SHIFT: u32 = TcpFlags::ECE.0.trailing_zeros();

/// The three bits of a segment.
pub(super) fn field(segment: &TcpSegment) -> u8 {
    ((segment.flags.0 & FIELD) >> SHIFT) as u8
}

/// A segment's flags for three bits.
pub(super) fn flags(field: u8) -> TcpFlags {
    TcpFlags((field as u16) << SHIFT & FIELD)
}

/// The handshake's encoding of an IP-ECN field (tables 2 and 3).
fn encoded(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

pub(super) fn decoded(field: u8) -> Option<Ecn> {
    [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].into_iter().find(|ecn| encoded(*ecn) == field)
}

/// AccECN as both ends agreed on it.
#[derive(Clone, Copy, Debug)]
pub(in crate::connection) struct Accurate {
    counters: Counters,
    tally: Tally,
    /// Packets that this side sends may be ECN-capable.
    pub ect: bool,
    /// Feedback is believed (§3.2.2.4).
    responds: bool,
    /// The codepoint of the peer's SYN or SYN-ACK as it came.
    pub peer_syn: Ecn,
    /// Our SYN asked for AccECN.
    asked: bool,
    /// The client's ACK of a SYN-ACK is due: a pure ACK, whose field tells
    /// `peer_syn`.
    answers_syn_ack: bool,
    /// The segment at hand ended the handshake: its field is no counter.
    ends_handshake: bool,
    /// Options are sent at all.
    pub sends_options: bool,
    /// The next segment carries an option whatever has come: the client's first
    /// ACK, and its first data.
    first_ack: bool,
    first_data: bool,
}

impl Accurate {
    /// The host saw the peer's SYN or SYN-ACK.
    pub fn new(peer_syn: Ecn, client: bool) -> Accurate {
        let mut counters = Counters::new();
        // CE on a SYN is not counted, on a SYN-ACK it is (§3.2.2).
        counters.cep += (client && peer_syn == Ecn::Ce) as u32;
        Accurate {
            counters,
            tally: Tally::new(),
            ect: true,
            responds: true,
            peer_syn,
            asked: client,
            answers_syn_ack: false,
            ends_handshake: false,
            sends_options: true,
            first_ack: client,
            first_data: client,
        }
    }

    /// Flags of the SYN-ACK after so many timeouts: twice as agreed, then
    /// without, in case somebody dislikes them (§3.2.3.2.2).
    pub fn syn_ack_flags(&mut self, timeouts: u32) -> TcpFlags {
        self.sends_options &= timeouts == 0;
        if timeouts < 2 { flags(encoded(self.peer_syn)) } else { TcpFlags::default() }
    }

    /// The field of a segment that acknowledges.
    pub fn ace(&self) -> TcpFlags {
        let field = match self.answers_syn_ack {
            true => encoded(self.peer_syn),
            false => self.counters.cep as u8 & 0b111,
        };
        flags(field)
    }

    /// Fields of the option that a segment with data or without carries.
    fn option(&self, now: Time, rtt: Option<anabranch_units::Span>, data: bool) -> Option<u8> {
        let forced = self.first_ack || data && self.first_data;
        match (self.sends_options, forced) {
            (false, _) => None,
            (true, true) => Some(3),
            (true, false) => self.counters.due(now, rtt),
        }
    }
}

/// Octets of a header that an option with so many fields takes.
fn room(fields: u8) -> u64 {
    (2 + 3 * fields as u64).next_multiple_of(4)
}

impl Connection {
    /// AccECN is agreed on with the peer's SYN or SYN-ACK, which came as `ecn`;
    /// `told` is what a SYN-ACK says of our SYN, which left as `sent`.
    pub(super) fn begin_accurate(
        &mut self,
        segment: &TcpSegment,
        ecn: Ecn,
        told: Option<Ecn>,
        sent: Ecn,
    ) {
        let client = told.is_some();
        let mut state = Accurate::new(ecn, client);
        state.asked = self.phase.asked().is_ours();
        if let Some(arrived) = told {
            // §3.1.5: no ECT where a SYN without ECN has been sent.
            state.ect = may_become(sent, arrived) && !self.phase.asked().is_taken_back();
            state.answers_syn_ack = true;
            state.tally.on_handshake(segment.options.acc_ecn.as_deref());
        }
        self.extras.get().ecn = Some(EcnState::Accurate(Box::new(state)));
        if told == Some(Ecn::Ce) {
            self.on_marked_syn();
        }
    }

    /// Our SYN or SYN-ACK met congestion: one segment at first
    /// (draft-ietf-tcpm-generalized-ecn §3.2.1.4 and §3.2.2.3), unless the user
    /// set the window.
    fn on_marked_syn(&mut self) {
        if !matches!(self.config.initial_window, crate::config::InitialWindow::Segments(_)) {
            self.sender.congestion.on_idle(self.sender.mss);
        }
    }

    /// The SYN-ACK came again: its ACK is encoded as the first was (§3.2.2.1).
    pub(in crate::connection) fn on_repeated_syn_ack(&mut self) {
        let blocks = self.receiver.has_blocks();
        if let Some(EcnState::Accurate(state)) = self.extras.ecn_mut() {
            state.answers_syn_ack = state.asked && !blocks;
        }
    }

    /// Reads the segment that acknowledges our SYN-ACK, in SYN-RECEIVED (table 4).
    pub(in crate::connection) fn on_handshake_acked(&mut self, segment: &TcpSegment) {
        let sent = self.control_ecn();
        let Some(EcnState::Accurate(state)) = self.extras.ecn_mut() else { return };
        state.tally.on_handshake(segment.options.acc_ecn.as_deref());
        let pure = segment.payload.is_empty()
            && segment.options.sack.is_empty()
            && !segment.flags.contains(TcpFlags::FIN);
        if !pure {
            return; // a counter
        }
        state.ends_handshake = true;
        let field = field(segment);
        let arrived = decoded(field);
        state.tally.on_handshake_field(arrived == Some(Ecn::Ce));
        state.responds = field != 0;
        state.ect &= field != 0 && arrived.is_none_or(|arrived| may_become(sent, arrived));
        if arrived == Some(Ecn::Ce) && sent != Ecn::NotEct {
            self.on_marked_syn();
        }
    }

    pub(super) fn on_accurate_field(&mut self, ecn: Ecn, octets: u32) {
        let (owes, sack) = (self.receiver.owes_ack(), self.agreed.sack);
        let Some(EcnState::Accurate(state)) = self.extras.ecn_mut() else { return };
        // An ACK of ACKs is told from a duplicate where SACK is in use.
        self.receiver.ack_now |= state.counters.on_packet(ecn, octets, owes, sack);
    }

    /// The client's ACK of the SYN-ACK leaves before data: a pure ACK.
    pub(super) fn answer_syn_ack(&mut self, now: Time) -> Option<Packet> {
        match self.extras.ecn() {
            Some(EcnState::Accurate(state)) if state.answers_syn_ack => {}
            _ => return None,
        }
        let packet = self.pure_ack(now);
        if let Some(EcnState::Accurate(state)) = self.extras.ecn_mut() {
            state.answers_syn_ack = false;
        }
        Some(packet)
    }

    /// The feedback of a segment at `start` that newly acknowledges something, or
    /// brings data that is new and in order: whether it echoes congestion, and the octets marked.
    #[inline(never)]
    pub(in crate::connection) fn read_accurate(
        &mut self,
        segment: &TcpSegment,
        start: u64,
        ack: &mut Ack,
    ) {
        let delivered = ack.delivered;
        let in_order = start >= self.receiver.nxt && !segment.payload.is_empty();
        let (mss, sent) = (self.sender.mss, self.config.ect.codepoint());
        (ack.echoes_congestion, ack.marked) = (false, Some(0));
        let Some(EcnState::Accurate(state)) = self.extras.ecn_mut() else { return };
        if std::mem::take(&mut state.ends_handshake) {
            return;
        }
        let ace = field(segment);
        if !state.tally.is_first_sane(ace, delivered, mss) {
            (state.ect, state.responds) = (false, false);
        }
        // What says nothing new may be older than what was heard (A.1).
        if delivered == 0 && !in_order {
            return;
        }
        let option = segment.options.acc_ecn.as_deref();
        let marks = state.tally.on_feedback(ace, option, delivered, mss);
        // Without a delivery the option has not been read.
        if state.ect && delivered > 0 {
            let full = option.is_some_and(|option| option.fields() == 3);
            state.ect = state.tally.is_path_honest(sent, delivered, full, mss);
        }
        if state.responds && delivered > 0 {
            ack.echoes_congestion = marks != Marks::default();
            ack.marked = Some(marks.octets.min(u32::MAX.into()) as u32);
        }
    }

    /// Octets that a segment of new data from `start` leaves free for an option.
    #[inline(never)]
    pub(in crate::connection) fn room_for_option(&self, now: Time, start: u64) -> u64 {
        match self.extras.ecn() {
            Some(EcnState::Accurate(state)) if start >= self.sender.max => {
                state.option(now, self.sender.rtt.srtt(), true).map_or(0, room)
            }
            _ => 0,
        }
    }

    /// The option for a SYN-ACK.
    pub(in crate::connection) fn put_option_in_syn_ack(&mut self, segment: &mut TcpSegment) {
        if self.state() == State::SynReceived
            && let Some(EcnState::Accurate(state)) = self.extras.ecn()
            && state.sends_options
            && segment.options.wire_len() as u64 + room(3) <= 40
        {
            segment.options.acc_ecn = Some(Box::new(state.counters.option(3)));
        }
    }

    /// A segment acknowledges: puts in the option, where it is due and fits, and
    /// returns how many SACK blocks of `most` do beside it. Data that is sent
    /// again carries none (§3.2.3.2.2).
    #[inline(never)]
    pub(in crate::connection) fn put_option(
        &mut self,
        now: Time,
        segment: &mut TcpSegment,
        most: usize,
    ) -> usize {
        let (mss, rtt) = (self.sender.mss, self.sender.rtt.srtt());
        let highest = self.iss.at(self.sender.max);
        let reserved = self.extras.reserved();
        let Some(EcnState::Accurate(state)) = self.extras.ecn_mut() else { return most };
        state.counters.on_ack_sent();
        let octets = segment.payload.len() as u64;
        if octets > 0 && segment.seq.is_before(highest) {
            return most;
        }
        let Some(fields) = state.option(now, rtt, octets > 0) else { return most };
        let free = 40_u64.saturating_sub(reserved + segment.options.wire_len() as u64);
        if octets > 0 && octets + room(fields) > mss || room(fields) > free {
            return most;
        }
        segment.options.acc_ecn = Some(Box::new(state.counters.option(fields)));
        state.counters.on_option_sent(now, fields);
        state.first_ack = false;
        state.first_data &= octets == 0;
        let left = (free - room(fields)).saturating_sub(4) / 8;
        most.min(left as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables 2 and 3 of RFC 9768.
    #[test]
    fn the_handshake_has_a_code_for_each_codepoint() {
        for (ecn, code) in
            [(Ecn::NotEct, 0b010), (Ecn::Ect1, 0b011), (Ecn::Ect0, 0b100), (Ecn::Ce, 0b110)]
        {
            assert_eq!((encoded(ecn), decoded(code)), (code, Some(ecn)));
        }
        for code in [0b000, 0b001, 0b101, 0b111] {
            assert_eq!(decoded(code), None);
        }
        assert_eq!(flags(0b100), TcpFlags::AE);
        assert_eq!(flags(0b010), TcpFlags::CWR);
        assert_eq!(flags(0b001), TcpFlags::ECE);
    }
}
