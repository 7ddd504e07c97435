//! One command from its turn to its answer.

pub(crate) mod execute;
pub(crate) mod respond;
