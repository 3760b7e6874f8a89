//! `traffic = { kind = "video", ... }`: a video at an adaptive bit rate.

use super::law;
use super::udp::interval;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_media::video::{LADDER_KBIT_S, Selection, VideoSpec};
use anabranch_units::{Bytes, Rate, Span};
use toml::{Table, Value};

/// A video and the octets of the requests for its segments.
#[derive(Clone, PartialEq, Debug)]
pub struct Video {
    /// Octets of a request.
    pub request: u64,
    /// The video and its player.
    pub spec: VideoSpec,
}

const REQUEST: u64 = 400;
const SEGMENT: Span = Span::from_secs(4);
/// The buffer of the paper of BBA-0, of which the reservoir is 90 s and the cushion 126 s.
const BUFFER: Span = Span::from_secs(240);
const RESERVOIR: f64 = 90.0 / 240.0;
const CUSHION: f64 = 126.0 / 240.0;
/// FESTIVE's part of the estimate, and segments that it is of here.
const SAFETY: f64 = 0.85;
const WINDOW: usize = 5;
const MOST_RUNGS: usize = 100;
const MOST_SEGMENTS: u64 = 1_000_000;

impl Video {
    pub(super) fn read(t: &Fields<'_>) -> Result<Video, InputError> {
        let segment = interval(t, "segment", SEGMENT)?;
        let buffer = t.quantity("buffer")?.unwrap_or(BUFFER);
        if buffer < segment {
            return Err(t.error("buffer", format!("at least a segment, {}", segment.write())));
        }
        let start = t.quantity("start")?.unwrap_or(segment);
        if start > buffer {
            return Err(t.error("start", format!("at most the buffer, {}", buffer.write())));
        }
        let request = match t.get("request") {
            Some(_) => law::octets(t, "request")?,
            None => REQUEST,
        };
        Ok(Video {
            request,
            spec: VideoSpec {
                ladder: ladder(t)?,
                segment,
                segments: t.integer("segments", 1..=MOST_SEGMENTS)?,
                buffer,
                start,
                selection: selection(t, buffer)?,
            },
        })
    }

    pub(super) fn write(&self, table: &mut Table) {
        let mut put = |name: &str, value: Value| {
            table.insert(name.to_owned(), value);
        };
        let Video { request, spec } = self;
        put("kind", "video".into());
        put("ladder", Value::Array(spec.ladder.iter().map(|r| r.write().into()).collect()));
        put("segment", spec.segment.write().into());
        if let Some(segments) = spec.segments {
            put("segments", Value::Integer(segments as i64));
        }
        put("buffer", spec.buffer.write().into());
        put("start", spec.start.write().into());
        put("request", Bytes(*request).write().into());
        put("selection", spec.selection.name().into());
        match &spec.selection {
            Selection::BufferBased { reservoir, cushion } => {
                put("reservoir", reservoir.write().into());
                put("cushion", cushion.write().into());
            }
            Selection::RateBased { safety, window } => {
                put("safety", (*safety).into());
                put("window", Value::Integer(*window as i64));
            }
        }
    }
}

fn ladder(t: &Fields<'_>) -> Result<Vec<Rate>, InputError> {
    let Some(texts) = t.texts("ladder")? else {
        return Ok(LADDER_KBIT_S.map(Rate::kbit).into());
    };
    let rates: Option<Vec<Rate>> = texts.iter().map(|text| Rate::parse(text)).collect();
    let ascends = |rates: &Vec<Rate>| rates.is_sorted_by(|a, b| a < b);
    let fits = |rates: &Vec<Rate>| (1..=MOST_RUNGS).contains(&rates.len()) && ascends(rates);
    rates.filter(fits).ok_or_else(|| {
        let allowed = "ascending rates such as [\"500 kbit/s\", \"1 Mbit/s\", \"3 Mbit/s\"]";
        t.error("ladder", allowed)
    })
}

fn selection(t: &Fields<'_>, buffer: Span) -> Result<Selection, InputError> {
    let part = |part: f64| Span::from_secs_f64(buffer.as_secs_f64() * part).unwrap_or(Span::MAX);
    let by_buffer = t.choice("selection", &[("buffer-based", true), ("rate-based", false)])?;
    let by_buffer = by_buffer.unwrap_or(true);
    let others: [&str; 2] = if by_buffer { ["safety", "window"] } else { ["reservoir", "cushion"] };
    if let Some(other) = others.into_iter().find(|name| t.get(name).is_some()) {
        let of = if by_buffer { "rate-based" } else { "buffer-based" };
        return Err(t.error(other, format!("none unless `selection` is \"{of}\"")));
    }
    if !by_buffer {
        let safety = t.number("safety")?.unwrap_or(SAFETY);
        if !(safety > 0.0 && safety <= 1.0) {
            return Err(t.error("safety", "a number above 0, at most 1"));
        }
        let window = t.integer::<u32>("window", 1..=1000)?.map_or(WINDOW, |n| n as usize);
        return Ok(Selection::RateBased { safety, window });
    }
    let reservoir = t.quantity("reservoir")?.unwrap_or(part(RESERVOIR));
    let cushion = t.quantity("cushion")?.unwrap_or(part(CUSHION));
    if cushion == Span::ZERO || reservoir.as_picos() + cushion.as_picos() > buffer.as_picos() {
        let allowed = format!("more than 0 s, with the reservoir at most {}", buffer.write());
        return Err(t.error("cushion", allowed));
    }
    Ok(Selection::BufferBased { reservoir, cushion })
}
