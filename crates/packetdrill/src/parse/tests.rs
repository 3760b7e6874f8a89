use super::*;
use crate::code::{Names, Statement, run};
use crate::script::{
    Action, Call, Ect, IcmpQuote, MptcpArgument, OptionsSpec, PacketBody, PacketSpec, Pos,
    TcpOptionSpec, TcpSpec, Value, When,
};
use anabranch_units::Span;
use anabranch_wire::TcpFlags;

fn read(text: &str) -> Script {
    parse("test.pkt", text, &Definitions::new()).unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    parse("test.pkt", text, &Definitions::new()).expect_err(text).to_string()
}

fn packet(text: &str) -> PacketSpec {
    match &read(text).events[0].action {
        Action::Packet(packet) => (**packet).clone(),
        other => panic!("{other:?}"),
    }
}

fn tcp(text: &str) -> TcpSpec {
    match packet(text).body {
        PacketBody::Tcp(tcp) => tcp,
        other => panic!("{other:?}"),
    }
}

fn options(text: &str) -> Vec<TcpOptionSpec> {
    match tcp(&format!("0 > . 1:1(0) ack 1 <{text}>")).options {
        OptionsSpec::List(options) => options,
        OptionsSpec::Any => panic!("any"),
    }
}

fn call(text: &str) -> Call {
    match &read(text).events[0].action {
        Action::Call(call) => call.clone(),
        other => panic!("{other:?}"),
    }
}

const MS: fn(u64) -> Span = Span::from_millis;

#[test]
fn times_are_absolute_relative_ranges_or_any() {
    let script = read("0.1 `a`\n +.25 `b`\n 1~1.5 `c`\n +0.1~+.2 `d`\n * `e`\n 2 `f`\n`g`");
    let times: Vec<When> = script.events.iter().map(|event| event.time).collect();
    let expected = [
        When::Absolute(MS(100)),
        When::Relative(MS(250)),
        When::AbsoluteRange(MS(1000), MS(1500)),
        When::RelativeRange(MS(100), MS(200)),
        When::Any,
        When::Absolute(MS(2000)),
    ];
    assert_eq!(times, expected);
    assert_eq!(script.cleanup.map(|shell| shell.text), Some("g".into()));
}

#[test]
fn blocking_calls_have_an_end() {
    for text in ["+0...0.1 read(4, ..., 2) = 2", "+0 ... +0.100 read(4, ..., 2) = 2"] {
        let event = &read(text).events[0];
        assert_eq!((event.time, event.end), (When::Relative(MS(0)), Some(MS(100))), "{text}");
    }
}

#[test]
fn options_of_the_tool_and_the_first_command_come_before_events() {
    let script = read("// first\n--tolerance_usecs=10000\n--strict_segments\n`init`\n0 `x`");
    let options: Vec<_> =
        script.options.iter().map(|o| (o.name.as_str(), o.value.as_deref())).collect();
    assert_eq!(options, [("tolerance_usecs", Some("10000")), ("strict_segments", None)]);
    assert_eq!(script.init.map(|shell| shell.text), Some("init".into()));
    assert_eq!(script.events[0].pos, Pos { line: 5, column: 1 });
}

#[test]
fn comments_do_not_count_but_in_commands_and_code() {
    let script = read("0 `echo // not a comment` // one\n/* two\n three */ +0 %{ x = 7 // 2 }%");
    let Action::Shell(shell) = &script.events[0].action else { panic!() };
    assert_eq!(shell.text, "echo // not a comment");
    assert_eq!(script.events[1].pos, Pos { line: 3, column: 11 });
}

#[test]
fn conditions_take_what_is_defined() {
    let text = "#ifdef A\n0 `a`\n#endif\n#ifdef B\n0 `b\n#endif\n1 `c`\n";
    let script = parse("t", text, &Definitions::from([("A".into(), String::new())])).unwrap();
    let lines: Vec<u32> = script.events.iter().map(|event| event.pos.line).collect();
    assert_eq!(lines, [2, 7], "the open backquote of B is not read");
}

#[test]
fn a_segment_has_flags_numbers_window_and_urgent_pointer() {
    let segment = tcp("0 < FP. 1:1001(1000) ack 7 win 257 urg 3");
    assert_eq!(segment.flags.bits, TcpFlags::FIN.union(TcpFlags::PSH).union(TcpFlags::ACK));
    assert_eq!(
        (segment.sequence.start, segment.sequence.end, segment.sequence.len),
        (Some(1), Some(1001), 1000)
    );
    assert_eq!((segment.ack, segment.window, segment.urgent), (Some(7), Some(257), Some(3)));
    assert_eq!(segment.options, OptionsSpec::List(vec![]));
    assert_eq!(tcp("0 < - 1:1(0)").flags.bits, TcpFlags(0));
    assert_eq!(tcp("0 > S.5 0:0(0) ack 1 <...>").flags.ace, Some(5));
    assert_eq!(tcp("0 > . ...(0) ack 1").sequence.start, None);
}

