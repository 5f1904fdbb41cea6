//! Feeds a replay with requests. A separate thread reads ahead.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use ssdlab_base::{Fault, threads};
use ssdlab_workload::Record;

use crate::prepare::Prepared;
use crate::source::{Requests, Seen};

/// Batches read ahead, at most.
const AHEAD: usize = 2;

/// The requests of a plan, one by one, for every replay.
pub(crate) struct Feed {
    reader: Reader,
    batch: Batch,
    next: usize,
    handed_out: u64,
    /// Requests handed out before this replay. `replay` counts the earlier replays, `replays` all
    /// of them.
    before: u64,
    replay: u32,
    replays: u32,
    limit: u64,
    /// The number of requests in the source, if known.
    expected: Option<u64>,
}

/// Requests that were read in one step.
#[derive(Default)]
struct Batch {
    requests: Vec<Record>,
    /// The share of the source read so far, if known.
    progress: Option<f64>,
    /// Observations on the requests of this batch and all earlier ones.
    seen: Seen,
}

impl Batch {
    fn read(&mut self, from: &mut Requests) -> Result<(), Fault> {
        from.read(&mut self.requests)?;
        (self.progress, self.seen) = (from.source().progress(), from.seen);
        Ok(())
    }
}

/// The thread that reads ahead.
struct Reader {
    full: Receiver<Result<Batch, Fault>>,
    /// Used batches, which the thread fills again.
    used: Sender<Batch>,
    thread: JoinHandle<Requests>,
}

impl Reader {
    fn start(requests: Requests) -> Result<Reader, Fault> {
        let (full_in, full) = sync_channel(AHEAD);
        let (used, used_out) = channel();
        let thread = threads::begin(move || read_all(requests, &full_in, &used_out))?;
        Ok(Reader { full, used, thread })
    }

    /// Returns the next batch and gives the used one back to the thread.
    fn next(&self, used: Batch) -> Result<Batch, Fault> {
        // The thread may have ended already.
        let _ = self.used.send(used);
        self.full.recv().expect("the reader ends with an empty batch or a fault, and only once")
    }

    /// Ends the thread and returns its source of requests.
    fn end(self) -> Requests {
        drop(self.full);
        self.thread.join().expect("the reader does not panic")
    }
}

/// Reads until the requests end or the receiver is dropped.
fn read_all(
    mut requests: Requests,
    full: &SyncSender<Result<Batch, Fault>>,
    used: &Receiver<Batch>,
) -> Requests {
    loop {
        let mut batch = used.try_recv().unwrap_or_default();
        let read = batch.read(&mut requests);
        let goes_on = read.is_ok() && !batch.requests.is_empty();
        if full.send(read.map(|()| batch)).is_err() || !goes_on {
            return requests;
        }
    }
}

