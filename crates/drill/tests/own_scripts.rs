//! The project's own scripts against the kernel of this machine, and where it does
//! something else than our stack. They need what live runs need, and an idle machine, for they run in
//! real time: `make drill-kernel`.
#![cfg(target_os = "linux")]

use anabranch_drill::{KernelStack, kernel};
use anabranch_packetdrill::Profile;
use anabranch_packetdrill::report::{Report, Verdict};
use anabranch_packetdrill::runner::Drill;
use anabranch_packetdrill::suites::{Listed, list};
use anabranch_testkit::needs;
use std::path::Path;

/// Scripts that Linux 6.18 fails, and what it does instead.
const OTHERWISE: [(&str, &str); 23] = [
    ("close/data-after-close.pkt", "its reset for data after close() has no ACK"),
    ("mptcp/addresses-with-ports.pkt", "it takes a join to a port that was not announced"),
    ("mptcp/announced-port.pkt", "its path manager announces addresses of the machine alone"),
    ("mptcp/close-at-once.pkt", "it acknowledges the FIN of a subflow later"),
    ("mptcp/connect-again.pkt", "a refused connection is not readable"),
    ("mptcp/endpoint-changes.pkt", "an endpoint that changes sends nothing at once"),
    ("mptcp/fail.pkt", "MP_FAIL leaves beside a mapping"),
    ("mptcp/fast-open-connect.pkt", "it acknowledges the FIN of a subflow later"),
    ("mptcp/fast-open-left.pkt", "a cookie that was left over is not used"),
    ("mptcp/fast-open-refused.pkt", "sendto() with MSG_FASTOPEN gives EINVAL meanwhile"),
    ("mptcp/half-closed.pkt", "it acknowledges data at another time"),
    ("mptcp/joins-refused.pkt", "its reset of a refused join has no ACK"),
    ("mptcp/passive.pkt", "it acknowledges the peer's DATA_FIN before its own FIN"),
    ("open/passive.pkt", "TCP_MAXSEG is bounded by half of the largest window that was offered"),
    ("open/timeout.pkt", "connect() after a finished attempt returns 0 once, then EISCONN"),
    ("poll/listener-and-peer.pkt", "data comes in the moment in which poll() gives up"),
    ("window/closed.pkt", "tcpi_probes counts from the last ACK"),
    ("write/beside-blocks.pkt", "each burst that is handed to the device at once ends with PSH"),
    ("write/full-interface.pkt", "data leaves with the next try, not when there is room"),
    ("write/more.pkt", "data of MSG_MORE waits for an RTO, not for 200 ms"),
    ("write/push.pkt", "each burst that is handed to the device at once ends with PSH"),
    ("write/record.pkt", "each burst that is handed to the device at once ends with PSH"),
    ("write/send-buffer.pkt", "the send buffer counts the kernel's memory, not octets"),
];

/// In real time another program may be in the way.
const ATTEMPTS: usize = 3;

fn attempts(drill: &Drill, scripts: &[Listed]) -> Vec<Report> {
    let mut reports = drill.all(scripts, 2);
    for _ in 1..ATTEMPTS {
        for (listed, report) in scripts.iter().zip(&mut reports) {
            if matches!(report.verdict, Verdict::Failed(_)) {
                *report = drill.file(listed);
            }
        }
    }
    reports
}

#[test]
#[ignore = "in real time: make drill-kernel"]
fn the_kernel_passes_what_is_written_for_it() {
    if !needs::live(KernelStack::probe()) {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/packetdrill");
    let mut scripts = list(&folder).expect("the folder can be read");
    let is = |listed: &Listed, name: &str| listed.file.ends_with(name);
    for (name, _) in OTHERWISE {
        assert!(scripts.iter().any(|script| is(script, name)), "{name} is no script any more");
    }
    // SCTP is written for FreeBSD.
    let freebsd = |listed: &Listed| listed.file.iter().any(|part| part == "freebsd");
    scripts.retain(|script| {
        script.suite != "sctp"
            && !freebsd(script)
            && !OTHERWISE.iter().any(|(name, _)| is(script, name))
    });
    assert!(scripts.len() >= 25, "{} scripts", scripts.len());
    let mut drill = Drill::new(Profile::Linux);
    drill.against = kernel().expect("the probe has passed");
    let reports = attempts(&drill, &scripts);
    let bad: Vec<String> =
        reports.iter().filter(|report| !report.passed()).map(ToString::to_string).collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
