//! The thread that makes the calls of a script, in its namespace: one that
//! blocks keeps nobody else waiting.

use anabranch_live::Namespace;
use anabranch_live::kernel::make_precise;
use anabranch_packetdrill::script::Value;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// The answer of the kernel to a call.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The value that the call returned, or its error.
    pub result: Result<i64, Errno>,
    /// Values that it wrote into its arguments, by their number.
    pub outputs: Vec<(usize, Value)>,
    /// Descriptors that it made. The first is what it returned, unless they stand
    /// in its first argument (`pipe`).
    pub made: Vec<OwnedFd>,
}

impl Answer {
    /// Makes an answer that is a result alone.
    pub fn of(result: Result<i64, Errno>) -> Answer {
        Answer { result, outputs: Vec::new(), made: Vec::new() }
    }

    /// A result, and what stands in argument `at` if it is none of an error.
    pub fn with(result: Result<(i64, Value), Errno>, at: usize) -> Answer {
        match result {
            Ok((value, output)) => Answer { outputs: vec![(at, output)], ..Answer::of(Ok(value)) },
            Err(errno) => Answer::of(Err(errno)),
        }
    }

    /// Makes the answer of a call that made a descriptor.
    pub fn made(result: Result<OwnedFd, Errno>) -> Answer {
        match result {
            Ok(fd) => Answer { made: vec![fd], ..Answer::of(Ok(0)) },
            Err(errno) => Answer::of(Err(errno)),
        }
    }
}

/// A call, ready to be made.
pub(crate) type Job = Box<dyn FnOnce() -> Answer + Send>;

/// The thread that makes the calls, and what it answers with.
#[derive(Debug)]
pub(crate) struct Worker {
    jobs: Sender<Job>,
    answer: Arc<Mutex<Option<Answer>>>,
    /// Readable once there is an answer.
    bell: Arc<OwnedFd>,
}

impl Worker {
    /// One that works in `namespace`. It ends when this value is dropped and its
    /// call has returned.
    pub fn new(namespace: &Namespace) -> io::Result<Worker> {
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let answer = Arc::new(Mutex::new(None));
        let (jobs, to_do) = channel();
        let namespace = namespace.try_clone()?;
        let (its_bell, its_answer) = (bell.clone(), answer.clone());
        std::thread::Builder::new().name("drill".into()).spawn(move || {
            let entered = namespace.enter();
            // It blocks or makes a call; a busy machine must not make that late.
            make_precise();
            drop(namespace);
            if entered.is_ok() {
                work(&to_do, &its_answer, &its_bell);
            }
        })?;
        let worker = Worker { jobs, answer, bell };
        // Its first call finds it there.
        worker.perform(|| ())?;
        Ok(worker)
    }

    /// Begins a call on the thread, and does not wait for its answer.
    pub fn begin(&self, job: Job) {
        // A thread that has ended gives no answer: the call never returns.
        _ = self.jobs.send(job);
    }

    /// Has something else done, and waits for it. No call is under way.
    pub fn perform<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> io::Result<R> {
        let (give, take) = channel();
        self.begin(Box::new(move || {
            _ = give.send(work());
            Answer::of(Ok(0))
        }));
        let result = take.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
        while self.take_answer().is_none() {
            poll(&mut [PollFd::new(&*self.bell, PollFlags::IN)], None)?;
        }
        Ok(result)
    }

    /// The answer, once it is there.
    pub fn take_answer(&self) -> Option<Answer> {
        let answer = self.answer.lock().ok()?.take()?;
        _ = rustix::io::read(&*self.bell, &mut [0_u8; 8]);
        Some(answer)
    }

    /// Readable once there is an answer.
    pub fn bell(&self) -> &OwnedFd {
        &self.bell
    }
}

fn work(jobs: &Receiver<Job>, answer: &Mutex<Option<Answer>>, bell: &OwnedFd) {
    for job in jobs {
        let came = job();
        let Ok(mut slot) = answer.lock() else { return };
        // Before anybody can take the answer: else it would ring for none.
        _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
        *slot = Some(came);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_testkit::needs;
    use rustix::event::Timespec;

    /// An answer that is taken as soon as it is there leaves no bell behind that rings
    /// for none.
    #[test]
    fn the_bell_is_silent_once_the_answer_is_taken() {
        let namespace = Namespace::new();
        if !needs::live(namespace.as_ref().map(drop)) {
            return;
        }
        let worker = Worker::new(&namespace.unwrap()).unwrap();
        let silent = || {
            let mut bell = [PollFd::new(worker.bell(), PollFlags::IN)];
            poll(&mut bell, Some(&Timespec { tv_sec: 0, tv_nsec: 50_000 })) == Ok(0)
        };
        for n in 0..2000 {
            worker.begin(Box::new(move || Answer::of(Ok(n))));
            let answer = loop {
                if let Some(answer) = worker.take_answer() {
                    break answer;
                }
            };
            assert_eq!(answer.result, Ok(n));
            assert!(silent(), "after call {n}");
        }
        assert_eq!(worker.perform(|| 7).unwrap(), 7);
        assert!(silent());
    }
}
