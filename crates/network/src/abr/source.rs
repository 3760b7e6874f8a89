//! An end system of a virtual channel: the source of one direction (TM 4.0 §5.10.4) and the
//! destination of the other (§5.10.5), which share the node and take turns on the line.
//!
//! Rules keep their numbers. What is left out: out-of-rate RM cells (rule 11; a source whose rate
//! would fall below TCR = 10 cells/s keeps that instead, so that it goes on asking), the tagging of
//! cells, and a destination that is congested itself.

use super::cells::{Kind, RateField, Rm};
use super::config::{VcConfig, cells_per_second};
use anabranch_units::{Rate, Span, Time};

/// `MRM` is Mrm: at least so many cells besides RM cells stand between two forward RM cells.
const MRM: u32 = 2;
/// `TCR` is the rate that a source may always send RM cells at, in cells a second.
const TCR: f64 = 10.0;

/// An end system, seen from the direction that it is the source of.
#[derive(Debug)]
pub(super) struct EndSystem {
    peak: f64,
    least: f64,
    minimum: RateField,
    initial: f64,
    config: VcConfig,
    /// `rate` is ACR, the allowed cell rate, in cells a second.
    rate: f64,
    /// `gap` is the time from a cell to the next at this rate.
    gap: Span,
    last_cell: Option<Time>,
    last_forward: Option<Time>,
    /// `since_forward` counts in-rate cells since the last forward RM cell.
    since_forward: u32,
    /// `has_answered` says that a backward RM cell has been sent since then.
    has_answered: bool,
    /// Forward RM cells since the last backward one came.
    unanswered: u32,
    /// The backward RM cell that waits for its turn.
    answer: Option<Rm>,
    /// Packets wait that have not been cut into cells.
    pub has_packets: bool,
    /// Cells of the packet at the head that are left to send.
    cells_left: u32,
    /// `packets` is how many packets have been cut into cells.
    packets: u32,
    /// The last data cell that came to this end as the destination had EFCI set.
    congestion_seen: bool,
    /// Data cells that came since the last end of a packet.
    received: u32,
}

/// `Turn` is what a source does when it may send a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// The source sends a cell of this kind.
    Send(Kind),
    /// The source needs the next packet before it can send.
    NeedsPacket,
    /// The source has nothing to send.
    Rests,
}

impl EndSystem {
    pub(super) fn new(config: &VcConfig) -> EndSystem {
        let peak = cells_per_second(config.peak);
        let minimum = config.minimum.map_or(0.0, cells_per_second);
        let initial = config.initial.map_or(peak, cells_per_second).max(minimum);
        let mut end_system = EndSystem {
            peak,
            least: minimum.max(TCR).min(peak),
            minimum: RateField::of(minimum),
            initial,
            config: *config,
            rate: 0.0,
            gap: Span::ZERO,
            last_cell: None,
            last_forward: None,
            since_forward: 0,
            has_answered: false,
            unanswered: 0,
            answer: None,
            has_packets: false,
            cells_left: 0,
            packets: 0,
            congestion_seen: false,
            received: 0,
        };
        // Rule 2.
        end_system.set_rate(initial);
        end_system
    }

    /// Returns ACR, the allowed cell rate, in cells/s.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Returns ACR in octets of packets.
    pub(super) fn net_rate(&self) -> Rate {
        self.config.net_rate(self.rate)
    }

    fn set_rate(&mut self, rate: f64) {
        // Rule 1.
        self.rate = rate.clamp(self.least, self.peak);
        // Rounded up, so that the rate is never exceeded.
        self.gap = Span::from_picos((1e12 / self.rate).ceil() as u64);
    }

    /// Returns PCR, the peak cell rate, in cells/s.
    pub(super) fn peak(&self) -> f64 {
        self.peak
    }

    /// Cells of the packet at the head that are left to send.
    pub(super) fn cells_left(&self) -> u32 {
        self.cells_left
    }

    /// Returns whether data of its own waits, or is being sent.
    pub(super) fn has_data(&self) -> bool {
        self.has_packets || self.cells_left > 0
    }

    /// Returns when it may send its next cell; [`Time::NEVER`] if it has none.
    pub(super) fn due(&self, now: Time) -> Time {
        if !self.has_data() && self.answer.is_none() {
            return Time::NEVER;
        }
        self.last_cell.map_or(now, |last| last.saturating_add(self.gap).max(now))
    }

