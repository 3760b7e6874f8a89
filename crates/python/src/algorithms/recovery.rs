//! Loss-recovery schemes in Python.

use super::Class;
use super::events::seconds;
use super::object::{Object, view};
use anabranch_tcp::recovery::{AckView, LossDetector, MakeDetector};
use anabranch_tcp::{Range, RangeSet};
use anabranch_units::Time;
use pyo3::prelude::*;
use std::sync::Arc;

view! {
    /// What a recovery scheme sees with an ACK. Offsets count octets from the SYN.
    RecoveryAck {
        /// Simulated time in seconds.
        time_s: f64,
        /// Oldest offset that is not acknowledged.
        una: u64,
        /// The offset after the highest ever sent.
        max: u64,
        /// Payload of a full segment.
        mss: u64,
        /// Octets newly acknowledged in order.
        acked: u64,
        /// Octets newly known to have arrived.
        delivered: u64,
        /// Whether the ACK is a duplicate.
        duplicate: bool,
        /// Duplicate ACKs in a row.
        dupacks: u32,
        /// SACKed ranges above `una`, as pairs of first offset and the one after the last.
        sacked: Vec<(u64, u64)>,
        /// Ranges that were called lost and have not been sent again.
        lost: Vec<(u64, u64)>,
        /// A loss is being repaired.
        in_recovery: bool,
        /// The round-trip sample of this ACK in seconds, if it has one.
        rtt_s: Option<f64>,
        /// Smoothed round-trip time in seconds, once measured.
        srtt_s: Option<f64>,
        /// Smallest round-trip time seen, in seconds.
        min_rtt_s: Option<f64>,
    }
}

/// What makes schemes of a class.
pub(super) fn maker(class: Arc<Class>) -> Arc<MakeDetector> {
    Arc::new(move |place| {
        let hears_sent = class.defines("on_sent");
        Box::new(PythonDetector { object: Object::new(&class, place), hears_sent })
    })
}

#[derive(Debug)]
struct PythonDetector {
    object: Object,
    hears_sent: bool,
}

fn pairs(set: &RangeSet) -> Vec<(u64, u64)> {
    set.iter().map(|item| (item.start, item.end)).collect()
}

impl LossDetector for PythonDetector {
    fn on_ack(&mut self, ack: &AckView<'_>, lost: &mut Vec<Range>) {
        Python::attach(|py| {
            let view = RecoveryAck {
                time_s: ack.now.as_secs_f64(),
                una: ack.una,
                max: ack.max,
                mss: ack.mss,
                acked: ack.acked,
                delivered: ack.delivered,
                duplicate: ack.duplicate,
                dupacks: ack.dupacks,
                sacked: pairs(ack.sacked),
                lost: pairs(ack.lost),
                in_recovery: ack.in_recovery,
                rtt_s: seconds(ack.rtt),
                srtt_s: seconds(ack.srtt),
                min_rtt_s: seconds(ack.min_rtt),
            };
            let told = self.object.call(py, "on_ack", Ok((view,)));
            let ranges = match told.is_none() {
                true => Some(Vec::new()),
                false => told.extract::<Vec<(u64, u64)>>().ok(),
            };
            match ranges.filter(|all| all.iter().all(|(start, end)| start < end)) {
                Some(all) => lost.extend(all.iter().map(|&(start, end)| Range { start, end })),
                None => {
                    let allowed = "a list of pairs of first offset and the one after the last";
                    self.object.refuse(py, "on_ack", &told, allowed)
                }
            }
        });
    }

    fn on_sent(&mut self, now: Time, range: Range, again: bool) {
        if self.hears_sent {
            Python::attach(|py| {
                let told = (now.as_secs_f64(), range.start, range.end, again);
                self.object.call(py, "on_sent", Ok(told));
            });
        }
    }

    fn on_timeout(&mut self) {
        Python::attach(|py| {
            self.object.call(py, "on_timeout", Ok(()));
        });
    }
}
