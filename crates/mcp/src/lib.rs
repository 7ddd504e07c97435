//! The MCP server.

pub mod pins;