    /// It may send a cell now: which, by rule 3. Data of a new packet begins after
    /// [`EndSystem::load`].
    pub(super) fn turn(&mut self, now: Time) -> Turn {
        if !self.has_data() && self.answer.is_none() {
            return Turn::Rests;
        }
        let is_forward_due = match self.last_forward {
            None => true,
            Some(last) => {
                let long_ago = now.saturating_since(last) >= self.config.rm_time;
                self.since_forward + 1 >= self.config.cells_per_rm
                    || self.since_forward >= MRM && long_ago
            }
        };
        let kind = if is_forward_due {
            self.forward(now)
        } else if let Some(answer) = self.answer
            && !(self.has_answered && self.has_data())
        {
            self.answer = None;
            self.has_answered = true;
            self.since_forward += 1;
            Kind::Backward(answer)
        } else if self.cells_left == 0 {
            return Turn::NeedsPacket;
        } else {
            self.cells_left -= 1;
            self.since_forward += 1;
            let last = self.cells_left == 0;
            Kind::Data { packet: self.packets - 1, last, congestion: false }
        };
        self.last_cell = Some(now);
        Turn::Send(kind)
    }

    /// A forward RM cell, and what the rate loses before it (rules 5, 6, 7 and 10).
    fn forward(&mut self, now: Time) -> Kind {
        let idle = self.last_forward.map_or(Span::ZERO, |last| now.saturating_since(last));
        if idle > self.config.decrease_time && self.rate > self.initial {
            self.set_rate(self.initial);
        }
        if self.unanswered >= self.config.missing_rm {
            self.set_rate(self.rate * (1.0 - self.config.cutoff_decrease));
        }
        self.unanswered = self.unanswered.saturating_add(1);
        self.last_forward = Some(now);
        self.since_forward = 0;
        self.has_answered = false;
        Kind::Forward(Rm {
            explicit: RateField::of(self.peak),
            current: RateField::of(self.rate),
            minimum: self.minimum,
            congestion: false,
            no_increase: false,
        })
    }

    /// A backward RM cell about its own data has come (rules 8 and 9). True if the rate changes.
    pub(super) fn on_backward(&mut self, rm: &Rm) -> bool {
        self.unanswered = 0;
        let before = self.rate;
        let mut rate = before;
        if rm.congestion {
            rate -= rate * self.config.decrease;
        } else if !rm.no_increase {
            rate += self.config.increase * self.peak;
        }
        self.set_rate(rate.min(rm.explicit.cells()));
        self.rate != before
    }

    /// Cuts a packet into cells, and returns its number.
    pub(super) fn load(&mut self, octets: u32) -> u32 {
        self.cells_left = self.config.encapsulation.cells(octets);
        self.packets = self.packets.wrapping_add(1);
        self.packets - 1
    }

    /// Takes a forward RM cell that has come to this end as the destination, to be sent back. One
    /// that still waits to be sent back is replaced, as its news is older (§5.10.5, rule 3).
    pub(super) fn turn_round(&mut self, mut rm: Rm) {
        // Rules 1 and 2: EFCI becomes CI, once.
        rm.congestion |= std::mem::take(&mut self.congestion_seen);
        self.answer = Some(rm);
    }

