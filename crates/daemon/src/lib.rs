//! A socket in front of a host: state dir, idle exit, repair after a crash.
