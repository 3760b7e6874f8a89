//! Numbers, lengths and depths of scripts that are out of range end with the line and what is
//! allowed; nothing is allocated for them.

use anabranch_packetdrill::runner::Drill;
use anabranch_packetdrill::{Profile, Verdict};

/// What is said of a script that has `line` behind the opening of an SCTP association's client.
fn sctp(line: &str) -> String {
    let opening = "0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3
        +0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
        +0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
        +0 > sctp: INIT[flgs=0, tag=1, a_rwnd=..., os=..., is=..., tsn=0, ...]\n";
    Drill::new(Profile::FreeBsd).text("it.pkt", &format!("{opening}{line}")).to_string()
}

/// The same of a script that has `line` alone.
fn alone(line: &str) -> String {
    Drill::new(Profile::Linux).text("it.pkt", line).to_string()
}

/// RFC 9260 §3.2 and §3.2.1: lengths of chunks and parameters have 16 bits.
#[test]
fn a_length_that_its_field_cannot_hold_is_refused_with_its_line_and_range() {
    let init = "+0 < sctp: INIT_ACK[flgs=0, tag=2, a_rwnd=1500, os=1, is=1, tsn=1";
    let cookie = sctp(&format!("{init}, STATE_COOKIE[len=4294967295, val=...]]"));
    let said = "a number from 0 to 65535 in `len` of STATE_COOKIE, not 4294967295";
    assert!(cookie.starts_with("it.pkt:5:"), "{cookie}");
    assert!(cookie.contains(said), "{cookie}");
    for (chunk, most, field, of) in [
        ("DATA[flgs=BE, len=65536, tsn=1, sid=0, ssn=0, ppid=0]", 65_535, "len", "DATA"),
        ("DATA[flgs=BE, len=20, tsn=1, sid=70000, ssn=0, ppid=0]", 65_535, "sid", "DATA"),
        ("DATA[flgs=256, len=20, tsn=1, sid=0, ssn=0, ppid=0]", 255, "flgs", "DATA"),
        ("DATA[flgs=BE, len=20, tsn=-1, sid=0, ssn=0, ppid=0]", u32::MAX, "tsn", "DATA"),
        ("PAD[flgs=0, len=-4, val=...]", 65_535, "len", "PAD"),
        ("PAD[flgs=0, len=5, val=[256]]", 255, "val", "PAD"),
        ("SACK[flgs=0, cum_tsn=1, a_rwnd=9, gaps=[2:65536], dups=[]]", 65_535, "gaps", "SACK"),
        ("CHUNK[type=300, flgs=0, len=4, val=[]]", 255, "type", "CHUNK"),
    ] {
        let said = sctp(&format!("+0 < sctp: {chunk}"));
        let expected = format!("a number from 0 to {most} in `{field}` of {of}, not ");
        assert!(said.starts_with("it.pkt:5:") && said.contains(&expected), "{chunk}: {said}");
    }
}

/// RFC 791 §3.1: a packet has at most 65,535 octets with its header.
#[test]
fn a_packet_that_no_network_carries_is_refused() {
    let pad = "PAD[flgs=0, len=65500, val=...]";
    let said = sctp(&format!("+0 < sctp: {pad}; PAD[flgs=0, len=4, val=...]"));
    assert!(said.contains("65504 octets of chunks; a packet holds 0 to 65503"), "{said}");
    let said = sctp(&format!("+0 < sctp: {pad}"));
    assert!(!said.contains("a packet holds"), "{said}");
    let said = alone("0 < . 1:4000000001(4000000000) ack 1 win 9");
    assert!(said.contains("a payload of 4000000000 octets; a packet that comes holds"), "{said}");
}

/// No parser recurses deeper than it says, and none reads a part twice at each depth.
#[test]
fn values_and_code_are_read_to_a_depth_that_is_said() {
    for opened in ["[", "a(", "{", "[a(", "a[b=[c="] {
        let said = alone(&format!("0 setsockopt(3, {}", opened.repeat(100_000)));
        assert!(said.contains("at most 32 values within each other"), "{opened}: {said}");
    }
    let closed = format!("0 write(3, {}1{}, 0) = 0", "[a(".repeat(15), ")]".repeat(15));
    let said = alone(&closed);
    assert!(said.contains("write() returned another value"), "{said}");
    for opened in ["(", "-", "not ", "~", "f(", "(f(-"] {
        let said = alone(&format!("0 %{{ assert {}1 }}%", opened.repeat(100_000)));
        assert!(said.contains("at most 16 parentheses and signs"), "{opened}: {said}");
    }
    for joined in ["+1", " and 1", " < 1", ", 1"] {
        let said = alone(&format!("0 %{{ assert (1{}) }}%", joined.repeat(100_000)));
        assert!(said.contains("at most 500 operands in a statement"), "{joined}: {said}");
    }
}

/// A time that is as good as never is not waited for without end.
#[test]
fn what_never_happens_is_said() {
    let late = "--tolerance_usecs=18446744073709551615\n";
    let listen = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n";
    let said = alone(&format!("{late}{listen}+0 listen(3, 1) = 0\n+0 > S 0:0(0) <...>"));
    assert!(said.contains("no packet left"), "{said}");
    let far = "+9999999 `true`\n".repeat(3);
    assert!(alone(&format!("{listen}{far}")).contains("passed"));
}

/// Numbers at the limits of 64 bits end nothing.
#[test]
fn numbers_of_any_size_are_read_or_refused() {
    assert!(alone("0 read(3, ..., -0x8000000000000000) = 0").contains("expected"));
    assert!(alone("0 %{ assert abs(-9223372036854775807 - 1) }%").contains("passed"));
    let open = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n";
    for line in [
        "+0 setsockopt(3, SOL_SOCKET, SO_SNDBUF, [9223372036854775807], 4) = 0",
        "+0 setsockopt(3, SOL_SOCKET, SO_RCVTIMEO, {tv_sec=9223372036854775807, tv_usec=1}, 16) = 0",
        "+0 poll([{fd=3, events=POLLIN, revents=0}], 1, 9223372036854775807) = 1",
        "+0 writev(3, [{..., 9223372036854775807}, {..., 9223372036854775807}, {..., 9}], 3) = -1",
        "+0 `multi-ep.sh -e 2147483647`",
    ] {
        let report = Drill::new(Profile::Linux).text("it.pkt", &format!("{open}{line}"));
        assert!(!matches!(report.verdict, Verdict::Unreadable(_)), "{line}: {report}");
    }
}
