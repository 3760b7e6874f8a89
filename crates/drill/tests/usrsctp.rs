//! usrsctp as a stack: the project's own scripts of SCTP against it, and where it does something else than
//! ours; what it does not have; and that runs are in the script's time.
#![cfg(target_os = "linux")]

use anabranch_drill::{UsrsctpStack, usrsctp};
use anabranch_packetdrill::report::{Report, Verdict};
use anabranch_packetdrill::runner::Drill;
use anabranch_packetdrill::stack::{IpVersion, Network};
use anabranch_packetdrill::suites::list;
use anabranch_testkit::needs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Scripts that usrsctp 0.9.5 fails, and what it does instead.
const OTHERWISE: [(&str, &str); 9] = [
    ("broken-chunks.pkt", "a FORWARD-TSN that is too short is ignored"),
    ("immediate.pkt", "the end of a long message waits for a SACK (Nagle's algorithm)"),
    ("interleaving.pkt", "its extensions are more: AUTH, ASCONF, NR-SACK, PKTDROP"),
    ("reconfiguration-refused.pkt", "the notification lists the stream that was not reset"),
    ("reconfiguration.pkt", "SCTP_ADD_STREAMS works before the user has allowed it"),
    ("retransmission.pkt", "SCTP_RTOINFO leaves the timeout of a path that is there as it is"),
    ("shutdown-data.pkt", "write() after shutdown() gives ECONNRESET, not EPIPE"),
    ("strangers.pkt", "its ABORT of an INIT to no socket has the T bit"),
    ("unknown.pkt", "its extensions are more: AUTH, ASCONF, NR-SACK, PKTDROP"),
];
/// Scripts that do not apply to it, and a word of the reason.
const NOT_APPLICABLE: [(&str, &str); 2] =
    [("icmp.pkt", "ICMP"), ("zero-checksum.pkt", "SCTP_ACCEPT_ZERO_CHECKSUM")];

/// The beginning of a script: the peer has opened an association, which is descriptor 4.
const ACCEPTED: &str = "
    0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 < sctp: INIT[flgs=0, tag=1, a_rwnd=30000, os=16, is=16, tsn=1]
   +0 > sctp: INIT_ACK[flgs=0, tag=2, a_rwnd=..., os=..., is=..., tsn=1, ...]
   +0 < sctp: COOKIE_ECHO[flgs=0, len=..., val=...]
   +0 > sctp: COOKIE_ACK[flgs=0]
   +0 accept(3, ..., ...) = 4
";

/// A drill against usrsctp, where the machine has it.
fn drill() -> Option<Drill> {
    needs::usrsctp(UsrsctpStack::probe()).then(|| {
        let against = usrsctp().expect("the probe has passed");
        let mut drill = Drill { against, ..Drill::new(None) };
        drill.settings.trace = true;
        drill
    })
}

fn accepted(drill: &Drill, rest: &str) -> Report {
    drill.text("a script", &format!("{ACCEPTED}{rest}"))
}

