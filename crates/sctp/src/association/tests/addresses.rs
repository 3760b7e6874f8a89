//! RFC 5061: addresses that come and go.

use super::*;
use crate::AddressError;

const MORE: Addr = Addr(2);

fn config() -> Config {
    Config {
        dynamic_addresses: true,
        authentication: authenticated(&[0xc1, 0x80]),
        ..plain(Config::rfc9260())
    }
}

fn established<F: FnMut(Side, &Packet) -> Fate>(addresses: usize, rule: F) -> Pair<Association, F> {
    let mut pair = pair(&config(), addresses, rule);
    pair.drive(at_ms(1000));
    pair
}

fn notifications(association: &mut Association) -> Vec<Notification> {
    std::iter::from_fn(|| association.poll_notification()).collect()
}

fn remotes(association: &Association) -> Vec<Addr> {
    association.paths.iter().map(|path| path.remote).collect()
}

fn changed(address: Addr, added: bool, accepted: bool) -> Notification {
    Notification::AddressChanged { address, added, accepted }
}

/// §5.3, and §5.4 of RFC 9260: the peer probes the new address before use.
#[test]
fn an_address_is_added_and_confirmed() {
    let mut pair = established(1, deliver);
    pair.client.add_address(MORE).unwrap();
    pair.drive(at_ms(2000));
    assert_eq!(
        trace(&pair, 1000),
        [
            "1000 > AUTH, ASCONF Add",
            "1050 < HEARTBEAT",
            "1050 < AUTH, ASCONF-ACK 0",
            "1100 > HEARTBEAT ACK",
        ]
    );
    assert_eq!(remotes(&pair.server), [CLIENT[0], MORE]);
    assert_eq!(pair.server.paths[1].state, PathState::Active);
    assert_eq!(notifications(&mut pair.client), [changed(MORE, true, true)]);
    assert_eq!(notifications(&mut pair.server)[0], Notification::PathsChanged);
    assert_eq!(pair.client.add_address(MORE), Err(AddressError::Unfit(MORE)));
}

/// §5.1 D4: both sides add the end of a second path at the same time. Neither sends from its new
/// address, which the other may not know yet, before that has said that it does.
#[test]
fn a_new_address_is_no_source_until_it_is_taken() {
    let mut pair = established(1, deliver);
    let paths = [(SERVER[0], CLIENT[0]), (SERVER[1], CLIENT[1])];
    pair.client.paths.sources = paths.to_vec();
    pair.server.paths.sources = paths.map(|(to, own)| (own, to)).to_vec();
    pair.client.add_address(CLIENT[1]).unwrap();
    pair.server.add_address(SERVER[1]).unwrap();
    pair.drive(at_ms(5000));
    let from_new = |l: &&anabranch_testkit::Line| [CLIENT[1], SERVER[1]].contains(&l.packet.src);
    let first = pair.log.iter().find(from_new).expect("the path is used").sent;
    assert_eq!(first, at_ms(1100), "{:#?}", trace(&pair, 1000));
    for side in [&pair.client, &pair.server] {
        assert_eq!(side.paths[1].state, PathState::Active);
    }
    assert_eq!((pair.client.paths[1].local, pair.client.paths[1].remote), (CLIENT[1], SERVER[1]));
}

/// §5.3: the peer sends to the address that it was asked to.
#[test]
fn the_peer_is_told_where_to_send() {
    let mut pair = established(2, deliver);
    pair.client.set_peer_primary(CLIENT[1]).unwrap();
    pair.drive(at_ms(2000));
    assert_eq!(pair.server.primary(), 1);
    pair.server.write(100);
    pair.drive(at_ms(3000));
    assert_eq!(trace(&pair, 2000)[0], "2000 <' DATA 1");
}

