//! What a segment of a subflow carries of the whole: its options, the mapping of its data
//! (DSS, RFC 8684 §3.3), the window that all subflows share.

use super::{Connection, Phase, checksum};
use crate::config::option_room;
use crate::subflow::{Stage, Subflow};
use anabranch_units::Time;
use anabranch_wire::tcp::mptcp::{CapableData, Dss, Join, Mapping, MptcpOption};
use anabranch_wire::tcp::options::MAX_LEN;
use anabranch_wire::{Body, Packet, TcpFlags, TcpOptions, TcpSegment};

fn push(segment: &mut TcpSegment, option: Option<MptcpOption>) {
    if let Some(option) = option {
        segment.options.rare_mut().mptcp.push(option);
    }
}

/// An ACK carries the options that wait for one, as many as fit beside a DATA_ACK; false where they
/// wait, since two such ACKs have left in a row (§4).
#[cold]
fn push_waiting(now: Time, subflow: &mut Subflow, segment: &mut TcpSegment) -> bool {
    let patience = subflow.tcp.rtt().rto();
    if !subflow.signals.may_leave(now, segment.ack, patience) {
        return false;
    }
    while let Some(option) = subflow.options.first() {
        let sack = segment.options.sack.as_slice().len() as u32;
        let others = segment.options.wire_len() - if sack > 0 { 4 + 8 * sack } else { 0 };
        if others + option.wire_len().next_multiple_of(4) > MAX_LEN as u32 {
            if subflow.signals.may_follow() {
                subflow.tcp.ask_for_ack(); // with the next
            } else {
                subflow.signals.may_leave(now, segment.ack, patience);
            }
            return true;
        }
        push(segment, Some(subflow.options.remove(0)));
    }
    true
}

/// Puts in the DSS, and leaves out what has no room: AccECN's octets, SACK
/// blocks, the lone DATA_FIN, the DATA_ACK, in this order. Without its options a
/// subflow would have to be given up; the others are only worth having.
fn fit(segment: &mut TcpSegment, dss: Option<Dss>) {
    let options = &mut segment.options;
    // Timestamps and a DSS always have room: 12 octets and at most 28.
    let lone = options.sack.is_empty() && options.acc_ecn.is_none() && options.rare.is_none();
    if lone || fits(options, &dss) {
        if let Some(dss) = &dss {
            options.set_dss(dss);
        }
    } else {
        fit_some(segment, dss);
    }
}

/// The DSS has room beside the options.
fn fits(options: &TcpOptions, dss: &Option<Dss>) -> bool {
    let more = dss.as_ref().map_or(0, |dss| dss.wire_len().next_multiple_of(4));
    options.wire_len() + more <= MAX_LEN as u32
}

#[cold]
fn fit_some(segment: &mut TcpSegment, mut dss: Option<Dss>) {
    let options = &mut segment.options;
    if !fits(options, &dss) {
        options.acc_ecn = None;
    }
    let mut blocks = options.sack.as_slice().len();
    while !fits(options, &dss) && blocks > 0 {
        blocks -= 1;
        options.truncate_sack(blocks);
    }
    if !fits(options, &dss) && segment.payload.is_empty() {
        dss = dss.map(|dss| Dss { mapping: None, data_fin: false, ..dss });
    }
    if fits(options, &dss)
        && let Some(dss) = dss
    {
        options.set_dss(&dss);
    }
}

