//! `manners` of a flow's `tcp`: from and to TOML.

use super::form::{Form, Kind, by};
use crate::InputError;
use crate::fields::Fields;
use crate::shape::Shape;
use anabranch_tcp::{Manners, OpeningErrors};
use toml::Value;

const OPENING_ERRORS: [(&str, OpeningErrors); 3] = [
    ("hard", OpeningErrors::Hard),
    ("hard-in-syn-sent", OpeningErrors::HardInSynSent),
    ("nothing", OpeningErrors::Nothing),
];
const ALLOWED: &str = "rfc, linux, freebsd, or a table of the switches";

fn named() -> [(&'static str, Manners); 3] {
    [("rfc", Manners::default()), ("linux", Manners::linux()), ("freebsd", Manners::freebsd())]
}

/// A stack's name, or a table of switches, where an absent one has its default.
pub(super) fn kind(default: Manners) -> impl Kind<Value = Manners> {
    let read = move |f: &Fields<'_>, name: &'static str| match f.get(name) {
        None => Ok(None),
        Some(Value::Table(table)) => {
            let mut manners = default;
            let table = Fields::new(f.path(name), table);
            Form::read_all(&table, |form| switches(form, &mut manners))?;
            Ok(Some(manners))
        }
        Some(value) => {
            let stack = named().into_iter().find(|(name, _)| value.as_str() == Some(name));
            stack.map(|(_, manners)| Some(manners)).ok_or_else(|| f.error(name, ALLOWED))
        }
    };
    let shape = || {
        let table = Form::described(|form| switches(form, &mut Manners::default()));
        Shape::Any(vec![Shape::words(&named()), Shape::Table(table)])
    };
    by(shape, read, write)
}

fn write(manners: &Manners) -> Value {
    match named().into_iter().find(|(_, stack)| stack == manners) {
        Some((name, _)) => name.into(),
        None => Form::written(|form| switches(form, &mut manners.clone())).into(),
    }
}

fn switches(form: &mut Form<'_>, manners: &mut Manners) -> Result<(), InputError> {
    let m = manners;
    for (says, name, switch) in [
        (
            "A SYN has its window scale before SACK permitted and timestamps",
            "scale_first",
            &mut m.scale_first,
        ),
        (
            "A SYN that is sent again for the third time and later goes without window scale, \
             timestamps and SACK",
            "plain_last_syns",
            &mut m.plain_last_syns,
        ),
        (
            "PSH stands on data alone, and never on a SYN; otherwise a FIN without data has \
             it, too",
            "pushes_data_alone",
            &mut m.pushes_data_alone,
        ),
        (
            "With Nagle's algorithm, what is written while nothing is outstanding leaves to \
             its end, the last segment too, which need not be full; the RFC holds that back \
             (RFC 9293 §3.7.4)",
            "idle_sends_all",
            &mut m.idle_sends_all,
        ),
        (
            "An ACK advertises all that the receive buffer has free, where that is a segment \
             or a quarter of it; otherwise the window opens in steps of a segment (RFC 9293 \
             §3.8.6.2.2)",
            "advertises_all",
            &mut m.advertises_all,
        ),
        (
            "The receive buffer is rounded up to whole segments of the MSS that both sides \
             agree on",
            "buffer_of_whole_segments",
            &mut m.buffer_of_whole_segments,
        ),
        (
            "SACK blocks do not cover a FIN that waits for what is missing before it",
            "sack_without_fin",
            &mut m.sack_without_fin,
        ),
        (
            "ACKs repeat a FIN that is not acknowledged; those that answer a challenge do not",
            "repeats_fin",
            &mut m.repeats_fin,
        ),
        (
            "The ACK field of a segment from before the window counts, once the segment has been \
             answered (RFC 9293 app. A.2); otherwise it is dropped",
            "reads_old_acks",
            &mut m.reads_old_acks,
        ),
        (
            "Any reset in the window is believed, as before RFC 5961 §3.2",
            "any_reset_in_window",
            &mut m.any_reset_in_window,
        ),
        (
            "A SYN in the window resets the connection, as before RFC 5961 §4.2",
            "resets_for_syns",
            &mut m.resets_for_syns,
        ),
        (
            "Segments with SYN and FIN are dropped in LISTEN, SYN-SENT and TIME-WAIT",
            "drops_syn_fin",
            &mut m.drops_syn_fin,
        ),
        (
            "The FIN of a segment with SYN and FIN does not count",
            "ignores_fin_on_syn",
            &mut m.ignores_fin_on_syn,
        ),
        ("a listener does not answer a SYN-ACK", "silent_to_syn_ack", &mut m.silent_to_syn_ack),
        (
            "The user hears of resets in CLOSING and LAST-ACK, too",
            "resets_while_closing",
            &mut m.resets_while_closing,
        ),
        ("TIME-WAIT as in BSD stacks: see [tcp.md](tcp.md)", "bsd_time_wait", &mut m.bsd_time_wait),
        (
            "The first SYN leaves again at once when an ACK comes that is no answer to it and \
             gets a reset: the peer's old connection is gone then",
            "syn_after_reset",
            &mut m.syn_after_reset,
        ),
        (
            "a connection that is given up for want of answers ends without a reset",
            "gives_up_silently",
            &mut m.gives_up_silently,
        ),
        (
            "`user_timeout` counts from the first retransmission or the first probe of a \
             closed window, and in the second case no answer stops it; otherwise it counts \
             from when data leaves, until something is acknowledged (RFC 5482 §4.1)",
            "user_timeout_from_repeats",
            &mut m.user_timeout_from_repeats,
        ),
        (
            "In SYN-SENT an MTU that lets segments of `default_mss` pass is not believed",
            "believes_small_mtu_alone",
            &mut m.believes_small_mtu_alone,
        ),
    ] {
        form.says(says).boolean(name, switch)?;
    }
    form.says("what an ICMP error does to an attempt to open a connection");
    form.choice("opening_errors", &OPENING_ERRORS, &mut m.opening_errors)
}
