//! Segments: to which subflow they go, which of them count, and what their options
//! say (RFC 8684 §3).

use super::{Connection, Lifetime, Phase};
use crate::subflow::Stage;
use anabranch_endpoint::Endpoint;
use anabranch_tcp::State as TcpState;
use anabranch_units::Time;
use anabranch_wire::tcp::mptcp::{DataNumber, Dss, Mapping, MptcpOption, ResetReason};
use anabranch_wire::{Body, FlowKey, Packet, TcpFlags, TcpSegment};

/// What nearly every segment of a transfer says.
#[derive(Clone, Copy, Debug)]
struct Usual {
    /// The DATA_ACK of the segment.
    data_ack: DataNumber,
    /// The subflow offset before which everything is acknowledged.
    ack: u64,
    /// The subflow offset of the segment's first octet.
    at: u64,
    /// The data offset of the segment's first octet; `None` for a segment without data.
    data: Option<u64>,
}

impl Connection {
    /// A packet arrived for the connection.
    pub(super) fn on_packet(&mut self, now: Time, packet: &Packet) {
        let Body::Tcp(segment) = &packet.body else { return self.on_other(now, packet) };
        let key = FlowKey {
            src: packet.dst,
            dst: packet.src,
            protocol: TcpSegment::PROTOCOL,
            src_port: segment.dst_port,
            dst_port: segment.src_port,
        };
        match self.subflows.with_key(key) {
            Some(i) if self.on_usual_segment(now, i, packet, segment) => {
                // Nobody but this subflow has something to tell, as a rule.
                if self.readiness.is_only_uncollected(self.subflows[i].id)
                    && !self.sender.is_closed()
                {
                    return self.collect_one(now, i);
                }
            }
            Some(i) => {
                let before = self.session.phase();
                self.on_segment(now, i, packet, segment);
                self.collect(now);
                if before == Phase::Multipath && self.session.fallback().is_some() {
                    self.on_first_of_tcp(now, key, segment);
                }
                return;
            }
            None => self.on_stranger(now, packet, segment),
        }
        self.collect(now);
    }

    /// With this segment the connection has become TCP: what it acknowledges, and its window, are
    /// those of the stream. When it came they were taken for a subflow's.
    #[cold]
    fn on_first_of_tcp(&mut self, now: Time, key: FlowKey, segment: &TcpSegment) {
        if let Some(i) = self.subflows.with_key(key) {
            self.on_acknowledgment(now, i, segment, &None);
            self.touch(i);
        }
    }

    /// Trouble of subflows that a router reports.
    #[cold]
    fn on_other(&mut self, now: Time, packet: &Packet) {
        if let Body::Icmp(_) = &packet.body {
            for i in 0..self.subflows.len() {
                if self.subflows[i].local() == packet.dst {
                    self.subflows[i].tcp.handle_input(now, packet);
                    self.touch(i);
                }
            }
            self.collect(now);
        }
    }

    /// Does what [`Connection::on_segment`] does for nearly every segment of a transfer, at half of
    /// the cost. False, and nothing has been done, for others.
    #[inline]
    fn on_usual_segment(
        &mut self,
        now: Time,
        i: usize,
        packet: &Packet,
        segment: &TcpSegment,
    ) -> bool {
        let Some(Usual { data_ack, ack, at, data }) = self.usual(i, segment) else { return false };
        self.subflows.tell_siblings(i);
        let subflow = &mut self.subflows[i];
        subflow.tcp.handle_input(now, packet);
        let passed = subflow.tcp.has_passed();
        if passed {
            subflow.on_dss(ack);
        }
        if let Some(data) = data.filter(|_| passed) {
            self.on_counted(i, at, data, segment.payload.len());
        }
        self.touch(i);
        if let Some(ack) = self.sender.offset(data_ack).filter(|_| passed) {
            let window = (segment.window as u64) << self.subflows[i].tcp.window_shifts().1;
            self.on_data_ack(now, ack, window);
        }
        true
    }

