//! Paths are probed by heartbeats (RFC 9260 §5.4, §8.3); when they are is decided here.

use super::Paths;
use crate::config::{Config, Jitter};
use anabranch_endpoint::Generator;
use anabranch_units::{Span, Time};

impl Paths {
    /// Returns the date at which an unconfirmed address is to be probed, `now` or later: all of
    /// them together get HB.Max.Burst heartbeats an RTO (§5.4), since they may be those of a third
    /// party that the peer wants flooded.
    pub fn book_confirmation(&mut self, now: Time, index: usize, config: &Config) -> Time {
        let date = self.next_confirmation.max(now);
        let spacing = self.list[index].rtt.rto() / config.heartbeat_burst as u64;
        self.next_confirmation = date + spacing;
        date
    }

    /// Sets when an idle path is probed next: RTO + HB.interval after `from`, when it was probed
    /// last, with jitter; that date may have passed. While data is `outstanding`, on any path, it
    /// may be sooner.
    pub fn rest(
        &mut self,
        (now, from): (Time, Time),
        index: usize,
        config: &Config,
        outstanding: bool,
        generator: &mut Generator,
    ) {
        let path = &mut self.list[index];
        let Some(interval) = config.heartbeat_interval else { return path.heartbeat.stop() };
        let rto = path.rtt.rto();
        let mut jittered = |span: Span| {
            let picos = span.as_picos();
            Span::from_picos(picos / 2 + generator.below(picos.max(1)))
        };
        if let Some(probe) = config.probes()
            && outstanding
        {
            let wait = jittered(rto.min(probe.interval));
            return path.heartbeat.set(now + wait);
        }
        let period = match config.heartbeat_jitter {
            Jitter::Rto => interval + jittered(rto),
            Jitter::Interval => rto + jittered(interval),
            Jitter::None => rto + interval,
        };
        path.heartbeat.set(from + period);
    }
}
