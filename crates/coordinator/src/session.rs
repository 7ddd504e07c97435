//! A session while a host is running: its log, the presence of its members, and the agents that are
//! waiting for its turn.

mod aging;
mod authority;
mod commands;
mod commit;
mod context;
mod delivery;
mod events;
mod handoff;
mod lifetime;
mod members;
mod state;
mod talk;
mod turns;
mod wait;

pub(crate) use aging::{age, is_gone};
pub use authority::SessionAuthority;
pub(crate) use authority::{Shared, State};
pub(crate) use commands::drain;
pub use commands::{Admission, NewCommand, Ticket};
pub(crate) use commit::surrendered_by_reboot;
pub use context::{ContextEntry, ContextPage, Conversations};
pub(crate) use delivery::take_back_grant;
pub use events::{EventQuery, Events, EventsOfAll};
pub use lifetime::Closing;
pub(crate) use lifetime::{require_right_to_close, revoke_lifetime};
pub use members::{Joined, Kicked};
pub(crate) use members::{admit_member, end_turn_of};
pub use state::{MemberState, SessionState, TakeoverState, Waiter};
pub use talk::{Delivery, Note, Sent, Talk};
pub(crate) use turns::STORE_EVERY_MS;
pub use turns::{Assigned, Released, TakeOptions};
pub(crate) use wait::end_waits;
pub use wait::{WaitOptions, WaitReply, with_unread};
