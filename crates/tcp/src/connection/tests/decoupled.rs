//! The decoupled scheme beside the paper's pseudo-code, segment by segment.

mod model;
mod on_rack;
mod trigger;

use super::*;
use anabranch_congestion::{Algorithm, SsthreshFrom};
use model::Model;
use std::collections::BTreeSet;

/// Round trips of 200 ms in five seconds; one more is the handshake's, and the last
/// would end a moment later where segments take time to send.
const ROUNDS: u64 = 23;

/// Halves the window, as ns-2 does, not the flight.
fn published(recovery: Recovery, limited_transmit: bool) -> Config {
    let mut window = Algorithm::from_name("reno").unwrap();
    if let Algorithm::Reno(options) = &mut window {
        options.common.ssthresh_from = SsthreshFrom::Cwnd;
    }
    Config { window, limited_transmit, ..classic(recovery) }
}

/// Loses the first transmission of these segments.
fn lose(list: impl IntoIterator<Item = u64>) -> impl FnMut(Side, &Packet) -> Fate {
    let mut lost: BTreeSet<u64> = list.into_iter().collect();
    let mut origin = None;
    move |side, packet| {
        if side == Side::Server || packet.payload_len() == 0 {
            return Fate::Deliver;
        }
        let seq = tcp(packet).seq;
        let number = seq.distance_from(*origin.get_or_insert(seq)) as u64 / 1000 + 1;
        if lost.remove(&number) { Fate::Drop } else { Fate::Deliver }
    }
}

/// Round trip and number of each segment that the client sent.
fn sent<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Connection, F>) -> Vec<(u64, u64)> {
    let rounds = rounds(pair).into_iter();
    rounds.flat_map(|(ms, list)| list.into_iter().map(move |n| (ms / 200 - 1, n))).collect()
}

/// What the engine sends, and how many are acknowledged at the end.
fn engine(config: &Config, lost: std::ops::Range<u64>) -> (Vec<(u64, u64)>, u64) {
    let mut pair = pair(config, lose(lost));
    pair.client.write(1 << 30);
    pair.drive(at_ms(200 * (ROUNDS + 1)));
    (sent(&pair), (pair.client.sender.una - 1) / 1000)
}

/// Engine and model, over five seconds: what each acknowledges.
fn beside_the_model(config: &Config, opens_late: bool, lost: std::ops::Range<u64>) -> (u64, u64) {
    let drops = lost.end - lost.start;
    let mut model = Model::new(3.0, 10.0, lost.clone());
    (model.opens_late, model.limited_transmit) = (opens_late, config.limited_transmit);
    let model = model.run(ROUNDS);
    let (sent, acked) = engine(config, lost);
    assert_eq!(sent, model.sent, "{drops} drops, opens late: {opens_late}");
    (acked, model.acknowledged())
}

/// One to twelve losses in a row from segment 24 on, out of a window of 11.4:
/// every segment leaves in the round trip, and in the order, of the pseudo-code.
/// With eight the two readings of the detecting ACK differ: three segments
/// arrive, and the third duplicate ACK is the last of that round trip.
#[test]
fn every_segment_leaves_when_the_pseudo_code_sends_it() {
    let published = |opens_late, limited_transmit| {
        published(Recovery::Decoupled { opens_late }, limited_transmit)
    };
    let text = [299, 295, 289, 286, 282, 276, 264, 260, 243, 219];
    let figure = [299, 295, 289, 286, 282, 276, 264, 251, 243];
    for (opens_late, limited_transmit, known) in [
        (false, true, &text[..]),
        (true, true, &figure[..]),
        (false, false, &[]),
        (true, false, &[]),
    ] {
        let config = published(opens_late, limited_transmit);
        for drops in 1..=12 {
            let (ours, model) = beside_the_model(&config, opens_late, 24..24 + drops);
            let late = if opens_late { "; opens late" } else { "" };
            let alone = if limited_transmit { "" } else { "; no limited transmit" };
            let name = format!("{drops} of 11 lost: segments acknowledged by 5 s{late}{alone}");
            if drops == 8 {
                record("recovery", &name, model, ours, "exact");
            }
            assert_eq!(ours, model, "{name}");
            if let Some(known) = known.get(drops as usize - 1) {
                assert_eq!(ours, *known, "{name}");
            }
        }
    }
}

/// Any losses out of two windows, not in a row: the same segments, in the same
/// round trips; up to a second timeout, whose date depends on which round trips the
/// sender could measure.
#[test]
fn scattered_losses_are_repaired_as_in_the_pseudo_code() {
    let mut random = Seed::default().generator("scattered losses");
    let mut whole = 0;
    for case in 0..300 {
        let share = 0.05 + 0.55 * random.uniform();
        let lost: BTreeSet<u64> = (18..44).filter(|_| random.chance(share)).collect();
        let opens_late = case % 3 == 0;
        let mut model = Model::new(3.0, 10.0, lost.iter().copied());
        model.opens_late = opens_late;
        let model = model.run(ROUNDS);
        let config = published(Recovery::Decoupled { opens_late }, true);
        let mut pair = pair(&config, lose(lost.iter().copied()));
        pair.client.write(1 << 30);
        pair.drive(at_ms(200 * (ROUNDS + 1)));
        let mut sent = sent(&pair);
        if model.expiries > 1 {
            sent.truncate(model.sent.len());
        }
        whole += (model.expiries < 2) as u32;
        assert_eq!(sent, model.sent, "case {case}: {lost:?}, opens late: {opens_late}");
    }
    assert!(whole > 250, "{whole} ran to the end");
}

/// The worked example, figure 4: segments 1 to 6 leave and the first is lost; the
/// window is halved to three, and 1, 7 and 8 leave; then four from segment 9 on,
/// and one more each turn. Limited transmit changes the order in the second turn,
/// not what leaves.
#[test]
fn the_worked_example_of_figure_4() {
    for (limited_transmit, second) in [(false, [1, 7, 8]), (true, [7, 8, 1])] {
        let config = Config {
            initial_window: InitialWindow::Segments(6),
            initial_ssthresh: Some(6000),
            ..published(Recovery::Decoupled { opens_late: false }, limited_transmit)
        };
        let mut pair = pair(&config, lose([1]));
        pair.client.write(1 << 20);
        pair.drive(at_ms(1_100));
        let turns: Vec<Vec<u64>> = rounds(&pair).into_iter().map(|(_, list)| list).collect();
        let expected: [&[u64]; 5] = [
            &[1, 2, 3, 4, 5, 6],
            &second,
            &[9, 10, 11, 12],
            &[13, 14, 15, 16, 17],
            &[18, 19, 20, 21, 22, 23],
        ];
        assert_eq!(turns, expected);
        let counts: Vec<usize> = turns.iter().map(|turn| turn.len()).collect();
        let name = format!("figure 4: segments in each turn, limited transmit {limited_transmit}");
        record("recovery", &name, "[6, 3, 4, 5, 6]", format!("{counts:?}"), "exact");
        let end = pair.client.observe();
        assert_eq!((end.timeouts, end.fast_retransmits, end.retransmitted_packets), (0, 1, 1));
        let mut model = Model::new(6.0, 6.0, [1]);
        model.limited_transmit = limited_transmit;
        assert_eq!(sent(&pair), model.run(4).sent);
    }
}
