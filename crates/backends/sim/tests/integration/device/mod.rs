//! The device below the kernel: every effect of the app language, every fault, every identity
//! grade.

mod apps;
mod common;
mod effects;
mod guard;
mod identity;
mod input;
mod signin;
mod staleness;
