//! The player: it asks for segments while its buffer has room, plays, and stalls.

use super::{Rule, Situation, VideoSpec};
use anabranch_units::{Span, Time};

/// A player with its buffer and the viewer's experience so far.
#[derive(Debug)]
pub struct Player {
    spec: VideoSpec,
    rule: Box<dyn Rule>,
    /// Time at which the viewer pressed play.
    begun: Time,
    /// Video in the buffer at the date `looked`.
    buffered: Span,
    looked: Time,
    state: State,
    /// The rung of the segment that is loaded or was loaded last, and when it was asked for.
    rung: Option<usize>,
    asked: Time,
    summary: VideoSummary,
    /// Sum of the rates of all segments that came, in bits per second.
    rates: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    /// Not enough has come to start.
    Starting,
    Playing,
    /// Playback has stood still since this time.
    Stalled(Time),
    /// The whole video has been played.
    Ended,
}

/// The viewer's experience of a video.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct VideoSummary {
    /// Segments that arrived.
    pub segments: u64,
    /// Mean of their bit rates, in bits per second.
    pub mean_rate_bps: Option<f64>,
    /// Segments of another rung than the one before.
    pub switches: u64,
    /// Times that playback stopped for want of video.
    pub stalls: u64,
    /// Time that it stood still in all.
    pub stalled: Span,
    /// Time from pressing play to the first picture, once there was one.
    pub startup: Option<Span>,
    /// Length of the video that was played.
    pub played: Span,
}

impl Player {
    /// A player that nobody has started.
    pub fn new(spec: VideoSpec) -> Player {
        Player {
            rule: spec.selection.rule(),
            spec,
            begun: Time::ZERO,
            buffered: Span::ZERO,
            looked: Time::ZERO,
            state: State::Starting,
            rung: None,
            asked: Time::ZERO,
            summary: VideoSummary::default(),
            rates: 0.0,
        }
    }

    /// The viewer presses play.
    pub fn start(&mut self, now: Time) {
        (self.begun, self.looked) = (now, now);
    }

    /// Octets of the segment that is asked for now.
    pub fn ask(&mut self, now: Time) -> u64 {
        self.advance(now);
        let (ladder, buffered, last) = (&self.spec.ladder[..], self.buffered, self.rung);
        let rung = self.rule.select(&Situation { ladder, buffered, last });
        self.summary.switches += u64::from(last.is_some_and(|last| last != rung));
        (self.rung, self.asked) = (Some(rung), now);
        self.spec.octets(rung)
    }

    /// The segment has come. Returns when the next is asked for, unless it was the last.
    pub fn on_segment(&mut self, now: Time) -> Option<Time> {
        self.advance(now);
        let rung = self.rung?;
        self.rule.on_segment(self.spec.octets(rung), now.saturating_since(self.asked));
        self.summary.segments += 1;
        self.rates += self.spec.ladder[rung].as_bps() as f64;
        self.buffered += self.spec.segment;
        if self.buffered >= self.spec.start || self.has_all() {
            self.play(now);
        }
        if self.has_all() {
            return None;
        }
        let wait = (self.buffered + self.spec.segment).saturating_sub(self.spec.buffer);
        Some(now.saturating_add(wait))
    }

    /// Returns how the video went, up to `now`.
    pub fn summary(&self, now: Time) -> VideoSummary {
        let mut summary = self.summary;
        let (state, _) = self.after(now, &mut summary);
        if let State::Stalled(since) = state {
            summary.stalled += now.saturating_since(since);
        }
        if summary.segments > 0 {
            summary.mean_rate_bps = Some(self.rates / summary.segments as f64);
        }
        summary
    }

    fn has_all(&self) -> bool {
        self.spec.segments.is_some_and(|all| self.summary.segments >= all)
    }

    fn play(&mut self, now: Time) {
        match self.state {
            State::Starting => {
                self.summary.startup = Some(now.saturating_since(self.begun));
            }
            State::Stalled(since) => self.summary.stalled += now.saturating_since(since),
            State::Playing | State::Ended => return,
        }
        self.state = State::Playing;
    }

