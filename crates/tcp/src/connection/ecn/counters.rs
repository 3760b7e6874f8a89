//! The data receiver of AccECN (RFC 9768 §3.2): what it counts, which arrivals
//! it answers at once, and which of its segments carry the option.

use anabranch_units::{Span, Time};
use anabranch_wire::{AccEcn, AccEcnOrder, Ecn};

/// §3.2.2.5.1: so many CE marks since the last ACK make one leave: while there
/// is data to acknowledge, and while there is none.
const MARKS_WITH_DATA: u32 = 2;
const MARKS_WITHOUT: u32 = 3;

/// §3.2.3.3 wants a full option on three ACKs in a round-trip time, on all of
/// them where there are fewer. With one due after a sixth of it, ACKs that are
/// closer than that carry one each third at the latest, others always.
const BEACONS: u64 = 6;

/// The receiver's counters; names are the RFC's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counters {
    /// r.cep: packets that came with CE.
    pub cep: u32,
    /// r.e0b, r.ceb, r.e1b: octets by codepoint.
    e0b: u32,
    ceb: u32,
    e1b: u32,
    /// The codepoint of the last data that had one.
    last: Ecn,
    /// CE marks since the last ACK left.
    marks: u32,
    /// Data came since the last option left.
    news: bool,
    /// What the last option, or none so far, said of CE.
    told_ceb: u32,
    /// Time at which an option with all three fields left last.
    full_at: Option<Time>,
}

impl Counters {
    /// §3.2.1: not zero, so that fields which a middlebox zeroes are seen.
    pub fn new() -> Counters {
        Counters {
            cep: 5,
            e0b: 1,
            ceb: 0,
            e1b: 1,
            last: Ecn::NotEct,
            marks: 0,
            news: false,
            told_ceb: 0,
            full_at: None,
        }
    }

    /// A packet with so many octets came; true when it is acknowledged at once.
    /// `owes`: there is other data to acknowledge. `of_acks`: ACKs may be sent
    /// for packets without data.
    pub fn on_packet(&mut self, ecn: Ecn, octets: u32, owes: bool, of_acks: bool) -> bool {
        let ce = ecn == Ecn::Ce;
        self.cep = self.cep.wrapping_add(ce as u32);
        self.marks += ce as u32;
        let mut turned = false;
        if octets > 0 {
            self.news = true;
            let counter = match ecn {
                Ecn::NotEct => None,
                Ecn::Ect0 => Some(&mut self.e0b),
                Ecn::Ect1 => Some(&mut self.e1b),
                Ecn::Ce => Some(&mut self.ceb),
            };
            if let Some(counter) = counter {
                *counter = counter.wrapping_add(octets);
                // Another counter than before; of a first packet CE alone.
                turned = ecn != self.last && (ce || self.last != Ecn::NotEct);
                self.last = ecn;
            }
        }
        let data = octets > 0 || owes;
        turned
            || ce && data && self.marks >= MARKS_WITH_DATA
            || ce && !data && of_acks && self.marks >= MARKS_WITHOUT
    }

    /// An ACK has left, which reports all marks so far.
    pub fn on_ack_sent(&mut self) {
        self.marks = 0;
    }

    /// Returns how many fields the option of the next segment has, if it has one: all as a beacon;
    /// those that ever changed when CE has been counted; else no option (§3.2.3.3).
    pub fn due(&self, now: Time, rtt: Option<Span>) -> Option<u8> {
        if !self.news {
            return None;
        }
        let beacon = match (self.full_at, rtt) {
            (Some(at), Some(rtt)) => now.saturating_since(at) >= rtt / BEACONS,
            _ => true,
        };
        if beacon {
            Some(3)
        } else if self.ceb != self.told_ceb {
            Some(if self.e0b != 1 && self.e1b != 1 { 3 } else { 2 })
        } else {
            None
        }
    }

    /// The option with so many fields, the ECT counter that changed first.
    pub fn option(&self, fields: u8) -> AccEcn {
        let order =
            if self.e0b == 1 && self.e1b != 1 { AccEcnOrder::One } else { AccEcnOrder::Zero };
        AccEcn::new(order, fields, self.e0b, self.ceb, self.e1b)
    }

