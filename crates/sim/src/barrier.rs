//! Rounds of requests: sources of several flows that make the next request when
//! all of them have their responses. A partition of data over many servers, of
//! which the slowest decides, makes such rounds (incast: Phanishayee et al., FAST
//! 2008).

use crate::app::Stage;
use anabranch_units::Time;

/// The sources that wait for each other.
#[derive(Debug, Default)]
pub(crate) struct Barrier {
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    /// Number of the source.
    source: u32,
    /// Number of its endpoint.
    endpoint: u32,
    /// Its response is whole; it waits for the others.
    waits: bool,
    /// It will make no more requests.
    left: bool,
}

impl Barrier {
    /// Everybody who has not left waits: lets them go.
    fn opens(&mut self) -> bool {
        let mut present = self.members.iter().filter(|it| !it.left).peekable();
        let opens = present.peek().is_some() && present.all(|it| it.waits);
        if opens {
            self.members.iter_mut().for_each(|it| it.waits = false);
        }
        opens
    }
}

impl Stage {
    /// The source made last, whose endpoint is this, joins.
    pub(crate) fn join(&mut self, barrier: u32, source: u32, endpoint: u32) {
        let list = &mut self.barriers;
        list.resize_with(list.len().max(barrier as usize + 1), Barrier::default);
        let member = Member { source, endpoint, waits: false, left: false };
        list[barrier as usize].members.push(member);
    }

    /// A response is whole (`over`: the last), or with `gone` its connection has
    /// ended. The next round begins after the time to think of whoever comes
    /// last.
    pub(crate) fn arrive(&mut self, now: Time, barrier: u32, source: u32, gone: bool) {
        let over = gone || self.sources[source as usize].is_over();
        let it = &mut self.barriers[barrier as usize];
        for member in it.members.iter_mut().filter(|it| it.source == source) {
            member.waits = true;
            member.left |= over;
        }
        if !it.opens() {
            return;
        }
        let at = now.saturating_add(self.sources[source as usize].think());
        for member in it.members.iter().filter(|it| !it.left) {
            self.sources[member.source as usize].request_at(at);
            self.woken.push(member.endpoint);
        }
    }
}
