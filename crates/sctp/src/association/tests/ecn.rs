//! Explicit congestion notification (RFC 4960 Appendix A).

use super::*;
use anabranch_wire::Ecn;

fn config() -> Config {
    Config { ecn: true, ..plain(Config::rfc9260()) }
}

#[test]
fn only_data_is_ecn_capable_and_only_if_both_sides_offer_it() {
    for both in [true, false] {
        let (client, _) = ends(&config(), 1);
        let (_, server) = ends(&Config { ecn: both, ..config() }, 1);
        let mut pair = Pair::new(client, server, LATENCY, deliver);
        pair.client.connect(Time::ZERO);
        pair.drive(at_ms(1000));
        pair.client.write(10);
        pair.drive(at_ms(2000));
        for line in &pair.log {
            let marked = both && line.packet.payload_len() > 0;
            assert_eq!(line.packet.ecn == Ecn::Ect0, marked, "{:?}", line.packet);
        }
    }
}

/// A mark is reported with each SACK until the sender says that it has slowed
/// down; it does so once a round trip.
#[test]
fn a_mark_halves_the_window_once() {
    let mut pair = pair(&config(), 1, deliver);
    pair.drive(at_ms(1000));
    let now = at_ms(1000);
    pair.client.write(3 * 1452);
    let mut data: Vec<Packet> = std::iter::from_fn(|| pair.client.poll_transmit(now)).collect();
    assert_eq!(data.len(), 3);
    data[0].ecn = Ecn::Ce;
    data[1].ecn = Ecn::Ce;
    let before = pair.client.observe().cwnd;
    let answer = |pair: &mut Pair<Association, _>, packet: &Packet| {
        pair.server.handle_input(now, packet);
        pair.server.poll_transmit(now).expect("a SACK")
    };
    let first = answer(&mut pair, &data[0]);
    let kinds = |packet: &Packet| sctp(packet).chunks.iter().map(Chunk::kind).collect::<Vec<_>>();
    assert_eq!(kinds(&first), [12, 3], "ECNE and SACK");
    let second = answer(&mut pair, &data[1]);
    assert_eq!(kinds(&second), [12, 3], "until it is answered");
    pair.client.handle_input(now, &first);
    let halved = pair.client.observe().ssthresh;
    assert_eq!(halved, (before / 2).max(4 * 1468));
    pair.client.handle_input(now, &second);
    assert_eq!(pair.client.observe().ssthresh, halved, "the same round trip");
    assert_eq!(pair.client.observe().ecn_reductions, 1);
    assert_eq!(pair.client.observe_path(0).unwrap().ecn_reductions, 1);
    let cwr = pair.client.poll_transmit(now).expect("CWR");
    assert!(kinds(&cwr).contains(&13), "{:?}", kinds(&cwr));
    pair.server.handle_input(now, &cwr);
    let third = answer(&mut pair, &data[2]);
    assert_eq!(kinds(&third), [3], "answered");
}

#[test]
fn a_report_of_what_was_not_sent_changes_nothing() {
    let mut pair = pair(&config(), 1, deliver);
    pair.drive(at_ms(1000));
    let before = standing(&pair.client);
    let forged = Chunk::Ecne(pair.client.sender.origin.add(9));
    let forged = from_server(pair.client.identity.local_tag, forged);
    pair.client.handle_input(at_ms(1000), &forged);
    assert_eq!(standing(&pair.client), before);
}
