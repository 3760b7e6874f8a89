//! What random scenarios found, made small: each keeps every promise now.

use anabranch_soak::{End, Verdict, judge};

/// Judges the scenario of this name in `tests/found`, which `anabranch run` runs as well.
fn judged(name: &str) -> Verdict {
    let path = format!("{}/tests/found/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    judged_text(&std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}")))
}

fn judged_text(text: &str) -> Verdict {
    let verdict = judge(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verdict.failures, [], "{text}");
    verdict
}

fn ends(verdict: &Verdict) -> Vec<End> {
    verdict.flows.iter().map(|flow| flow.end).collect()
}

/// The first INIT is lost with its path, and the association comes over the other: it is the flow's
/// server's end all the same, and no stranger.
#[test]
fn a_server_is_found_over_another_path_than_the_first() {
    let verdict = judged("a-server-is-found-over-another-path-than-the-first");
    assert_eq!(ends(&verdict), [End::Completed]);
}

/// A stranger has the only place and never leaves: who waits behind it, with all data
/// acknowledged, does not stand still, but waits to be accepted.
#[test]
fn who_waits_to_be_accepted_does_not_stand_still() {
    let verdict = judged("who-waits-to-be-accepted-does-not-stand-still");
    assert_eq!(ends(&verdict), [End::Unfinished]);
}

/// What a port answers to a SYN has the key of the connection that comes of it, and waits for the
/// line as the host's own: nothing of it is taken from what the connection has waiting.
#[test]
fn answers_of_a_port_wait_for_the_line_as_the_hosts_own() {
    let verdict = judged("answers-of-a-port-wait-for-the-line-as-the-hosts-own");
    assert_eq!(ends(&verdict), [End::Completed]);
}

/// A receiver acknowledges what was lost, and both sides end in order without it: nobody is to
/// blame but who has lied.
#[test]
fn who_acknowledges_what_was_lost_ends_in_order_without_it() {
    judged("who-acknowledges-what-was-lost-ends-in-order-without-it");
}

/// Boxes that write other octets excuse those who pass them, and nobody else.
#[test]
fn boxes_that_change_octets_excuse_who_passes_them() {
    let text = |box_at: usize| {
        let changed = "impairments = [{ kind = \"middlebox\", change_every = \"2 kB\" }]";
        let at = |link: usize| if link == box_at { changed } else { "" };
        format!(
            "hosts = [\"a\", \"b\", \"c\"]\nrouters = [\"r\"]\n\
             [[links]]\nends = [\"a\", \"r\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n{}\n\
             [[links]]\nends = [\"b\", \"r\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n{}\n\
             [[links]]\nends = [\"r\", \"c\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n{}\n\
             [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"c\"\nsize = \"20 kB\"\noctets = true\n\
             [[flows]]\nname = \"g\"\nfrom = \"b\"\nto = \"c\"\nsize = \"20 kB\"\noctets = true\n",
            at(0),
            at(1),
            at(2)
        )
    };
    for (box_at, excused) in [(0, 1), (1, 1), (2, 2), (3, 0)] {
        assert_eq!(judged_text(&text(box_at)).excused, excused, "a box at link {box_at}");
    }
}

/// An attacker's packets leave past its host, with the keys of others, perhaps of an endpoint there
/// that counts what it has waiting.
#[test]
fn forged_packets_are_not_their_victims_own() {
    let verdict = judged("forged-packets-are-not-their-victims-own");
    assert_eq!(verdict.excused, 1);
}

/// An association that ends in order while it waits in the backlog has what it has acknowledged for
/// whoever accepts.
#[test]
fn what_waits_to_be_accepted_is_not_forgotten_at_its_end() {
    judged("what-waits-to-be-accepted-is-not-forgotten-at-its-end");
}

