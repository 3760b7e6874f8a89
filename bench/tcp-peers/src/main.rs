//! Our TCP and smoltcp's on TUN devices, each with the kernel's TCP as peer in a
//! network namespace, turn by turn: `tcp-peers [ROUNDS [MEGABYTES]]`, as root.
//!
//! Each transfer is a process of its own, and the kernel's side another. Both stacks
//! run in one thread under `SCHED_FIFO`, have buffers of 1 MiB, MTU 1500 and no
//! timestamps, and their applications write and check the same pattern.

mod kernel;
mod ours;
mod theirs;

use std::io::{Error, Result};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Octets of each socket's buffers.
const BUFFER: usize = 1 << 20;
/// Of both ends.
const PORT: u16 = 49_152;
/// What a listener has before somebody connects.
const HEAD_START: Duration = Duration::from_millis(300);

/// As the stack sees it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Receive,
    Send,
}

/// Of a transfer: how long it took, processor time of the stack's thread, and
/// packets that passed the device, both ways.
struct Figures {
    seconds: f64,
    cpu: f64,
    packets: u64,
}

/// What is measured, by the names that the table has; the first of each direction
/// is what the others are compared with.
const MEASURES: [(&str, &str); 8] = [
    ("receive", "smoltcp"),
    ("receive", "anabranch"),
    ("receive", "anabranch-by-one"),
    ("receive", "smoltcp-unchecked"),
    ("send", "smoltcp"),
    ("send", "smoltcp-cubic"),
    ("send", "anabranch"),
    ("send", "anabranch-by-one"),
];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["sink", port] => kernel::sink(number(port)?),
        ["source", address, port, octets] => {
            let address = address.parse().map_err(Error::other)?;
            kernel::source(address, number(port)?, number(octets)?)
        }
        ["one", towards, stack, megabytes] => {
            let figures = one(towards, stack, number::<u64>(megabytes)? * 1_000_000)?;
            println!("{} {} {}", figures.seconds, figures.cpu, figures.packets);
            Ok(())
        }
        [] => rounds(9, 300),
        [rounds_] => rounds(number(rounds_)?, 300),
        [rounds_, megabytes] => rounds(number(rounds_)?, number(megabytes)?),
        _ => Err(Error::other("tcp-peers [ROUNDS [MEGABYTES]]")),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.parse().map_err(|_| Error::other(format!("{text}: not such a number")))
}

fn one(towards: &str, stack: &str, octets: u64) -> Result<Figures> {
    let direction = if towards == "send" { Direction::Send } else { Direction::Receive };
    match stack {
        "smoltcp" => theirs::run(direction, octets, false, true),
        "smoltcp-cubic" => theirs::run(direction, octets, true, true),
        "smoltcp-unchecked" => theirs::run(direction, octets, false, false),
        "anabranch" => ours::run(direction, octets, ""),
        // An ACK for every second segment, and each segment handed to the kernel by itself.
        "anabranch-by-one" => ours::run(direction, octets, ", receive_offload = false"),
        _ => Err(Error::other(format!("{stack}: no such stack"))),
    }
}

/// What the kernel's side runs, as arguments of this program.
fn command(direction: Direction, stack: &str, octets: u64) -> String {
    match direction {
        Direction::Receive => format!("source {stack} {PORT} {octets}"),
        Direction::Send => format!("sink {PORT}"),
    }
}

fn peer(direction: Direction, stack: &str, octets: u64) -> Result<Child> {
    let own = std::env::current_exe()?;
    let command = command(direction, stack, octets);
    Command::new(own).args(command.split(' ')).stdout(Stdio::piped()).spawn()
}

/// All measures turn by turn, and their table.
fn rounds(rounds: usize, megabytes: u64) -> Result<()> {
    let own = std::env::current_exe()?;
    let mut runs = vec![Vec::new(); MEASURES.len()];
    for _ in 0..rounds {
        for ((towards, stack), runs) in MEASURES.iter().zip(&mut runs) {
            let mut it = Command::new(&own);
            it.args(["one", towards, stack, &megabytes.to_string()]).stderr(Stdio::inherit());
            let it = it.output()?;
            let said = String::from_utf8_lossy(&it.stdout).into_owned();
            let values: Vec<f64> =
                said.split(' ').filter_map(|it| it.trim().parse().ok()).collect();
            let [seconds, cpu, packets] = values[..] else {
                return Err(Error::other(format!("{towards} {stack} failed: {said}")));
            };
            runs.push([megabytes as f64 * 8e-3 / seconds, cpu, 1e6 * cpu / packets]);
        }
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("{megabytes} MB, median (least to most) of {rounds} rounds; load average {load}");
    println!(
        "{:8}{:20}{:>24}{:>26}{:>20}",
        "", "", "Gbit/s", "CPU s of the transfer", "us a packet"
    );
    for ((towards, stack), runs) in MEASURES.iter().zip(&runs) {
        let column = |i: usize| {
            let mut values: Vec<f64> = runs.iter().map(|run: &[f64; 3]| run[i]).collect();
            values.sort_by(f64::total_cmp);
            let (least, most) = (values[0], values[values.len() - 1]);
            format!("{:.3} ({least:.3} to {most:.3})", values[values.len() / 2])
        };
        let [speed, cpu, packet] = [column(0), column(1), column(2)];
        println!("{towards:8}{stack:20}{speed:>24}{cpu:>26}{packet:>26}");
    }
    Ok(())
}
