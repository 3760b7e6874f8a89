//! The load of a page: an object is asked for when all those that it depends on have come and the
//! browser has worked on them for a while. The page is loaded when every object has come.
//!
//! The dependencies are a graph without circles, as in the measurements of Wang et al.,
//! "Demystifying Page Load Performance with WProf" (NSDI 2013); computation is a delay of each
//! object, not a shared processor.

use crate::Sizes;
use crate::quantiles::{Distribution, Times};
use crate::traffic::Duration;
use anabranch_endpoint::Generator;
use anabranch_units::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// An object of a page, with what it depends on.
#[derive(Clone, PartialEq, Debug)]
pub struct Object {
    /// Octets of its response.
    pub size: u64,
    /// Objects before it in the list that have to come first.
    pub after: Vec<usize>,
    /// Time from the last of these to its request.
    pub delay: Span,
}

/// Description of the loads of a page.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadSpec {
    /// Octets of each request.
    pub request: u64,
    /// The objects of the page; at least one.
    pub objects: Vec<Object>,
    /// Times that the page is loaded; `None` until the flow stops.
    pub count: Option<u64>,
    /// Time between a load and the next.
    pub think: Duration,
    /// Seed of the times between loads.
    pub think_seed: u64,
}

impl LoadSpec {
    /// Octets of all requests; `u64::MAX` without end.
    pub fn requests(&self) -> u64 {
        self.count.map_or(u64::MAX, |count| count * self.request * self.objects.len() as u64)
    }

    /// Octets of all responses; `u64::MAX` without end.
    pub fn responses(&self) -> u64 {
        let page: u64 = self.objects.iter().map(|object| object.size).sum();
        self.count.map_or(u64::MAX, |count| count.saturating_mul(page))
    }
}

impl Object {
    /// A page of a main object and `count` others, whose dependencies are at most `depth` deep:
    /// each depends on one object of the level above, which is drawn.
    pub fn page(
        main: &Sizes,
        size: &Sizes,
        count: usize,
        depth: usize,
        delay: Span,
        generator: &mut Generator,
    ) -> Vec<Object> {
        let mut objects =
            vec![Object { size: main.draw(generator), after: Vec::new(), delay: Span::ZERO }];
        let (mut above, mut level) = (0..1, 1);
        for n in 0..count {
            // As many objects on each level, but for the rest.
            let of = (n * depth / count.max(1)) + 1;
            if of > level {
                (above, level) = (above.end..objects.len(), of);
            }
            let parent = above.start + generator.below(above.len() as u64) as usize;
            objects.push(Object { size: size.draw(generator), after: vec![parent], delay });
        }
        objects
    }
}

/// Totals of the loads of a page.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoadSummary {
    /// Loads that were begun.
    pub begun: u64,
    /// Loads that were complete.
    pub complete: u64,
    /// Page load time of these, seconds.
    pub time: Option<Distribution>,
}

/// The loads of a client, with the page at hand.
#[derive(Debug)]
pub(super) struct Loader {
    spec: Arc<LoadSpec>,
    /// For each object of the page at hand, how many others it still waits for.
    waits: Vec<usize>,
    /// Objects that have not come.
    left: usize,
    /// Times at which objects are asked for.
    ready: BinaryHeap<Reverse<(Time, usize)>>,
    /// Time at which the next page is asked for.
    next: Time,
    loads: Vec<(Time, Option<Time>)>,
}

impl Loader {
    pub(super) fn new(spec: Arc<LoadSpec>) -> Loader {
        Loader {
            spec,
            waits: Vec::new(),
            left: 0,
            ready: BinaryHeap::new(),
            next: Time::ZERO,
            loads: Vec::new(),
        }
    }

    /// Returns when the next object or page is asked for.
    pub(super) fn due(&self) -> Time {
        self.ready.peek().map_or(self.next, |Reverse((at, _))| *at)
    }

    /// Begins a page, if it is time to: numbers and octets of the objects that are asked for now,
    /// and the next date.
    pub(super) fn ready(&mut self, now: Time) -> (Vec<(usize, u64)>, Time) {
        if self.left == 0 && self.next <= now {
            self.begin(now);
        }
        let mut found = Vec::new();
        while let Some(Reverse((at, object))) = self.ready.peek().copied()
            && at <= now
        {
            self.ready.pop();
            found.push((object, self.spec.objects[object].size));
        }
        (found, self.due())
    }

    fn begin(&mut self, now: Time) {
        let objects = &self.spec.objects;
        self.waits = objects.iter().map(|object| object.after.len()).collect();
        self.left = objects.len();
        self.next = Time::NEVER;
        self.loads.push((now, None));
        for (i, object) in objects.iter().enumerate().filter(|(_, object)| object.after.is_empty())
        {
            self.ready.push(Reverse((now.saturating_add(object.delay), i)));
        }
    }

    /// Takes an object that has come whole: those that waited for it alone are asked for after
    /// their delay.
    pub(super) fn on_object(&mut self, now: Time, come: usize, generator: &mut Generator) {
        self.left -= 1;
        for (i, object) in self.spec.objects.iter().enumerate() {
            if object.after.contains(&come) {
                self.waits[i] -= 1;
                if self.waits[i] == 0 {
                    self.ready.push(Reverse((now.saturating_add(object.delay), i)));
                }
            }
        }
        if self.left == 0 {
            if let Some(load) = self.loads.last_mut() {
                load.1 = Some(now);
            }
            let more = self.spec.count.is_none_or(|count| (self.loads.len() as u64) < count);
            let think = self.spec.think;
            self.next = match more {
                true => now.saturating_add(think.draw(generator)),
                false => Time::NEVER,
            };
        }
    }

    pub(super) fn loads(&self) -> &[(Time, Option<Time>)] {
        &self.loads
    }

    pub(super) fn summary(&self) -> LoadSummary {
        let mut times = Times::new();
        let mut complete = 0;
        for (begun, ended) in &self.loads {
            if let Some(ended) = ended {
                times.add(ended.saturating_since(*begun));
                complete += 1;
            }
        }
        LoadSummary { begun: self.loads.len() as u64, complete, time: times.distribution() }
    }
}
