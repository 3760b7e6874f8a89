//! The data sender of AccECN (RFC 9768 §3.2): what the peer's feedback says of
//! marks on what was sent, and whether the path leaves ECN alone.
//!
//! Appendix A.1 decodes the option, A.2 the ACE field, whose three bits may
//! have gone round; A.3 estimates octets where there is no option.

use anabranch_wire::{AccEcn, Ecn};

/// DIVACE: the values of the ACE field, after which its counter wraps.
const ACE: u64 = 8;
/// Segments whose feedback shows whether the path lets ECT through.
const TRIAL: u64 = 3;

/// Whether options of the peer can be relied on (§3.2.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Options {
    /// The peer's segments carry options.
    Come,
    /// No option came with the handshake; one that comes later shows that they do.
    Absent,
    /// The first had a zero that no host sends: they are not believed.
    Zeroed,
}

/// The sender's counters; names are the RFC's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    /// s.cep: packets that the peer received with CE.
    pub cep: u64,
    /// s.e0b, s.ceb, s.e1b: as the last option had them, 24 bits each.
    e0b: u32,
    ceb: u32,
    e1b: u32,
    options: Options,
    /// Marked octets reported since the last option, on the word of ACE alone.
    estimated: u64,
    /// A feedback packet has been looked at.
    looked: bool,
    /// Octets delivered while the path is on trial; absent when that is over.
    trial: Option<u64>,
}

/// Marks that the acknowledgment in hand newly reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Marks {
    /// Packets, those without data counted.
    pub packets: u64,
    /// Octets of data that were marked, reported or estimated.
    pub octets: u64,
}

impl Tally {
    /// Starts with the values of the counters that §3.2.1 gives.
    pub fn new() -> Tally {
        Tally {
            cep: 5,
            e0b: 1,
            ceb: 0,
            e1b: 1,
            options: Options::Absent,
            estimated: 0,
            looked: false,
            trial: Some(0),
        }
    }

    /// The segment that acknowledges our SYN or SYN-ACK (§3.2.3.2.3: no option
    /// with it, none expected; §3.2.3.2.4: the counters begin above zero).
    pub fn on_handshake(&mut self, option: Option<&AccEcn>) {
        let Some(option) = option else { return };
        let zeroed = option.e0b() == Some(0) || option.e1b() == Some(0);
        self.options = if zeroed { Options::Zeroed } else { Options::Come };
        self.read(Some(option));
    }

    /// The first segment after the handshake, which newly acknowledges so many
    /// octets: false when its field is zero (§3.2.2.4). Five and three marks make
    /// a true zero.
    pub fn is_first_sane(&mut self, ace: u8, delivered: u64, mss: u64) -> bool {
        let first = !std::mem::replace(&mut self.looked, true);
        !(first && ace == 0 && delivered < 3 * mss)
    }

    /// The peer's handshake ended with a field that is no counter (table 4).
    pub fn on_handshake_field(&mut self, ce: bool) {
        self.looked = true;
        self.cep += ce as u64;
    }

    /// A segment that is newer than those before it: its field, its option, and
    /// the octets that it newly acknowledges, selectively or not.
    pub fn on_feedback(
        &mut self,
        ace: u8,
        option: Option<&AccEcn>,
        delivered: u64,
        mss: u64,
    ) -> Marks {
        let seen = (ace as u64).wrapping_sub(self.cep) % ACE;
        if delivered == 0 {
            // Marks on packets without data. The next option is as good.
            self.cep += seen;
            return Marks { packets: seen, octets: 0 };
        }
        let told = self.read(option).map(|octets| octets.saturating_sub(self.estimated));
        let packets = self.packets(seen, told, delivered, mss);
        self.cep += packets;
        let octets = match told {
            Some(octets) => {
                self.estimated = 0;
                octets
            }
            None => {
                let octets = (packets * mss).min(delivered);
                self.estimated += octets;
                octets
            }
        };
        Marks { packets, octets }
    }