    /// Takes a data cell that has come to this end as the destination. Returns at the last cell of
    /// a packet how many the packet had.
    pub(super) fn receive(&mut self, last: bool, congestion: bool) -> Option<u32> {
        self.congestion_seen = congestion;
        self.received += 1;
        last.then(|| std::mem::take(&mut self.received))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 cells/s.
    const PEAK: Rate = Rate::kbit(424);

    fn source(change: impl FnOnce(&mut VcConfig)) -> EndSystem {
        let mut config = VcConfig::new(PEAK);
        change(&mut config);
        EndSystem::new(&config)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// F, B and D for the cells that leave, each when it may, until it rests.
    fn sends(end_system: &mut EndSystem, now: &mut Time, packets: u32, octets: u32) -> String {
        let mut out = String::new();
        let mut left = packets;
        end_system.has_packets = left > 0;
        loop {
            let due = end_system.due(*now);
            if due == Time::NEVER {
                return out;
            }
            *now = due;
            match end_system.turn(due) {
                Turn::Send(Kind::Forward(_)) => out.push('F'),
                Turn::Send(Kind::Backward(_)) => out.push('B'),
                Turn::Send(Kind::Data { last, .. }) => out.push(if last { 'E' } else { 'D' }),
                Turn::NeedsPacket => {
                    end_system.load(octets);
                    left -= 1;
                    end_system.has_packets = left > 0;
                }
                Turn::Rests => return out,
            }
        }
    }

    /// TM 4.0 §5.10.4, rules 2 and 3: RM cells first and after each 31 others.
    #[test]
    fn every_32nd_cell_is_an_rm_cell() {
        let mut source = source(|_| {});
        let mut now = at(0);
        let cells = sends(&mut source, &mut now, 1, 100 * 48 - 8);
        let expected =
            format!("F{}F{}F{}F{}E", "D".repeat(31), "D".repeat(31), "D".repeat(31), "D".repeat(6));
        assert_eq!(cells, expected);
        // 104 cells, of which the first left at 0, 1 ms and a rounding apart.
        let ideal = at(103);
        assert!(now >= ideal && now.saturating_since(ideal) < Span::from_nanos(1), "{now}");
    }

    /// Rule 3a: after Trm an RM cell comes before the third data cell.
    #[test]
    fn slow_sources_send_rm_cells_by_time() {
        let mut source = source(|config| config.initial = Some(Rate::from_bps(8480).unwrap()));
        // 20 cells/s: 50 ms a cell.
        let mut now = at(0);
        assert_eq!(sends(&mut source, &mut now, 1, 6 * 48 - 8), "FDDFDDFDE");
    }

    /// Rule 3b: one answer between two forward RM cells while data waits, at once when none does.
    #[test]
    fn answers_take_their_turn() {
        let rm = Rm { explicit: RateField::MAX, ..Rm::default() };
        let mut source = source(|_| {});
        let mut now = at(0);
        source.turn_round(rm);
        assert_eq!(sends(&mut source, &mut now, 1, 3 * 48 - 8), "FBDDE");
        source.turn_round(rm);
        source.has_packets = true;
        source.load(48);
        source.has_packets = false;
        // It has answered since its last RM cell, so that data go first.
        let Turn::Send(Kind::Data { .. }) = source.turn(source.due(now)) else {
            panic!("data go first")
        };
        let Turn::Send(Kind::Data { last: true, .. }) = source.turn(source.due(now)) else {
            panic!()
        };
        let Turn::Send(Kind::Backward(_)) = source.turn(source.due(now)) else {
            panic!("then the answer")
        };
        assert_eq!(source.due(now), Time::NEVER);
    }

    /// §5.10.5: a newer RM cell replaces one that waits.
    #[test]
    fn an_answer_that_waits_is_replaced() {
        let mut source = source(|_| {});
        let rm = |cells| Rm { explicit: RateField::of(cells), ..Rm::default() };
        source.turn_round(rm(500.0));
        source.turn_round(rm(700.0));
        source.turn(at(0));
        assert_eq!(source.turn(at(1)), Turn::Send(Kind::Backward(rm(700.0))));
        assert_eq!(source.turn(at(2)), Turn::Rests);
    }

    /// Rules 8 and 9, by hand: PCR 1000, RIF 1/16, RDF 1/16, MCR 100.
    #[test]
    fn rates_follow_er_ci_and_ni() {
        let mut source = source(|config| {
            config.initial = Some(Rate::from_bps(424 * 500).unwrap());
            config.minimum = Some(Rate::from_bps(424 * 100).unwrap());
        });
        let rm = |er: f64, congestion, no_increase| Rm {
            explicit: RateField::of(er),
            congestion,
            no_increase,
            ..Rm::default()
        };
        for (er, ci, ni, rate) in [
            (1000.0, false, false, 562.5),
            (1000.0, false, true, 562.5),
            (1000.0, true, false, 527.34375),
            (512.0, false, false, 512.0),
            (512.0, false, false, 512.0),
            (1.0, false, false, 100.0),
            (0.0, true, true, 100.0),
            (1000.0, false, false, 162.5),
        ] {
            source.on_backward(&rm(er, ci, ni));
            assert_eq!(source.rate(), rate, "{er} {ci} {ni}");
        }
        for _ in 0..20 {
            source.on_backward(&rm(4000.0, false, false));
        }
        assert_eq!(source.rate(), 1000.0);
    }

    /// Rule 5: what was not used for ADTF is lost. Rule 6: nor is a rate without answers.
    #[test]
    fn rates_that_nothing_confirms_fall() {
        let mut source = source(|config| {
            config.initial = Some(Rate::from_bps(424 * 250).unwrap());
            config.missing_rm = 2;
        });
        source.on_backward(&Rm { explicit: RateField::MAX, ..Rm::default() });
        assert_eq!(source.rate(), 312.5);
        let current = |end_system: &mut EndSystem, ms| {
            end_system.has_packets = true;
            end_system.load(48 * 9);
            end_system.since_forward = 31;
            let Turn::Send(Kind::Forward(rm)) = end_system.turn(at(ms)) else {
                panic!("an RM cell")
            };
            rm.current.cells()
        };
        assert_eq!(current(&mut source, 0), 312.5);
        assert_eq!(current(&mut source, 500), 312.5);
        // The third goes without an answer to the first two; CDF is 1/16.
        assert_eq!(source.rate(), 312.5);
        current(&mut source, 600);
        assert_eq!(source.rate(), 312.5 * 15.0 / 16.0);
        current(&mut source, 1101);
        assert_eq!(source.rate(), 250.0 * 15.0 / 16.0);
    }

    /// EFCI of the last data cell becomes CI of one answer.
    #[test]
    fn a_destination_reports_congestion() {
        let mut source = source(|_| {});
        assert_eq!(source.receive(false, true), None);
        source.turn_round(Rm::default());
        assert!(source.answer.unwrap().congestion);
        source.turn_round(Rm::default());
        assert!(!source.answer.unwrap().congestion);
        source.receive(false, true);
        assert_eq!(source.receive(true, false), Some(3));
        source.turn_round(Rm::default());
        assert!(!source.answer.unwrap().congestion);
    }
}