/// Both sides have closed at once, and their ACKs repeat FINs that the other has had: each FIN brings the ACK that
/// ends it, however often packets are doubled.
#[test]
fn repeated_fins_do_not_answer_each_other_for_ever() {
    let verdict = judged("repeated-fins-do-not-answer-each-other-for-ever");
    assert_eq!(ends(&verdict), [End::Completed]);
}

/// A connection that is TCP by now, with a receive buffer of a segment: the peer's FIN has come, and 500 bytes before it wait
/// in the subflow until the stream has room. They come before the end.
#[test]
fn the_end_of_a_fallback_waits_for_what_has_no_room_yet() {
    let verdict = judged("the-end-of-a-fallback-waits-for-what-has-no-room-yet");
    assert_eq!(ends(&verdict), [End::Completed, End::Completed]);
}

/// A packet whose destination has been corrupted to the number of the node at which a regulator stands.
#[test]
fn nothing_is_addressed_to_a_regulator() {
    judged("nothing-is-addressed-to-a-regulator");
}

/// After a timeout F-RTO wants new data out of turn, and all that there is is less than a segment, behind an earlier
/// small one: it leaves all the same, since nothing else would.
#[test]
fn nagle_does_not_hold_what_frto_asks_for() {
    let verdict = judged("nagle-does-not-hold-what-frto-asks-for");
    assert_eq!(ends(&verdict), [End::Completed]);
}

/// What an ACK in the window with a forged timestamp acknowledges is not sent again.
#[test]
fn acks_with_forged_timestamps_deceive() {
    let verdict = judged("acks-with-forged-timestamps-deceive");
    assert_eq!(verdict.excused, 1);
}

/// The peer has fallen back, which its FIN alone tells: it is the end of the peer's stream, and not of the subflow, which
/// carries the rest of the answer.
#[test]
fn a_fin_without_options_is_the_end_of_a_stream() {
    let verdict = judged("a-fin-without-options-is-the-end-of-a-stream");
    assert_eq!(ends(&verdict)[3], End::Completed);
}

/// ... also where the FIN overtakes the data before it.
#[test]
fn a_fin_without_options_may_overtake_data() {
    let verdict = judged("a-fin-without-options-may-overtake-data");
    assert_eq!(*ends(&verdict).last().unwrap(), End::Completed);
}

/// 40049906: the receive buffer took 46 of the 72 messages of each packet, and timeouts repaired the rest:
/// 27,206 s.
#[test]
fn messages_of_one_byte_do_not_wait_for_timeouts() {
    let verdict = judged("messages-of-one-byte-do-not-wait-for-timeouts");
    assert_eq!(ends(&verdict), [End::Completed]);
    assert!(verdict.seconds < 100.0, "{}", verdict.seconds);
}

/// 60561023: a peer fell back while a second subflow held octets; they were taken for the stream's, which the
/// first carries alone from then on.
#[test]
fn octets_of_a_subflow_that_a_fallback_ended_are_not_the_streams() {
    judged("octets-of-a-subflow-that-a-fallback-ended-are-not-the-streams");
}

/// 70134580 and 200056306: on the only subflow data came a second time, whose mapping a middlebox had taken away. It is
/// not the next of the stream.
#[test]
fn a_repetition_without_its_mapping_is_not_read_as_new() {
    judged("a-repetition-without-its-mapping-is-not-read-as-new");
    judged("another-repetition-without-its-mapping");
}

/// 500082655: data of both sides is lost, and their FINs wait for it. FreeBSD's ACKs repeat a FIN: each was answered by the
/// other's, with no end.
#[test]
fn fins_that_wait_do_not_answer_each_other_for_ever() {
    judged("fins-that-wait-do-not-answer-each-other");
}

/// 610096509: an address is deleted, and the chunks of its path belong to another from then on. One of them is acknowledged
/// before it is sent again: its stamp counted more octets than the other path had delivered.
#[test]
fn what_a_removed_path_delivered_says_nothing_of_its_heir() {
    judged("what-a-removed-path-delivered-says-nothing-of-its-heir");
}
