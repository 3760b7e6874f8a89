mod kernel;
mod ours;
mod theirs;

use std::io::{Error, Result};
use std::process::{Child, Command};
use std::time::Duration;

/// Octets of each socket's buffers.
const BUFFER: usize = 1 << 20;
const PORT: u16 = 49152;
/// What a listener has before somebody connects.
const HEAD_START: Duration = Duration::from_millis(300);

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

/// What the kernel's side runs, as arguments of this program.
fn command(direction: Direction, stack: &str, octets: u64) -> String {
    match direction {
        Direction::Receive => format!("source {stack} {PORT} {octets}"),
        Direction::Send => format!("sink {PORT}"),
    }
}

fn peer(direction: Direction, stack: &str, octets: u64) -> Result<Child> {
    let own = std::env::current_exe()?;
    Command::new(own)
        .args(command(direction, stack, octets).split(' '))
        .stdout(std::process::Stdio::piped())
        .spawn()
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse().map_err(|_| Error::other(format!("{text}: a number")));
    let direction = |text: &str| match text {
        "send" => Direction::Send,
        _ => Direction::Receive,
    };
    match words[..] {
        ["sink", port] => kernel::sink(number(port)? as u16),
        ["source", address, port, octets] => kernel::source(
            address.parse().map_err(Error::other)?,
            number(port)? as u16,
            number(octets)?,
        ),
        ["one", stack, towards, megabytes] => {
            let octets = number(megabytes)? * 1_000_000;
            let towards = direction(towards);
            let figures = match stack {
                "smoltcp" => theirs::run(towards, octets, false, true),
                "smoltcp-plain" => theirs::run(towards, octets, false, false),
                "smoltcp-cubic" => theirs::run(towards, octets, true, true),
                "anabranch-gro" => ours::run(towards, octets, ", receive_offload = true"),
                _ => ours::run(towards, octets, ""),
            }?;
            println!(
                "{} {} {}  {:.2} Gbit/s {:.2} us/packet",
                figures.seconds,
                figures.cpu,
                figures.packets,
                octets as f64 * 8e-9 / figures.seconds,
                figures.cpu / figures.packets as f64 * 1e6
            );
            Ok(())
        }
        _ => Err(Error::other("see run.sh")),
    }
}
