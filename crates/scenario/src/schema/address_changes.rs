//! Addresses that come and go during an association: when, and which interface.

use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_units::Span;
use toml::{Table, Value};

/// A change of the addresses of one side (RFC 5061).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressChange {
    /// How long after the association was established.
    pub at: Span,
    /// What its host does.
    pub change: ChangeOfAddress,
    /// The interface of `from` or of `to` that it is about.
    pub interface: String,
}

/// What a host may do with an address of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeOfAddress {
    /// It is one more.
    Add,
    /// It is one less.
    Delete,
    /// The peer is asked to send there first.
    Primary,
}

const CHANGES: [(&str, ChangeOfAddress); 3] = [
    ("add", ChangeOfAddress::Add),
    ("delete", ChangeOfAddress::Delete),
    ("primary", ChangeOfAddress::Primary),
];

/// Reads the list `address_changes`.
pub(super) fn read(f: &Fields<'_>) -> Result<Vec<AddressChange>, InputError> {
    let mut changes: Vec<AddressChange> = Vec::new();
    for t in f.tables("address_changes")? {
        let at: Span = t.quantity("at")?.ok_or_else(|| t.error("at", Span::ALLOWED))?;
        if changes.last().is_some_and(|last| last.at > at) {
            return Err(t.error("at", "times that do not go back"));
        }
        let mut found = None;
        for (name, change) in CHANGES {
            let Some(interface) = t.text(name)? else { continue };
            if found.is_some() {
                return Err(t.error(name, "one of `add`, `delete` and `primary`"));
            }
            found = Some(AddressChange { at, change, interface: interface.to_owned() });
        }
        changes.push(found.ok_or_else(|| t.error("add", "an interface of `from` or `to`"))?);
        t.finish()?;
    }
    Ok(changes)
}

/// Writes the list.
pub(super) fn write(changes: &[AddressChange]) -> Value {
    let one = |address_change: &AddressChange| {
        let mut table = Table::new();
        table.insert("at".into(), address_change.at.write().into());
        let name = super::form::word(&CHANGES, &address_change.change);
        table.insert(name.to_owned(), address_change.interface.as_str().into());
        Value::Table(table)
    };
    Value::Array(changes.iter().map(one).collect())
}