    /// What a segment says that carries a DATA_ACK, no news of another kind, and either no data or
    /// counted octets with a mapping of 32 bits that is theirs alone; `None` for others.
    #[inline(always)]
    fn usual(&self, i: usize, segment: &TcpSegment) -> Option<Usual> {
        let subflow = &self.subflows[i];
        let plain = segment.flags.union(TcpFlags::PSH) == TcpFlags::ACK.union(TcpFlags::PSH)
            && segment.options.rare.is_none()
            && segment.payload.octets().is_none();
        let quiet = self.session.is_confirmed()
            && !self.session.has_checksums()
            && subflow.stage == Stage::Ready
            && subflow.tcp.state() == TcpState::Established;
        if !(plain && quiet) {
            return None;
        }
        let Some(Dss { data_ack: Some(data_ack), mapping, data_fin: false }) =
            segment.options.dss()
        else {
            return None;
        };
        let at = subflow.tcp.received_offset(segment.seq)?;
        let ack = subflow.tcp.sent_offset(segment.ack)?;
        let len = segment.payload.len();
        let data = match mapping {
            _ if len == 0 => None,
            Some(Mapping { dsn: dsn @ DataNumber::Short(_), ssn, len: mapped, checksum: None })
                if (ssn.wrapping_add(subflow.early.received), mapped as u32)
                    == (at as u32, len)
                    && at > 0 =>
            {
                self.receiver.offset(dsn)
            }
            _ => return None,
        };
        (len == 0 || data > Some(0)).then_some(Usual { data_ack, ack, at, data })
    }

    #[inline(never)]
    fn on_segment(&mut self, now: Time, i: usize, packet: &Packet, segment: &TcpSegment) {
        let before = self.subflows[i].tcp.state();
        if matches!(before, TcpState::Listen | TcpState::SynSent | TcpState::SynReceived)
            && !self.on_handshake(now, i, before, packet, segment)
        {
            return;
        }
        let ends = segment.flags.intersects(TcpFlags::RST.union(TcpFlags::SYN));
        let dss = segment.options.dss();
        self.subflows.tell_siblings(i);
        self.subflows[i].tcp.handle_input(now, packet);
        match before {
            TcpState::SynSent if self.subflows[i].tcp.state().is_synchronized() => {
                self.on_syn_acknowledged(i);
            }
            TcpState::Listen if self.subflows[i].tcp.is_open_early() => self.on_opened_early(i),
            _ => {}
        }
        // §3, §3.4.2: only what has passed TCP's checks counts.
        let counts = !ends && self.subflows[i].tcp.has_passed();
        if counts && self.session.is_multipath() && !self.on_mappings(i, segment, &dss) {
            return;
        }
        self.await_join_confirmed(now, i);
        self.touch(i);
        if segment.flags.contains(TcpFlags::RST) {
            self.on_reset_options(i, segment);
        } else if counts || segment.flags.contains(TcpFlags::SYN) {
            self.on_acknowledgment(now, i, segment, &dss);
            if counts {
                self.on_options(now, i, segment, &dss);
            }
        }
    }

    /// What handshakes say; false when the segment goes no further.
    #[cold]
    fn on_handshake(
        &mut self,
        now: Time,
        i: usize,
        state: TcpState,
        packet: &Packet,
        segment: &TcpSegment,
    ) -> bool {
        let has = |flag| segment.flags.contains(flag);
        // The first subflow, where its SYN has opened it (RFC 7413), is ready before its handshake is over; so
        // is a joined one whose third ACK has the right HMAC, but nothing that TCP takes.
        let first = match self.subflows[i].stage {
            Stage::First => true,
            Stage::Ready => self.subflows.is_first(i),
            _ => false,
        };
        match state {
            TcpState::Listen if first && has(TcpFlags::SYN) && !has(TcpFlags::RST) => {
                self.on_first_syn(segment);
            }
            TcpState::SynSent if has(TcpFlags::SYN) && !has(TcpFlags::RST) => {
                let ours = has(TcpFlags::ACK) && self.subflows[i].tcp.acks_sent_data(segment);
                if first && (ours || !has(TcpFlags::ACK)) {
                    self.on_first_answer(segment);
                } else if ours && !self.on_join_answer(i, segment) {
                    self.refuse(packet, ResetReason::Mptcp);
                    self.drop_subflow(i, ResetReason::Mptcp);
                    return false;
                }
            }
            // TCP discards what is of no handshake, whatever options it lacks.
            TcpState::SynReceived if !self.is_of_handshake(i, segment) => {}
            TcpState::SynReceived if first && self.session.is_passive() => {
                return self.on_first_ack(now, i, segment);
            }
            TcpState::SynReceived => return self.on_join_ack(now, i, segment),
            _ => {}
        }
        true
    }

