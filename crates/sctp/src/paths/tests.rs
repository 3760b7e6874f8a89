//! Paths without an association: who is chosen, what indices become, when idle ones are probed.

use super::*;
use crate::Concurrent;
use crate::policy::Reason;
use anabranch_endpoint::Seed;
use anabranch_units::Span;

const OWN: [Addr; 2] = [Addr(0), Addr(1)];
const PEER: [Addr; 3] = [Addr(10), Addr(11), Addr(12)];

fn paths(config: &Config) -> Paths {
    let mut paths = Paths::new(config, &OWN, &PEER[..1]);
    paths.set(config, &PEER, PEER[0], &PEER);
    paths
}

fn after(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

#[test]
fn addresses_have_a_source_each_and_wait_to_be_confirmed() {
    let config = Config::rfc9260();
    let mut paths = Paths::new(&config, &OWN, &PEER[..1]);
    paths.set(&config, &PEER[..2], PEER[2], &PEER[2..]);
    let facts: Vec<_> = paths.iter().map(|path| (path.remote, path.local, path.state)).collect();
    let (active, unconfirmed) = (PathState::Active, PathState::Unconfirmed);
    let expected =
        [(PEER[2], OWN[0], active), (PEER[0], OWN[1], unconfirmed), (PEER[1], OWN[0], unconfirmed)];
    assert_eq!(facts, expected, "the primary was missing in the list");
    assert_eq!((paths.primary, paths.find(PEER[1]), paths.find(Addr(7))), (0, Some(2), None));
    paths.set_sources(&config, &[(PEER[1], OWN[1])]);
    assert_eq!(paths[2].local, OWN[1]);
}

/// RFC 5061 §5.1 D4: an own address that the peer does not know is no source.
#[test]
fn a_new_address_of_the_peer_has_a_source_that_the_peer_knows() {
    let config = Config::rfc9260();
    let mut paths = Paths::new(&config, &OWN, &PEER[..1]);
    let index = paths.add(&config, PEER[1], |own| own != OWN[1]);
    assert_eq!((index, paths[1].local, paths[1].state), (1, OWN[0], PathState::Unconfirmed));
    paths.sources = vec![(PEER[1], OWN[1])];
    let beginning = Beginning { config: config.into(), ssthresh: 1000, next: 0 };
    assert_eq!(paths.use_source(OWN[1], &beginning), [1], "it may be probed from there now");
    assert_eq!(paths[1].local, OWN[1]);
    paths.replace_source(OWN[1], OWN[0], &beginning);
    assert_eq!(paths[1].local, OWN[0]);
}

/// RFC 9260 §11.1.6: what is no address of the peer's is an error.
#[test]
fn an_index_without_a_path_is_no_primary() {
    let mut paths = paths(&Config::rfc9260());
    assert!(paths.set_primary(2) && !paths.set_primary(3));
    assert_eq!(paths.primary, 2);
}

/// The first active path inherits; indices behind the one that goes move up.
#[test]
fn indices_follow_a_path_that_goes() {
    let mut paths = paths(&Config::rfc9260());
    paths.set_primary(1);
    paths[0].state = PathState::Inactive;
    let removal = paths.removal_of(1);
    assert_eq!((removal.heir, [0, 1, 2].map(|path| removal.moved(path))), (2, [0, 1, 1]));
    paths.remove(removal);
    assert_eq!((paths.len(), paths.primary, paths[1].remote), (2, 1, PEER[2]));
}

/// RFC 9260 §6.4, §8.2; RFC 7829 §3.
#[test]
fn an_alternate_stands_in_until_the_primary_works_again() {
    let config = Config::rfc9260();
    let mut paths = paths(&config);
    let state = |paths: &mut Paths, states: [PathState; 3]| {
        for (path, state) in paths.iter_mut().zip(states) {
            path.state = state;
        }
        paths.review_standby(Time::ZERO, &config, 65_536);
        paths.data_path()
    };
    let (works, fails, doubtful) =
        (PathState::Active, PathState::Inactive, PathState::PotentiallyFailed);
    assert_eq!(state(&mut paths, [works, works, works]), 0);
    assert_eq!(state(&mut paths, [fails, fails, works]), 2);
    assert_eq!(state(&mut paths, [fails, works, works]), 2, "it keeps to its choice");
    assert_eq!(state(&mut paths, [fails, works, fails]), 1);
    assert_eq!(state(&mut paths, [works, works, works]), 0);
    assert_eq!(state(&mut paths, [fails, doubtful, fails]), 1, "no other is left");
    assert_eq!(state(&mut paths, [fails, fails, fails]), 0, "the primary all the same");
}

/// FrSameRtoAlt, the default.
#[test]
fn what_is_sent_again_goes_where_the_policy_says() {
    let config = Config::rfc9260();
    let mut paths = paths(&config);
    assert_eq!(paths.destination_of(0, Reason::FastRetransmit, &config), 0);
    assert_eq!(paths.destination_of(0, Reason::Timeout, &config), 1);
    paths[1].state = PathState::Inactive;
    assert_eq!(paths.destination_of(0, Reason::Timeout, &config), 2);
}

#[test]
fn paths_take_turns_while_their_windows_have_room() {
    let config = Config::rfc9260();
    let mut paths = paths(&config);
    let turn = |paths: &mut Paths, concurrent, peer_rwnd| {
        let path = paths.next_in_turn(Time::ZERO, &config, concurrent, peer_rwnd);
        path.inspect(|path| paths.pass_turn(*path))
    };
    let all = Concurrent::default();
    let chosen: Vec<_> = (0..4).map(|_| turn(&mut paths, all, 65_536)).collect();
    assert_eq!(chosen, [Some(0), Some(1), Some(2), Some(0)]);
    paths[1].flight = paths[1].window.limit();
    assert_eq!(turn(&mut paths, all, 65_536), Some(2), "the next one's window is full");
    // A third of the peer's buffer each.
    let split = Concurrent { buffer_split: true, ..all };
    paths[0].flight = 1000;
    assert_eq!(turn(&mut paths, split, 3000), Some(2));
    assert_eq!(turn(&mut paths, split, 3003), Some(0));
}

/// RFC 9260 §5.4: HB.Max.Burst heartbeats an RTO to all of them together; §8.3: half an RTO of jitter
/// to either side.
#[test]
fn probes_have_their_dates() {
    let config = Config { heartbeat_burst: 2, ..Config::rfc9260() };
    let mut paths = paths(&config);
    let now = after(5000);
    let dates = [1, 2, 1].map(|index| paths.book_confirmation(now, index, &config));
    assert_eq!(dates, [5000, 5500, 6000].map(after));
    let mut generator = Seed::default().generator("jitter");
    for _ in 0..100 {
        paths.rest((now, now), 1, &config, false, &mut generator);
        let date = paths[1].heartbeat.deadline();
        assert!((after(35_500)..=after(36_500)).contains(&date), "{date:?}");
    }
    let silent = Config { heartbeat_interval: None, ..config };
    paths.rest((now, now), 1, &silent, false, &mut generator);
    assert!(!paths[1].heartbeat.is_armed());
}

/// RFC 9260 §8.1: Association.Max.Retrans failures in a row are no end yet.
#[test]
fn failures_in_a_row_are_counted_over_all_paths() {
    let config = Config { association_max_retrans: 2, ..Config::rfc9260() };
    let mut paths = paths(&config);
    assert!(!paths.count_failure(&config) && !paths.count_failure(&config));
    assert!(paths.count_failure(&config));
    paths.forget_failures();
    assert!(!paths.count_failure(&config));
}

/// RFC 9260 §6.1 D, §7.2.1: Max.Burst is applied once an event, a window halves for each idle RTO.
#[test]
fn a_window_is_prepared_once_an_event() {
    let config = Config { burst_keeps_window: false, ..Config::rfc9260() };
    let initial = crate::InitialWindow::Mtus(20);
    let config = Config { initial_window: initial, ..config };
    let mut paths = paths(&config);
    paths.prepare_window(Time::ZERO, 0, &config);
    assert_eq!(paths[0].window.limit(), 4 * 1468);
    paths[0].flight = 1468;
    paths.prepare_window(Time::ZERO, 0, &config);
    assert_eq!(paths[0].window.limit(), 4 * 1468, "the same event");
    paths.begin_event();
    paths.prepare_window(Time::ZERO, 0, &config);
    assert_eq!(paths[0].window.cwnd(), 4 * 1468, "cwnd was lowered to the first burst's limit");
    assert_eq!(paths[1].window.cwnd(), 30_000, "the others are as they were");
    paths[1].last_sent = Some(Time::ZERO);
    paths.prepare_window(after(1000), 1, &config);
    assert_eq!(paths[1].window.cwnd(), 4 * 1468, "halved, and a burst from nothing");
}
