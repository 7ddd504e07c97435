//! Frames between a front end and a daemon, and the client that finds or starts one.