    /// The SYN once more, or what acknowledges the SYN/ACK from inside the window (RFC 9293
    /// §3.10.7.4).
    fn is_of_handshake(&self, i: usize, segment: &TcpSegment) -> bool {
        let tcp = &self.subflows[i].tcp;
        if segment.flags.contains(TcpFlags::SYN) {
            return tcp.received_offset(segment.seq) == Some(0);
        }
        tcp.sent_offset(segment.ack) == Some(1) && self.is_plausible(i, segment)
    }

    /// The segment lies where the subflow's next ones may: what it says of the handshake counts, even
    /// if TCP would drop it, as a keep-alive with the keys.
    fn is_plausible(&self, i: usize, segment: &TcpSegment) -> bool {
        let tcp = &self.subflows[i].tcp;
        let reach = self.reach();
        let near = |offset: Option<u64>, by: u64| {
            offset.is_some_and(|offset| offset.abs_diff(by) <= reach)
        };
        let (_, end) = tcp.outstanding();
        let ack = tcp.sent_offset(segment.ack);
        near(tcp.received_offset(segment.seq), tcp.read_offset())
            && segment.flags.contains(TcpFlags::ACK)
            && ack.is_some_and(|ack| ack <= end)
    }

    /// How far from the next octet a segment of a subflow may begin.
    fn reach(&self) -> u64 {
        2 * self.config.subflow.receive_buffer + u16::MAX as u64
    }

    /// What options beside acknowledgment and mapping say.
    fn on_options(&mut self, now: Time, i: usize, segment: &TcpSegment, dss: &Option<Dss>) {
        match self.session.phase() {
            Phase::Opening => return,
            Phase::Fallback => return self.on_fail_again(i, segment),
            Phase::Multipath => {}
        }
        let confirmed_join = self.on_join_confirmed(i);
        let ack = self.subflows[i].tcp.sent_offset(segment.ack).unwrap_or(0);
        if let Some(dss) = dss {
            if dss.data_ack.is_some() {
                self.subflows[i].on_dss(ack);
            }
            // Data behind a SYN/ACK, which no third ACK has answered, has none (app. B).
            if dss.data_ack.is_some() && !self.session.is_confirmed() {
                self.on_keys_confirmed(now, i);
            }
            if dss.data_fin && segment.payload.is_empty() {
                self.on_lone_fin(i, dss);
            }
        } else if segment.options.mptcp().is_empty()
            && !confirmed_join
            && self.lifetime == Lifetime::Open
            && self.hears_bare_segment(i, segment, ack)
        {
            return self.on_options_lost(i);
        }
        if segment.options.rare.is_some() {
            self.on_rare_options(now, i, segment);
        }
    }

    /// A segment without options acknowledges everything before `ack`: whether it proves that something takes them
    /// away. Somebody off the path who has met the window has seldom met the number that comes next, too, and
    /// could have the connection give up Multipath TCP.
    #[cold]
    fn hears_bare_segment(&mut self, i: usize, segment: &TcpSegment, ack: u64) -> bool {
        let tcp = &self.subflows[i].tcp;
        let end = tcp.received_offset(segment.seq.add(segment.seq_len()));
        let is_next = end == Some(tcp.next_expected());
        // A FIN would have a DATA_ACK, too.
        let tells = ack > 1 || segment.flags.contains(TcpFlags::FIN);
        self.subflows[i].on_bare_segment(tells, is_next)
    }

    #[cold]
    fn on_rare_options(&mut self, now: Time, i: usize, segment: &TcpSegment) {
        for option in segment.options.mptcp() {
            match option {
                MptcpOption::AddAddr(add) => self.on_add_addr(now, i, add),
                MptcpOption::RemoveAddr(remove) => self.on_remove_addr(now, remove.ids()),
                MptcpOption::Prio { backup } => {
                    self.subflows[i].peer_backup = *backup;
                    self.readiness.forget_eligible();
                }
                MptcpOption::Fail { .. } => self.on_fail(i),
                MptcpOption::Fastclose { key } => self.on_fast_close(*key),
                // The fourth segment of a join, also when the third comes again.
                MptcpOption::Join(_) => self.subflows[i].tcp.ask_for_ack(),
                MptcpOption::Capable(_) | MptcpOption::TcpRst { .. } => {}
            }
        }
    }
}
