//! The pseudo-code of the paper by itself: figures 1 and 3 of Hwang, Yoo and
//! Yoo, in whole segments and whole round trips. It shares nothing with the
//! engine; names are the paper's.
//!
//! Where the pseudo-code is silent the model has the rules of the scheme's
//! documentation: limited transmit, the end of recovery mode, and the timer (five
//! round trips; then slow start from `ack_no`, around
//! what was SACKed).

use std::collections::{BTreeSet, VecDeque};

/// Round trips until the timer expires: 1 s, of 200 ms each.
const TIMEOUT: u64 = 5;

/// The sender, the receiver, and a path that loses some segments once.
#[derive(Clone, Debug)]
pub struct Model {
    /// `moment_ack` moves to the forward ACK with the ACK after the detection.
    pub opens_late: bool,
    /// Duplicate ACKs before the third release a segment each (RFC 3042).
    pub limited_transmit: bool,
    /// Segments that are lost the first time.
    pub lost: BTreeSet<u64>,
    pub cwnd: f64,
    pub ssthresh: f64,
    next_seq: u64,
    ack_no: u64,
    moment_ack: u64,
    recovery: bool,
    retransmit: u64,
    duplicates: u64,
    sacked: BTreeSet<u64>,
    resent: BTreeSet<u64>,
    /// The next hole is looked for above this one.
    resent_up_to: u64,
    /// Sent before the last detection or timeout.
    sent_before: u64,
    /// Sent at all.
    highest: u64,
    going_back: bool,
    arrived: BTreeSet<u64>,
    in_flight: VecDeque<(u64, u64)>,
    /// When the timer expires.
    timer: u64,
    /// How often it has.
    pub expiries: u32,
    /// Round trip and number of each segment sent.
    pub sent: Vec<(u64, u64)>,
}

impl Model {
    /// A sender with this window and threshold, and losses by number from 1.
    pub fn new(cwnd: f64, ssthresh: f64, lost: impl IntoIterator<Item = u64>) -> Model {
        Model {
            opens_late: false,
            limited_transmit: true,
            lost: lost.into_iter().collect(),
            cwnd,
            ssthresh,
            next_seq: 1,
            ack_no: 0,
            moment_ack: 0,
            recovery: false,
            retransmit: 0,
            duplicates: 0,
            sacked: BTreeSet::new(),
            resent: BTreeSet::new(),
            resent_up_to: 0,
            sent_before: 0,
            highest: 0,
            going_back: false,
            arrived: BTreeSet::new(),
            in_flight: VecDeque::new(),
            timer: TIMEOUT,
            expiries: 0,
            sent: Vec::new(),
        }
    }

    /// Runs from round trip 0 to `end`, that one included, or to the second timeout.
    pub fn run(mut self, end: u64) -> Model {
        for now in 0..=end {
            while let Some((at, seq)) = self.in_flight.front().copied()
                && at <= now
            {
                self.in_flight.pop_front();
                self.arrives(now, seq);
            }
            if self.timer <= now {
                self.expires(now);
                if self.expiries > 1 {
                    return self;
                }
            }
            self.send(now);
        }
        self
    }

    /// Segments acknowledged in order.
    pub fn acknowledged(&self) -> u64 {
        self.ack_no
    }

    /// A segment reaches the receiver, and its ACK the sender.
    fn arrives(&mut self, now: u64, seq: u64) {
        if self.lost.remove(&seq) {
            return;
        }
        if !self.arrived.insert(seq) {
            return; // sent twice: the ACK tells nothing new
        }
        if seq > self.ack_no {
            self.sacked.insert(seq);
        }
        let before = self.ack_no;
        while self.arrived.contains(&(self.ack_no + 1)) {
            self.ack_no += 1;
        }
        let ack_no = self.ack_no;
        self.sacked.retain(|seq| *seq > ack_no);
        let covered = self.resent.len();
        self.resent.retain(|seq| *seq > ack_no && !self.sacked.contains(seq));
        let covered = covered - self.resent.len();
        self.on_ack(now, ack_no > before, covered as u64);
        self.send(now);
    }

    /// Figure 1.
    fn on_ack(&mut self, now: u64, advances: bool, covered: u64) {
        if advances {
            self.duplicates = 0;
            self.timer = now + TIMEOUT;
            self.next_seq = self.next_seq.max(self.ack_no + 1);
        } else {
            self.duplicates += 1;
        }
        if self.going_back && self.ack_no >= self.sent_before {
            self.going_back = false;
            self.next_seq = self.highest + 1;
        }
        if !self.recovery {
            let may_detect = self.ack_no >= self.sent_before && !self.going_back;
            if advances {
                self.moment_ack = self.ack_no;
                self.open();
            } else if self.duplicates >= 3 && may_detect {
                self.recovery = true;
                self.cwnd = (self.cwnd / 2.0).max(2.0);
                self.ssthresh = self.cwnd;
                self.sent_before = self.highest;
                self.resent_up_to = self.ack_no;
                self.timer = now + TIMEOUT;
                if !self.opens_late {
                    self.moment_ack = self.forward_ack();
                }
            }
            return;
        }
        self.open();
        self.retransmit -= covered;
        if self.ack_no >= self.sent_before {
            self.recovery = false;
            self.moment_ack = self.ack_no;
            // What was sent again since is of a later loss: it counts with the rest
            // of what lies above `ack_no`.
            self.retransmit = 0;
            self.resent.clear();
        } else {
            self.moment_ack = self.forward_ack();
        }
    }

    fn open(&mut self) {
        self.cwnd += if self.cwnd < self.ssthresh { 1.0 } else { 1.0 / self.cwnd };
    }

    fn forward_ack(&self) -> u64 {
        self.sacked.last().copied().unwrap_or(self.ack_no)
    }

    /// Figure 3.
    fn send(&mut self, now: u64) {
        loop {
            let room = self.moment_ack as f64 + self.cwnd - self.retransmit as f64;
            let extra = match self.recovery || self.going_back || !self.limited_transmit {
                true => 0,
                false => self.duplicates.min(2),
            };
            let back = match self.going_back {
                true => self.sacked.range(..self.next_seq).count(),
                false => 0,
            };
            if self.next_seq as f64 > room + extra as f64 + back as f64 {
                return;
            }
            let seq = match self.next_hole().filter(|_| self.recovery) {
                Some(hole) => {
                    self.retransmit += 1;
                    self.resent_up_to = hole;
                    self.resent.insert(hole);
                    hole
                }
                None => {
                    while self.going_back && self.sacked.contains(&self.next_seq) {
                        self.next_seq += 1;
                    }
                    self.next_seq += 1;
                    self.next_seq - 1
                }
            };
            self.highest = self.highest.max(seq);
            self.sent.push((now, seq));
            self.in_flight.push_back((now + 1, seq));
        }
    }

    fn next_hole(&self) -> Option<u64> {
        let from = self.resent_up_to.max(self.ack_no) + 1;
        (from..self.forward_ack()).find(|seq| !self.sacked.contains(seq))
    }

    /// The timer: slow start from one segment, in order from `ack_no`.
    fn expires(&mut self, now: u64) {
        self.ssthresh = (self.cwnd / 2.0).max(2.0);
        self.cwnd = 1.0;
        (self.recovery, self.going_back, self.retransmit) = (false, true, 0);
        self.resent.clear();
        self.duplicates = 0;
        (self.moment_ack, self.next_seq) = (self.ack_no, self.ack_no + 1);
        self.sent_before = self.highest;
        self.timer = now + 2 * TIMEOUT;
        self.expiries += 1;
    }
}
