//! What a law implements.

use crate::{
    Ack, Before, Congestion, LostSegment, Options, Parameter, Report, Sent, Sibling, Window,
};

/// A window algorithm: how much may be in flight on one path.
///
/// Each side of a connection, each subflow of Multipath TCP and each path of SCTP has an object of its own. Order of
/// calls: [`new`](WindowControl::new), then [`on_start`](WindowControl::on_start) before the first data leaves;
/// [`on_sent`](WindowControl::on_sent) for each data segment. For an ACK that acknowledges something:
/// [`on_siblings`](WindowControl::on_siblings); [`on_ack`](WindowControl::on_ack) unless a loss is being repaired, or
/// [`on_loss`](WindowControl::on_loss) when it reveals one; then [`on_report`](WindowControl::on_report).
///
/// After every hook the sender reads the window. One that is not a number, negative, below a segment or above
/// 2^40 octets ends the run with an error that names the hook, as a panic does.
pub trait WindowControl: Send + Sized + 'static {
    /// The options that scenarios may set.
    const OPTIONS: &'static [Parameter] = &[];
    /// Fields of `tcp` without which it is not itself, as TOML: `ecn = "dctcp"`. Scenarios of the library and
    /// `anabranch evaluate` set them; a scenario file says them itself.
    const NEEDS: &'static str = "";
    /// Whether it hears [`on_sent`](WindowControl::on_sent).
    const HEARS_SENT: bool = false;
    /// Whether it hears [`on_report`](WindowControl::on_report), and gets a round-trip sample with every ACK and
    /// delivery rates.
    const HEARS_REPORTS: bool = false;
    /// Whether it hears [`on_lost`](WindowControl::on_lost), and reports.
    const HEARS_LOSSES: bool = false;
    /// The window in a recovery is the law's own choice: recovery schemes do not spread a reduction over it
    /// (PRR), and tell one loss in a recovery.
    const OWNS_RECOVERY: bool = false;
    /// It depends on the connection's other paths, and hears [`on_siblings`](WindowControl::on_siblings).
    const COUPLED: bool = false;

    /// A law with these options. It is made once when a scenario is read, too, to see whether it can be.
    fn new(options: &Options) -> Self;

    /// The first data is about to leave; the window has its first values, which may be changed.
    fn on_start(&mut self, _window: &mut Window) {}

    /// New data was acknowledged, and the window may grow. It may not while `ack.path.app_limited` says that it
    /// is not what limits sending.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// ACKs told of a loss; once in a window of data. Must not raise `cwnd`.
    fn on_loss(&mut self, window: &mut Window, signal: &Congestion);

    /// The retransmission timer expired.
    ///
    /// Unless overridden: half the flight is the threshold, one segment the window (RFC 5681 §3.1); the
    /// threshold stays at further timeouts in a row.
    fn on_timeout(&mut self, window: &mut Window, signal: &Congestion) {
        let mss = signal.path.mss as f64;
        if !signal.repeated {
            window.ssthresh = (signal.path.in_flight as f64 / 2.0).max(2.0 * mss);
        }
        window.cwnd = mss;
    }

    /// The network marked a packet (ECN); once in a window of data. Unless overridden it counts as a loss
    /// (RFC 3168 §6.1.2).
    fn on_mark(&mut self, window: &mut Window, signal: &Congestion) {
        self.on_loss(window, signal);
    }

    /// The last reduction was spurious. Unless overridden the window is what it was `before`, where it has not
    /// outgrown that (RFC 9438 §4.9.2).
    fn on_undo(&mut self, window: &mut Window, before: &Before) {
        if window.cwnd <= before.cwnd {
            (window.cwnd, window.ssthresh) = (before.cwnd, before.ssthresh);
        }
    }

    /// Nothing was sent for a retransmission timeout. Unless overridden the window is at most the `initial`
    /// one, in octets (RFC 5681 §4.1).
    fn on_idle(&mut self, window: &mut Window, initial: f64) {
        window.cwnd = window.cwnd.min(initial.max(window.mss as f64));
    }

    /// Data is about to leave. Heard with [`HEARS_SENT`](WindowControl::HEARS_SENT).
    fn on_sent(&mut self, _window: &mut Window, _sent: &Sent) {}

    /// All that an acknowledgment told. Heard with [`HEARS_REPORTS`](WindowControl::HEARS_REPORTS).
    fn on_report(&mut self, _window: &mut Window, _report: &Report) {}

    /// A segment is newly believed lost; for each, before the report of the ACK that told of it. Heard with
    /// [`HEARS_LOSSES`](WindowControl::HEARS_LOSSES).
    fn on_lost(&mut self, _window: &mut Window, _segment: &LostSegment) {}

    /// The connection's other paths as they are; before each ACK. Heard with
    /// [`COUPLED`](WindowControl::COUPLED), and only where there are others.
    fn on_siblings(&mut self, _window: &mut Window, _siblings: &[Sibling]) {}

    /// Multipath TCP: this path holds others back. Unless overridden its window is halved, and its threshold
    /// too where it was reached.
    fn on_penalty(&mut self, window: &mut Window) {
        let mss = window.mss as f64;
        let avoids = window.cwnd >= window.ssthresh;
        window.cwnd = (window.cwnd / 2.0).max(mss);
        if avoids {
            window.ssthresh = (window.ssthresh / 2.0).max(2.0 * mss);
        }
    }
}
