//! The AccECN options (RFC 9768 §3.2.3): octets that arrived under each ECN
//! codepoint, the low 24 bits of three counters.
//!
//! ```text
//! +----------+----------+-----------------+-----------------+-----------------+
//! | Kind=172 | length   | EE0B (24 bits)  | ECEB (24 bits)  | EE1B (24 bits)  |
//! +----------+----------+-----------------+-----------------+-----------------+
//! | Kind=174 | length   | EE1B (24 bits)  | ECEB (24 bits)  | EE0B (24 bits)  |
//! +----------+----------+-----------------+-----------------+-----------------+
//! ```
//!
//! Fields at the end may be missing: the length is 11, 8, 5 or 2. Of another
//! length those fields count that are whole; the rest is padding, which is not
//! kept.

/// `ACC_ECN0` is the kind in which the octets under ECT(0) come first.
pub const ACC_ECN0: u8 = 172;
/// `ACC_ECN1` is the kind in which the octets under ECT(1) come first.
pub const ACC_ECN1: u8 = 174;

/// `AccEcnOrder` is the order of the counters, which the option's kind says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccEcnOrder {
    /// EE0B, ECEB, EE1B: kind 172.
    Zero,
    /// EE1B, ECEB, EE0B: kind 174.
    One,
}

/// `AccEcn` is an AccECN option with up to three counters of 24 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccEcn {
    order: AccEcnOrder,
    count: u8,
    /// `octets` has the counters as on the wire; zero where there is no field.
    octets: [u8; 9],
}

impl AccEcn {
    /// Makes an option with the first `fields` of the counters (at most three), in this order. Of
    /// each counter the low 24 bits are sent.
    #[must_use]
    pub fn new(order: AccEcnOrder, fields: u8, e0b: u32, ceb: u32, e1b: u32) -> AccEcn {
        let counters = match order {
            AccEcnOrder::Zero => [e0b, ceb, e1b],
            AccEcnOrder::One => [e1b, ceb, e0b],
        };
        let count = fields.min(3);
        let mut octets = [0; 9];
        for (field, counter) in octets.chunks_mut(3).zip(counters).take(count as usize) {
            field.copy_from_slice(&counter.to_be_bytes()[1..]);
        }
        AccEcn { order, count, octets }
    }

    /// Reads the value of an option of this kind; octets that are no whole counter are left out.
    pub(super) fn parse(kind: u8, value: &[u8]) -> AccEcn {
        let order = if kind == ACC_ECN0 { AccEcnOrder::Zero } else { AccEcnOrder::One };
        let count = (value.len() / 3).min(3);
        let mut octets = [0; 9];
        octets[..3 * count].copy_from_slice(&value[..3 * count]);
        AccEcn { order, count: count as u8, octets }
    }

