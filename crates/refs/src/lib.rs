//! The grammar of refs and pins: parse, format, strip.
