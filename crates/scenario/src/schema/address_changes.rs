//! Addresses that come and go during an association: when, and which interface.

use super::form::{Form, Text, quantity};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_units::Span;

/// A change of the addresses of one side (RFC 5061).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressChange {
    /// Time of the change after the association was established.
    pub at: Span,
    /// What the host does with the address.
    pub change: ChangeOfAddress,
    /// The interface of `from` or of `to` that it is about.
    pub interface: String,
}

/// What a host may do with an address of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeOfAddress {
    /// The host has one more address.
    Add,
    /// The host gives up an address.
    Delete,
    /// The peer is asked to send there first.
    Primary,
}

const CHANGES: [(&str, ChangeOfAddress); 3] = [
    ("add", ChangeOfAddress::Add),
    ("delete", ChangeOfAddress::Delete),
    ("primary", ChangeOfAddress::Primary),
];

/// The list `address_changes`.
pub(super) fn list(
    form: &mut Form<'_>,
    changes: &mut Vec<AddressChange>,
) -> Result<(), InputError> {
    const NAME: &str = "address_changes";
    match form {
        // What is not there is not written.
        Form::Write(_) if changes.is_empty() => return Ok(()),
        Form::Read(f) => {
            let times = f.tables(NAME)?;
            let time = |t: &Fields<'_>| t.quantity::<Span>("at").ok().flatten();
            for (one, next) in times.iter().zip(times.iter().skip(1)) {
                if time(one).zip(time(next)).is_some_and(|(at, next)| at > next) {
                    return Err(next.error("at", "times that do not go back"));
                }
            }
        }
        _ => {}
    }
    form.says("with `dynamic_addresses`: a list of `{ at = \"2 s\", add = \"b.y\" }`, `delete` or `primary` (the peer is asked to send there first)");
    form.list(NAME, changes, AddressChange::unset, fields)
}

fn fields(form: &mut Form<'_>, change: &mut AddressChange) -> Result<(), InputError> {
    form.says("how long after the association was established").required(
        "at",
        quantity(),
        Span::ALLOWED,
        &mut change.at,
    )?;
    let mut found: Option<&str> = None;
    for (name, kind) in CHANGES {
        let mut interface = (change.change == kind && !change.interface.is_empty())
            .then(|| change.interface.clone());
        if form.reads().is_some() {
            interface = None;
        }
        form.says("one of the three: an interface that is one address more, one less, or that the peer is asked to send to first");
        form.optional(name, Text, &mut interface)?;
        let Some(interface) = interface.filter(|_| form.reads().is_some()) else { continue };
        form.require(found.is_none(), name, "one of `add`, `delete` and `primary`")?;
        found = Some(name);
        *change = AddressChange { at: change.at, change: kind, interface };
    }
    form.require(found.is_some(), "add", "an interface of `from` or `to`")
}

impl AddressChange {
    fn unset() -> AddressChange {
        AddressChange { at: Span::ZERO, change: ChangeOfAddress::Add, interface: String::new() }
    }
}
