//! What shares a packet with data where answers and data go different ways (RFC 9260 §6.4).

use super::*;

/// Both sides have sent data and acknowledged it over the first path; from now on the server sends
/// its own over the second.
fn crossed(config: Config) -> Pair<Association, fn(Side, &Packet) -> Fate> {
    let rule: fn(Side, &Packet) -> Fate = deliver;
    let mut pair = pair(&config, 2, rule);
    pair.drive(at_ms(500));
    pair.client.write(1000);
    pair.server.write(1000);
    pair.drive(at_ms(1000));
    pair.server.set_primary(1);
    pair
}

/// §6.4: SACKs of data from one address do not vary where they go. One that waits lets data to
/// another address pass and leaves by its timer, or with data that goes its way.
#[test]
fn a_sack_that_waits_goes_with_data_of_its_own_way_alone() {
    let every_second = Config { sack_frequency: 2, ..plain(Config::rfc9260()) };
    for (primary, expected) in [
        (0, ["1000 <' DATA 2", "1100 > DATA 2", "1250 >' SACK 2", "1350 < SACK 2"]),
        (1, ["1000 <' DATA 2", "1100 >' SACK 2, DATA 2", "1350 <' SACK 2", ""]),
    ] {
        let mut pair = crossed(every_second.clone());
        pair.client.set_primary(primary);
        pair.server.write(500);
        pair.drive(at_ms(1100));
        pair.client.write(500);
        pair.drive(at_ms(2000));
        let expected: Vec<_> = expected.into_iter().filter(|line| !line.is_empty()).collect();
        assert_eq!(trace(&pair, 1000), expected, "the client's data goes to path {primary}");
    }
}

/// A SACK that is due leaves first, the data that came meanwhile after it.
#[test]
fn a_sack_that_is_due_leaves_before_data_of_another_way() {
    for (primary, expected) in [(0, vec![">' SACK 2", "> DATA 2"]), (1, vec![">' SACK 2, DATA 2"])]
    {
        let mut pair = crossed(plain(Config::rfc9260()));
        pair.client.set_primary(primary);
        pair.server.write(500);
        let data = pair.server.poll_transmit(at_ms(1000)).unwrap();
        pair.client.handle_input(at_ms(1000), &data);
        pair.client.write(1000);
        pair.drive(at_ms(1000));
        let lines = trace(&pair, 1000);
        let sent: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("1000 ")).collect();
        assert_eq!(sent, expected);
    }
}

/// Traffic both ways over two paths that differ: every SACK goes to where the data came from that
/// it acknowledges.
#[test]
fn with_data_both_ways_no_sack_leaves_its_way() {
    // Messages that leave room for a SACK, half a round trip apart: SACKs of one side make room
    // when data of the other comes.
    let short = Config { sack_frequency: 2, message_size: Some(600), ..plain(Config::rfc9260()) };
    let mut pair = crossed(short);
    pair.client.write(200_000);
    pair.drive(at_ms(1050));
    pair.server.write(200_000);
    pair.drive(at_ms(20_000));
    let received = [&pair.client, &pair.server].map(|side| side.observe().bytes_received);
    assert_eq!(received, [201_000, 201_000]);
    let mut sacks = 0;
    for line in pair.log.iter().filter(|line| line.sent >= at_ms(1000)) {
        let is_first = line.packet.dst.0.is_multiple_of(2);
        let chunks = &sctp(&line.packet).chunks;
        for chunk in chunks.iter() {
            let data_goes_first = line.from == Side::Client;
            match chunk {
                Chunk::Data(_) => assert_eq!(is_first, data_goes_first, "{chunks:?}"),
                Chunk::Sack(_) => assert_eq!(is_first, !data_goes_first, "{chunks:?}"),
                other => panic!("{other:?}"),
            }
            sacks += matches!(chunk, Chunk::Sack(_)) as u32;
        }
    }
    assert!((120..200).contains(&sacks), "one for every second packet: {sacks}");
}

/// The same way is the same two addresses: where data to the first address leaves from our first,
/// the SACK for what came from there to our second leaves from the second.
#[test]
fn a_sack_leaves_from_where_the_data_came_to_though_there_is_data_to_send() {
    let mut pair = crossed(plain(Config::rfc9260()));
    pair.server.set_primary(0);
    pair.server.write(500);
    let mut data = pair.server.poll_transmit(at_ms(1000)).unwrap();
    data.dst = CLIENT[1];
    pair.client.handle_input(at_ms(1000), &data);
    pair.client.write(500);
    let sent: Vec<_> = std::iter::from_fn(|| pair.client.poll_transmit(at_ms(1000)))
        .map(|packet| {
            let kinds: Vec<_> = sctp(&packet).chunks.iter().map(Chunk::kind).collect();
            (packet.src, packet.dst, kinds)
        })
        .collect();
    assert_eq!(sent, [(CLIENT[1], SERVER[0], vec![3]), (CLIENT[0], SERVER[0], vec![0])]);
}

/// Answers to control chunks, too: an ERROR goes back before the data that goes elsewhere, and with
/// data that goes its way.
#[test]
fn an_answer_goes_back_before_data_of_another_way() {
    for (primary, expected) in
        [(0, vec![">' ERROR 6", "> DATA 2"]), (1, vec![">' ERROR 6, DATA 2"])]
    {
        let mut pair = crossed(plain(Config::rfc9260()));
        pair.client.set_primary(primary);
        pair.server.control.waiting.push(Chunk::Unknown { kind: 0x7f, flags: 0, value: [].into() });
        let strange = pair.server.poll_transmit(at_ms(1000)).unwrap();
        assert_eq!(strange.src, SERVER[1]);
        pair.client.handle_input(at_ms(1000), &strange);
        pair.client.write(500);
        pair.drive(at_ms(1000));
        let lines = trace(&pair, 1000);
        let sent: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("1000 ")).collect();
        assert_eq!(sent, expected);
    }
}

/// What answers nobody goes with the data, whichever way that is.
#[test]
fn what_is_no_answer_goes_with_data() {
    let mut pair = crossed(plain(Config::rfc9260()));
    pair.client.control.waiting.push(Chunk::Unknown { kind: 0x7f, flags: 0, value: [].into() });
    pair.client.write(500);
    pair.drive(at_ms(1000));
    assert_eq!(trace(&pair, 1000)[0], "1000 > chunk 127, DATA 2");
}

/// Duplicates whose SACKs take another way share packets with the data of that way.
#[test]
fn a_sack_that_varies_its_way_goes_with_data_of_that_way() {
    for (vary_sack_path, expected) in
        [(false, vec![">' SACK 2 dup 2", "> DATA 2"]), (true, vec!["> SACK 2 dup 2, DATA 2"])]
    {
        let mut pair = crossed(Config { vary_sack_path, ..plain(Config::rfc9260()) });
        pair.server.write(500);
        let data = pair.server.poll_transmit(at_ms(1000)).unwrap();
        pair.client.handle_input(at_ms(1000), &data);
        assert!(pair.client.poll_transmit(at_ms(1000)).is_some());
        pair.client.handle_input(at_ms(1000), &data);
        pair.client.write(500);
        pair.drive(at_ms(1000));
        let lines = trace(&pair, 1000);
        let sent: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("1000 ")).collect();
        assert_eq!(sent, expected, "vary_sack_path = {vary_sack_path}");
    }
}
