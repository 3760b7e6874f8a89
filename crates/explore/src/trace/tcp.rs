//! A TCP segment on a line, numbers counted from the SYN.

use anabranch_units::Serial32;
use anabranch_wire::tcp::mptcp::{CapableKeys, DataNumber, Join, MptcpOption};
use anabranch_wire::{TcpFlags, TcpSegment};
use std::fmt::Write;

/// Letters of the flags, as tcpdump has them.
const FLAGS: [(TcpFlags, char); 8] = [
    (TcpFlags::SYN, 'S'),
    (TcpFlags::FIN, 'F'),
    (TcpFlags::RST, 'R'),
    (TcpFlags::PSH, 'P'),
    (TcpFlags::URG, 'U'),
    (TcpFlags::ECE, 'E'),
    (TcpFlags::CWR, 'W'),
    (TcpFlags::ACK, '.'),
];

/// The segment; `seq` and `ack` are the numbers of the SYNs.
pub(super) fn show(tcp_segment: &TcpSegment, seq: Serial32, ack: Serial32) -> String {
    let flags = FLAGS.iter().filter(|flag| tcp_segment.flags.contains(flag.0)).map(|flag| flag.1);
    let flags: String = flags.collect();
    let first = tcp_segment.seq.0.wrapping_sub(seq.0);
    let len = tcp_segment.payload.len();
    let mut text = format!("Flags [{flags}], seq {first}");
    let mut add = |more: String| text.push_str(&more);
    if len > 0 {
        add(format!(":{}", first.wrapping_add(len)));
    }
    if tcp_segment.flags.contains(TcpFlags::ACK) {
        add(format!(", ack {}", tcp_segment.ack.0.wrapping_sub(ack.0)));
    }
    add(format!(", win {}", tcp_segment.window));
    let options = options(tcp_segment, ack);
    if !options.is_empty() {
        add(format!(", options [{}]", options.join(",")));
    }
    add(format!(", length {len}"));
    text
}

fn options(tcp_segment: &TcpSegment, ack: Serial32) -> Vec<String> {
    let o = &tcp_segment.options;
    let mut all = Vec::new();
    all.extend(o.mss.map(|mss| format!("mss {mss}")));
    all.extend(o.window_scale.map(|shift| format!("wscale {shift}")));
    all.extend(o.sack_permitted.then(|| "sackOK".to_owned()));
    all.extend(
        o.timestamps.map(|timestamp| format!("TS val {} ecr {}", timestamp.value, timestamp.echo)),
    );
    if !o.sack.is_empty() {
        let blocks = o.sack.as_slice().iter().map(|block| {
            let number = |serial32: Serial32| serial32.0.wrapping_sub(ack.0);
            format!("{{{}:{}}}", number(block.left), number(block.right))
        });
        all.push(format!("sack {}", blocks.collect::<String>()));
    }
    all.extend(o.acc_ecn.as_ref().map(|_| "acc-ecn".to_owned()));
    if o.rare.as_ref().is_some_and(|rare| rare.fast_open.is_some()) {
        all.push("tfo".to_owned());
    }
    all.extend(o.mptcp().iter().map(mptcp));
    if let Some(dss) = o.dss() {
        let mut text = "dss".to_owned();
        if let Some(number) = dss.data_ack {
            write!(text, " ack {}", short(number)).expect("text can grow");
        }
        if let Some(mapping) = dss.mapping {
            let (dsn, ssn, len) = (short(mapping.dsn), mapping.ssn, mapping.len);
            write!(text, " map {dsn} at {ssn} len {len}").expect("text can grow");
        }
        if dss.data_fin {
            text += " fin";
        }
        all.push(text);
    }
    all
}

/// The last digits of a data sequence number, which are enough to follow it.
fn short(number: DataNumber) -> u64 {
    match number {
        DataNumber::Short(short) => u64::from(short) % 1_000_000,
        DataNumber::Long(long) => (long & 0xffff_ffff) % 1_000_000,
    }
}

fn mptcp(option: &MptcpOption) -> String {
    let text = match option {
        MptcpOption::Capable(capable) => match capable.keys {
            CapableKeys::Syn => "mpcapable",
            CapableKeys::SynAck { .. } => "mpcapable key",
            CapableKeys::Ack { data: None, .. } => "mpcapable keys",
            CapableKeys::Ack { .. } => "mpcapable keys data",
        },
        MptcpOption::Join(Join::Syn { backup: true, .. }) => "mpjoin backup",
        MptcpOption::Join(_) => "mpjoin",
        MptcpOption::AddAddr(add_addr) if add_addr.mac.is_none() => "add-addr echo",
        MptcpOption::AddAddr(_) => "add-addr",
        MptcpOption::RemoveAddr(_) => "rem-addr",
        MptcpOption::Prio { .. } => "mpprio",
        MptcpOption::Fail { .. } => "mpfail",
        MptcpOption::Fastclose { .. } => "mpfastclose",
        MptcpOption::TcpRst { .. } => "mptcprst",
    };
    text.to_owned()
}
