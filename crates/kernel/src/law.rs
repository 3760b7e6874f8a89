//! The law of an algorithm as its object has it, for a machine in user space: `struct law` of bpf/law.h, and
//! the instructions that change it.

use crate::link::Object;
use crate::{Algorithm, ImageError};

/// Most siblings of a path.
pub const OTHERS: usize = 7;
/// Octets of a `struct path`, and of a sibling.
const PATH: usize = 80;
const SIBLING: usize = 24;
const NOW: usize = 72;
const BEFORE: usize = NOW + PATH;
const AFTER: usize = BEFORE + PATH;
const TOLD: usize = AFTER + 8;
const SIBLINGS: usize = TOLD + 16;

/// What happens to a window (`enum event`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Event {
    /// New data was acknowledged while the window may grow.
    Ack = 1,
    /// Loss, or a mark of ECN.
    Loss = 2,
    /// The retransmission timer expired.
    Timeout = 3,
    /// The last reduction was spurious.
    Undo = 4,
    /// The window restarts after idleness.
    Idle = 5,
    /// Data leaves while nothing is in flight.
    Sent = 6,
    /// New data was acknowledged while the window must not grow.
    Limited = 7,
    /// Any acknowledgment, in recovery too.
    Feedback = 8,
}

/// Another path of the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sibling {
    /// Window in segments, with 16 bits of fraction.
    pub window: u64,
    /// The term that its law tells, in the law's unit.
    pub told: u64,
    /// Smoothed round-trip time in microseconds; 0: there is no such path.
    pub rtt_us: u32,
}

/// The octets of a `struct law`.
#[derive(Clone, Debug)]
pub struct Law {
    octets: [u8; Law::LEN],
}

impl Law {
    /// Octets of the law with its view of other paths.
    pub const LEN: usize = SIBLINGS + OTHERS * SIBLING;

    /// A path with this window and threshold, in segments.
    pub fn new(window: u32, ssthresh: Option<u32>) -> Law {
        let mut law = Law { octets: [0; Law::LEN] };
        law.set_u64(NOW, u64::from(window) << 32);
        law.set_u64(NOW + 8, ssthresh.map_or(u64::MAX, |segments| u64::from(segments) << 32));
        law
    }

    /// Returns the octets, for the machine that runs the law.
    pub fn octets(&mut self) -> &mut [u8; Law::LEN] {
        &mut self.octets
    }

    fn set_u32(&mut self, at: usize, value: u32) {
        self.octets[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    }

    fn set_u64(&mut self, at: usize, value: u64) {
        self.octets[at..at + 8].copy_from_slice(&value.to_ne_bytes());
    }

    fn u64(&self, at: usize) -> u64 {
        self.octets[at..at + 8].try_into().map_or(0, u64::from_ne_bytes)
    }

    /// What happens, when in microseconds, and how many segments it acknowledges.
    pub fn happen(&mut self, event: Event, now_us: u64, acked: u32) {
        self.set_u32(0, event as u32);
        self.set_u32(4, acked);
        self.set_u64(8, now_us);
        self.set_u64(16, self.u64(NOW)); // what a reduction takes a part of: the window
    }

    /// Octets sent and acknowledged so far, and segments newly delivered.
    pub fn count(&mut self, sent: u64, received: u64, delivered: u32) {
        self.set_u64(24, sent);
        self.set_u64(32, received);
        self.set_u32(40, delivered);
    }

    /// Round-trip times in microseconds: a sample, the smoothed and the smallest; 0 for none.
    pub fn time(&mut self, sample_us: u32, smoothed_us: u32, least_us: u32) {
        self.set_u32(44, sample_us);
        self.set_u32(48, smoothed_us);
        self.set_u32(52, least_us);
    }

    /// Window and threshold of the kernel, in whole segments, which the law takes over where it has others.
    pub fn kernel(&mut self, window: u32, ssthresh: u32) {
        self.set_u32(60, window);
        self.set_u32(64, ssthresh);
    }

    /// Sets the octets of a segment.
    pub fn segment(&mut self, octets: u32) {
        self.set_u32(56, octets);
    }

    /// Sets what the law sees of the other paths.
    pub fn siblings(&mut self, siblings: &[Sibling; OTHERS]) {
        for (i, sibling) in siblings.iter().enumerate() {
            let at = SIBLINGS + i * SIBLING;
            self.set_u64(at, sibling.window);
            self.set_u64(at + 8, sibling.told);
            self.set_u32(at + 16, sibling.rtt_us);
        }
    }

    /// The window in segments.
    pub fn window(&self) -> f64 {
        self.u64(NOW) as f64 / f64::from(2.0_f32.powi(32))
    }

    /// The threshold in segments; infinite at first.
    pub fn ssthresh(&self) -> f64 {
        match self.u64(NOW + 8) {
            u64::MAX => f64::INFINITY,
            segments => segments as f64 / f64::from(2.0_f32.powi(32)),
        }
    }

    /// What siblings should know, in the law's own unit.
    pub fn told(&self) -> u64 {
        self.u64(TOLD)
    }
}

/// The instructions of an algorithm's law, which take the address of a `struct law` in register 1.
///
/// # Errors
/// What is wrong with the object.
pub fn instructions(algorithm: &Algorithm) -> Result<&'static [u8], ImageError> {
    Object::new(algorithm.object)?.function("anabranch_law")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relocate::find;

    #[test]
    fn the_layout_is_that_of_the_source() {
        let btf = Object::new(Algorithm::from_name("lia").unwrap().object).unwrap().btf;
        let at = |of: &str, field: &str| {
            let (bits, ..) = find(&btf, btf.structure(of).unwrap(), field).unwrap();
            bits as usize / 8
        };
        let fields =
            ["event", "acked", "now_us", "base", "sent", "received", "delivered", "rtt_us"];
        assert_eq!(fields.map(|field| at("law", field)), [0, 4, 8, 16, 24, 32, 40, 44]);
        let fields = ["srtt_us", "min_rtt_us", "mss", "cwnd", "cwnd_ssthresh"];
        assert_eq!(fields.map(|field| at("law", field)), [48, 52, 56, 60, 64]);
        let fields = ["now", "told", "other"];
        assert_eq!(fields.map(|field| at("law", field)), [NOW, TOLD, SIBLINGS]);
        assert_eq!(["w", "ssthresh"].map(|field| at("path", field)), [0, 8]);
        assert_eq!(["w", "told", "rtt_us"].map(|field| at("sibling", field)), [0, 8, 16]);
    }
}
