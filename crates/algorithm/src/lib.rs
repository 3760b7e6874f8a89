//! The interface of window algorithms that [Anabranch] loads from shared libraries.
//!
//! A law implements [`WindowControl`], whose hooks are those of algorithms in Python, and
//! [`export_window!`] exports it:
//!
//! ```
//! use anabranch_algorithm::{Ack, Congestion, Options, Parameter, Window, WindowControl, export_window};
//!
//! /// Additive increase, multiplicative decrease.
//! struct Aimd {
//!     increase: f64,
//!     decrease: f64,
//! }
//!
//! impl WindowControl for Aimd {
//!     const OPTIONS: &'static [Parameter] = &[
//!         Parameter::new("increase", 1.0, 0.0..=100.0),
//!         Parameter::new("decrease", 0.5, 0.1..=0.9),
//!     ];
//!
//!     fn new(options: &Options) -> Aimd {
//!         Aimd { increase: options.get("increase"), decrease: options.get("decrease") }
//!     }
//!
//!     fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
//!         if !ack.path.app_limited && !window.slow_start(ack) {
//!             let mss = ack.path.mss as f64;
//!             window.cwnd += self.increase * mss * ack.acked as f64 / window.cwnd;
//!         }
//!     }
//!
//!     fn on_loss(&mut self, window: &mut Window, signal: &Congestion) {
//!         window.ssthresh = (window.cwnd * self.decrease).max(2.0 * signal.path.mss as f64);
//!         window.cwnd = window.cwnd.min(window.ssthresh);
//!     }
//! }
//!
//! export_window!(Aimd);
//!
//! # // A law is tried without a simulator.
//! let mut window = Window::new(1460, 14_600.0);
//! let mut law = Aimd::new(&Options::of::<Aimd>(&[("decrease", 0.7)]));
//! law.on_loss(&mut window, &Congestion::default());
//! assert_eq!(window.cwnd, 10_220.0);
//! ```
//!
//! The crate of a law is a `cdylib`; `anabranch new algorithm NAME` writes one. Scenarios name the library
//! where they name an algorithm: `tcp = { window = "target/release/libaimd.so" }`, or with options
//! `{ algorithm = "target/release/libaimd.so", decrease = 0.7 }`.
//!
//! What crosses the boundary is plain: structures of numbers in C's layout and functions of C ([`abi`]). So
//! neither the compiler nor its version has to be that of Anabranch. [`ABI`] names the layout; a library with
//! another is refused when it is loaded. A panic does not cross: it ends the run with an error that names file,
//! line, hook and flow. That needs `panic = "unwind"`, the default.
//!
//! A law must depend on nothing but what its hooks are given, or a run is no longer a function of its seed: it reads
//! no clock, and a generator of random numbers starts from [`Window::seed`].
//!
//! [Anabranch]: https://github.com/anabranch/anabranch

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod abi;
mod control;
mod facts;
mod options;
mod window;

pub use abi::ABI;
pub use control::WindowControl;
pub use facts::{
    Ack, Before, Cause, Congestion, LostSegment, Path, RateSample, Report, Sent, Sibling, Span,
    Time,
};
pub use options::{Options, Parameter};
pub use window::Window;

/// The files of this crate with their texts, which `anabranch new algorithm` writes beside a new law.
pub const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("../Cargo.toml")),
    ("README.md", include_str!("../README.md")),
    ("src/lib.rs", include_str!("lib.rs")),
    ("src/abi.rs", include_str!("abi.rs")),
    ("src/control.rs", include_str!("control.rs")),
    ("src/facts.rs", include_str!("facts.rs")),
    ("src/options.rs", include_str!("options.rs")),
    ("src/window.rs", include_str!("window.rs")),
];

/// Exports a type that implements [`WindowControl`] as the algorithm of this library.
///
/// It stands once in a library.
#[macro_export]
macro_rules! export_window {
    ($law:ty) => {
        /// What Anabranch looks up when it loads this library.
        // The name is that of no other symbol: a library exports one law.
        #[allow(unsafe_code)]
        #[unsafe(no_mangle)]
        pub static ANABRANCH_WINDOW: $crate::abi::Table = $crate::abi::Table::of::<$law>();
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_all_that_there_are() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut there: Vec<_> = std::fs::read_dir(root.join("src"))
            .unwrap()
            .map(|file| format!("src/{}", file.unwrap().file_name().to_str().unwrap()))
            .chain(["Cargo.toml".into(), "README.md".into()])
            .collect();
        there.sort();
        let mut listed: Vec<_> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        listed.sort();
        assert_eq!(there, listed);
    }
}
