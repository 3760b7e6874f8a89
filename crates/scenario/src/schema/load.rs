//! `traffic = { kind = "page-load", ... }`: pages whose objects depend on each other.

use super::form::{Form, Kind, Text, Texts, by, integer};
use super::law::{self, SOME_OCTETS, some_octets};
use crate::InputError;
use crate::fields::Fields;
use crate::shape::Shape;
use anabranch_endpoint::Generator;
use anabranch_sim::{Duration, LoadSpec, Object, Sizes};
use anabranch_units::Span;
use toml::Value;

/// The loads of a page by one flow.
#[derive(Clone, PartialEq, Debug)]
pub struct PageLoad {
    /// Octets of each request.
    pub request: u64,
    /// The objects of the page.
    pub objects: PageObjects,
    /// Times that the page is loaded; `None` until the flow stops.
    pub count: Option<u64>,
    /// Time between a load and the next.
    pub think: Duration,
}

/// The objects of a page.
#[derive(Clone, PartialEq, Debug)]
pub enum PageObjects {
    /// The objects are given one by one.
    Listed(Vec<Object>),
    /// A main object and others, drawn for each flow.
    Drawn {
        /// Octets of the main object.
        main: Sizes,
        /// Octets of each other object.
        size: Sizes,
        /// Number of objects besides the main one.
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
    /// What stands in the place of loads before they are read.
    pub(super) fn unset() -> PageLoad {
        let (objects, think) = (PageObjects::drawn(MOST_OBJECTS), law::fixed(Span::ZERO));
        PageLoad { request: REQUEST, objects, count: None, think }
    }

    pub(super) fn fields(form: &mut Form<'_>, load: &mut PageLoad) -> Result<(), InputError> {
        form.says("octets of a request").set("request", some_octets(), &mut load.request)?;
        PageObjects::fields(form, &mut load.objects)?;
        form.says("how often the page is loaded").or_else("no end");
        form.optional("count", integer(1..=MOST_LOADS), &mut load.count)?;
        form.says("time between a load and the next, or a law");
        form.set("think", law::duration(true), &mut load.think)
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

impl PageObjects {
    /// Makes a page with so many objects beside the main one, with what else of them is usual.
    fn drawn(count: usize) -> PageObjects {
        let (main, size) = (Sizes::Constant { mean: 1 }, Sizes::Constant { mean: 1 });
        PageObjects::Drawn { main, size, count, depth: 1, delay: Span::ZERO }
    }

    fn fields(form: &mut Form<'_>, objects: &mut PageObjects) -> Result<(), InputError> {
        form.says("the objects, a list of tables; or how many others than the main object are drawn for each flow");
        let allowed = format!("a list of objects, or a whole number from 1 to {MOST_OBJECTS}");
        form.required("objects", list_or_number(), &allowed, objects)?;
        let PageObjects::Drawn { main, size, count, depth, delay } = objects else {
            return Ok(());
        };
        let (needed, none) = ("required where `objects` is a number", SOME_OCTETS);
        form.says("size of the main object, or a law").or_else(needed);
        form.required("main", law::size(false), none, main)?;
        form.says("size of each other object, or a law").or_else(needed);
        form.required("size", law::size(false), none, size)?;
        form.says("longest chain of objects that depend on each other behind the main object");
        form.integer("depth", 1..=*count, depth)?;
        form.says("time from the object that another depends on to its request");
        form.quantity("delay", delay)
    }
}

/// A list of objects, or the number of those that are drawn.
fn list_or_number() -> impl Kind<Value = PageObjects> {
    let number = || integer(1..=MOST_OBJECTS);
    let read = move |t: &Fields<'_>, name: &'static str| match t.get(name) {
        Some(Value::Array(_)) => Ok(Some(listed(t, name)?)),
        _ => Ok(number().read(t, name)?.map(PageObjects::drawn)),
    };
    let write = move |objects: &PageObjects| match objects {
        PageObjects::Listed(objects) => Value::Array(objects.iter().map(write_object).collect()),
        PageObjects::Drawn { count, .. } => number().write(count),
    };
    let shape = move || {
        let table = Form::described(|form| object(form, &mut Named::unset()));
        Shape::Any(vec![number().shape(), Shape::Table(table).list()])
    };
    by(shape, read, write)
}

/// An object as it is written, with the names of those that it waits for.
struct Named {
    name: Option<String>,
    size: u64,
    after: Vec<String>,
    delay: Span,
}

impl Named {
    fn unset() -> Named {
        Named { name: None, size: 1, after: Vec::new(), delay: Span::ZERO }
    }
}

fn object(form: &mut Form<'_>, object: &mut Named) -> Result<(), InputError> {
    form.says("what other objects call it").or_else("its place in the list, from 0");
    form.optional("name", Text, &mut object.name)?;
    form.says("octets of it").required("size", some_octets(), SOME_OCTETS, &mut object.size)?;
    form.says("names of objects before it in the list: it is asked for when they have come");
    form.set("after", Texts, &mut object.after)?;
    form.says("and when this time is over").quantity("delay", &mut object.delay)
}

fn listed(t: &Fields<'_>, name: &'static str) -> Result<PageObjects, InputError> {
    let tables = t.tables(name)?;
    if !(1..=MOST_OBJECTS).contains(&tables.len()) {
        return Err(t.error(name, format!("1 to {MOST_OBJECTS} objects")));
    }
    let mut names: Vec<String> = Vec::new();
    let mut objects = Vec::new();
    for (i, o) in tables.iter().enumerate() {
        let mut named = Named::unset();
        Form::read_all(o, |form| object(form, &mut named))?;
        let name = named.name.unwrap_or_else(|| i.to_string());
        if names.contains(&name) {
            return Err(o.error("name", "a name that no object before it has"));
        }
        let after = places(&names, &named.after).map_err(|allowed| o.error("after", allowed))?;
        objects.push(Object { size: named.size, after, delay: named.delay });
        names.push(name);
    }
    Ok(PageObjects::Listed(objects))
}

/// The places of the objects `after` among those with these names; or what is allowed.
fn places(names: &[String], after: &[String]) -> Result<Vec<usize>, String> {
    let place = |before: &String| names.iter().position(|name| name == before);
    let found: Option<Vec<usize>> = after.iter().map(place).collect();
    let mut found = found.ok_or_else(|| {
        let before = if names.is_empty() { "there is none".into() } else { names.join(", ") };
        format!("names of objects before it: {before}")
    })?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Objects are written without their names: each is called by its place.
fn write_object(of: &Object) -> Value {
    let after = of.after.iter().map(usize::to_string).collect();
    let mut named = Named { name: None, size: of.size, after, delay: of.delay };
    Form::written(|form| object(form, &mut named)).into()
}
