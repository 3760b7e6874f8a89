//! Random sessions against our stack and against the running kernel:
//!
//! `cargo run --release -p anabranch-drill --example differential -- [FIRST [COUNT [THREADS]]]`
//!
//! Prints each session in which they differ as a packetdrill script, and at the end a table. As root.

use anabranch_drill::differential::{self, Role, Session, Verdicts};
use anabranch_drill::kernel;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|n| n.parse().expect("a number"));
    let first: u64 = arguments.next().unwrap_or(1);
    let count: u64 = arguments.next().unwrap_or(1000);
    let threads: u64 = arguments.next().unwrap_or(16);
    let (next, counts) = (AtomicU64::new(first), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= first + count {
                        return;
                    }
                    let session = Session::draw(number);
                    let outcome = run(&session);
                    let role = if session.role() == Role::Receiver { "receives" } else { "sends" };
                    *counts
                        .lock()
                        .expect("no thread panics")
                        .entry((role, outcome))
                        .or_insert(0) += 1;
                }
            });
        }
    });
    println!("| our stack | outcome | sessions |\n|---|---|---|");
    for ((role, outcome), sessions) in counts.into_inner().expect("no thread panics") {
        println!("| {role} | {outcome} | {sessions} |");
    }
}

/// Runs a session, and prints it if the stacks differ.
fn run(session: &Session) -> &'static str {
    match differential::against(session, kernel().expect("the kernel can be drilled")) {
        Verdicts::Same => "the same",
        Verdicts::Disturbed(why) => {
            println!("# {} was disturbed: {why}", session.name());
            "disturbed"
        }
        Verdicts::Different(difference) => {
            println!("# {}\n{}{difference}", session.name(), session.script());
            "different"
        }
    }
}
