//! Which of the mutants is on. Becomes a module of the lowest of the crates whose mutants are
//! tried.

use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};

/// More than there are mutants.
const MOST: usize = 1 << 16;

enum Mode {
    /// The mutant of this number, or none.
    One(Option<u32>),
    /// None; those that are reached are written to a file, each once.
    Note(Box<[AtomicBool]>, Mutex<File>),
}

static MODE: LazyLock<Mode> = LazyLock::new(|| {
    let number = std::env::var("MUTANT").ok().map(|text| text.parse().expect("a number"));
    std::env::var_os("MUTANTS_REACHED").map_or(Mode::One(number), |path| {
        let seen = (0..MOST).map(|_| AtomicBool::new(false)).collect();
        Mode::Note(seen, Mutex::new(File::create(path).expect("a file to write")))
    })
});

/// Whether a mutant is on.
#[inline]
pub fn on(mutant: u32) -> bool {
    match &*MODE {
        Mode::One(number) => *number == Some(mutant),
        Mode::Note(seen, file) => {
            let seen = &seen[mutant as usize];
            if !seen.load(Ordering::Relaxed) && !seen.swap(true, Ordering::Relaxed) {
                let mut file = file.lock().expect("no panic while it is held");
                writeln!(file, "{mutant}").expect("room on the disk");
            }
            false
        }
    }
}

/// One of two iterators: what a function that returns `impl Iterator` needs.
#[derive(Clone)]
pub enum Either<A, B> {
    Mutant(A),
    Code(B),
}

/// The mutant's iterator where it is on, and the code's where it is not.
pub fn either<A: Iterator, B: Iterator<Item = A::Item>>(
    mutant: u32,
    changed: impl FnOnce() -> A,
    code: impl FnOnce() -> B,
) -> Either<A, B> {
    if on(mutant) { Either::Mutant(changed()) } else { Either::Code(code()) }
}

impl<A: Iterator, B: Iterator<Item = A::Item>> Iterator for Either<A, B> {
    type Item = A::Item;

    fn next(&mut self) -> Option<A::Item> {
        match self {
            Either::Mutant(items) => items.next(),
            Either::Code(items) => items.next(),
        }
    }
}