#[test]
fn usrsctp_passes_our_scripts_or_a_row_says_why_not() {
    let Some(drill) = drill() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/packetdrill/sctp");
    let scripts = list(&folder).expect("the folder can be read");
    assert!(scripts.len() >= 20, "{} scripts", scripts.len());
    let reason = |of: &[(&str, &'static str)], listed: &Path| {
        of.iter().find(|(name, _)| listed.ends_with(name)).map(|(_, reason)| *reason)
    };
    let mut wrong = Vec::new();
    for (listed, report) in scripts.iter().zip(drill.all(&scripts, 2)) {
        let (otherwise, missing) =
            (reason(&OTHERWISE, &listed.file), reason(&NOT_APPLICABLE, &listed.file));
        let as_known = match &report.verdict {
            Verdict::Passed => otherwise.is_none() && missing.is_none(),
            Verdict::Failed(_) => otherwise.is_some(),
            Verdict::NotApplicable(said) => missing.is_some_and(|word| said.contains(word)),
            Verdict::Unreadable(_) => false,
        };
        if !as_known {
            wrong.push(report.to_string());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how long the run takes is what is tested")]
fn hours_of_a_script_pass_at_once() {
    let Some(drill) = drill() else { return };
    let begun = Instant::now();
    let report = drill.text(
        "nobody answers",
        "0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3
        +0...333 connect(3, ..., ...) = -1 ETIMEDOUT (Connection timed out)
        +0 > sctp: INIT[flgs=0, tag=1, a_rwnd=..., os=..., is=..., tsn=1, ...]
        +3 > sctp: INIT[flgs=0, tag=1, a_rwnd=..., os=..., is=..., tsn=1, ...]
        +6 > sctp: INIT[flgs=0, tag=1, a_rwnd=..., os=..., is=..., tsn=1, ...]
        +7200 close(3) = 0",
    );
    assert!(report.passed(), "{report}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn what_it_lacks_makes_a_script_not_applicable() {
    let Some(drill) = drill() else { return };
    let tcp = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3";
    let option = "0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3
        +0 setsockopt(3, IPPROTO_SCTP, SCTP_UNHEARD_OF, [1], 4) = 0";
    let field = "0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3
        +0 setsockopt(3, IPPROTO_SCTP, SCTP_RTOINFO, {srto_first=1}, 16) = 0";
    for (text, word) in [
        (tcp, "sockets of IPPROTO_TCP"),
        (option, "SCTP_UNHEARD_OF"),
        (field, "srto_first"),
        ("`sysctl -w net.inet.sctp.unheard_of=1`\n0 %{ print(1) }%", "unheard_of"),
    ] {
        match drill.text("a script", text).verdict {
            Verdict::NotApplicable(reason) => assert!(reason.contains(word), "{reason}"),
            other => panic!("{word}: {other:?}"),
        }
    }
}

#[test]
fn a_packet_that_differs_fails_the_script() {
    let Some(drill) = drill() else { return };
    let report = accepted(
        &drill,
        "+0 write(4, ..., 1000) = 1000
        +0 > sctp: DATA[flgs=BE, len=1017, tsn=1, sid=0, ssn=0, ppid=0]",
    );
    let Verdict::Failed(failure) = &report.verdict else { panic!("{report}") };
    assert!(failure.actual.contains("DATA[flgs=BE, len=1016"), "{report}");
}

/// Options, calls and messages go through the library's structures and back.
#[test]
fn structures_are_the_librarys() {
    let Some(drill) = drill() else { return };
    let report = accepted(
        &drill,
        "+0 setsockopt(4, IPPROTO_SCTP, SCTP_RTOINFO, {srto_initial=100, srto_max=800, srto_min=50}, 16) = 0
        +0 getsockopt(4, IPPROTO_SCTP, SCTP_RTOINFO, {srto_assoc_id=0, srto_initial=100, srto_max=800, srto_min=50}, [16]) = 0
        +0 setsockopt(4, IPPROTO_SCTP, SCTP_RTOINFO, {srto_initial=100, srto_max=50, srto_min=80}, 16) = -1 EINVAL
        +0 setsockopt(4, IPPROTO_SCTP, SCTP_RECVRCVINFO, [1], 4) = 0
        +0 < sctp: DATA[flgs=BE, len=116, tsn=1, sid=3, ssn=0, ppid=5]
        +0 > sctp: SACK[flgs=0, cum_tsn=1, a_rwnd=..., gaps=[], dups=[]]
        +0 sctp_recvv(4, [{..., 200}], 1, ..., [16], {rcv_sid=3, rcv_ssn=0, rcv_flags=0, rcv_ppid=htonl(5), rcv_tsn=1,
                      rcv_cumtsn=1, rcv_context=0, rcv_assoc_id=...}, [28], [SCTP_RECVV_RCVINFO], [MSG_EOR]) = 100
        +0 sctp_sendmsg(4, ..., 100, ..., ..., htonl(9), SCTP_UNORDERED, 2, 0, 0) = 100
        +0 > sctp: DATA[flgs=UBE, len=116, tsn=1, sid=2, ssn=0, ppid=9]",
    );
    assert!(report.passed(), "{report}");
}

#[test]
fn packets_have_headers_of_either_version() {
    let Some(mut drill) = drill() else { return };
    for version in [IpVersion::V4, IpVersion::V6] {
        drill.settings.network = Network::over(version);
        let report = accepted(
            &drill,
            "+0 setsockopt(4, IPPROTO_SCTP, SCTP_NODELAY, [1], 4) = 0
            +0 write(4, ..., 2000) = 2000
            +0 > sctp: DATA[flgs=B, len=1468, tsn=1, sid=0, ssn=0, ppid=0]
            +0 > sctp: DATA[flgs=E, len=564, tsn=2, sid=0, ssn=0, ppid=0]",
        );
        assert!(report.passed(), "{report}");
        let ours =
            report.trace.iter().filter(|traced| !traced.inbound).map(|traced| traced.packet.src);
        let addresses: Vec<_> = ours.filter_map(|addr| report.addresses.ip(addr)).collect();
        assert!(addresses.len() >= 4, "{addresses:?}");
        assert!(addresses.iter().all(|ip| ip.is_ipv6() == (version == IpVersion::V6)));
    }
}
