//! Runs every window algorithm of the catalogue alone on idle links, and writes
//! docs/algorithms/solo.md to standard output: `make solo`. With names, those alone.
//!
//!     cargo run --release -p anabranch-scenario --example solo -- [NAME…]

#[path = "../tests/common/solo.rs"]
mod solo;

use solo::{Case, RATES, RTTS, Start, all, cases};

const HEAD: &str = "\
# Alone on idle links

    make solo

What each window algorithm moves of an idle link when it is alone: payload, in percent of what headers leave. Coupled ones
go over 1, 2 and 4 subflows, each with a link of its own, and have the percent of the sum. Queues hold a
bandwidth-delay product, 20 packets at least; buffers are no limit. Losses are repaired by RACK-TLP, and every ACK measures
the round-trip time ([why](recovery.md#a-timer-that-expires-in-slow-starts-repair)); nothing marks packets.

What counts is what comes after the start-up, for 60 round trips and 4 s at least. The start-up is as long again: slow
start and the repair of its end. Where that does not lead to 90 %, it is longer by as many round trips as the
bandwidth-delay product has packets, which a window that grows by a segment a round trip needs from nothing (5333 s at 100
Mbit/s and 800 ms); such numbers are *slanted*, and the first number is what the short start-up led to. The pages of
[westwood](westwood.md), [vegas](vegas.md) and [wvegas](wvegas.md) say why those leave slow start early. What came before the end
of the start-up and was read after it, once a hole was filled, counts: hence more than 100.

`crates/scenario/tests/solo.rs` holds each at 90 % at least, those of 100 Mbit/s and 800 ms when asked for; an algorithm that is
added to the catalogue is in both by itself. Written by the command above.

";

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let is_named = |case: &Case| names.is_empty() || names.iter().any(|name| name == case.window);
    let cases: Vec<Case> = cases().into_iter().filter(is_named).collect();
    let results = all(&cases);
    let mut page = HEAD.to_owned();
    page += "| window | subflows |";
    for mbit in RATES {
        for rtt_ms in RTTS {
            page += &format!(" {mbit} Mbit/s, {rtt_ms} ms |");
        }
    }
    page += &format!("\n{}\n", "|---".repeat(2 + RATES.len() * RTTS.len()) + "|");
    // The cases of a row stand side by side.
    for row in results.chunks(RATES.len() * RTTS.len()) {
        let Case { window, subflows, .. } = row[0].case;
        let subflows = if subflows == 0 { "TCP".to_owned() } else { subflows.to_string() };
        page += &format!("| `{window}` | {subflows} |");
        for it in row {
            let percent = 100.0 * it.part;
            page += &match it.start {
                Start::Quick => format!(" {percent:.0} |"),
                Start::Linear => format!(" {:.0}, *{percent:.0}* |", 100.0 * it.quick),
            };
        }
        page.push('\n');
    }
    print!("{page}");
}
