//! Ref numbers, reserved in blocks before they are used.
//!
//! Numbers continue across the lifetimes of a session name, so a ref from before a crash counts as
//! *never issued* and does not name another element. A block is reserved before its first number is
//! issued; the daemon records the reservation on disk. A clean close returns the unused numbers;
//! after a crash, the rest of the block is skipped.

use std::fmt;
use std::ops::Range;
use stickpin_refs::Ref;

/// The number of ref numbers in a block.
pub const BLOCK: u32 = 256;

/// Rounds a count of numbers up to a multiple of [`BLOCK`], and 0 up to one block. `None` on
/// overflow.
#[must_use]
pub fn block(least: u32) -> Option<u32> {
    least.max(1).checked_next_multiple_of(BLOCK)
}

/// A source of numbers for one session name. No number is issued in two lifetimes of the name,
/// unless the source forgot the name because it was not used for a long time.
pub trait NumberSource: fmt::Debug + Send {
    /// Reserves at least `least` consecutive numbers: whole [blocks](block), or numbers that an
    /// earlier lifetime gave back. The reservation must survive a crash once this function returns.
    ///
    /// # Errors
    /// Returns an error when the reservation cannot be recorded or too few numbers are left.
    fn reserve(&mut self, least: u32) -> Result<Range<u32>, NumberError>;

    /// Gives back `next_unused` and all later numbers, which were never issued. Called at most
    /// once, at a clean close.
    fn give_back(&mut self, next_unused: u32);
}

/// Why no numbers could be reserved. Nothing was issued.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberError {
    /// Too few numbers are left for this session name.
    #[error("too few ref numbers are left for this session name")]
    Exhausted,
    /// The reservation could not be recorded.
    #[error("ref numbers could not be reserved: {message}")]
    Storage {
        /// The storage error, with the path.
        message: String,
        /// Whether the disk is full or its quota is used up.
        full: bool,
    },
}

/// A source that forgets its numbers when the process ends. For embedding the kernel without a
/// state directory, and for tests.
#[derive(Debug, Clone)]
pub struct InMemoryNumbers {
    next: u32,
}

impl InMemoryNumbers {
    /// Creates a source that starts at 1.
    #[must_use]
    pub fn new() -> Self {
        Self::starting_at(1)
    }

    /// Creates a source that starts at `next`, or at 1 if `next` is 0.
    #[must_use]
    pub fn starting_at(next: u32) -> Self {
        Self { next: next.max(1) }
    }
}

impl Default for InMemoryNumbers {
    fn default() -> Self {
        Self::new()
    }
}

impl NumberSource for InMemoryNumbers {
    fn reserve(&mut self, least: u32) -> Result<Range<u32>, NumberError> {
        let first = self.next;
        self.next = block(least).and_then(|count| first.checked_add(count)).ok_or(NumberError::Exhausted)?;
        Ok(first..self.next)
    }

    fn give_back(&mut self, next_unused: u32) {
        self.next = next_unused;
    }
}

/// The numbers of one lifetime: reserved and issued ones.
#[derive(Debug)]
pub(crate) struct Numbers {
    source: Box<dyn NumberSource>,
    /// Reserved numbers that are not issued yet, in order of issue.
    free: Vec<Range<u32>>,
    /// Issued numbers, in as few ranges as possible.
    minted: Vec<Range<u32>>,
}

impl Numbers {
    pub(crate) fn new(source: Box<dyn NumberSource>) -> Self {
        Self { source, free: Vec::new(), minted: Vec::new() }
    }

    /// Ensures that the next `count` calls of [`Numbers::mint`] succeed, so that a response gets
    /// either all of its numbers or none.
    pub(crate) fn ensure(&mut self, count: usize) -> Result<(), NumberError> {
        let count = u32::try_from(count).map_err(|_| NumberError::Exhausted)?;
        let have: u32 = self.free.iter().map(|r| r.end - r.start).sum();
        let Some(missing) = count.checked_sub(have).filter(|&m| m > 0) else { return Ok(()) };
        let more = self.source.reserve(missing)?;
        // Guards against a source that reserves the number 0 or too few numbers.
        if more.start == 0 || more.len() < missing as usize {
            return Err(NumberError::Exhausted);
        }
        match self.free.last_mut() {
            Some(last) if last.end == more.start => last.end = more.end,
            _ => self.free.push(more),
        }
        Ok(())
    }

    /// Returns the next number, or `None` if it was not [ensured](Numbers::ensure).
    pub(crate) fn mint(&mut self) -> Option<Ref> {
        let range = self.free.first_mut()?;
        let number = range.next()?;
        if range.start == range.end {
            self.free.remove(0);
        }
        match self.minted.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => self.minted.push(number..number + 1),
        }
        Ref::new(number)
    }

    pub(crate) fn was_minted(&self, r#ref: Ref) -> bool {
        self.minted.iter().any(|r| r.contains(&r#ref.get()))
    }

    /// Returns the last range of unissued numbers to the source, and drops the other ranges.
    pub(crate) fn close(&mut self) {
        if let Some(last) = self.free.pop() {
            self.source.give_back(last.start);
        }
        self.free.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Debug, Clone, Default)]
    struct Recorded(Arc<Mutex<(u32, Vec<String>)>>);

    impl NumberSource for Recorded {
        fn reserve(&mut self, least: u32) -> Result<Range<u32>, NumberError> {
            let mut s = self.0.lock().unwrap();
            let first = s.0 + 1;
            s.0 += block(least).unwrap();
            s.1.push(format!("reserve {least}"));
            Ok(first..s.0 + 1)
        }
        fn give_back(&mut self, next_unused: u32) {
            self.0.lock().unwrap().1.push(format!("give back {next_unused}"));
        }
    }

    #[test]
    fn numbers_are_reserved_in_blocks_and_unused_ones_returned() {
        let source = Recorded::default();
        let mut numbers = Numbers::new(Box::new(source.clone()));
        numbers.ensure(3).unwrap();
        let got: Vec<u32> = (0..3).map(|_| numbers.mint().unwrap().get()).collect();
        assert_eq!(got, [1, 2, 3]);
        numbers.ensure(300).unwrap();
        let more: Vec<u32> = (0..300).map(|_| numbers.mint().unwrap().get()).collect();
        assert_eq!(more, (4..304).collect::<Vec<_>>());
        assert!(numbers.was_minted(Ref::new(303).unwrap()) && !numbers.was_minted(Ref::new(304).unwrap()));
        numbers.close();
        assert_eq!(source.0.lock().unwrap().1, ["reserve 3", "reserve 47", "give back 304"]);
    }

    #[test]
    fn last_numbers_are_used_without_wrapping() {
        let mut numbers = Numbers::new(Box::new(InMemoryNumbers::starting_at(u32::MAX - 300)));
        numbers.ensure(200).unwrap();
        for _ in 0..200 {
            numbers.mint().unwrap();
        }
        assert_eq!(numbers.ensure(200), Err(NumberError::Exhausted));
        assert_eq!(numbers.mint().unwrap().get(), u32::MAX - 100);
    }
}
