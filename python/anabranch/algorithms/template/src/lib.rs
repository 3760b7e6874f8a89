//! Additive increase, multiplicative decrease: the rules to replace by your own.
//!
//! The hooks that a law may have, and when they are called, stand at `WindowControl`.

use anabranch_algorithm::{
    Ack, Congestion, Options, Parameter, Window, WindowControl, export_window,
};

/// What the law remembers of its path.
struct Law {
    /// Segments more for each round trip.
    increase: f64,
    /// Part of the window that a loss leaves.
    decrease: f64,
}

impl WindowControl for Law {
    const OPTIONS: &'static [Parameter] = &[
        Parameter::new("increase", 1.0, 0.0..=100.0),
        Parameter::new("decrease", 0.5, 0.1..=0.9),
    ];

    fn new(options: &Options) -> Law {
        Law {
            increase: options.get("increase"),
            decrease: options.get("decrease"),
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.path.app_limited && !window.slow_start(ack) {
            let mss = ack.path.mss as f64;
            window.cwnd += self.increase * mss * ack.acked as f64 / window.cwnd;
        }
    }

    fn on_loss(&mut self, window: &mut Window, signal: &Congestion) {
        let mss = signal.path.mss as f64;
        window.ssthresh = (window.cwnd * self.decrease).max(2.0 * mss);
        window.cwnd = window.cwnd.min(window.ssthresh);
    }
}

export_window!(Law);

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1460;

    /// A window of 10 segments at its threshold.
    fn window() -> Window {
        let mut window = Window::new(MSS, 10.0 * MSS as f64);
        window.ssthresh = window.cwnd;
        window
    }

    #[test]
    fn a_window_of_acks_opens_the_window_by_the_increase() {
        let mut law = Law::new(&Options::of::<Law>(&[("increase", 2.0)]));
        let mut window = window();
        for _ in 0..10 {
            law.on_ack(
                &mut window,
                &Ack {
                    acked: MSS,
                    ..Ack::default()
                },
            );
        }
        let segments = window.cwnd / MSS as f64;
        assert!((11.8..=12.0).contains(&segments), "{segments}");
    }

    #[test]
    fn a_loss_leaves_the_decrease_and_two_segments_at_least() {
        let mut law = Law::new(&Options::of::<Law>(&[("decrease", 0.5)]));
        let mut window = window();
        law.on_loss(&mut window, &Congestion::default());
        assert_eq!((window.cwnd, window.ssthresh), (7300.0, 7300.0));
        for _ in 0..5 {
            law.on_loss(&mut window, &Congestion::default());
        }
        assert_eq!(window.cwnd, 2920.0);
    }
}
