//! `traffic = { kind = "video", ... }`: a video at an adaptive bit rate.

use super::form::{Form, Kind, by, integer, quantity, quantity_shape};
use super::law::some_octets;
use super::udp::interval;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_endpoint::Bounds;
use anabranch_media::video::{LADDER_KBIT_S, Selection, VideoSpec};
use anabranch_units::{Rate, Span};
use toml::Value;

/// A video and the octets of the requests for its segments.
#[derive(Clone, PartialEq, Debug)]
pub struct Video {
    /// Octets of each request.
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
const SELECTIONS: [(&str, bool); 2] = [("buffer-based", true), ("rate-based", false)];
const MOST_RUNGS: usize = 100;
const MOST_SEGMENTS: u64 = 1_000_000;

impl Video {
    /// What stands in the place of a video before it is read.
    pub(super) fn unset() -> Video {
        let spec = VideoSpec {
            ladder: LADDER_KBIT_S.map(Rate::kbit).into(),
            segment: SEGMENT,
            segments: None,
            buffer: BUFFER,
            start: SEGMENT,
            selection: usual(true, BUFFER),
        };
        Video { request: REQUEST, spec }
    }

    pub(super) fn fields(form: &mut Form<'_>, video: &mut Video) -> Result<(), InputError> {
        let Video { request, spec } = video;
        form.says("bit rates, ascending").set("ladder", ladder(), &mut spec.ladder)?;
        form.says("duration of a segment").set("segment", interval(), &mut spec.segment)?;
        form.says("how many segments").or_else("no end");
        form.optional("segments", integer(1..=MOST_SEGMENTS), &mut spec.segments)?;
        buffer(form, spec)?;
        form.says("octets of a request for a segment").set("request", some_octets(), request)?;
        selection(form, spec.buffer, &mut spec.selection)
    }
}

/// The buffer, and how full it is when playback starts.
fn buffer(form: &mut Form<'_>, spec: &mut VideoSpec) -> Result<(), InputError> {
    form.says("most video in the buffer, at least a segment");
    form.quantity("buffer", &mut spec.buffer)?;
    let allowed = format!("at least a segment, {}", spec.segment.write());
    form.require(spec.buffer >= spec.segment, "buffer", &allowed)?;
    let mut start = Some(spec.start).filter(|_| form.reads().is_none());
    form.says("video in the buffer when playback starts, and goes on after a stall");
    form.or_else("one segment").optional("start", quantity(), &mut start)?;
    spec.start = start.unwrap_or(spec.segment);
    let allowed = format!("at most the buffer, {}", spec.buffer.write());
    form.require(spec.start <= spec.buffer, "start", &allowed)
}

fn ladder() -> impl Kind<Value = Vec<Rate>> {
    let read = |t: &Fields<'_>, name: &'static str| {
        let Some(texts) = t.texts(name)? else { return Ok(None) };
        let rates: Option<Vec<Rate>> = texts.iter().map(|text| Rate::parse(text)).collect();
        let ascends = |rates: &Vec<Rate>| rates.is_sorted_by(|a, b| a < b);
        let fits = |rates: &Vec<Rate>| (1..=MOST_RUNGS).contains(&rates.len()) && ascends(rates);
        rates.filter(fits).map(Some).ok_or_else(|| {
            let allowed = "ascending rates such as [\"500 kbit/s\", \"1 Mbit/s\", \"3 Mbit/s\"]";
            t.error(name, allowed)
        })
    };
    let write =
        |rates: &Vec<Rate>| Value::Array(rates.iter().map(|rate| rate.write().into()).collect());
    by(|| quantity_shape::<Rate>().list(), read, write)
}

/// A selection by the buffer or by the rate that says nothing more.
fn usual(by_buffer: bool, buffer: Span) -> Selection {
    let part = |part: f64| Span::from_secs_f64(buffer.as_secs_f64() * part).unwrap_or(Span::MAX);
    match by_buffer {
        true => Selection::BufferBased { reservoir: part(RESERVOIR), cushion: part(CUSHION) },
        false => Selection::RateBased { safety: SAFETY, window: WINDOW },
    }
}

/// Reads, writes or describes how the rung is selected; the fields of the other selection are none.
fn selection(form: &mut Form<'_>, buffer: Span, chosen: &mut Selection) -> Result<(), InputError> {
    let mut by_buffer = matches!(chosen, Selection::BufferBased { .. });
    form.says("what selects the rung of each segment: the video in the buffer, or the throughput");
    form.choice("selection", &SELECTIONS, &mut by_buffer)?;
    if let Some(f) = form.reads() {
        refuse_others(f, by_buffer)?;
        *chosen = usual(by_buffer, buffer);
    }
    fields_of(form, buffer, chosen)?;
    match form {
        Form::Describe(_) => fields_of(form, buffer, &mut usual(!by_buffer, buffer)),
        _ => Ok(()),
    }
}

/// Refuses the fields of the other selection.
fn refuse_others(f: &Fields<'_>, by_buffer: bool) -> Result<(), InputError> {
    let (others, of) = match by_buffer {
        true => (["safety", "window"], "rate-based"),
        false => (["reservoir", "cushion"], "buffer-based"),
    };
    let other = others.into_iter().find(|name| f.get(name).is_some());
    other.map_or(Ok(()), |name| Err(f.error(name, format!("none unless `selection` is \"{of}\""))))
}

fn fields_of(
    form: &mut Form<'_>,
    buffer: Span,
    selection: &mut Selection,
) -> Result<(), InputError> {
    match selection {
        Selection::BufferBased { reservoir, cushion } => {
            form.says("of `\"buffer-based\"`: below it the lowest rung is selected");
            form.or_else("90/240 of `buffer`").quantity("reservoir", reservoir)?;
            form.says("of `\"buffer-based\"`: so much above the reservoir the highest rung is");
            form.or_else("126/240 of `buffer`").quantity("cushion", cushion)?;
            let fits = reservoir.as_picos() + cushion.as_picos() <= buffer.as_picos();
            let most = buffer.write();
            let allowed = format!("more than 0 s, with the reservoir at most {most}");
            form.require(*cushion > Span::ZERO && fits, "cushion", &allowed)
        }
        Selection::RateBased { safety, window } => {
            form.says("of `\"rate-based\"`: part of the estimated throughput that a rung may need, above 0, at most 1");
            form.number("safety", Bounds::above_up_to(0.0, 1.0), safety)?;
            form.says("of `\"rate-based\"`: how many of the last segments the estimate is of");
            form.integer("window", 1..=1000, window)
        }
    }
}
