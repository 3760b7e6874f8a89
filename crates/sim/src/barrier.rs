//! Rounds of requests: sources of several flows that make the next request when
//! all of them have their responses. A partition of data over many servers, of
//! which the slowest decides, makes such rounds (incast: Phanishayee et al., FAST
//! 2008).

/// The sources that wait for each other.
#[derive(Debug, Default)]
pub(crate) struct Barrier {
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    /// Number of the source of traffic.
    source: u32,
    /// Number of its endpoint.
    endpoint: u32,
    /// Its response is whole, and it waits for the others.
    waits: bool,
    /// It will make no more requests.
    left: bool,
}

impl Barrier {
    /// A source joins, whose endpoint is this.
    pub(crate) fn join(&mut self, source: u32, endpoint: u32) {
        self.members.push(Member { source, endpoint, waits: false, left: false });
    }

    /// A source has come, for the last time if `over`: whether all have, and so go on.
    pub(crate) fn arrive(&mut self, source: u32, over: bool) -> bool {
        for member in self.members.iter_mut().filter(|member| member.source == source) {
            member.waits = true;
            member.left |= over;
        }
        let mut present = self.members.iter().filter(|member| !member.left).peekable();
        let opens = present.peek().is_some() && present.all(|present| present.waits);
        if opens {
            self.members.iter_mut().for_each(|member| member.waits = false);
        }
        opens
    }

    /// Returns source and endpoint of those that have not left.
    pub(crate) fn present(&self) -> impl Iterator<Item = (u32, u32)> {
        self.members
            .iter()
            .filter(|member| !member.left)
            .map(|member| (member.source, member.endpoint))
    }
}
