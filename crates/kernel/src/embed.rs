//! The kernel as a library: sessions as handles, commands as values.

pub(crate) mod answer;
pub(crate) mod call;
pub(crate) mod page;
pub(crate) mod session;