    /// Returns how many marked packets the field stands for. Where it may have gone round it is
    /// taken to have done so as often as the acknowledged packets allow (§3.2.2.5.2, A.2.1), unless
    /// the octets deny it (A.2.2). While options come, one without is believed as it is: the next
    /// tells.
    fn packets(&self, seen: u64, told: Option<u64>, delivered: u64, mss: u64) -> u64 {
        let acked = delivered.div_ceil(mss);
        if acked <= seen {
            return seen;
        }
        let safest = acked - (acked - seen) % ACE;
        match told {
            Some(octets) if octets <= seen * mss && 2 * octets < safest * mss => seen,
            None if self.options == Options::Come => seen,
            _ => safest,
        }
    }

    /// The octets with CE that an option newly reports.
    fn read(&mut self, option: Option<&AccEcn>) -> Option<u64> {
        let option = option?;
        match self.options {
            Options::Zeroed => return None,
            Options::Absent => self.options = Options::Come,
            Options::Come => {}
        }
        let new = |old: &mut u32, field: Option<u32>| {
            let field = field?;
            let octets = field.wrapping_sub(*old) & 0xff_ffff;
            *old = field;
            Some(octets.into())
        };
        new(&mut self.e0b, option.e0b());
        new(&mut self.e1b, option.e1b());
        new(&mut self.ceb, option.ceb())
    }

    /// So many octets were delivered, sent as `sent`, and all that options say of
    /// them is read: false when the path has cleared or changed the codepoint of
    /// the first segments (§3.2.2.3).
    pub fn is_path_honest(&mut self, sent: Ecn, delivered: u64, full: bool, mss: u64) -> bool {
        let Some(octets) = self.trial.as_mut().filter(|_| self.options == Options::Come) else {
            return true;
        };
        *octets += delivered;
        if *octets < TRIAL * mss || !full {
            return true;
        }
        self.trial = None;
        let arrived = (self.e0b != 1 || self.e1b != 1) || self.ceb != 0;
        let changed = if sent == Ecn::Ect0 { self.e1b != 1 } else { self.e0b != 1 };
        arrived && !changed
    }
}