/// A transfer goes on while one address of the receiver goes, then one of the
/// sender; what was on its way to the first is sent again.
#[test]
fn a_transfer_outlives_an_address() {
    let down = std::rc::Rc::new(std::cell::Cell::new(false));
    let is_down = down.clone();
    let mut pair = established(2, move |_, packet| {
        let first = packet.src == SERVER[0] || packet.dst == SERVER[0];
        if is_down.get() && first { Fate::Drop } else { Fate::Deliver }
    });
    pair.client.write(400 * 1452);
    pair.drive(at_ms(1250));
    pair.server.delete_address(SERVER[0]).unwrap();
    down.set(true);
    pair.drive(at_ms(1400));
    assert_eq!(remotes(&pair.client), [SERVER[1]]);
    assert_eq!(pair.server.paths.local, [SERVER[1]]);
    assert_eq!(notifications(&mut pair.server), [changed(SERVER[0], false, true)]);
    pair.client.delete_address(CLIENT[0]).unwrap();
    pair.drive(at_ms(20_000));
    assert_eq!(pair.server.observe().bytes_received, 400 * 1452);
    assert_eq!(remotes(&pair.server), [CLIENT[1]]);
    assert_eq!(pair.client.observe().timeouts, 0, "the answer came before the timer");
    assert_eq!(pair.client.delete_address(CLIENT[1]), Err(AddressError::Last));
    pair.client.close();
    pair.drive(at_ms(30_000));
    assert_eq!((pair.client.state(), pair.server.state()), (State::Closed, State::Closed));
}

/// §5.1, §5.2: a lost ASCONF is sent again; a lost answer is given again; one
/// is outstanding at a time.
#[test]
fn changes_are_repeated_until_answered() {
    for lost in [0xc1, 0x80] {
        let mut first = true;
        let mut pair = established(2, move |_, packet| {
            let is = sctp(packet).chunks.iter().any(|chunk| chunk.kind() == lost);
            if is && std::mem::take(&mut first) { Fate::Drop } else { Fate::Deliver }
        });
        pair.client.add_address(MORE).unwrap();
        pair.client.delete_address(CLIENT[1]).unwrap();
        pair.drive(at_ms(5000));
        let asconfs: Vec<String> =
            trace(&pair, 1000).into_iter().filter(|l| l.contains("ASCONF ")).collect();
        let x = if lost == 0xc1 { " x" } else { "" };
        assert_eq!(
            asconfs,
            [
                format!("1000 > AUTH, ASCONF Add{x}"),
                "2000 > AUTH, ASCONF Add".to_string(),
                "2100 > AUTH, ASCONF Delete".to_string(),
            ]
        );
        assert_eq!(remotes(&pair.server), [CLIENT[0], MORE]);
        let both = [changed(MORE, true, true), changed(CLIENT[1], false, true)];
        assert_eq!(notifications(&mut pair.client), both);
    }
}