    /// Appends kind, length and fields.
    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        let kind = match self.order {
            AccEcnOrder::Zero => ACC_ECN0,
            AccEcnOrder::One => ACC_ECN1,
        };
        out.extend_from_slice(&[kind, self.wire_len() as u8]);
        out.extend_from_slice(&self.octets[..3 * self.count as usize]);
    }

    /// Returns the length on the wire, in octets without padding.
    pub fn wire_len(&self) -> u32 {
        2 + 3 * self.count as u32
    }

    /// Returns the order of the counters, which the option's kind says.
    pub fn order(&self) -> AccEcnOrder {
        self.order
    }

    /// Returns how many counters there are, 0 to 3.
    pub fn fields(&self) -> u8 {
        self.count
    }

    /// Returns EE0B, the low 24 bits of the octets under ECT(0), if the option has it.
    pub fn e0b(&self) -> Option<u32> {
        self.field(if self.order == AccEcnOrder::Zero { 0 } else { 2 })
    }

    /// Returns ECEB, the octets under CE, if the option has it.
    pub fn ceb(&self) -> Option<u32> {
        self.field(1)
    }

    /// Returns EE1B, the low 24 bits of the octets under ECT(1), if the option has it.
    pub fn e1b(&self) -> Option<u32> {
        self.field(if self.order == AccEcnOrder::Zero { 2 } else { 0 })
    }

    fn field(&self, index: usize) -> Option<u32> {
        let field = self.octets[..3 * self.count as usize].chunks(3).nth(index)?;
        Some(field.iter().fold(0, |counter, octet| counter << 8 | u32::from(*octet)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::iter;
    use super::*;
    use crate::tcp::{SackBlock, SackBlocks, TcpOptions, Timestamps};
    use anabranch_units::Serial32;

    fn emitted(options: &TcpOptions) -> Vec<u8> {
        let mut out = Vec::new();
        options.emit(&mut out).unwrap();
        assert_eq!(out.len() as u32, options.wire_len());
        out
    }

    fn with(option: AccEcn) -> TcpOptions {
        TcpOptions { acc_ecn: Some(Box::new(option)), ..TcpOptions::default() }
    }

    /// Figures 2 and 3 of RFC 9768: the order of the fields, and the lengths of table
    /// 5; the padding is the end of the list.
    #[test]
    fn both_orders_in_every_length() {
        let (e0b, ceb, e1b) = (0xff_000001, 0x0a_0b0c, 0x01_0203);
        for (order, fields, octets) in [
            (AccEcnOrder::Zero, 3, &[172, 11, 0, 0, 1, 10, 11, 12, 1, 2, 3, 0][..]),
            (AccEcnOrder::Zero, 2, &[172, 8, 0, 0, 1, 10, 11, 12]),
            (AccEcnOrder::Zero, 1, &[172, 5, 0, 0, 1, 0, 0, 0]),
            (AccEcnOrder::Zero, 0, &[172, 2, 0, 0]),
            (AccEcnOrder::One, 3, &[174, 11, 1, 2, 3, 10, 11, 12, 0, 0, 1, 0]),
            (AccEcnOrder::One, 2, &[174, 8, 1, 2, 3, 10, 11, 12]),
            (AccEcnOrder::One, 1, &[174, 5, 1, 2, 3, 0, 0, 0]),
        ] {
            let option = AccEcn::new(order, fields, e0b, ceb, e1b);
            assert_eq!(emitted(&with(option)), octets);
            assert_eq!(TcpOptions::parse(octets), Ok(with(option)));
            let zero = order == AccEcnOrder::Zero;
            let has = |at| fields > at;
            assert_eq!(option.e0b(), has(if zero { 0 } else { 2 }).then_some(1));
            assert_eq!(option.ceb(), has(1).then_some(0x0a_0b0c));
            assert_eq!(option.e1b(), has(if zero { 2 } else { 0 }).then_some(0x01_0203));
        }
    }

    /// §3.2.3: of another length the whole fields are used.
    #[test]
    fn other_lengths_are_whole_fields_and_padding() {
        for (octets, fields) in [
            (&[172, 4, 9, 9][..], 0),
            (&[172, 7, 0, 0, 1, 9, 9], 1),
            (&[172, 13, 0, 0, 1, 0, 0, 2, 0, 0, 3, 9, 9], 3),
            (&[172, 14, 0, 0, 1, 0, 0, 2, 0, 0, 3, 9, 9, 9], 3),
        ] {
            let parsed = TcpOptions::parse(octets).unwrap();
            assert_eq!(parsed, with(AccEcn::new(AccEcnOrder::Zero, fields, 1, 2, 3)));
        }
        // A second one is kept as it is.
        let twice = [172, 2, 174, 5, 0, 0, 1];
        assert_eq!(TcpOptions::parse(&twice).unwrap().unknown(), &twice[2..]);
        assert_eq!(iter(&twice).count(), 2);
    }

    /// Forty octets: timestamps with two blocks leave room for two fields.
    #[test]
    fn it_shares_the_header_with_sack_blocks() {
        let mut sack = SackBlocks::NONE;
        for n in 0..2 {
            sack.push(SackBlock { left: Serial32(4 * n + 1), right: Serial32(4 * n + 2) });
        }
        let timestamps = Some(Timestamps { value: 1, echo: 2 });
        let option = AccEcn::new(AccEcnOrder::One, 2, 1, 2, 3);
        let options = TcpOptions { timestamps, sack, ..with(option) };
        let octets = emitted(&options);
        assert_eq!(octets.len(), 40);
        assert_eq!(octets[32..], [174, 8, 0, 0, 3, 0, 0, 2]);
        assert_eq!(TcpOptions::parse(&octets), Ok(options.clone()));
        let full = TcpOptions {
            acc_ecn: Some(Box::new(AccEcn::new(AccEcnOrder::One, 3, 1, 2, 3))),
            ..options
        };
        assert!(full.emit(&mut Vec::new()).is_err());
    }
}
