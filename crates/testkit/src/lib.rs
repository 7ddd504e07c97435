//! Scenario files, harness and surfaces for tests.
