//! State that a device carries from one call of an action to the next.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A device's private note on one call, for the next call of the same action.
///
/// A device that receives an empty ticket, one for another element, or an outdated one queries the
/// app again. Clones share one note, which can be redeemed once. The note is dropped with the last
/// clone.
#[derive(Clone, Default)]
pub struct Ticket(Option<Arc<Mutex<Note>>>);

type Note = Option<Box<dyn Any + Send>>;

impl Ticket {
    /// Creates a ticket with a note.
    #[must_use]
    pub fn new(note: impl Any + Send) -> Self {
        Self(Some(Arc::new(Mutex::new(Some(Box::new(note))))))
    }

    /// Creates a ticket with a note, or an empty ticket.
    #[must_use]
    pub fn from_option(note: Option<impl Any + Send>) -> Self {
        note.map_or_else(Self::default, Self::new)
    }

    /// Takes the note. Returns `None` if the ticket is empty, if the note has been taken before, or
    /// if the note is not a `T`, in which case the note is dropped.
    #[must_use]
    pub fn take<T: Any>(&self) -> Option<T> {
        let note = self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        note.downcast().ok().map(|note| *note)
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Ticket(..)" } else { "Ticket" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_once_and_by_its_own_kind_only() {
        let ticket = Ticket::new(7_u8);
        assert_eq!((ticket.clone().take::<u8>(), ticket.take::<u8>()), (Some(7), None));
        assert_eq!(Ticket::new(7_u8).take::<u16>(), None);
        assert_eq!(Ticket::from_option(None::<u8>).take::<u8>(), None);
    }
}
