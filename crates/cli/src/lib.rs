//! The command line: a projection of the registry, output, exit codes.
