//! The state of one session: lifetime, generations, the ref table, standing.