impl Connection {
    /// Adds to a packet of a subflow what is of the whole.
    /// `given` is the data offset of its first octet, where the subflow was given it just now.
    #[inline]
    pub(super) fn complete(
        &mut self,
        now: Time,
        i: usize,
        packet: &mut Packet,
        given: Option<u64>,
    ) {
        let Body::Tcp(segment) = &mut packet.body else { return };
        self.scheduling.on_packet(!segment.payload.is_empty());
        if segment.flags.intersects(TcpFlags::SYN.union(TcpFlags::RST)) {
            return self.complete_first_or_last(i, segment);
        }
        // A subflow is given a segment at a time, and takes each for the end of what was
        // written. PSH belongs where the stream has nothing more to give, as in TCP, and on no
        // lone FIN.
        if segment.payload.is_empty() || self.sender.has_unsent() {
            segment.flags = TcpFlags(segment.flags.0 & !TcpFlags::PSH.0);
        }
        if !self.add_usual_options(i, segment, given) {
            match self.session.phase() {
                Phase::Opening => {}
                Phase::Multipath => self.add_options(now, i, segment),
                Phase::Fallback => {
                    self.signal_infinite_mapping(i, segment);
                    self.push_fail(now, i, segment);
                    fit(segment, None);
                }
            }
        }
        let subflow = &mut self.subflows[i];
        let shift = subflow.tcp.window_shifts().0;
        let window = (self.receiver.window(subflow.tcp.mss()) >> shift).min(u16::MAX as u64);
        subflow.advertised = subflow.tcp.next_expected() + (window << shift);
        segment.window = window as u16;
    }

    /// Nearly every segment of a transfer has these options: a DATA_ACK, and with data a
    /// mapping of 32 bits without a checksum. False, and nothing is done, where there is
    /// or may be more to say.
    #[inline]
    fn add_usual_options(&self, i: usize, segment: &mut TcpSegment, given: Option<u64>) -> bool {
        let subflow = &self.subflows[i];
        let options = &mut segment.options;
        let lone = options.sack.is_empty() && options.acc_ecn.is_none() && options.rare.is_none();
        let len = segment.payload.len();
        let usual = lone
            && self.session.is_confirmed()
            && subflow.stage == Stage::Ready
            && subflow.options.is_empty()
            && !self.sender.is_closed();
        if !usual {
            return false;
        }
        let mut dss = Dss::default();
        if len == 0 {
            dss.data_ack = Some(self.receiver.data_ack(self.receiver.is_wide()));
        } else {
            if self.session.has_checksums() || self.sender.is_long() || self.receiver.is_wide() {
                return false;
            }
            let ssn = subflow.tcp.relative_number(segment.seq).wrapping_sub(subflow.early.sent);
            let Some(data) = given.or_else(|| {
                let at = subflow.tcp.sent_offset(segment.seq)?;
                Some(subflow.sent.find(at)?.data_at(at))
            }) else {
                return false;
            };
            let dsn = self.sender.number(data);
            dss.data_ack = Some(self.receiver.data_ack(false));
            dss.mapping = Some(Mapping { dsn, ssn, len: len as u16, checksum: None });
        }
        options.set_dss(&dss)
    }

    /// What a SYN or a reset carries.
    #[cold]
    fn complete_first_or_last(&mut self, i: usize, segment: &mut TcpSegment) {
        if segment.flags.contains(TcpFlags::RST) {
            for option in std::mem::take(&mut self.subflows[i].reset_options) {
                push(segment, Some(option));
            }
            return;
        }
        // As everything else: a SYN with data ends no write (Linux).
        segment.flags = TcpFlags(segment.flags.0 & !TcpFlags::PSH.0);
        let answers = segment.flags.contains(TcpFlags::ACK);
        let option = match self.subflows[i].stage {
            Stage::First | Stage::Ready => self.first_syn_option(answers),
            _ => self.join_syn_option(i),
        };
        push(segment, option);
        segment.window = self.receiver.window(0).min(u16::MAX as u64) as u16;
    }

    /// The keys have not been confirmed: the first subflow of the active side
    /// repeats them.
    fn repeats_keys(&self, i: usize) -> bool {
        !self.session.is_confirmed() && !self.session.is_passive() && self.subflows.is_first(i)
    }

    /// A segment from the subflow offset `at` carries the keys in place of a DSS: the first after what went
    /// with the SYN.
    pub(super) fn carries_keys(&self, i: usize, at: u64) -> bool {
        at == 1 + self.subflows[i].early.sent as u64 && self.repeats_keys(i)
    }

