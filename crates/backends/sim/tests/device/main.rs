//! The device below the kernel: every effect of the app language, every fault, every identity grade.

mod common;
mod signin;
mod staleness;