    fn advance(&mut self, now: Time) {
        let mut summary = self.summary;
        (self.state, self.buffered) = self.after(now, &mut summary);
        (self.summary, self.looked) = (summary, now);
    }

    /// State and buffer at `now`; what was played counts in `summary`.
    fn after(&self, now: Time, summary: &mut VideoSummary) -> (State, Span) {
        if self.state != State::Playing {
            return (self.state, self.buffered);
        }
        let passed = now.saturating_since(self.looked);
        let played = passed.min(self.buffered);
        summary.played += played;
        if passed < self.buffered {
            return (State::Playing, self.buffered - passed);
        }
        if self.has_all() {
            return (State::Ended, Span::ZERO);
        }
        if passed == self.buffered {
            return (State::Playing, Span::ZERO);
        }
        summary.stalls += 1;
        (State::Stalled(self.looked + self.buffered), Span::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Selection;
    use super::*;
    use anabranch_units::Rate;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Segments of 2 s at 1 Mbit/s, a buffer of 6 s; playback starts with 4 s.
    fn player(segments: Option<u64>) -> Player {
        let secs = Span::from_secs;
        Player::new(VideoSpec {
            ladder: vec![Rate::mbit(1)],
            segment: secs(2),
            segments,
            buffer: secs(6),
            start: secs(4),
            selection: Selection::RateBased { safety: 0.85, window: 5 },
        })
    }

    #[test]
    fn playback_starts_with_enough_and_waits_while_the_buffer_is_full() {
        let mut player = player(None);
        player.start(at(100));
        assert_eq!(player.ask(at(100)), 250_000);
        assert_eq!(player.on_segment(at(600)), Some(at(600)));
        player.ask(at(600));
        assert_eq!(player.on_segment(at(1100)), Some(at(1100)), "4 s and 2 s fit 6 s");
        assert_eq!(player.summary(at(1100)).startup, Some(Span::from_secs(1)));
        player.ask(at(1100));
        // 3.5 s are left, and 5.5 s with the new one: room for 2 s in 1.5 s.
        assert_eq!(player.on_segment(at(1600)), Some(at(3100)));
    }

    #[test]
    fn a_stall_lasts_until_there_is_enough_again() {
        let mut player = player(None);
        player.start(at(0));
        for ms in [500, 1000] {
            player.ask(at(ms - 500));
            player.on_segment(at(ms));
        }
        player.ask(at(1000));
        // What was there lasts to 5 s.
        assert_eq!(player.summary(at(5000)).stalls, 0);
        let stalled = player.summary(at(5500));
        assert_eq!((stalled.stalls, stalled.stalled), (1, Span::from_millis(500)));
        player.on_segment(at(6000));
        player.ask(at(6000));
        player.on_segment(at(6500));
        let summary = player.summary(at(7000));
        assert_eq!((summary.stalls, summary.stalled), (1, Span::from_millis(1500)));
        assert_eq!(summary.played, Span::from_millis(4500));
    }

    #[test]
    fn the_end_is_no_stall() {
        let mut player = player(Some(1));
        player.start(at(0));
        player.ask(at(0));
        assert_eq!(player.on_segment(at(500)), None);
        let summary = player.summary(at(9000));
        assert_eq!((summary.stalls, summary.stalled), (0, Span::ZERO));
        assert_eq!((summary.played, summary.segments), (Span::from_secs(2), 1));
        assert_eq!(summary.mean_rate_bps, Some(1e6));
    }

    #[test]
    fn a_change_of_the_rung_is_a_switch() {
        let mut player = player(None);
        player.spec.ladder = vec![Rate::mbit(1), Rate::mbit(2)];
        player.start(at(0));
        player.ask(at(0));
        player.on_segment(at(100)); // 20 Mbit/s
        assert_eq!(player.ask(at(100)), 500_000);
        player.on_segment(at(5100)); // 0.8 Mbit/s
        assert_eq!(player.ask(at(5100)), 250_000);
        assert_eq!(player.summary(at(5100)).switches, 2);
    }
}