#[test]
fn a_packet_has_ip_fields_ports_and_subflows() {
    let parsed = packet("0 > [ect0] P. 1:2(1) ack 1");
    assert_eq!(parsed.ip.ect, Some(Ect::Ect0));
    assert_eq!(packet("0 < (tos 0x10, ttl 63) . 1:1(0)").ip.tos, Some(16));
    assert_eq!(packet("0 < 8080 > 40000 R 0:0(0)").ports, Some((8080, 40000)));
    let subflow = packet("0 < addr[caddr1] > addr[saddr0] S 0:0(0) win 65535").subflow.unwrap();
    assert_eq!((subflow.src.unwrap().name, subflow.dst.name), ("caddr1".into(), "saddr0".into()));
    let subflow = packet("0 > > addr[saddr1] S 0:0(0)").subflow.unwrap();
    assert_eq!((subflow.src, subflow.dst.name), (None, "saddr1".into()));
}

#[test]
fn options_of_tcp() {
    let syn = options("mss 1460, sackOK, TS val 100 ecr ..., nop, wscale 8");
    let timestamps = TcpOptionSpec::Timestamps { value: Some(100), echo: None, absolute: false };
    use TcpOptionSpec::{Mss, Nop, SackPermitted, WindowScale};
    assert_eq!(syn, [Mss(1460), SackPermitted, timestamps, Nop, WindowScale(8)]);
    assert_eq!(options("sack 1:2 5:7"), [TcpOptionSpec::Sack(vec![(1, 2), (5, 7)])]);
    let cookie = |experimental, octets: &[u8]| {
        vec![TcpOptionSpec::FastOpen { experimental, cookie: Ok(octets.to_vec()) }]
    };
    assert_eq!(options("FO abcd1234"), cookie(false, &[0xab, 0xcd, 0x12, 0x34]));
    assert_eq!(options("FOEXP"), cookie(true, &[]));
    let undefined = TcpOptionSpec::FastOpen { experimental: false, cookie: Err("COOKIE".into()) };
    assert_eq!(options("FO COOKIE"), [undefined]);
}

#[test]
fn a_defined_word_is_replaced() {
    let definitions = Definitions::from([
        ("COOKIE".into(), "0102".into()),
        ("CODE".into(), "host_unreachable".into()),
    ]);
    let text = "0 < S 0:0(0) <FO COOKIE>\n0 < icmp unreachable CODE [0:10(10)]";
    let script = parse("t", text, &definitions).unwrap();
    let Action::Packet(second) = &script.events[1].action else { panic!() };
    let PacketBody::Icmp(icmp) = &second.body else { panic!() };
    assert_eq!(icmp.code.as_deref(), Some("host_unreachable"));
    assert!(matches!(icmp.quote, Some(IcmpQuote::Tcp(quote)) if quote.len == 10));
}

#[test]
fn options_of_mptcp() {
    let parsed = options("mpcapable v1 flags[flag_h] key[ckey=2, skey] mpcdatalen 1000, nop");
    let TcpOptionSpec::Mptcp(option) = &parsed[0] else { panic!() };
    assert!(option.has("v1"));
    assert_eq!(option.list("key").map(<[_]>::len), Some(2));
    assert_eq!(option.arguments.last(), Some(&MptcpArgument::Number(1000)));
    let parsed = options("dss dack8=1001 dsn4=1 ssn=0 dll=1 nocs fin");
    let TcpOptionSpec::Mptcp(option) = &parsed[0] else { panic!() };
    assert_eq!(option.value("dsn4"), Some(&Value::Number(1)));
    options("mp_join_ack sender_hmac=trunc_l64_hmac(skey ckey)");
    options("add_address address_id=1 addr[ep=inet_addr(\"198.51.100.2\")] hmac=auto");
    options("mp_reset 1, mp_fastclose skey, remove_address address_id=[1, 2]");
}

#[test]
fn calls_have_arguments_results_and_errors() {
    let parsed = call("0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)");
    assert_eq!((parsed.name.as_str(), parsed.errno.as_deref()), ("connect", Some("EINPROGRESS")));
    let parsed = call("0 fcntl(3, F_SETFL, O_RDWR | O_NONBLOCK) = 0");
    assert!(matches!(&parsed.arguments[2], Value::Or(words) if words.len() == 2));
    let parsed = call("0 bind(3, {sa_family=AF_INET, sin_port=htons(80)}, ...) = 0");
    let port = Value::Call("htons".into(), vec![Value::Number(80)]);
    assert_eq!(parsed.arguments[1].field("sin_port"), Some(&port));
    let parsed =
        call("0 sendmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 40}], msg_flags=0}, 0) = 40");
    let iov = parsed.arguments[1].field("msg_iov").and_then(Value::fields).unwrap();
    assert_eq!(iov[0].value.fields().unwrap()[1].value, Value::Number(40));
}

