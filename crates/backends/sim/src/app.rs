//! Apps written as data: the file, the views, the state, and how input changes it.

mod check;
pub(crate) mod dom;
mod element;
pub(crate) mod eval;
pub(crate) mod expr;
mod lex;
pub(crate) mod model;
pub(crate) mod nav;
pub(crate) mod render;
mod run;
pub(crate) mod sim;
pub(crate) mod state;
pub(crate) mod time;
pub(crate) mod value;
pub(crate) mod view;
pub(crate) mod vocabulary;
