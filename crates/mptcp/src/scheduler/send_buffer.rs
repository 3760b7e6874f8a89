//! Send buffers as Linux has them, for schedulers that give subflows data which waits there.
//!
//! A subflow's holds twice the memory of its window's segments (tcp_sndbuf_expand of net/ipv4/tcp_input.c), 4 MiB at
//! most (`net.ipv4.tcp_wmem`). The connection's holds what those of all subflows together do, until the data is
//! acknowledged; when it is full its writer sleeps until a third of it is free (sk_stream_is_writeable).

use super::Stream;

/// The most memory of a subflow's send buffer, in octets: the third number of `net.ipv4.tcp_wmem`.
const MOST_MEMORY: u64 = 4 << 20;

/// Returns how many octets the send buffer of a subflow with this window holds. Linux counts the memory of a segment
/// with its headers and descriptions, 640 octets, as the power of two that it is allocated as, and 256 octets more:
/// 4352 octets for segments of 1460. What is queued is kept in large buffers, and takes hardly more than its octets.
pub(super) fn buffer(cwnd: u64, mss: u64) -> u64 {
    let segment = (mss + 640).next_power_of_two() + 256;
    let segments = (cwnd / mss.max(1)).max(10);
    (2 * segments * segment).min(MOST_MEMORY)
}

/// The application that writes to the connection's send buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Writer {
    /// The buffer was full, and a third of it is not free yet.
    sleeps: bool,
}

impl Writer {
    /// The connection's send buffer of `size` octets has room; once it was full, when a third of it is free.
    pub fn may_write(&mut self, stream: &Stream, size: u64) -> bool {
        let held = stream.nxt - stream.una;
        self.sleeps = held >= if self.sleeps { size / 3 * 2 } else { size };
        !self.sleeps
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::stream;
    use super::*;

    /// Ten segments of 1460 take 2 x 10 x 4352 octets, fewer count as ten, and 4 MiB is the most.
    #[test]
    fn a_buffer_holds_twice_the_memory_of_the_window() {
        assert_eq!(buffer(10 * 1460, 1460), 2 * 10 * 4352);
        assert_eq!(buffer(1460, 1460), 2 * 10 * 4352);
        assert_eq!(buffer(1 << 30, 1460), MOST_MEMORY);
    }

    #[test]
    fn a_writer_sleeps_until_a_third_is_free() {
        let mut writer = Writer::default();
        let at = |nxt| writer.may_write(&Stream { nxt, ..stream(1) }, 9000);
        assert_eq!([9000, 9001, 6001, 6000, 9000].map(at), [true, false, false, true, true]);
    }
}
