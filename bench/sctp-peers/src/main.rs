//! Two associations of one stack in memory, real octets through its codec with
//! checksums, one thread: `sctp-peers STACK MESSAGE MEGABYTES BATCH` writes the CPU
//! seconds of the transfer.
//!
//! Every stack gets the same pipe: packets wait in one queue; up to BATCH of them
//! for one end are delivered before that end is drained, as a socket loop that
//! reads all that is there would do it. The clock is virtual,
//! a microsecond a packet; when nothing is on the way it jumps to the next timer.

mod anabranch;
mod dcsctp;
mod proto;

use std::collections::VecDeque;

/// One end of an association, as the pipe sees it. Dates are in nanoseconds.
trait End {
    fn advance(&mut self, now: u64);
    fn input(&mut self, now: u64, packet: Vec<u8>);
    /// The next packet that leaves.
    fn output(&mut self, now: u64) -> Option<Vec<u8>>;
    fn timeout(&self) -> Option<u64>;
    fn is_up(&self) -> bool;
    /// Takes a message, or has no room.
    fn send(&mut self, message: &[u8]) -> bool;
    /// Octets of the next message.
    fn receive(&mut self) -> Option<usize>;
}

/// What all stacks are set to, in octets.
const PACKET: usize = 1480;
const RECEIVE_BUFFER: u32 = 1 << 20;
/// Messages that the sender may have waiting, in octets.
const SEND_BUFFER: usize = 1 << 20;

struct Pipe {
    ends: [Box<dyn End>; 2],
    packets: VecDeque<(usize, Vec<u8>)>,
    now: u64,
    batch: usize,
}

impl Pipe {
    fn drain(&mut self, who: usize) {
        while let Some(packet) = self.ends[who].output(self.now) {
            self.packets.push_back((1 - who, packet));
        }
    }

    fn step(&mut self) {
        self.now += 1000;
        match self.packets.pop_front() {
            Some((to, packet)) => {
                self.ends[to].input(self.now, packet);
                for _ in 1..self.batch {
                    let Some((_, packet)) = self.packets.pop_front_if(|next| next.0 == to) else {
                        break;
                    };
                    self.now += 1000;
                    self.ends[to].input(self.now, packet);
                }
                self.drain(to);
            }
            None => {
                let due = self.ends.iter().filter_map(|end| end.timeout()).min();
                self.now = self.now.max(due.expect("a timer runs"));
                for who in 0..2 {
                    self.ends[who].advance(self.now);
                    self.drain(who);
                }
            }
        }
    }
}

fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec that lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, stack, message, megabytes, batch] = arguments.as_slice() else {
        panic!("usage: sctp-peers anabranch|dcsctp|sctp-proto MESSAGE MEGABYTES BATCH")
    };
    let size: usize = message.parse().expect("a length in octets");
    let total = megabytes.parse::<usize>().expect("megabytes") * 1_000_000;
    let ends = match stack.as_str() {
        "anabranch" => anabranch::ends(),
        "dcsctp" => dcsctp::ends(),
        "sctp-proto" => proto::ends(),
        other => panic!("no stack {other}"),
    };
    let batch = batch.parse().expect("packets");
    let mut pipe = Pipe { ends, packets: VecDeque::new(), now: 0, batch };
    pipe.drain(0);
    while !(pipe.ends[0].is_up() && pipe.ends[1].is_up()) {
        pipe.step();
    }
    let octets: Vec<u8> = (0..size).map(|i| (i * 31 + i / 256) as u8).collect();
    let start = cpu_seconds();
    let (mut sent, mut received) = (0, 0);
    while received < total {
        let before = sent;
        while sent < total && sent - received < SEND_BUFFER && pipe.ends[0].send(&octets) {
            sent += size;
        }
        if sent > before {
            pipe.drain(0);
        }
        pipe.step();
        while let Some(len) = pipe.ends[1].receive() {
            assert_eq!(len, size);
            received += len;
        }
        pipe.drain(1);
    }
    println!("{:.6}", cpu_seconds() - start);
}
