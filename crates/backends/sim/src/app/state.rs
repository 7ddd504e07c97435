//! The data of a running app: variables, lists of records, clock.

use super::eval::Binding;
use super::expr::Expr;
use super::model::App;
use super::value::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// A record of a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    /// A unique number that is never reused. Tests use it as the ground truth.
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
    /// Creates the initial state of an app.
    pub(crate) fn new(app: &App) -> Self {
        let mut state = Self { vars: app.state.clone(), next_uid: 1, ..Self::default() };
        state.vars.extend(app.page.clone());
        for (name, records) in &app.lists {
            let records = records.iter().map(|fields| state.record(fields.clone())).collect();
            state.lists.insert(name.clone(), records);
        }
        state
    }

    /// Creates a record with a unique number.
    pub(crate) fn record(&mut self, fields: Vec<(Arc<str>, Value)>) -> Record {
        let uid = self.next_uid;
        self.next_uid += 1;
        Record { uid, fields }
    }

    /// Returns the current position of a bound record; `None` if it was removed.
    pub(crate) fn position(&self, bound: &Binding) -> Option<usize> {
        let records = self.lists.get(&*bound.list)?;
        if records.get(bound.at).is_some_and(|r| r.uid == bound.uid) {
            return Some(bound.at);
        }
        records.iter().position(|r| r.uid == bound.uid)
    }

    /// Writes a variable, or a field of the record that a loop variable is bound to. Does nothing
    /// if the record was removed.
    pub(crate) fn write(&mut self, place: &Expr, env: &[Binding], value: Value) {
        match place {
            Expr::Var(name) => {
                self.vars.insert(name.clone(), value);
            }
            Expr::Field(var, field) => {
                let bound = env.iter().rev().find(|bound| *bound.name == **var);
                if let Some(record) = bound.and_then(|bound| self.record_mut(bound)) {
                    record.set(field, value);
                }
            }
            _ => {}
        }
    }

    fn record_mut(&mut self, bound: &Binding) -> Option<&mut Record> {
        let at = self.position(bound)?;
        self.lists.get_mut(&*bound.list)?.get_mut(at)
    }
}
