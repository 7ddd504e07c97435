//! The data of a running app: variables, lists of records, clock.

use super::eval::Bound;
use super::model::App;
use super::value::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// One record of a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    /// Its own number, which no other record ever has: the truth that tests compare with.
    pub(crate) uid: u64,
    fields: Vec<(Arc<str>, Value)>,
}

impl Record {
    pub(crate) fn get(&self, field: &str) -> Value {
        self.fields.iter().find(|(name, _)| &**name == field).map(|(_, v)| v.clone()).unwrap_or_default()
    }

    pub(crate) fn set(&mut self, field: &str, value: Value) {
        match self.fields.iter_mut().find(|(name, _)| &**name == field) {
            Some((_, old)) => *old = value,
            None => self.fields.push((field.into(), value)),
        }
    }
}

/// Variables, lists and the time since the app was opened.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) vars: HashMap<String, Value>,
    pub(crate) lists: HashMap<String, Vec<Record>>,
    pub(crate) now_ms: u64,
    next_uid: u64,
}

impl State {
    /// The state that an app starts with.
    pub(crate) fn new(app: &App) -> Self {
        let mut state = Self { vars: app.state.clone(), next_uid: 1, ..Self::default() };
        state.vars.extend(app.page.clone());
        for (name, records) in &app.lists {
            let records = records.iter().map(|fields| state.record(fields.clone())).collect();
            state.lists.insert(name.clone(), records);
        }
        state
    }

    /// A record with a number of its own.
    pub(crate) fn record(&mut self, fields: Vec<(Arc<str>, Value)>) -> Record {
        let uid = self.next_uid;
        self.next_uid += 1;
        Record { uid, fields }
    }

    /// Where a bound record is now; `None` when it was removed.
    pub(crate) fn position(&self, bound: &Bound) -> Option<usize> {
        let records = self.lists.get(&*bound.list)?;
        if records.get(bound.at).is_some_and(|r| r.uid == bound.uid) {
            return Some(bound.at);
        }
        records.iter().position(|r| r.uid == bound.uid)
    }

    /// Writes a variable, or a field of the record that a loop variable stands for. False when that is gone.
    pub(crate) fn write(&mut self, place: &Place, env: &[Bound], value: Value) -> bool {
        match place {
            Place::Var(name) => {
                self.vars.insert(name.clone(), value);
                true
            }
            Place::Field(var, field) => {
                let Some(bound) = env.iter().rev().find(|b| *b.name == **var) else { return false };
                let Some(at) = self.position(bound) else { return false };
                let Some(record) = self.lists.get_mut(&*bound.list).and_then(|l| l.get_mut(at)) else {
                    return false;
                };
                record.set(field, value);
                true
            }
        }
    }
}

/// What can be written: `query`, `item.qty`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A variable.
    Var(String),
    /// A field of a loop variable's record.
    Field(String, String),
}

impl Place {
    pub(crate) fn parse(source: &str) -> Result<Self, String> {
        let name = |s: &str| !s.is_empty() && s.chars().all(|c| c.is_alphanumeric() || c == '_');
        match source.split_once('.') {
            None if name(source) => Ok(Self::Var(source.into())),
            Some((var, field)) if name(var) && name(field) => Ok(Self::Field(var.into(), field.into())),
            _ => Err(format!("`{source}` names no variable and no field")),
        }
    }
}
