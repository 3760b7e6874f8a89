//! On and off times, for octets of a stream and for datagrams.

use super::Duration;
use anabranch_endpoint::Generator;
use anabranch_units::Time;

/// The present on time of a source that sends in bursts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bursts {
    /// End of the present on time.
    on_until: Time,
}

impl Default for Bursts {
    fn default() -> Bursts {
        Bursts { on_until: Time::NEVER }
    }
}

impl Bursts {
    /// The first on time begins.
    pub(crate) fn begin(&mut self, now: Time, on: Duration, generator: &mut Generator) {
        self.on_until = now.saturating_add(on.draw(generator));
    }

    /// Returns when what would come at `next`, were there no off times, comes: off times push it on
    /// by their length.
    pub(crate) fn next(
        &mut self,
        mut next: Time,
        on: Duration,
        off: Duration,
        generator: &mut Generator,
    ) -> Time {
        while next >= self.on_until && next != Time::NEVER {
            let pause = off.draw(generator);
            next = next.saturating_add(pause);
            let resumed = self.on_until.saturating_add(pause);
            self.on_until = resumed.saturating_add(on.draw(generator));
        }
        next
    }
}
