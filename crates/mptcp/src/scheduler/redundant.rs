//! Every octet on every subflow: the earliest copy counts (Frömmgen et al.,
//! "ReMP TCP: Low Latency Multipath TCP", ICC 2016). A subflow with room first
//! catches up with what the others have sent and is not acknowledged; what is
//! acknowledged meanwhile it leaves out.

use super::{Candidate, Choice, Scheduler, Stream};

/// The scheduler that sends every octet on every subflow.
#[derive(Clone, Copy, Debug)]
pub struct Redundant;

impl Scheduler for Redundant {
    fn choose(&mut self, candidates: &[Candidate], stream: &Stream) -> Choice {
        // The one that is ahead makes new data, the others follow.
        for candidate in candidates.iter().filter(|candidate| candidate.has_room) {
            let from = candidate.sent_to.max(stream.una);
            if from < stream.nxt {
                return Choice::Copy { id: candidate.id, from };
            }
            if stream.unsent > 0 && stream.window_left > 0 {
                return Choice::New(candidate.id);
            }
        }
        Choice::Wait
    }

    fn copies(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidate, full, stream};
    use super::*;

    #[test]
    fn whoever_is_behind_sends_copies() {
        let mut s = Redundant;
        let stream = Stream { una: 2001, nxt: 5001, ..stream(1000) };
        let at = |id, sent_to| Candidate { sent_to, ..candidate(id, 10) };
        let behind = [at(0, 5001), at(1, 3001)];
        assert_eq!(s.choose(&behind, &stream), Choice::New(0));
        let ahead_is_full = [Candidate { sent_to: 5001, ..full(0, 10) }, at(1, 3001)];
        assert_eq!(s.choose(&ahead_is_full, &stream), Choice::Copy { id: 1, from: 3001 });
        let late = [Candidate { sent_to: 5001, ..full(0, 10) }, at(1, 1)];
        let expected = Choice::Copy { id: 1, from: 2001 };
        assert_eq!(s.choose(&late, &stream), expected, "what is acknowledged is left out");
        let done = Stream { unsent: 0, ..stream };
        assert_eq!(s.choose(&[at(0, 5001), at(1, 5001)], &done), Choice::Wait);
    }
}