impl Feed {
    /// Opens the requests of a plan, from the first on. Adds remarks for the user on how they are
    /// read to `remarks`.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub(crate) fn open(prepared: &Prepared, remarks: &mut Vec<String>) -> Result<Feed, Fault> {
        let requests = Requests::open(prepared, remarks)?;
        Ok(Feed {
            expected: requests.source().expected(),
            reader: Reader::start(requests)?,
            batch: Batch::default(),
            next: 0,
            handed_out: 0,
            before: 0,
            replay: 0,
            replays: prepared.replays,
            limit: prepared.plan.limit.unwrap_or(u64::MAX),
        })
    }

    /// Begins the next replay with the first request; false if the last replay has ended. If the
    /// run ends once a figure has settled, each replay draws a generated workload anew.
    ///
    /// # Errors
    /// When the trace can no longer be read.
    pub(crate) fn again(&mut self, prepared: &Prepared) -> Result<bool, Fault> {
        if self.replay + 1 == self.replays {
            return Ok(false);
        }
        let number = if prepared.until_settled.is_some() { self.replay + 1 } else { 0 };
        let mut requests = Requests::open_draw(prepared, number, &mut Vec::new())?;
        requests.seen.hinted = self.batch.seen.hinted;
        self.reader = Reader::start(requests)?;
        self.batch.requests.clear();
        (self.next, self.before) = (0, self.handed_out);
        self.replay += 1;
        Ok(true)
    }

    /// Returns the next request; `None` at the end of a replay. The caller must not call it again
    /// before [`Feed::again`].
    ///
    /// # Errors
    /// See [`Requests::read`].
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Record>, Fault> {
        if self.next == self.batch.requests.len() {
            self.next_batch()?;
        }
        let record = self.batch.requests.get(self.next).copied();
        if record.is_some() {
            self.next += 1;
            self.handed_out += 1;
        }
        Ok(record)
    }

    #[cold]
    fn next_batch(&mut self) -> Result<(), Fault> {
        self.batch = self.reader.next(std::mem::take(&mut self.batch))?;
        self.next = 0;
        Ok(())
    }

    /// Returns the next two requests, as far as they have been read.
    pub(crate) fn soon(&self) -> [Option<&Record>; 2] {
        [0, 1].map(|after| self.batch.requests.get(self.next + after))
    }

    /// Returns the number of requests handed out, including those of earlier replays.
    pub(crate) fn handed_out(&self) -> u64 {
        self.handed_out
    }

    /// Returns the share of the requests handed out, if known.
    pub(crate) fn progress(&self) -> Option<f64> {
        let handed_out = (self.handed_out - self.before) as f64;
        let of_source = match self.expected {
            Some(total) if total > 0 => Some(handed_out / total as f64),
            _ => self.batch.progress,
        };
        let of_replay = of_source?.max(handed_out / self.limit as f64);
        Some((f64::from(self.replay) + of_replay) / f64::from(self.replays))
    }

    /// Ends the feed and returns the source of the last replay's requests. After an early stop, the
    /// source has read ahead of the replay. Its observations cover only the batches that the replay
    /// began.
    pub(crate) fn end(self) -> Requests {
        let mut requests = self.reader.end();
        requests.seen = self.batch.seen;
        requests
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::plan::Plan;

    fn prepared(plan: Plan) -> Prepared {
        let plan = Plan { device: "generic-mlc-512g".into(), ..plan };
        plan.prepare().unwrap_or_else(|fault| panic!("{fault}"))
    }

    fn drain(feed: &mut Feed) -> Result<Vec<Record>, Fault> {
        let mut all = Vec::new();
        while let Some(record) = feed.next()? {
            assert_eq!(feed.handed_out() - feed.before, all.len() as u64 + 1);
            all.push(record);
        }
        Ok(all)
    }

    #[test]
    fn every_replay_gives_every_request_in_order() {
        for limit in [1, 4095, 4096, 4097, 30_000, 40_000] {
            let set = vec!["workload.requests=30000".into()];
            let prepared =
                prepared(Plan { set, limit: Some(limit), replays: Some(2), ..Plan::default() });
            let (mut read, mut batch) = (Vec::new(), Vec::new());
            let mut requests = Requests::open(&prepared, &mut Vec::new()).unwrap();
            while requests.read(&mut batch).is_ok() && !batch.is_empty() {
                read.append(&mut batch);
            }
            assert_eq!(read.len() as u64, limit.min(30_000));
            let mut feed = Feed::open(&prepared, &mut Vec::new()).unwrap();
            assert!(drain(&mut feed).unwrap() == read, "{limit}");
            assert!(feed.again(&prepared).unwrap());
            assert!(drain(&mut feed).unwrap() == read, "{limit}");
            assert!(!feed.again(&prepared).unwrap());
        }
    }

    #[test]
    fn a_wrong_request_is_reported_after_all_before_it_were_handed_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.msr");
        for wrong in [0u64, 1, 4095, 4096, 4097, 20_000] {
            let mut text = String::new();
            for number in 0..25_000 {
                // This request lies beyond the drive.
                let byte = if number == wrong { 1u64 << 50 } else { number * 512 };
                writeln!(text, "{number},host,0,Read,{byte},4096,0").unwrap();
            }
            std::fs::write(&path, text).unwrap();
            let trace = Some(path.display().to_string());
            let mut feed =
                Feed::open(&prepared(Plan { trace, ..Plan::default() }), &mut Vec::new()).unwrap();
            let drained = drain(&mut feed).map(|all| all.len());
            let fault = drained.unwrap_err().to_string();
            assert!(
                fault.contains(&format!("some.msr:{}: a request beyond", wrong + 1)),
                "{fault}"
            );
            assert_eq!(feed.handed_out(), wrong);
        }
    }

    #[test]
    fn a_feed_that_is_dropped_early_ends() {
        let set = vec!["workload.requests=1000000".into()];
        let mut feed =
            Feed::open(&prepared(Plan { set, ..Plan::default() }), &mut Vec::new()).unwrap();
        assert!(feed.next().unwrap().is_some());
        let soon = feed.soon().map(|record| record.copied());
        assert_eq!([feed.next().unwrap(), feed.next().unwrap()], soon);
        assert_eq!(feed.end().source().expected(), Some(1_000_000));
    }

    #[test]
    fn counts_are_those_of_the_requests_handed_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.msr");
        let mut text = String::new();
        for number in 0..20_000u64 {
            let byte = if number < 4096 { number * 512 } else { 1 << 50 };
            writeln!(text, "{number},host,0,Read,{byte},4096,0").unwrap();
        }
        std::fs::write(&path, text).unwrap();
        let trace = Some(path.display().to_string());
        let prepared = prepared(Plan { trace, wrap: true, replays: Some(2), ..Plan::default() });
        let mut feed = Feed::open(&prepared, &mut Vec::new()).unwrap();
        for _ in 0..4096 {
            feed.next().unwrap();
        }
        // The reader thread is ahead of the feed, or soon will be.
        assert_eq!(feed.end().seen.folded, 0);
        let mut feed = Feed::open(&prepared, &mut Vec::new()).unwrap();
        drain(&mut feed).unwrap();
        assert!(feed.again(&prepared).unwrap());
        drain(&mut feed).unwrap();
        assert_eq!(feed.end().seen.folded, 20_000 - 4096);
    }
}
