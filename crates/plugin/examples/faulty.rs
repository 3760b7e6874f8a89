//! A law that fails in one of several ways at the first loss, or when it is made.

use anabranch_algorithm::{
    Ack, Congestion, Options, Parameter, Window, WindowControl, export_window,
};

struct Faulty {
    how: u8,
}

impl WindowControl for Faulty {
    const OPTIONS: &'static [Parameter] = &[Parameter::new("how", 0.0, 0.0..=9.0)];
    const NEEDS: &'static str = "ecn = \"on\"";

    fn new(options: &Options) -> Faulty {
        let how = options.get("how") as u8;
        assert_ne!(how, 1, "this law cannot be made");
        Faulty { how }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        window.slow_start(ack);
    }

    fn on_loss(&mut self, window: &mut Window, signal: &Congestion) {
        match self.how {
            2 => panic!("a loss of {} octets in flight", signal.path.in_flight),
            3 => window.cwnd = f64::NAN,
            4 => window.cwnd = -1.0,
            5 => window.cwnd = 1e30,
            6 => window.cwnd = signal.path.mss as f64 / 2.0,
            7 => window.ssthresh = f64::NAN,
            8 => window.pacing_bps = 0.5,
            9 => std::panic::panic_any(Bomb),
            _ => window.ssthresh = window.cwnd,
        }
    }
}

/// Panics again when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

export_window!(Faulty);
