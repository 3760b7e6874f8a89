//! `soak`: many random scenarios; `soak FILE...`: these scenarios; `soak show N...`: the random
//! scenarios with these numbers, as text.
//!
//! Of many: `SOAK_RUNS` is how many (10000), `SOAK_SEED` the number of the first
//! (1), `SOAK_OUT` a folder for what fails, made small (`results/soak`). Prints a
//! table; the exit status is 1 when a promise was broken.

use anabranch_soak::{Failure, Summary, Verdict, judge, scenario, shrink};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Runs of the reduction of one failure.
const REDUCTION: usize = 600;
/// Failures of one kind that are made small and kept; the others are counted.
const KEPT: u32 = 3;
/// Wall time after which a run hangs.
const HANGS: Duration = Duration::from_secs(300);

fn main() -> ExitCode {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let broken = match files.split_first() {
        None => many(),
        Some((first, numbers)) if first == "show" => show(numbers),
        Some(_) => these(&files),
    };
    match broken {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::from(2)
        }
    }
}

/// A number from the environment.
fn setting(name: &str, default: u64) -> Result<u64, String> {
    match std::env::var(name) {
        Err(_) => Ok(default),
        Ok(text) => text.parse().map_err(|_| format!("{name} = {text}: allowed: a whole number")),
    }
}

/// Prints the scenarios with these numbers.
fn show(numbers: &[PathBuf]) -> Result<u64, String> {
    for number in numbers {
        let text = number.display().to_string();
        let number = text.parse().map_err(|_| format!("show {text}: allowed: whole numbers"))?;
        println!("# number {number}\n{}", scenario(number));
    }
    Ok(0)
}

/// Judges the scenarios in files, and writes what fails, made small, beside them.
fn these(files: &[PathBuf]) -> Result<u64, String> {
    let mut broken = 0;
    for file in files {
        let text = anabranch_scenario::load(file).map_err(|error| error.to_string())?;
        let verdict = judge(&text)
            .map_err(|error| error.in_file(&file.display().to_string()))
            .map_err(|error| error.to_string())?;
        println!("{}: {} events in {:.3} s", file.display(), verdict.events, verdict.seconds);
        for flow in &verdict.flows {
            println!("  {}: {:?}", flow.protocol, flow.end);
        }
        for failure in &verdict.failures {
            broken += 1;
            println!("  {failure}");
            let small = file.with_extension(format!("{}.toml", failure.promise.broken()));
            write(&small, &described(&shrink(&text, failure, REDUCTION), failure))?;
            println!("  made small: {}", small.display());
        }
    }
    Ok(broken)
}

#[expect(clippy::disallowed_methods, reason = "finds runs that hang, and says how long all took")]
fn many() -> Result<u64, String> {
    let (runs, first) = (setting("SOAK_RUNS", 10_000)?, setting("SOAK_SEED", 1)?);
    let out = std::env::var_os("SOAK_OUT").map_or("results/soak".into(), PathBuf::from);
    std::fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let started = Instant::now();
    let watched = std::sync::Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    watch(watched.clone(), started);
    let mut summary = Summary::default();
    let mut kept: BTreeMap<(&str, String), u32> = BTreeMap::new();
    for number in first..first.saturating_add(runs) {
        watched.1.store(started.elapsed().as_millis() as u64, Ordering::Relaxed);
        watched.0.store(number, Ordering::Relaxed);
        let text = scenario(number).to_string();
        match judge(&text) {
            Err(error) => summary.refuse(&format!("{}: {}", error.field, error.allowed)),
            Ok(verdict) => {
                summary.add(number, &verdict);
                // Many runs follow of what fails, none of them longer.
                watched.0.store(0, Ordering::Relaxed);
                keep(number, &text, &verdict, &out, &mut kept)?;
            }
        }
        if (number - first + 1).is_multiple_of(10_000) {
            let done = number - first + 1;
            eprintln!("{done} of {runs}, {} broken, {:.0?}", summary.failures(), started.elapsed());
        }
    }
    watched.0.store(0, Ordering::Relaxed);
    print!("{summary}");
    println!("\n{runs} numbers from {first} in {:.0} s", started.elapsed().as_secs_f64());
    let mut refused: Vec<_> = summary.refused.iter().collect();
    refused.sort_by_key(|refused| std::cmp::Reverse(refused.1));
    for (field, n) in refused.into_iter().take(20) {
        eprintln!("refused {n} times: {field}");
    }
    Ok(summary.failures())
}

/// Makes the failures of a run small, the first of each kind, and writes them.
fn keep(
    number: u64,
    text: &str,
    verdict: &Verdict,
    out: &Path,
    kept: &mut BTreeMap<(&'static str, String), u32>,
) -> Result<(), String> {
    for failure in &verdict.failures {
        let n = kept.entry((failure.promise.broken(), failure.of.clone())).or_default();
        *n += 1;
        if *n > KEPT {
            continue;
        }
        eprintln!("{number}: {failure}");
        let name = format!("{}-{number}.toml", failure.promise.broken());
        write(&out.join(format!("whole-{name}")), &described(text, failure))?;
        let small = shrink(text, failure, REDUCTION);
        write(&out.join(name), &described(&small, failure))?;
    }
    Ok(())
}

/// The scenario with what it does in a comment.
fn described(text: &str, failure: &Failure) -> String {
    format!("# {}\n{text}", failure.to_string().replace('\n', "\n# "))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let written = std::fs::File::create(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// Ends the process, and says at which number, when a run hangs.
fn watch(now: std::sync::Arc<(AtomicU64, AtomicU64)>, started: Instant) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let (number, since) = (now.0.load(Ordering::Relaxed), now.1.load(Ordering::Relaxed));
            let since = Duration::from_millis(since);
            if number > 0 && started.elapsed().saturating_sub(since) > HANGS {
                eprintln!("soak: the run of number {number} hangs:\n{}", scenario(number));
                std::process::exit(3);
            }
        }
    });
}
