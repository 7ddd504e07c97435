//! The commands as types. Each module contains one command or a few related ones, with the structs
//! of their arguments and outputs.
//!
//! [`Session::run`](crate::Session::run) runs a command of any of these types.

pub(crate) mod act;
pub(crate) mod coordinate;
pub(crate) mod navigate;
pub(crate) mod prelude;
pub(crate) mod read;
pub(crate) mod session;
pub(crate) mod wait;

pub use crate::act::outcome::ActionOutput;
pub use crate::observe::changes::Changes;
pub use crate::observe::navigation::Quiet;
pub use act::*;
pub use coordinate::*;
pub use navigate::*;
pub use read::*;
pub use session::*;
pub use wait::*;
