//! Random sessions of TCP against our stack and against the kernel of this machine. They need what live runs
//! need. docs/differential.md says where the two part, and why.
#![cfg(target_os = "linux")]

use anabranch_drill::differential::{Role, Session, Verdicts, against};
use anabranch_drill::{KernelStack, kernel};
use anabranch_testkit::needs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const SESSIONS: u64 = 100;
/// Sessions wait for most of their time.
const AT_ONCE: usize = 16;
/// Of the sessions in which the stack receives, and sends, at least so many in a hundred go alike. Where they do
/// not, one of the rows of docs/differential.md says why.
const ALIKE: [(Role, u64); 2] = [(Role::Receiver, 84), (Role::Sender, 58)];

/// A session is a function of its number.
#[test]
fn sessions_are_drawn_from_their_numbers() {
    for number in 1..=20 {
        let script = Session::draw(number).script();
        assert_eq!(script, Session::draw(number).script());
        assert!(script.contains("%{ assert True }%"), "{script}");
    }
    assert_ne!(Session::draw(1).script(), Session::draw(2).script());
}

/// Our stack beside itself: nothing differs.
#[test]
fn a_stack_goes_like_itself() {
    for number in 1..=40 {
        let session = Session::draw(number);
        let verdict = against(&session, anabranch_packetdrill::runner::Against::ours());
        assert!(matches!(verdict, Verdicts::Same), "{number}: {verdict:?}");
    }
}

#[test]
fn our_stack_and_the_kernel_go_alike() {
    if !needs::live(KernelStack::probe()) {
        return;
    }
    let (next, parted) = (AtomicU64::new(1), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number > SESSIONS {
                        return;
                    }
                    let session = Session::draw(number);
                    let verdict = || against(&session, kernel().expect("the probe has passed"));
                    // In real time another program may be in the way: once more.
                    if !matches!(verdict(), Verdicts::Same) && !matches!(verdict(), Verdicts::Same)
                    {
                        parted.lock().expect("no thread panics").push(session);
                    }
                }
            });
        }
    });
    let parted = parted.into_inner().expect("no thread panics");
    for (role, least) in ALIKE {
        let of_role = parted.iter().filter(|session| session.role() == role);
        let alike = 100 - 100 * of_role.clone().count() as u64 / (SESSIONS / 2);
        let names: Vec<String> = of_role.map(Session::name).collect();
        assert!(alike >= least, "{role:?}: {alike} of 100 go alike; not {names:?}");
    }
}
