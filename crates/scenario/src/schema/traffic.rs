//! What flows send, where it is not one stream written at once: `traffic`,
//! `sizes` and `arrivals`.

use super::form::{Form, Kind, Text, by, integer, number, quantity_shape};
use super::law::{self, CHUNK, SOME_OCTETS, some_octets};
use super::messages::MessageSpec;
use super::pages;
use super::{CallSpec, PageLoad, PingSpec, Video};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_endpoint::Bounds;
use anabranch_sim::{Duration, PageSpec};
use anabranch_units::{Bytes, Rate, Span};
use std::mem::discriminant;

/// How the client of a flow writes.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Workload {
    /// All octets are written at once.
    #[default]
    Bulk,
    /// Octets are written at a constant rate.
    Constant {
        /// Rate of the octets written.
        rate: Rate,
        /// Octets written at a time.
        chunk: u32,
    },
    /// Octets are written at a constant rate during on times.
    OnOff {
        /// Rate of the octets written during an on time.
        rate: Rate,
        /// Octets written at a time.
        chunk: u32,
        /// Length of an on time.
        on: Duration,
        /// Length of an off time.
        off: Duration,
    },
    /// Requests, each after the response to the one before.
    Requests {
        /// Octets of each request.
        request: u64,
        /// Octets of each response.
        response: u64,
        /// Requests in all; `None` until the flow stops.
        count: Option<u64>,
        /// Time between a response and the next request.
        think: Duration,
        /// Flows with this name make their requests together.
        barrier: Option<String>,
    },
    /// Web pages: a main object, then others.
    Pages(Box<PageSpec>),
    /// Messages, over a transport that has them.
    Messages(MessageSpec),
    /// A call by voice, in datagrams.
    Voip(CallSpec),
    /// Probes that are echoed, in datagrams.
    Ping(PingSpec),
    /// A video at an adaptive bit rate.
    Video(Box<Video>),
    /// Pages whose objects depend on each other.
    PageLoad(Box<PageLoad>),
}

const MOST_REQUESTS: u64 = 1_000_000_000;

impl Workload {
    /// The table `traffic`, where it is more than one stream.
    pub(super) fn field(form: &mut Form<'_>, workload: &mut Workload) -> Result<(), InputError> {
        let mut given = Some(workload.clone()).filter(|workload| *workload != Workload::Bulk);
        form.says("how `from` writes, see [workloads](#workloads)").or_else("all at once");
        form.optional_table("traffic", &mut given, Workload::default, Workload::fields)?;
        *workload = given.unwrap_or_default();
        Ok(())
    }

    /// The kinds with what each has by default; what is required stands as nothing.
    fn kinds() -> [(&'static str, &'static str, Workload); 10] {
        let (rate, chunk, none) = (Rate::gbit(1), CHUNK.0 as u32, law::fixed(Span::ZERO));
        let (on, off) = (none, none);
        let requests =
            Workload::Requests { request: 1, response: 1, count: None, think: none, barrier: None };
        [
            ("bulk", "all at once", Workload::Bulk),
            (
                "constant",
                "a chunk each `chunk / rate`, up to `size` or until the flow stops",
                Workload::Constant { rate, chunk },
            ),
            (
                "on-off",
                "as `constant` during on times, nothing during off times; begins on",
                Workload::OnOff { rate, chunk, on, off },
            ),
            (
                "requests",
                "a request, which `to` answers; the next one when the response has come and the \
                 time to think is over",
                requests,
            ),
            (
                "pages",
                "web pages: the request for the main object, when it has come those for the \
                 others, when all have come and the time to think is over the next page",
                Workload::Pages(Box::new(pages::unset())),
            ),
            (
                "messages",
                "[messages](#messages), over SCTP",
                Workload::Messages(MessageSpec::unset()),
            ),
            ("voip", "a [call](traffic.md#calls), over UDP", Workload::Voip(CallSpec::unset())),
            (
                "ping",
                "[probes](traffic.md#ping) that the other host echoes, over UDP",
                Workload::Ping(PingSpec::unset()),
            ),
            (
                "video",
                "a [video](traffic.md#video-at-an-adaptive-bit-rate) that `from` watches, over \
                 TCP, Multipath TCP or SCTP",
                Workload::Video(Box::new(Video::unset())),
            ),
            (
                "page-load",
                "a [page](traffic.md#page-loads) whose objects depend on each other, over TCP, \
                 Multipath TCP or SCTP",
                Workload::PageLoad(Box::new(PageLoad::unset())),
            ),
        ]
    }