    /// What is numbered with 64 bits is acknowledged with 64 (§3.3.1), but on a full
    /// segment, which has room for 32 alone: it would be too large for the path.
    fn has_room_for_wide(&self, i: usize, segment: &TcpSegment) -> bool {
        if segment.payload.is_empty() || self.sender.is_long() {
            return true;
        }
        let timestamps = if segment.options.timestamps.is_some() { 12 } else { 0 };
        let most = self.subflows[i].tcp.mss() + (timestamps + option_room(false)) as u64;
        // DSS with a DATA_ACK of 8 octets and a mapping of 4, padded.
        segment.payload.len() as u64 + segment.options.wire_len() as u64 + 24 <= most
    }

    /// In place of the keys, which have left once, an ACK carries the DATA_FIN as soon as the user has
    /// closed (Linux). Where the keys were lost they follow when the peer asks, or data has waited.
    fn gives_way_to_fin(&mut self, i: usize) -> bool {
        if self.session.on_keys_sent() {
            if self.sender.is_fin_due() {
                self.subflows[i].tcp.ask_for_ack();
            }
            return false;
        }
        self.sender.take_fin()
    }

    /// Adds the options that any segment between SYN and reset has.
    #[inline(never)]
    fn add_options(&mut self, now: Time, i: usize, segment: &mut TcpSegment) {
        let wide = self.receiver.is_wide() && self.has_room_for_wide(i, segment);
        let data_ack = Some(self.receiver.data_ack(wide));
        let mut dss = Dss { data_ack, ..Dss::default() };
        if !segment.payload.is_empty() {
            if let Some(data) = self.map(i, segment, &mut dss) {
                push(segment, self.session.third_ack_option(Some(data)));
                fit(segment, None);
                return;
            }
        } else if self.repeats_keys(i) && !self.gives_way_to_fin(i) {
            push(segment, self.session.third_ack_option(None));
            fit(segment, None);
            return;
        } else if let Stage::Unconfirmed { mac, .. } = self.subflows[i].stage {
            push(segment, Some(MptcpOption::Join(Join::Ack { mac })));
            fit(segment, None);
            return;
        } else if self.config.lone_addresses
            && let Some(MptcpOption::AddAddr(_)) = self.subflows[i].options.first()
            && push_waiting(now, &mut self.subflows[i], segment)
        {
            return fit(segment, None);
        } else {
            if self.sender.owes_fin() {
                let dsn = self.sender.number(self.sender.data_end());
                let checksum = self.session.has_checksums().then(|| checksum::of_fin(&self.sender));
                dss.mapping = Some(Mapping { dsn, ssn: 0, len: 1, checksum });
                dss.data_fin = true;
            }
            if !self.subflows[i].options.is_empty() {
                push_waiting(now, &mut self.subflows[i], segment);
            }
        }
        fit(segment, Some(dss));
    }

    /// A segment with data has a mapping in its DSS; `Some` where it has the length in an MP_CAPABLE
    /// in place of it.
    pub(super) fn map(&self, i: usize, segment: &TcpSegment, dss: &mut Dss) -> Option<CapableData> {
        let subflow = &self.subflows[i];
        let at = subflow.tcp.sent_offset(segment.seq)?;
        let unit = subflow.sent.find(at)?;
        let len = segment.payload.len();
        if self.carries_keys(i, at) {
            let (len, checksum) = match self.session.has_checksums() {
                true => (unit.len, Some(unit.checksum)),
                false => (len, None),
            };
            return Some(CapableData { len: len as u16, checksum });
        }
        dss.data_fin = unit.fin
            && (self.session.has_checksums() || at + len as u64 == unit.start + unit.len as u64);
        let fin = dss.data_fin as u16;
        dss.mapping = Some(match self.session.has_checksums() {
            // What a checksum covers stays as it is, however it is cut.
            true => Mapping {
                dsn: self.sender.number(unit.data),
                ssn: (unit.start as u32).wrapping_sub(subflow.early.sent),
                len: unit.len as u16 + fin,
                checksum: Some(unit.checksum),
            },
            false => Mapping {
                dsn: self.sender.number(unit.data_at(at)),
                ssn: (at as u32).wrapping_sub(subflow.early.sent),
                len: len as u16 + fin,
                checksum: None,
            },
        });
        None
    }
}
