//! From words to a command of the registry with its input.

use crate::options::{self, Options};
use crate::words::{self, Leaf, Never};
use crate::{errors, grammar, points};
use clap::error::ErrorKind;
use serde_json::{Map, Value};
use stickpin_kernel::registry::{Entry, Form};
use stickpin_kernel::{Error, ErrorCode, Result, schema};

/// A command line that was read.
#[derive(Debug, Clone)]
pub struct Line {
    /// The command.
    pub entry: &'static Entry,
    /// Its input by field name, not checked yet.
    pub input: Map<String, Value>,
    /// What the options of every command were set to.
    pub options: Options,
}

impl Line {
    /// Whether the input is what the command takes.
    ///
    /// # Errors
    /// `INVALID_ARGS` that names the argument.
    pub fn check(&self) -> Result<()> {
        schema::check(self.entry.spec.name, self.entry.fields(), &self.input)
    }
}

/// What the arguments of a command asked for.
#[derive(Debug)]
pub enum Reading {
    /// To run it.
    Line(Line),
    /// `-h` or `--help`: the text.
    Help(String),
}

/// Reads the arguments of one command, its name left out.
///
/// # Errors
/// `INVALID_ARGS` with the usage as its hint.
pub fn read(entry: &'static Entry, args: Vec<String>) -> Result<Reading> {
    Ok(match read_form(entry, args)? {
        Formed::Input(input, options) => Reading::Line(Line { entry, input, options }),
        Formed::Help(text) => Reading::Help(text),
    })
}

/// What the arguments of a command that has a form, but need not be of the registry, asked for.
#[derive(Debug)]
pub enum Formed {
    /// To run it with this input, not checked yet.
    Input(Map<String, Value>, Options),
    /// `-h` or `--help`: the text.
    Help(String),
}

/// Reads the arguments of a command by its form, its name left out.
///
/// # Errors
/// `INVALID_ARGS` with the usage as its hint.
pub fn read_form(form: &Form, args: Vec<String>) -> Result<Formed> {
    let mut command = grammar::leaf(form);
    let args = points::join(form.fields(), args, |option| grammar::takes_value(&command, option));
    let matches = match command.try_get_matches_from_mut(args) {
        Ok(matches) => matches,
        Err(e) if e.kind() == ErrorKind::DisplayHelp => return Ok(Formed::Help(e.to_string())),
        Err(e) => return Err(errors::invalid_args(&e, &mut command)),
    };
    Ok(Formed::Input(grammar::input(form.fields(), &matches), options::read(&matches)?))
}

/// Reads a whole line, the program's name left out, and checks it: a command of the registry, not help.
///
/// # Errors
/// `INVALID_ARGS`.
pub fn parse(args: &[String]) -> Result<Line> {
    let Some(picked) = words::pick::<Never>(args, &[])? else {
        return Err(Error::new(ErrorCode::InvalidArgs, "there is no command in this line")
            .hint("stickpin help lists the commands"));
    };
    let entry = match picked.leaf {
        Leaf::Registry(entry) => entry,
        Leaf::Own(never) => match *never {},
    };
    match read(entry, picked.args)? {
        Reading::Line(line) => line.check().map(|()| line),
        Reading::Help(_) => Err(Error::new(
            ErrorCode::InvalidArgs,
            format!("`{}` with `--help` is nothing to run", entry.spec.name),
        )
        .hint(format!("stickpin help {}", entry.spec.name))),
    }
}
