//! Messages of an SCTP flow: the traffic of kind `messages`.

use super::form::{Form, Kind, by, integer, quantity, quantity_shape};
use super::law::{self, CHUNK};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_sim::{Duration, Sizes};
use anabranch_units::{Bytes, Rate, Span};
use std::sync::Arc;
use toml::Value;

/// Messages of one direction of a flow.
#[derive(Clone, PartialEq, Debug)]
pub struct MessageSpec {
    /// Draws the size of each.
    pub size: Sizes,
    /// Messages in all; `None` for no such end.
    pub count: Option<u64>,
    /// The rule for the times at which they are made.
    pub pace: MessagePace,
    /// Number of streams on which they go in turn.
    pub streams: u16,
    /// Delivered as soon as they are complete.
    pub unordered: bool,
    /// Time after which they may be given up.
    pub lifetime: Option<Span>,
    /// Number of retransmissions after which they may be given up.
    pub retransmissions: Option<u16>,
    /// Messages of the server at the same time.
    pub reverse: Option<Box<MessageSpec>>,
}

/// The rule for the times at which messages are made.
#[derive(Clone, PartialEq, Debug)]
pub enum MessagePace {
    /// Messages are made as soon as the send buffer takes them.
    Saturated,
    /// Messages are made at a constant rate of octets.
    Rate(Rate),
    /// Messages are made with such times between them.
    Every(Duration),
    /// Messages are made at these times after the start.
    At(Arc<[Span]>),
}

const ORDERS: [(&str, bool); 2] = [("ordered", false), ("unordered", true)];
const MOST_MESSAGES: u64 = 1_000_000_000;

impl MessageSpec {
    /// What stands in the place of messages before they are read.
    pub(super) fn unset() -> MessageSpec {
        MessageSpec {
            size: Sizes::Constant { mean: CHUNK.0 },
            count: None,
            pace: MessagePace::Saturated,
            streams: 1,
            unordered: false,
            lifetime: None,
            retransmissions: None,
            reverse: None,
        }
    }

    pub(super) fn fields(form: &mut Form<'_>, m: &mut MessageSpec) -> Result<(), InputError> {
        MessageSpec::one_way(form, m)?;
        form.says("messages of `to` at the same time: a table of the same fields; `count` or `at`, or no end");
        let mut back = m.reverse.take().map(|back| *back);
        form.optional_table("reverse", &mut back, MessageSpec::unset, MessageSpec::one_way)?;
        m.reverse = back.map(Box::new);
        Ok(())
    }

    fn one_way(form: &mut Form<'_>, m: &mut MessageSpec) -> Result<(), InputError> {
        form.says("of each message; or a law, as [`sizes`](#workloads) has them, whose draws are cut to what both buffers hold");
        form.set("size", law::size(false), &mut m.size)?;
        form.says("how many; instead of it `size` of the flow may say how many octets in all, to which the last message is cut");
        form.optional("count", integer(1..=MOST_MESSAGES), &mut m.count)?;
        m.pace.fields(form)?;
        form.says("messages go on so many streams, in turn");
        form.integer("streams", 1..=u16::MAX, &mut m.streams)?;
        form.says(
            "with `partial_reliability`: time after it was made at which a message is given up",
        );
        form.optional("lifetime", quantity(), &mut m.lifetime)?;
        form.says("or how often it is sent again at most");
        form.optional("retransmissions", integer(0..=u16::MAX), &mut m.retransmissions)?;
        let is_one = m.lifetime.is_none() || m.retransmissions.is_none();
        form.require(is_one, "retransmissions", "either `lifetime` or `retransmissions`")?;
        form.says("or `\"unordered\"`: delivered as soon as they are complete");
        form.choice("order", &ORDERS, &mut m.unordered)
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
    /// Three fields, of which one may be there.
    fn fields(&mut self, form: &mut Form<'_>) -> Result<(), InputError> {
        if let Some(t) = form.reads() {
            let mut given =
                ["rate", "interval", "at"].into_iter().filter(|name| t.get(name).is_some());
            if let Some(second) = given.nth(1) {
                return Err(t.error(second, "one of `rate`, `interval` and `at`"));
            }
        }
        let (mut rate, mut interval, mut at) = match std::mem::replace(self, MessagePace::Saturated)
        {
            MessagePace::Saturated => (None, None, None),
            MessagePace::Rate(rate) => (Some(rate), None, None),
            MessagePace::Every(interval) => (None, Some(interval), None),
            MessagePace::At(dates) => (None, None, Some(dates)),
        };
        form.says("messages are made at this rate of octets, the first at the start");
        form.optional("rate", quantity::<Rate>(), &mut rate)?;
        let is_slow = rate.is_none_or(|rate| rate.time_for(Bytes(1)) >= Span::from_nanos(1));
        form.require(is_slow, "rate", "at most one chunk in a nanosecond")?;
        form.says("or with this time between them, at least 1 us, a law as that of `think`");
        form.optional("interval", law::duration(false), &mut interval)?;
        form.says("or at these times after the start, `[\"0 s\", \"1.5 s\"]`");
        form.optional("at", dates(), &mut at)?;
        *self = rate
            .map(MessagePace::Rate)
            .or(interval.map(MessagePace::Every))
            .or(at.map(MessagePace::At))
            .unwrap_or(MessagePace::Saturated);
        Ok(())
    }
}

/// Times that do not go back.
fn dates() -> impl Kind<Value = Arc<[Span]>> {
    let read = |t: &Fields<'_>, name: &'static str| {
        let allowed = "times that do not go back, such as [\"0 s\", \"1.5 s\"]";
        let Some(texts) = t.texts(name)? else { return Ok(None) };
        let dates: Option<Vec<Span>> = texts.iter().map(|text| Span::parse(text)).collect();
        let dates = dates.filter(|dates| dates.is_sorted() && !dates.is_empty());
        dates.map(|dates| Some(dates.into())).ok_or_else(|| t.error(name, allowed))
    };
    let write =
        |dates: &Arc<[Span]>| Value::Array(dates.iter().map(|date| date.write().into()).collect());
    by(|| quantity_shape::<Span>().list(), read, write)
}
