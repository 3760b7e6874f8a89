//! What the application takes: counted octets or real ones.

use super::Receiver;
use anabranch_wire::Payload;

impl Receiver {
    /// In-order octets that the application can read.
    pub fn readable(&self) -> u64 {
        let end = if self.has_ended() { self.nxt - 1 } else { self.nxt };
        end.saturating_sub(self.read)
    }

    /// The offset that the application reads next.
    pub fn read_offset(&self) -> u64 {
        self.read
    }

    /// The application takes up to `max` octets; asks for a window update when
    /// the peer had less than half the largest window to send into, and now has more.
    pub fn read(&mut self, max: u64, mss: u64) -> u64 {
        let n = max.min(self.readable());
        self.read += n;
        if let Some(octets) = &mut self.octets {
            octets.drop_below(self.read);
        }
        self.ask_for_update(mss);
        n
    }

    /// Reads as [`read`](Self::read) does, into a buffer; counted octets read as zeros.
    pub fn read_octets(&mut self, buf: &mut [u8], mss: u64) -> usize {
        let n = self.readable().min(buf.len() as u64) as usize;
        match &mut self.octets {
            Some(octets) => octets.take(&mut buf[..n]),
            None => buf[..n].fill(0),
        }
        self.read += n as u64;
        self.ask_for_update(mss);
        n
    }

    /// Reads as [`read`](Self::read) does, and returns the octets as they came, counted or real.
    pub fn take(&mut self, max: u32, mss: u64) -> Payload {
        let n = self.readable().min(max as u64) as u32;
        if self.octets.is_none() {
            self.read(n as u64, mss);
            return Payload::virtual_of(n);
        }
        let mut octets = vec![0; n as usize];
        self.read_octets(&mut octets, mss);
        Payload::of_octets(octets)
    }
}
