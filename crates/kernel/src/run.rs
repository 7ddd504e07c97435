//! One command, from its checkout to its response.

pub(crate) mod arguments;
pub(crate) mod authority;
pub(crate) mod execute;
pub(crate) mod respond;
