//! Runs every window algorithm of the catalogue alone on idle links, and writes
//! docs/algorithms/solo.md to standard output: `make solo`. With names, those alone.
//!
//!     cargo run --release -p anabranch-scenario --example solo -- [--sctp] [NAME…]
//!
//! With `--sctp` it is docs/algorithms/solo-sctp.md.

#[path = "../tests/common/solo.rs"]
mod solo;

use solo::{Case, Outcome, Over, Start, all, cases, sctp_cases};

const HEAD: &str = "\
# Alone on idle links

    make solo

What each window algorithm moves of an idle link when it is alone: payload, in percent of what headers leave. Coupled ones
go over 1, 2 and 4 subflows, each with a link of its own, and have the percent of the sum. Queues hold a
bandwidth-delay product, 20 packets at least; buffers are no limit. Losses are repaired by RACK-TLP, and every ACK measures
the round-trip time ([why](recovery.md#a-timer-that-expires-in-slow-starts-repair)); nothing marks packets.

What counts is what comes after the start-up, for 60 round trips and 12 s at least. The start-up is as long again: slow
start and the repair of its end. Where that does not lead to 90 %, it is longer by as many round trips as the
bandwidth-delay product has packets, which a window that grows by a segment a round trip needs from nothing (5333 s at 100
Mbit/s and 800 ms); such numbers are *slanted*, and the first number is what the short start-up led to. The pages of
[westwood](westwood.md), [vegas](vegas.md) and [wvegas](wvegas.md) say why those leave slow start early, and that of
[coupled-bbr](coupled-bbr.md) why it moves less of links of one rate. What came before the end of the start-up and was read
after it, once a hole was filled, counts: hence more than 100.

`crates/scenario/tests/all/solo.rs` holds each at 90 % at least, or at what its own law leaves (`LESS`, with reasons on the
pages), those with a window of more than a hundred packets in `make soak`; an algorithm that is
added to the catalogue is in both by itself. Written by the command above.

";

const SCTP_HEAD: &str = "\
# Alone on idle links, over SCTP

    make solo

The links and the start-up of [solo.md](solo.md), with `protocol = \"sctp\"` and `preset = \"rfc9260\"`: coupled algorithms over one
path, and over two at once (`concurrent`); payload, in percent of what headers leave. Links with a window of thousands of packets
are left out: losses are repaired by what RFC 9260 §7.2.4 has, so that a chunk whose retransmission is lost waits for T3-rtx, and
what a slow start that goes far beyond a link loses takes a minute to repair.

The numbers below 90 % after both start-ups: `lia`, `olia`, `balia` and `d-lia` over two paths of 10 Mbit/s and 800 ms, whose
windows grow by about a segment a round trip together after the timeouts of the start-up, which has the time for a segment of one path;
`mcubic-share` over two paths of 10 Mbit/s and 100 ms, where after the same timeouts one path's clock runs by
[its small share](mcubic-share.md) for a minute: over 10 minutes it moves 94 %; and `coupled-bbr` over two paths,
[which it takes for one](coupled-bbr.md). Of two paths of 10 Mbit/s and 800 ms it moves 4 %, and `bbr` 2 %: their start-up fills the
queue of 0.8 s within a round trip, and the timeout of 1.0 s is older than that, since RFC 9260 measures one round trip at a time
(§6.3.1). The timeout is spurious, all is sent again, and what is sent again measures nothing, so that the doubled timeout stays.
With `rto.min = \"3 s\"`, or with `timestamps = true`, which measures with every SACK, they move 60 and 95 %.

`crates/scenario/tests/all/solo.rs` holds the others at 90 %, those up to 10 Mbit/s and 100 ms. Written by the command above.

";

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    match names.split_first() {
        Some((first, names)) if first == "--sctp" => {
            print!("{SCTP_HEAD}{}", table(sctp_cases(), names));
        }
        _ => print!("{HEAD}{}", table(cases(), &names)),
    }
}

/// The cases of these names, or all, a row for each window algorithm and what it goes over.
fn table(cases: Vec<Case>, names: &[String]) -> String {
    let is_named = |case: &Case| names.is_empty() || names.iter().any(|name| name == case.window);
    let cases: Vec<Case> = cases.into_iter().filter(is_named).collect();
    let results = all(&cases);
    let mut page = "| window | over |".to_owned();
    // The cases of a row stand side by side.
    let of_one =
        |a: &Outcome, b: &Outcome| (a.case.window, a.case.over) == (b.case.window, b.case.over);
    let columns = results.chunk_by(of_one).next().unwrap_or_default();
    for Case { mbit, rtt_ms, .. } in columns.iter().map(|outcome| outcome.case) {
        page += &format!(" {mbit} Mbit/s, {rtt_ms} ms |");
    }
    page += &format!("\n{}\n", "|---".repeat(2 + columns.len()) + "|");
    for row in results.chunk_by(of_one) {
        let Case { window, over, .. } = row[0].case;
        let over = match over {
            Over::Tcp => "TCP".to_owned(),
            Over::Mptcp(paths) | Over::Sctp(paths) => paths.to_string(),
        };
        page += &format!("| `{window}` | {over} |");
        for row in row {
            let percent = 100.0 * row.part;
            page += &match row.start {
                Start::Quick => format!(" {percent:.0} |"),
                Start::Linear => format!(" {:.0}, *{percent:.0}* |", 100.0 * row.quick),
            };
        }
        page.push('\n');
    }
    page
}
