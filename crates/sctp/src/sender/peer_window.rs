//! The room of the peer's receive buffer is kept here (RFC 9260 §6.2.1).

/// A `PeerWindow` is the room of the peer's receive buffer, in octets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerWindow {
    /// `rwnd` is the a_rwnd of the last SACK.
    rwnd: u64,
    /// `largest` is the largest a_rwnd since the association began.
    largest: u64,
}

impl PeerWindow {
    /// Begins an association, with the a_rwnd of INIT or INIT ACK.
    pub fn begin(&mut self, a_rwnd: u32) {
        (self.rwnd, self.largest) = (a_rwnd as u64, a_rwnd as u64);
    }

    /// Takes the a_rwnd of a SACK.
    #[inline]
    pub fn update(&mut self, a_rwnd: u32) {
        self.rwnd = a_rwnd as u64;
        self.largest = self.largest.max(self.rwnd);
    }

    /// Returns the a_rwnd of the last SACK, in octets.
    #[inline]
    pub fn rwnd(&self) -> u64 {
        self.rwnd
    }

    /// Returns the largest a_rwnd so far, in octets, which is that of an empty buffer.
    #[inline]
    pub fn largest(&self) -> u64 {
        self.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_window_is_remembered_until_another_association_begins() {
        let mut window = PeerWindow::default();
        window.begin(5000);
        window.update(9000);
        window.update(1000);
        assert_eq!((window.rwnd(), window.largest()), (1000, 9000));
        window.begin(4000);
        assert_eq!((window.rwnd(), window.largest()), (4000, 4000));
    }
}
