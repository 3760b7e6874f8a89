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
pub(super) fn show(it: &TcpSegment, seq: Serial32, ack: Serial32) -> String {
    let flags = FLAGS.iter().filter(|flag| it.flags.contains(flag.0)).map(|flag| flag.1);
    let flags: String = flags.collect();
    let first = it.seq.0.wrapping_sub(seq.0);
    let len = it.payload.len();
    let mut text = format!("Flags [{flags}], seq {first}");
    let mut add = |more: String| text.push_str(&more);
    if len > 0 {
        add(format!(":{}", first.wrapping_add(len)));
    }
    if it.flags.contains(TcpFlags::ACK) {
        add(format!(", ack {}", it.ack.0.wrapping_sub(ack.0)));
    }
    add(format!(", win {}", it.window));
    let options = options(it, ack);
    if !options.is_empty() {
        add(format!(", options [{}]", options.join(",")));
    }
    add(format!(", length {len}"));
    text
}

fn options(it: &TcpSegment, ack: Serial32) -> Vec<String> {
    let o = &it.options;
    let mut all = Vec::new();
    all.extend(o.mss.map(|mss| format!("mss {mss}")));
    all.extend(o.window_scale.map(|shift| format!("wscale {shift}")));
    all.extend(o.sack_permitted.then(|| "sackOK".to_owned()));
    all.extend(o.timestamps.map(|it| format!("TS val {} ecr {}", it.value, it.echo)));
    if !o.sack.is_empty() {
        let blocks = o.sack.as_slice().iter().map(|block| {
            let number = |it: Serial32| it.0.wrapping_sub(ack.0);
            format!("{{{}:{}}}", number(block.left), number(block.right))
        });
        all.push(format!("sack {}", blocks.collect::<String>()));
    }
    all.extend(o.acc_ecn.as_ref().map(|_| "acc-ecn".to_owned()));
    if o.rare.as_ref().is_some_and(|it| it.fast_open.is_some()) {
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
        DataNumber::Short(it) => u64::from(it) % 1_000_000,
        DataNumber::Long(it) => (it & 0xffff_ffff) % 1_000_000,
    }
}

fn mptcp(option: &MptcpOption) -> String {
    let text = match option {
        MptcpOption::Capable(it) => match it.keys {
            CapableKeys::Syn => "mpcapable",
            CapableKeys::SynAck { .. } => "mpcapable key",
            CapableKeys::Ack { data: None, .. } => "mpcapable keys",
            CapableKeys::Ack { .. } => "mpcapable keys data",
        },
        MptcpOption::Join(Join::Syn { backup: true, .. }) => "mpjoin backup",
        MptcpOption::Join(_) => "mpjoin",
        MptcpOption::AddAddr(it) if it.mac.is_none() => "add-addr echo",
        MptcpOption::AddAddr(_) => "add-addr",
        MptcpOption::RemoveAddr(_) => "rem-addr",
        MptcpOption::Prio { .. } => "mpprio",
        MptcpOption::Fail { .. } => "mpfail",
        MptcpOption::Fastclose { .. } => "mpfastclose",
        MptcpOption::TcpRst { .. } => "mptcprst",
    };
    text.to_owned()
}
