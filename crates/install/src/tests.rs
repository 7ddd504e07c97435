//! Installations on simulated machines, which are folders of a test.

mod claude;
mod configs;
mod first_run;
mod interrupted;
mod machine;
mod skills;