/// What an IP-ECN field may become on its way (RFC 3168 §5, §18).
pub(super) fn may_become(sent: Ecn, arrived: Ecn) -> bool {
    arrived == sent || arrived == Ecn::Ce && sent != Ecn::NotEct
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::AccEcnOrder;

    const MSS: u64 = 1000;

    /// Absolute counts of the peer, as it reports them.
    fn full(e0b: u32, ceb: u32) -> AccEcn {
        AccEcn::new(AccEcnOrder::Zero, 3, e0b, ceb, 1)
    }

    fn with_options() -> Tally {
        let mut tally = Tally::new();
        tally.on_handshake(Some(&full(1, 0)));
        tally
    }

    /// Appendix A.2.1, "dSafer.cep = newlyAckedPkt - ((newlyAckedPkt - d.cep) mod
    /// DIVACE)": for up to seven packets the field is exact.
    #[test]
    fn without_options_a_field_that_may_have_gone_round_has() {
        for (acked, seen, packets) in [
            (2, 0, 0),
            (2, 1, 1),
            (7, 0, 0),
            (8, 0, 8),
            (8, 1, 1),
            (9, 1, 9),
            (9, 0, 8),
            (12, 4, 12),
            (12, 5, 5),
            (25, 2, 18),
            (1, 3, 3), // marks on packets without data
        ] {
            let mut tally = Tally::new();
            let ace = (5 + seen) % 8;
            let marks = tally.on_feedback(ace, None, acked * MSS, MSS);
            let octets = packets.min(acked) * MSS;
            assert_eq!(marks, Marks { packets, octets }, "{acked} acknowledged, {seen} seen");
            assert_eq!(tally.cep % 8, ace as u64);
        }
    }

    /// Appendix A.2.2: octets tell whether the field went round.
    #[test]
    fn an_option_says_whether_the_field_went_round() {
        for (acked, seen, ceb, packets) in
            [(8, 0, 0, 0), (8, 0, 8000, 8), (16, 1, 1000, 1), (16, 1, 9000, 9), (16, 1, 300, 1)]
        {
            let mut tally = with_options();
            let option = full(1 + acked * 1000 - ceb, ceb);
            let marks = tally.on_feedback((5 + seen) % 8, Some(&option), acked as u64 * MSS, MSS);
            assert_eq!(marks, Marks { packets, octets: ceb as u64 }, "{acked} {seen} {ceb}");
        }
    }

    /// What ACE alone made known is not counted twice when an option comes.
    #[test]
    fn options_correct_what_was_estimated() {
        let mut tally = with_options();
        let one = tally.on_feedback(6, None, 2 * MSS, MSS);
        assert_eq!(one, Marks { packets: 1, octets: 1000 });
        let two = tally.on_feedback(7, Some(&full(3001, 1600)), 2 * MSS, MSS);
        assert_eq!(two, Marks { packets: 1, octets: 600 });
        // ACKs that were lost had more: eight marks look like none.
        let none = tally.on_feedback(7, None, 2 * MSS, MSS);
        assert_eq!(none, Marks::default());
        let late = tally.on_feedback(7, Some(&full(3001, 9600)), 8 * MSS, MSS);
        assert_eq!(late, Marks { packets: 8, octets: 8000 });
    }

    /// 24 bits go round every 16 MiB.
    #[test]
    fn octets_go_round() {
        let mut tally = with_options();
        tally.on_feedback(6, Some(&full(1, 0xff_ff00)), 2 * MSS, MSS);
        let marks = tally.on_feedback(7, Some(&full(1, 0x100)), MSS, MSS);
        assert_eq!(marks, Marks { packets: 1, octets: 0x200 });
    }

    /// §3.2.3.2.3 and §3.2.3.2.4.
    #[test]
    fn options_are_absent_until_one_comes_and_zeroed_for_good() {
        let mut tally = Tally::new();
        tally.on_handshake(None);
        assert_eq!(tally.on_feedback(5, None, 8 * MSS, MSS).packets, 8, "the safe reading");
        assert_eq!(tally.on_feedback(5, Some(&full(1, 0)), 8 * MSS, MSS).packets, 0);
        assert_eq!(tally.on_feedback(5, None, 8 * MSS, MSS).packets, 0);
        let mut tally = Tally::new();
        tally.on_handshake(Some(&full(0, 0)));
        let marks = tally.on_feedback(6, Some(&full(0, 0)), MSS, MSS);
        assert_eq!(marks, Marks { packets: 1, octets: 1000 });
    }

    /// §3.2.2.4: three marks may make a true zero, fewer packets cannot.
    #[test]
    fn a_first_field_of_zero_is_not_believed() {
        let first = |ace, delivered| Tally::new().is_first_sane(ace, delivered, MSS);
        assert_eq!((first(5, 0), first(0, 0), first(0, 2 * MSS)), (true, false, false));
        assert!(first(0, 3 * MSS));
        let mut tally = Tally::new();
        assert!(tally.is_first_sane(7, 2 * MSS, MSS) && tally.is_first_sane(0, MSS, MSS));
    }

    /// §3.2.2.3.
    #[test]
    fn a_path_that_clears_or_changes_ect_is_found_out() {
        for (e0b, ceb, e1b, honest) in
            [(1, 0, 1, false), (3001, 0, 1, true), (1, 3000, 1, true), (1, 0, 3001, false)]
        {
            let mut tally = with_options();
            let option = AccEcn::new(AccEcnOrder::Zero, 3, e0b, ceb, e1b);
            assert!(tally.is_path_honest(Ecn::Ect0, 2 * MSS, true, MSS), "too early to say");
            tally.on_feedback(5, Some(&option), 2 * MSS, MSS);
            assert!(tally.is_path_honest(Ecn::Ect0, MSS, false, MSS), "only a full option tells");
            assert_eq!(tally.is_path_honest(Ecn::Ect0, 0, true, MSS), honest);
            assert!(tally.is_path_honest(Ecn::Ect0, MSS, true, MSS), "said once");
        }
        use Ecn::{Ce, Ect0, Ect1, NotEct};
        let changes = [(NotEct, Ce), (NotEct, Ect0), (Ect0, NotEct), (Ect0, Ect1), (Ect1, Ect0)];
        assert!(changes.iter().all(|(from, to)| !may_become(*from, *to)));
        assert!([(Ect0, Ce), (Ect1, Ce), (NotEct, NotEct)].iter().all(|(a, b)| may_become(*a, *b)));
    }
}
