//! Observing the app: captures, resolution of targets, predicates, waits.

pub(crate) mod capture;
pub(crate) mod changes;
pub(crate) mod navigation;
pub(crate) mod notices;
pub(crate) mod predicate;
pub(crate) mod receipt;
pub(crate) mod resolve;
pub(crate) mod traffic;
pub(crate) mod waiting;