    fn fields(form: &mut Form<'_>, workload: &mut Workload) -> Result<(), InputError> {
        let kinds = Workload::kinds();
        form.kinds("kind", None, &kinds, workload, |form, workload| match workload {
            Workload::Bulk => Ok(()),
            Workload::Constant { rate, chunk } => constant(form, rate, chunk),
            Workload::OnOff { rate, chunk, on, off } => {
                constant(form, rate, chunk)?;
                form.says("how long it is on, or a law").required("on", law::duration(false), Span::ALLOWED, on)?;
                form.says("how long it is off, or a law").required("off", law::duration(false), Span::ALLOWED, off)
            }
            Workload::Requests { request, response, count, think, barrier } => {
                form.says("octets of a request");
                form.required("request", some_octets(), SOME_OCTETS, request)?;
                form.says("octets of a response");
                form.required("response", some_octets(), SOME_OCTETS, response)?;
                form.says("how many requests").or_else("no end");
                form.optional("count", integer(1..=MOST_REQUESTS), count)?;
                form.says("time between a response and the next request, or a law");
                form.set("think", law::duration(true), think)?;
                form.says("a name: flows with this `barrier` make the next request together, when all of them have their responses and the time to think of the last is over. Who has made all its requests, or whose connection has ended, is not waited for");
                form.optional("barrier", Text, barrier)
            }
            Workload::Pages(spec) => pages::fields(form, spec),
            Workload::Messages(messages) => MessageSpec::fields(form, messages),
            Workload::Voip(call) => CallSpec::fields(form, call),
            Workload::Ping(ping) => PingSpec::fields(form, ping),
            Workload::Video(video) => Video::fields(form, video),
            Workload::PageLoad(load) => PageLoad::fields(form, load),
        })
    }

    /// `from` asks and `to` answers.
    pub fn asks(&self) -> bool {
        matches!(
            self,
            Workload::Requests { .. }
                | Workload::Pages(_)
                | Workload::Video(_)
                | Workload::PageLoad(_)
        ) || self.is_of_probes()
    }

    /// It has the sizes of its datagrams itself.
    fn is_of_probes(&self) -> bool {
        matches!(self, Workload::Voip(_) | Workload::Ping(_))
    }

    /// Whether its data can be sent as datagrams.
    pub fn has_datagrams(&self) -> bool {
        matches!(self, Workload::Constant { .. } | Workload::OnOff { .. }) || self.is_of_probes()
    }

    /// Returns the name of its kind in scenarios.
    pub fn kind(&self) -> &'static str {
        let is_this = |kind: &&(_, _, Workload)| discriminant(&kind.2) == discriminant(self);
        Workload::kinds().iter().find(is_this).map_or("", |kind| kind.0)
    }
}

fn constant(form: &mut Form<'_>, rate: &mut Rate, chunk: &mut u32) -> Result<(), InputError> {
    form.says("octets that are written at a time").set("chunk", some_chunk(), chunk)?;
    form.says("the rate of writing");
    law::paced(form, rate, *chunk)
}

/// Octets that are written at a time.
fn some_chunk() -> impl Kind<Value = u32> {
    let read = |t: &Fields<'_>, name: &'static str| {
        let Some(chunk) = t.quantity::<Bytes>(name)? else { return Ok(None) };
        let chunk = u32::try_from(chunk.0).ok().filter(|n| *n > 0);
        chunk.map(Some).ok_or_else(|| t.error(name, "from 1 B to 4 GiB"))
    };
    by(quantity_shape::<Bytes>, read, |chunk: &u32| Bytes((*chunk).into()).write().into())
}

/// The field `arrivals`: flows per second.
pub(super) fn arrivals(
    form: &mut Form<'_>,
    per_second: &mut Option<f64>,
) -> Result<(), InputError> {
    const FLOWS: Bounds<f64> = Bounds::above_up_to(0.0, 1e12);
    form.says(
        "the flows of the entry start one after the other in a Poisson process from `start` on",
    );
    form.optional_table("arrivals", per_second, f64::default, |form, per_second| {
        form.says("how many in a second").required(
            "per_second",
            number(FLOWS),
            "flows in a second, more than 0",
            per_second,
        )
    })
}

#[cfg(test)]
mod tests;