#[test]
fn chunks_of_sctp() {
    let text = "0 > sctp(tag=7): SACK[flgs=0, cum_tsn=1, a_rwnd=..., gaps=[2:8], dups=[]]; \
        DATA[flgs=BE, len=16, tsn=1, sid=0, ssn=0, ppid=0]";
    let PacketBody::Sctp(sctp) = packet(text).body else { panic!() };
    assert_eq!((sctp.tag, sctp.chunks.len()), (Some(7), 2));
    let gaps = sctp.chunks[0].field("gaps").and_then(Value::fields).unwrap();
    assert_eq!(gaps[0].value, Value::Range(2, 8));
    let text = "0 < sctp: INIT[flgs=0, tag=1, a_rwnd=1500, os=1, is=1, tsn=1, \
        IPV4_ADDRESS[addr=1.1.1.1], FORWARD_TSN_SUPPORTED[]]";
    packet(text);
    packet("0 < sctp: [0x01, 0x00]");
}

#[test]
fn errors_name_script_place_and_what_is_expected() {
    let cases = [
        ("0 < S 0:0(0)\n +x `a`", "test.pkt:2:3: expected a time: "),
        ("0 < Q 0:0(0)", "test.pkt:1:5: expected flags of TCP"),
        ("0 < S 0:1(0)", "test.pkt:1:13: expected a length of 1 before, found the end"),
        ("0 < S 0:0(0) win 70000", "1:18: expected a window from 0 to 65535, found `70000`"),
        ("0 < S 0:0(0) <mss 1, wsc 2>", "1:22: expected an option of TCP: mss, wscale"),
        ("0 > . 1:1(0) <dss dsn9=1>", "1:19: expected one of dack4, dack8"),
        ("0 `a", "1:3: expected a closing backquote"),
        ("0 close(3 = 0", "1:11: expected `,` or `)`, found `=`"),
        ("0 %{ assert tcpi_rtt === 1 }%", "1:24: expected a value"),
        ("0 > sctp: DATUM[flgs=0]", "1:11: expected a known chunk, parameter or cause"),
        ("0 > sctp: SHUTDOWN[cum_tsn=0, flgs=0]", "in their order, not `flgs` here"),
        ("#ifdef A\n0 `a`", "1:1: expected #endif"),
        ("`a`\n0 `b`\n`c`\n0 `d`", "4:1: expected the end of the script"),
    ];
    for (text, expected) in cases {
        let error = error(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}

fn code(text: &str, names: &mut Names) -> Result<(), String> {
    let script = read(&format!("0 %{{{text}}}%"));
    let Action::Code(statements) = &script.events[0].action else { panic!() };
    run(statements, names).map_err(|error| error.to_string())
}

#[test]
fn code_asserts_over_names() {
    let mut names = Names::from([("tcpi_rtt".into(), 100), ("tcpi_options".into(), 5)]);
    for good in [
        "assert tcpi_rtt == 100, tcpi_rtt",
        "assert 90 <= tcpi_rtt <= 110, 'rtt=%d' % tcpi_rtt",
        "assert (tcpi_options & 4) != 0; assert tcpi_rtt == 100",
        "\nassert tcpi_rtt % 7 == 2 # why\nassert not tcpi_rtt == 7\n",
        "LIMIT = 0x64\nassert tcpi_rtt <= LIMIT and \\\n  (tcpi_rtt > 1 or missing)",
        "assert -7 // 2 == -4 and -7 % 3 == 2; print('x', tcpi_rtt)",
    ] {
        assert_eq!(code(good, &mut names), Ok(()), "{good}");
    }
    let bad = code("assert 101 <= tcpi_rtt, tcpi_rtt", &mut names).unwrap_err();
    assert_eq!(bad, "assert 101 <= tcpi_rtt does not hold: tcpi_rtt = 100");
    assert_eq!(code("assert no == 1", &mut names).unwrap_err(), "`no` is not known");
    assert_eq!(code("assert 1 / 0", &mut names).unwrap_err(), "1 // 0");
    assert!(matches!(read("0 %{ a = 1 }%").events[0].action, Action::Code(ref code)
        if matches!(code[0], Statement::Set(..))));
}

#[test]
fn segments_and_what_icmp_quotes_may_stand_in_udp() {
    let udp = |text: &str| packet(text).udp;
    assert_eq!(udp("0 > S 0:0(0) win 5 <mss 9,nop>/udp(5005 > 7)"), Some((5005, 7)));
    assert_eq!(udp("0 < R 0:0(0)/udp(1 > 2)"), Some((1, 2)));
    assert_eq!(udp("0 < . ...(0)! ack 1"), None);
    let PacketBody::Icmp(icmp) =
        packet("0 < icmp unreachable port_unreachable [3:3(0)/udp(9 > 8)]").body
    else {
        panic!()
    };
    assert_eq!(icmp.udp, Some((9, 8)));
    assert!(matches!(icmp.quote, Some(IcmpQuote::Tcp(quote)) if quote.start == Some(3)));
    assert_eq!(
        error("0 > . 1:1(0)/udp(70000 > 1)"),
        "test.pkt:1:18: expected a port, found `70000`"
    );
}
