//! Installations on simulated machines, which are folders that a test creates.

mod claude;
mod configs;
mod first_run;
mod interrupted;
mod machine;
mod skills;