    /// The option that [`Counters::due`] asked for has left with so many fields.
    pub fn on_option_sent(&mut self, now: Time, fields: u8) {
        self.news = false;
        self.told_ceb = self.ceb;
        if fields == 3 {
            self.full_at = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// §3.2.2.5.1 and §3.2.3.3, change-triggered ACKs: with the first CE, with
    /// each change of the counter; not for the very first packet.
    #[test]
    fn a_change_of_the_counter_is_acknowledged_at_once() {
        use Ecn::{Ce, Ect0, Ect1, NotEct};
        let mut c = Counters::new();
        for (ecn, at_once) in [
            (Ect0, false),
            (Ect0, false),
            (Ce, true),
            (NotEct, false), // counts nowhere
            (Ect0, true),
            (Ect1, true),
            (Ect1, false),
        ] {
            assert_eq!(c.on_packet(ecn, 1000, false, true), at_once, "{ecn:?}");
            c.on_ack_sent();
        }
        assert_eq!((c.cep, c.e0b, c.ceb, c.e1b), (6, 3001, 1000, 2001));
        assert!(Counters::new().on_packet(Ce, 1000, false, true));
    }

    /// §3.2.2.5.1: n = 2 with data to acknowledge, 3 without.
    #[test]
    fn marks_are_acknowledged_before_the_field_can_wrap() {
        let mut c = Counters::new();
        c.last = Ecn::Ce;
        let now = [0, 1].map(|_| c.on_packet(Ecn::Ce, 1000, true, true));
        assert_eq!(now, [false, true]);
        c.on_ack_sent();
        let now = [0, 1, 2].map(|_| c.on_packet(Ecn::Ce, 0, false, true));
        assert_eq!(now, [false, false, true]);
        c.on_ack_sent();
        assert!([0; 9].iter().all(|_| !c.on_packet(Ecn::Ce, 0, false, false)));
        assert_eq!(c.cep, 5 + 2 + 3 + 9);
        assert_eq!(c.ceb, 2000, "packets without data have no octets");
    }

    /// §3.2.3.3: three beacons in a round trip at least, whatever the spacing
    /// of ACKs, or one on each.
    #[test]
    fn full_options_leave_three_times_a_round_trip() {
        let rtt = Span::from_millis(120);
        for spacing in 1..100 {
            let mut c = Counters::new();
            let mut sent = Vec::new();
            for n in 0..2000 / spacing {
                c.on_packet(Ecn::Ect0, 1000, false, true);
                if let Some(fields) = c.due(at(n * spacing), Some(rtt)) {
                    assert_eq!(fields, 3);
                    c.on_option_sent(at(n * spacing), fields);
                    sent.push(n * spacing);
                }
            }
            for start in 0..1800 {
                let within = |dates: &[u64]| {
                    dates.iter().filter(|t| (start..start + 120).contains(*t)).count()
                };
                let acks: Vec<_> = (0..2000 / spacing).map(|n| n * spacing).collect();
                assert!(within(&sent) >= within(&acks).min(3), "{spacing} ms, from {start}");
            }
        }
    }

    /// Between beacons CE alone makes an option leave, of the fields that
    /// changed, in the order that has them first.
    #[test]
    fn news_of_ce_are_told_with_the_fields_that_changed() {
        let rtt = Some(Span::from_secs(1));
        let mut c = Counters::new();
        assert_eq!(c.due(at(0), rtt), None, "nothing has come");
        c.on_packet(Ecn::Ect1, 500, false, true);
        assert_eq!(c.due(at(0), None), Some(3));
        c.on_option_sent(at(0), 3);
        c.on_packet(Ecn::Ect1, 500, false, true);
        assert_eq!(c.due(at(1), rtt), None);
        c.on_packet(Ecn::Ce, 500, false, true);
        assert_eq!(c.due(at(1), rtt), Some(2));
        assert_eq!(c.option(2), AccEcn::new(AccEcnOrder::One, 2, 0, 500, 1001));
        c.on_option_sent(at(1), 2);
        assert_eq!(c.due(at(1), rtt), None);
        c.on_packet(Ecn::Ect0, 500, false, true);
        c.on_packet(Ecn::Ce, 500, false, true);
        assert_eq!(c.due(at(2), rtt), Some(3));
        assert_eq!(c.option(3), AccEcn::new(AccEcnOrder::Zero, 3, 501, 1000, 1001));
    }
}
