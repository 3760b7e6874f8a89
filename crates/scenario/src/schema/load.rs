//! `traffic = { kind = "page-load", ... }`: pages whose objects depend on each other.

use super::law;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_endpoint::Generator;
use anabranch_sim::{Duration, LoadSpec, Object, Sizes};
use anabranch_units::{Bytes, Span};
use toml::{Table, Value};

/// Loads of a page.
#[derive(Clone, PartialEq, Debug)]
pub struct PageLoad {
    /// Octets of a request.
    pub request: u64,
    /// Its objects.
    pub objects: PageObjects,
    /// How often it is loaded; `None` until the flow stops.
    pub count: Option<u64>,
    /// Time between a load and the next.
    pub think: Duration,
}

/// The objects of a page.
#[derive(Clone, PartialEq, Debug)]
pub enum PageObjects {
    /// These.
    Listed(Vec<Object>),
    /// A main object and others, drawn for each flow.
    Drawn {
        /// Octets of the main object.
        main: Sizes,
        /// Octets of each other.
        size: Sizes,
        /// How many others.
        count: usize,
        /// Longest chain of dependencies behind the main object.
        depth: usize,
        /// Time from the object that another depends on to its request.
        delay: Span,
    },
}

const REQUEST: u64 = 400;
const MOST_OBJECTS: usize = 10_000;
const MOST_LOADS: u64 = 1_000_000;

impl PageLoad {
    pub(super) fn read(t: &Fields<'_>) -> Result<PageLoad, InputError> {
        let request = match t.get("request") {
            Some(_) => law::octets(t, "request")?,
            None => REQUEST,
        };
        let objects = match t.get("objects") {
            Some(Value::Array(_)) => listed(t)?,
            _ => drawn(t)?,
        };
        Ok(PageLoad {
            request,
            objects,
            count: t.integer("count", 1..=MOST_LOADS)?,
            think: law::duration(t, "think", Some(Span::ZERO))?,
        })
    }

    pub(super) fn write(&self, table: &mut Table) {
        let mut put = |name: &str, value: Value| {
            table.insert(name.to_owned(), value);
        };
        put("kind", "page-load".into());
        put("request", Bytes(self.request).write().into());
        match &self.objects {
            PageObjects::Listed(objects) => {
                put("objects", Value::Array(objects.iter().map(write_object).collect()));
            }
            PageObjects::Drawn { main, size, count, depth, delay } => {
                put("main", law::write_sizes(main));
                put("size", law::write_sizes(size));
                put("objects", Value::Integer(*count as i64));
                put("depth", Value::Integer(*depth as i64));
                put("delay", delay.write().into());
            }
        }
        if let Some(count) = self.count {
            put("count", Value::Integer(count as i64));
        }
        put("think", law::write_duration(&self.think));
    }

    /// What a flow does; `generator` draws its page.
    pub fn spec(&self, mut generator: Generator) -> LoadSpec {
        let think_seed = generator.next_u64();
        let objects = match &self.objects {
            PageObjects::Listed(objects) => objects.clone(),
            PageObjects::Drawn { main, size, count, depth, delay } => {
                Object::page(main, size, *count, *depth, *delay, &mut generator)
            }
        };
        let (request, count, think) = (self.request, self.count, self.think);
        LoadSpec { request, objects, count, think, think_seed }
    }
}

fn drawn(t: &Fields<'_>) -> Result<PageObjects, InputError> {
    let size_of = |name: &'static str| match t.get(name) {
        Some(Value::Table(_)) => Ok(law::read_sizes(t, name)?.expect("it is there")),
        _ => Ok(Sizes::Constant { mean: law::octets(t, name)? }),
    };
    let most = MOST_OBJECTS as u32;
    let allowed = format!("a list of objects, or a whole number from 1 to {most}");
    let count: Option<u32> = t.integer("objects", 1..=most)?;
    let count = count.ok_or_else(|| t.error("objects", allowed))?;
    Ok(PageObjects::Drawn {
        main: size_of("main")?,
        size: size_of("size")?,
        count: count as usize,
        depth: t.integer("depth", 1..=count)?.unwrap_or(1) as usize,
        delay: t.quantity("delay")?.unwrap_or(Span::ZERO),
    })
}

fn listed(t: &Fields<'_>) -> Result<PageObjects, InputError> {
    let tables = t.tables("objects")?;
    if !(1..=MOST_OBJECTS).contains(&tables.len()) {
        return Err(t.error("objects", format!("1 to {MOST_OBJECTS} objects")));
    }
    let mut names: Vec<String> = Vec::new();
    let mut objects = Vec::new();
    for (i, o) in tables.iter().enumerate() {
        let name = o.text("name")?.map_or_else(|| i.to_string(), str::to_owned);
        if names.contains(&name) {
            return Err(o.error("name", "a name that no object before it has"));
        }
        let place = |before: &String| names.iter().position(|name| name == before);
        let after: Option<Vec<usize>> =
            o.texts("after")?.unwrap_or_default().iter().map(place).collect();
        let mut after = after.ok_or_else(|| {
            let before = if names.is_empty() { "there is none".into() } else { names.join(", ") };
            o.error("after", format!("names of objects before it: {before}"))
        })?;
        after.sort_unstable();
        after.dedup();
        let delay = o.quantity("delay")?.unwrap_or(Span::ZERO);
        objects.push(Object { size: law::octets(o, "size")?, after, delay });
        o.finish()?;
        names.push(name);
    }
    Ok(PageObjects::Listed(objects))
}

/// Objects are written without their names: each is called by its place.
fn write_object(object: &Object) -> Value {
    let after = object.after.iter().map(|before| Value::from(before.to_string())).collect();
    super::form::table_of([
        ("size", Bytes(object.size).write().into()),
        ("after", Value::Array(after)),
        ("delay", object.delay.write().into()),
    ])
}
