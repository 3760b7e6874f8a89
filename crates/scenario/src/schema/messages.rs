//! Messages of an SCTP flow: the traffic of kind `messages`.

use super::law::{self, CHUNK};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_sim::{Duration, Sizes};
use anabranch_units::{Rate, Span};
use std::sync::Arc;
use toml::{Table, Value};

/// Messages of one direction of a flow.
#[derive(Clone, PartialEq, Debug)]
pub struct MessageSpec {
    /// Draws the size of each.
    pub size: Sizes,
    /// How many; `None` for no such end.
    pub count: Option<u64>,
    /// When they are made.
    pub pace: MessagePace,
    /// They go on so many streams, in turn.
    pub streams: u16,
    /// Delivered as soon as they are complete.
    pub unordered: bool,
    /// They may be given up so long after they were made.
    pub lifetime: Option<Span>,
    /// They may be given up after so many retransmissions.
    pub retransmissions: Option<u16>,
    /// Messages of the server at the same time.
    pub reverse: Option<Box<MessageSpec>>,
}

/// When messages are made.
#[derive(Clone, PartialEq, Debug)]
pub enum MessagePace {
    /// As soon as the send buffer takes them.
    Saturated,
    /// At a constant rate of octets.
    Rate(Rate),
    /// With such times between them.
    Every(Duration),
    /// At these times after the start.
    At(Arc<[Span]>),
}

const ORDERS: [(&str, bool); 2] = [("ordered", false), ("unordered", true)];
const MOST_MESSAGES: u64 = 1_000_000_000;

impl MessageSpec {
    pub(super) fn read(t: &Fields<'_>) -> Result<MessageSpec, InputError> {
        let mut messages = MessageSpec::read_one(t)?;
        if let Some(r) = t.table("reverse")? {
            messages.reverse = Some(Box::new(MessageSpec::read_one(&r)?));
            r.finish()?;
        }
        Ok(messages)
    }

    fn read_one(t: &Fields<'_>) -> Result<MessageSpec, InputError> {
        let size = match t.get("size") {
            Some(Value::Table(_)) => law::read_sizes(t, "size")?,
            Some(_) => Some(Sizes::Constant { mean: law::octets(t, "size")? }),
            None => None,
        };
        let retransmissions = t.integer("retransmissions", 0..=u16::MAX)?;
        let lifetime = t.quantity("lifetime")?;
        if lifetime.is_some() && retransmissions.is_some() {
            return Err(t.error("retransmissions", "either `lifetime` or `retransmissions`"));
        }
        Ok(MessageSpec {
            reverse: None,
            lifetime,
            retransmissions,
            size: size.unwrap_or(Sizes::Constant { mean: CHUNK.0 }),
            count: t.integer("count", 1..=MOST_MESSAGES)?,
            pace: MessagePace::read(t)?,
            streams: t.integer("streams", 1..=u16::MAX)?.unwrap_or(1),
            unordered: t.choice("order", &ORDERS)?.unwrap_or(false),
        })
    }

    pub(super) fn write(&self, table: &mut Table) {
        table.insert("kind".into(), "messages".into());
        self.write_one(table);
        if let Some(reverse) = &self.reverse {
            let mut inner = Table::new();
            reverse.write_one(&mut inner);
            table.insert("reverse".into(), Value::Table(inner));
        }
    }

    fn write_one(&self, table: &mut Table) {
        let mut put = |name: &str, value: Value| {
            table.insert(name.to_owned(), value);
        };
        put("size", law::write_sizes(&self.size));
        if let Some(count) = self.count {
            put("count", Value::Integer(count as i64));
        }
        match &self.pace {
            MessagePace::Saturated => {}
            MessagePace::Rate(rate) => put("rate", rate.write().into()),
            MessagePace::Every(time) => put("interval", law::write_duration(time)),
            MessagePace::At(dates) => {
                put("at", Value::Array(dates.iter().map(|date| date.write().into()).collect()));
            }
        }
        put("streams", Value::Integer(self.streams.into()));
        if let Some(lifetime) = self.lifetime {
            put("lifetime", lifetime.write().into());
        }
        if let Some(most) = self.retransmissions {
            put("retransmissions", Value::Integer(most.into()));
        }
        put("order", super::form::word(&ORDERS, &self.unordered).into());
    }

    /// The messages of both directions, each with the path of its fields below
    /// `traffic`.
    pub(super) fn directions(&self) -> impl Iterator<Item = (&'static str, &MessageSpec)> {
        let reverse = self.reverse.as_deref().map(|reverse| ("reverse.", reverse));
        std::iter::once(("", self)).chain(reverse)
    }

    /// It is known how much is sent in all.
    pub(super) fn has_end(&self) -> bool {
        self.count.is_some() || matches!(self.pace, MessagePace::At(_))
    }
}

impl MessagePace {
    fn read(t: &Fields<'_>) -> Result<MessagePace, InputError> {
        let given = ["rate", "interval", "at"].map(|name| t.get(name).map(|_| name));
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (None, _) => Ok(MessagePace::Saturated),
            (_, Some(second)) => Err(t.error(second, "one of `rate`, `interval` and `at`")),
            (Some("rate"), None) => Ok(MessagePace::Rate(law::paced(t, 1)?)),
            (Some("interval"), None) => Ok(MessagePace::Every(law::duration(t, "interval", None)?)),
            (Some(_), None) => {
                let allowed = "times that do not go back, such as [\"0 s\", \"1.5 s\"]";
                let texts = t.texts("at")?.unwrap_or_default();
                let dates: Option<Vec<Span>> = texts.iter().map(|text| Span::parse(text)).collect();
                let ascends = |dates: &Vec<Span>| dates.is_sorted() && !dates.is_empty();
                let dates = dates.filter(ascends).ok_or_else(|| t.error("at", allowed))?;
                Ok(MessagePace::At(dates.into()))
            }
        }
    }
}
