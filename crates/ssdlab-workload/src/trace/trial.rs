//! Tries a format on the first lines of a file.

use super::choice::{Choice, reader};
use super::lines::{is_idle, trim};
use crate::formats::columns::Wrong;
use crate::formats::{Format, Framing};
use crate::record::Op;

/// The most lines that a trial reads, and the number of requests that ends it.
const LINES_TRIED: usize = 256;
const REQUESTS_TRIED: usize = 64;

/// The result of reading a file's first lines or records as one format.
pub(crate) struct Trial<'a> {
    pub(crate) format: Format,
    /// Lines tried.
    tried: usize,
    /// Lines that parse, with or without a request.
    read: usize,
    /// Lines that hold a request.
    pub(crate) requests: usize,
    /// Requests widened to whole sectors.
    widened: usize,
    /// Requests whose start and size are multiples of 512 sectors.
    coarse: usize,
    /// Requests whose size is a multiple of 512 sectors.
    large: usize,
    /// The earliest and the latest time stamp of the requests, in nanoseconds.
    pub(crate) earliest: u64,
    pub(crate) latest: u64,
    /// The first line that does not parse.
    pub(crate) first_wrong: Option<(u64, &'a [u8], Box<Wrong>)>,
    pub(crate) remark: Option<&'static str>,
}

impl<'a> Trial<'a> {
    /// The nearness, in hundredths, from which a message names the format: half the columns of the
    /// first wrong line parse.
    pub(crate) const NEAR: usize = 50;

    /// Tries a format on the beginning of a file, which may be the whole file.
    pub(crate) fn of(format: Format, start: &'a [u8], whole: bool, choice: &Choice<'_>) -> Self {
        let mut trial = Trial {
            format,
            tried: 0,
            read: 0,
            requests: 0,
            widened: 0,
            coarse: 0,
            large: 0,
            earliest: u64::MAX,
            latest: 0,
            first_wrong: None,
            remark: None,
        };
        let pieces: Vec<(u64, &[u8])> = match format.about().framing {
            Framing::Lines => first_lines(start, whole),
            Framing::Records(length) => {
                let records = start.chunks_exact(length(start)).take(REQUESTS_TRIED);
                (1..).zip(records).collect()
            }
            Framing::Table => return trial,
        };
        let mut reader = reader(format, choice);
        for (number, piece) in pieces {
            trial.tried += 1;
            match reader.read(piece) {
                Ok(entry) => {
                    trial.read += 1;
                    entry.into_iter().for_each(|entry| trial.note(&entry));
                }
                Err(wrong) if trial.first_wrong.is_none() => {
                    trial.first_wrong = Some((number, piece, wrong));
                }
                Err(_) => {}
            }
            if trial.requests == REQUESTS_TRIED {
                break;
            }
        }
        trial.remark = reader.remark();
        trial
    }

    fn note(&mut self, entry: &crate::formats::Entry) {
        self.requests += 1;
        self.widened += usize::from(entry.widened);
        let (lba, sectors) = entry.extent;
        let large = sectors.is_multiple_of(512) && entry.op != Op::Flush;
        self.large += usize::from(large);
        self.coarse += usize::from(large && lba.is_multiple_of(512));
        self.earliest = self.earliest.min(entry.stamp);
        self.latest = self.latest.max(entry.stamp);
    }

    /// Returns the share of plausible lines, then the share of lines that parse, both in
    /// thousandths.
    ///
    /// Requests in bytes usually cover whole sectors. If all requests in sectors are multiples of
    /// 512, the numbers are probably bytes.
    pub(crate) fn score(&self) -> (usize, usize) {
        if !self.tells() {
            return (0, 0);
        }
        let bytes_for_sectors = self.requests > 1 && self.coarse == self.requests;
        let doubtful = if bytes_for_sectors { self.requests } else { self.widened };
        self.score_but(doubtful)
    }

    /// Returns whether a file of this format could equally well be the other format. Multiples of
    /// 512 make bytes likelier than sectors, but exclude nothing. Bytes that begin within a sector
    /// exclude nothing either, as long as sizes are whole sectors.
    pub(crate) fn could_be(&self, other: &Trial<'_>) -> bool {
        let may_be_bytes = self.requests > 0 && self.large == self.requests;
        let score = self.score();
        [other.score(), other.score_of_large_requests()].contains(&score)
            || (may_be_bytes && other.tells() && other.score().1 == score.1)
    }

    /// Returns the score without doubt about sectors in multiples of 512.
    fn score_of_large_requests(&self) -> (usize, usize) {
        if self.tells() { self.score_but(self.widened) } else { (0, 0) }
    }

    fn score_but(&self, doubtful: usize) -> (usize, usize) {
        ((self.read - doubtful) * 1000 / self.tried, self.read * 1000 / self.tried)
    }

    /// Returns whether the lines identify the format: some hold a request, or an event in the
    /// format's own form.
    fn tells(&self) -> bool {
        self.requests > 0 || (self.format.about().events && self.read > 0)
    }

    /// Returns whether the file holds only the header of our own CSV. Other readers skip many other
    /// lines.
    pub(crate) fn is_header_alone(&self) -> bool {
        let own = self.format == Format::Ssdlab && self.requests == 0;
        own && self.read > 0 && self.read == self.tried
    }

    /// Returns whether at least half of the lines parse.
    pub(crate) fn fits(&self) -> bool {
        self.tells() && self.read * 2 >= self.tried
    }

    /// Returns how near the format comes, in hundredths: the share of columns before the error in
    /// the first wrong line.
    pub(crate) fn nearness(&self) -> usize {
        let between = |c: char| matches!(c, ',' | ';' | ' ');
        let columns = self.format.columns().split(between).count();
        let of_text = matches!(self.format.about().framing, Framing::Lines);
        match &self.first_wrong {
            Some((_, _, wrong)) if of_text => (wrong.before.min(columns) * 100) / columns,
            _ => 0,
        }
    }
}

/// Returns the first complete lines that are not blank or comments, with their numbers.
pub(crate) fn first_lines(start: &[u8], whole: bool) -> Vec<(u64, &[u8])> {
    let mut pieces = start.split(|byte| *byte == b'\n').peekable();
    let mut lines = Vec::new();
    let mut number = 0;
    while let Some(piece) = pieces.next() {
        number += 1;
        // Text after the last line end is a line only if the file ends there.
        let cut_off = pieces.peek().is_none() && (!whole || piece.is_empty());
        let line = trim(piece, number);
        if lines.len() == LINES_TRIED || cut_off {
            break;
        }
        if !is_idle(line) {
            lines.push((number, line));
        }
    }
    lines
}
