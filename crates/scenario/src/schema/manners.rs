//! `manners` of a flow's `tcp`: from and to TOML.

use super::form::Form;
use crate::InputError;
use crate::fields::Fields;
use anabranch_tcp::{Manners, OpeningErrors};
use toml::{Table, Value};

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
pub(super) fn read(f: &Fields<'_>, default: Manners) -> Result<Manners, InputError> {
    let mut manners = default;
    match f.get("manners") {
        None => {}
        Some(Value::Table(_)) => {
            if let Some(table) = f.table("manners")? {
                switches(&mut Form::Read(&table), &mut manners)?;
                table.finish()?;
            }
        }
        Some(value) => {
            let stack = named().into_iter().find(|(name, _)| value.as_str() == Some(name));
            manners = stack.ok_or_else(|| f.error("manners", ALLOWED))?.1;
        }
    }
    Ok(manners)
}

pub(super) fn write(mut manners: Manners) -> Value {
    if let Some((name, _)) = named().into_iter().find(|(_, stack)| *stack == manners) {
        return name.into();
    }
    let mut form = Form::Write(Table::new());
    // Nothing is refused where nothing is read.
    let _ = switches(&mut form, &mut manners);
    form.into_value()
}

fn switches(form: &mut Form<'_>, manners: &mut Manners) -> Result<(), InputError> {
    let m = manners;
    for (name, switch) in [
        ("scale_first", &mut m.scale_first),
        ("plain_last_syns", &mut m.plain_last_syns),
        ("pushes_data_alone", &mut m.pushes_data_alone),
        ("idle_sends_all", &mut m.idle_sends_all),
        ("advertises_all", &mut m.advertises_all),
        ("buffer_of_whole_segments", &mut m.buffer_of_whole_segments),
        ("sack_without_fin", &mut m.sack_without_fin),
        ("repeats_fin", &mut m.repeats_fin),
        ("any_reset_in_window", &mut m.any_reset_in_window),
        ("resets_for_syns", &mut m.resets_for_syns),
        ("drops_syn_fin", &mut m.drops_syn_fin),
        ("ignores_fin_on_syn", &mut m.ignores_fin_on_syn),
        ("silent_to_syn_ack", &mut m.silent_to_syn_ack),
        ("resets_while_closing", &mut m.resets_while_closing),
        ("bsd_time_wait", &mut m.bsd_time_wait),
        ("syn_after_reset", &mut m.syn_after_reset),
        ("gives_up_silently", &mut m.gives_up_silently),
        ("user_timeout_from_repeats", &mut m.user_timeout_from_repeats),
        ("believes_small_mtu_alone", &mut m.believes_small_mtu_alone),
    ] {
        form.boolean(name, switch)?;
    }
    form.choice("opening_errors", &OPENING_ERRORS, &mut m.opening_errors)
}
