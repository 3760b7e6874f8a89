//! What flows send, where it is not one stream written at once: `traffic`,
//! `sizes` and `arrivals`.

use super::law::{CHUNK, duration, octets, paced, write_duration};
use super::messages::MessageSpec;
use super::pages;
use super::{CallSpec, PageLoad, PingSpec, Video};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_sim::{Duration, PageSpec};
use anabranch_units::{Bytes, Rate, Span};
use toml::{Table, Value};

/// How the client of a flow writes.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Workload {
    /// All at once.
    #[default]
    Bulk,
    /// At a constant rate.
    Constant {
        /// The rate.
        rate: Rate,
        /// Octets written at a time.
        chunk: u32,
    },
    /// At a constant rate during on times.
    OnOff {
        /// The rate while on.
        rate: Rate,
        /// Octets written at a time.
        chunk: u32,
        /// How long it is on.
        on: Duration,
        /// How long it is off.
        off: Duration,
    },
    /// Requests, each after the response to the one before.
    Requests {
        /// Octets of a request.
        request: u64,
        /// Octets of a response.
        response: u64,
        /// How many.
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
    /// A call, in datagrams.
    Voip(CallSpec),
    /// Probes that are echoed, in datagrams.
    Ping(PingSpec),
    /// A video at an adaptive bit rate.
    Video(Box<Video>),
    /// Pages whose objects depend on each other.
    PageLoad(Box<PageLoad>),
}

/// The kinds of traffic.
const KINDS: [&str; 10] = [
    "bulk",
    "constant",
    "on-off",
    "requests",
    "pages",
    "messages",
    "voip",
    "ping",
    "video",
    "page-load",
];
const MOST_REQUESTS: u64 = 1_000_000_000;

impl Workload {
    pub(super) fn read(f: &Fields<'_>) -> Result<Workload, InputError> {
        let Some(t) = f.table("traffic")? else { return Ok(Workload::Bulk) };
        let kinds = KINDS.join(", ");
        let choices = KINDS.map(|kind| (kind, kind));
        let workload = match t.choice("kind", &choices)?.ok_or_else(|| t.error("kind", kinds))? {
            "bulk" => Workload::Bulk,
            "constant" => {
                let chunk = chunk(&t)?;
                Workload::Constant { rate: paced(&t, chunk)?, chunk }
            }
            "on-off" => Workload::OnOff {
                rate: paced(&t, chunk(&t)?)?,
                chunk: chunk(&t)?,
                on: duration(&t, "on", None)?,
                off: duration(&t, "off", None)?,
            },
            "requests" => Workload::Requests {
                request: octets(&t, "request")?,
                response: octets(&t, "response")?,
                count: t.integer("count", 1..=MOST_REQUESTS)?,
                think: duration(&t, "think", Some(Span::ZERO))?,
                barrier: t.text("barrier")?.map(str::to_owned),
            },
            "pages" => Workload::Pages(Box::new(pages::read(&t)?)),
            "messages" => Workload::Messages(MessageSpec::read(&t)?),
            "voip" => Workload::Voip(CallSpec::read(&t)?),
            "ping" => Workload::Ping(PingSpec::read(&t)?),
            "video" => Workload::Video(Box::new(Video::read(&t)?)),
            "page-load" => Workload::PageLoad(Box::new(PageLoad::read(&t)?)),
            other => unreachable!("{other} is none of the kinds"),
        };
        t.finish()?;
        Ok(workload)
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

    /// It can be datagrams.
    pub fn has_datagrams(&self) -> bool {
        matches!(self, Workload::Constant { .. } | Workload::OnOff { .. }) || self.is_of_probes()
    }

    /// The name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Workload::Bulk => "bulk",
            Workload::Constant { .. } => "constant",
            Workload::OnOff { .. } => "on-off",
            Workload::Requests { .. } => "requests",
            Workload::Pages(_) => "pages",
            Workload::Messages(_) => "messages",
            Workload::Voip(_) => "voip",
            Workload::Ping(_) => "ping",
            Workload::Video(_) => "video",
            Workload::PageLoad(_) => "page-load",
        }
    }

    pub(super) fn write(&self) -> Option<Value> {
        let mut table = Table::new();
        let mut put = |name: &str, value: Value| {
            table.insert(name.to_owned(), value);
        };
        let chunk_of = |chunk: u32| -> Value { Bytes(chunk.into()).write().into() };
        match self {
            Workload::Bulk => return None,
            Workload::Constant { rate, chunk } => {
                put("kind", "constant".into());
                put("rate", rate.write().into());
                put("chunk", chunk_of(*chunk));
            }
            Workload::OnOff { rate, chunk, on, off } => {
                put("kind", "on-off".into());
                put("rate", rate.write().into());
                put("chunk", chunk_of(*chunk));
                put("on", write_duration(on));
                put("off", write_duration(off));
            }
            Workload::Requests { request, response, count, think, barrier } => {
                put("kind", "requests".into());
                put("request", Bytes(*request).write().into());
                put("response", Bytes(*response).write().into());
                if let Some(count) = count {
                    put("count", Value::Integer(*count as i64));
                }
                put("think", write_duration(think));
                if let Some(barrier) = barrier {
                    put("barrier", barrier.as_str().into());
                }
            }
            Workload::Pages(spec) => pages::write(spec, &mut table),
            Workload::Messages(messages) => messages.write(&mut table),
            Workload::Voip(call) => call.write(&mut table),
            Workload::Ping(ping) => ping.write(&mut table),
            Workload::Video(video) => video.write(&mut table),
            Workload::PageLoad(load) => load.write(&mut table),
        }
        Some(Value::Table(table))
    }
}

fn chunk(t: &Fields<'_>) -> Result<u32, InputError> {
    let chunk: Option<Bytes> = t.quantity("chunk")?;
    let chunk = u32::try_from(chunk.unwrap_or(CHUNK).0).ok().filter(|n| *n > 0);
    chunk.ok_or_else(|| t.error("chunk", "from 1 B to 4 GiB"))
}

/// The field `arrivals`: flows per second.
pub(super) fn read_arrivals(f: &Fields<'_>) -> Result<Option<f64>, InputError> {
    let Some(a) = f.table("arrivals")? else { return Ok(None) };
    let per_second = a.number("per_second")?.filter(|n| *n > 0.0 && *n <= 1e12);
    let per_second =
        per_second.ok_or_else(|| a.error("per_second", "flows in a second, more than 0"))?;
    a.finish()?;
    Ok(Some(per_second))
}

#[cfg(test)]
mod tests;