/// §4: an ASCONF without AUTH is discarded; §5.2: the last address, and that
/// which the request came from, stay.
#[test]
fn wrong_changes_are_refused() {
    use anabranch_wire::sctp::{AddressChange, Cause, Parameter};
    let mut pair = established(1, deliver);
    let serial = pair.client.sender.origin.add(1);
    let asconf = |serial, change, addr: Addr| Chunk::Asconf {
        serial,
        parameters: vec![
            Parameter::Address(CLIENT[0].into()),
            Parameter::ChangeAddress { change, correlation: 5, address: addr.into() },
        ],
    };
    let mut ask = |sign: bool, chunk| {
        let mut packet = from_client(&pair.client, pair.server.identity.local_tag, vec![chunk]);
        if let (true, Body::Sctp(sctp)) = (sign, &mut packet.body) {
            let (auth, config) =
                (pair.client.control.auth.as_ref(), &pair.client.config.authentication);
            auth.unwrap().sign(config.as_ref().unwrap(), sctp);
        }
        pair.server.handle_input(at_ms(1000), &packet);
        let mut answer = None;
        while let Some(packet) = pair.server.poll_transmit(at_ms(1000)) {
            let ack = sctp(&packet).chunks.iter().find_map(|c| match c {
                Chunk::AsconfAck { parameters, .. } => Some(parameters.clone()),
                _ => None,
            });
            answer = ack.or(answer);
        }
        answer.map(|parameters| match parameters.as_slice() {
            [] => 0,
            [Parameter::ErrorIndication { correlation: 5, causes }] => causes[0].code(),
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(ask(false, asconf(serial, AddressChange::Delete, CLIENT[0])), None);
    assert_eq!(ask(true, asconf(serial, AddressChange::Delete, CLIENT[0])), Some(0xa0));
    assert_eq!(ask(true, asconf(serial.add(1), AddressChange::Add, MORE)), Some(0));
    assert_eq!(ask(true, asconf(serial.add(2), AddressChange::Delete, CLIENT[0])), Some(0xa2));
    assert_eq!(ask(true, asconf(serial.add(2), AddressChange::Delete, MORE)), Some(0xa2), "again");
    assert_eq!(ask(true, asconf(serial.add(9), AddressChange::Delete, MORE)), None);
    let unknown = asconf(serial.add(3), AddressChange::SetPrimary, Addr(77));
    assert_eq!(
        ask(true, unknown),
        Some(Cause::Asconf { code: 0xa1, parameters: Vec::new() }.code())
    );
    assert_eq!(remotes(&pair.server), [CLIENT[0], MORE]);
}

#[test]
fn changes_need_both_sides() {
    let (client, _) = ends(&config(), 1);
    let (_, server) = ends(&plain(Config::rfc9260()), 1);
    let mut pair = Pair::new(client, server, LATENCY, deliver);
    pair.client.connect(Time::ZERO);
    pair.drive(at_ms(1000));
    assert_eq!(pair.client.add_address(MORE), Err(AddressError::NotAvailable));
}

/// Nothing leaves from an address that goes, not even an answer to what still comes to it.
#[test]
fn no_answer_leaves_from_an_address_that_goes() {
    let mut pair = established(2, deliver);
    pair.server.write(100);
    let mut data = pair.server.poll_transmit(at_ms(1000)).unwrap();
    data.dst = CLIENT[1];
    pair.client.handle_input(at_ms(1000), &data);
    pair.client.delete_address(CLIENT[1]).unwrap();
    let answers: Vec<_> = std::iter::from_fn(|| pair.client.poll_transmit(at_ms(1000))).collect();
    assert!(answers.iter().any(|packet| sctp(packet).chunks.iter().any(|c| c.kind() == 3)));
    assert!(answers.iter().all(|packet| packet.src == CLIENT[0]), "{answers:?}");
}

/// RFC 9260 §7.2.5.2: from another source packets may take another way. Window, threshold and RTO are those
/// of a new path; what is outstanding arrives, and its losses are of the way that it took.
#[test]
fn another_source_begins_congestion_control_anew() {
    use std::{cell::Cell, rc::Rc};
    let lossy = Rc::new(Cell::new(false));
    let is_lossy = lossy.clone();
    let mut n = 0;
    let mut pair = established(2, move |_, packet| {
        n += u32::from(packet.payload_len() > 0);
        match is_lossy.get() && packet.payload_len() > 0 && n % 5 == 0 {
            true => Fate::Drop,
            false => Fate::Deliver,
        }
    });
    let begin = |path: &crate::paths::path::Path| {
        (path.window.cwnd(), path.window.ssthresh(), path.rtt.srtt(), path.rtt.rto())
    };
    pair.client.write(400 * 1452);
    pair.drive(at_ms(1290));
    lossy.set(true);
    pair.drive(at_ms(1310)); // some of a large flight is lost, and not found missing yet
    lossy.set(false);
    let before = &pair.client.paths[0];
    assert!(before.window.cwnd() > 10_000 && before.rtt.srtt().is_some() && before.flight > 0);
    let flight = before.flight;
    pair.client.delete_address(CLIENT[0]).unwrap();
    let path = &pair.client.paths[0];
    let config = config();
    let fresh = (config.initial_window(), 1 << 20, None, config.rto.initial);
    assert_eq!((begin(path), path.local, path.flight), (fresh, CLIENT[1], flight));
    pair.drive(at_ms(1500));
    let path = &pair.client.paths[0];
    assert_eq!(path.window.ssthresh(), 1 << 20, "the former way's losses");
    pair.drive(at_ms(60_000));
    assert_eq!(pair.server.observe().bytes_received, 400 * 1452);
}

/// The same for window algorithms that are shared with TCP, which keep more: nothing is counted twice.
#[test]
fn every_window_algorithm_outlives_a_change_of_the_source() {
    for name in ["cubic", "bbr", "vegas", "westwood", "reno"] {
        let algorithm = anabranch_congestion::Algorithm::from_name(name).unwrap();
        let window = crate::Window::Algorithm(algorithm);
        let config = Config { window, ..config() };
        let mut pair = pair(&config, 2, deliver);
        pair.drive(at_ms(1000));
        pair.client.write(400 * 1452);
        pair.drive(at_ms(1330));
        let flight = pair.client.paths[0].flight;
        assert!(flight > 0, "{name}");
        pair.client.delete_address(CLIENT[0]).unwrap();
        let path = &pair.client.paths[0];
        let fresh = (config.initial_window(), None, flight);
        assert_eq!((path.window.cwnd(), path.rtt.srtt(), path.flight), fresh, "{name}");
        pair.drive(at_ms(60_000));
        assert_eq!(pair.server.observe().bytes_received, 400 * 1452, "{name}");
        assert_eq!(pair.client.paths[0].flight, 0, "{name}");
    }
}

mod judged;
