//! What expressions give in a state.

use super::expr::{Expr, Function, Op, Part};
use super::state::State;
use super::value::Value;
use std::sync::Arc;

/// A record that a loop variable stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound {
    /// The loop variable.
    pub(crate) name: Arc<str>,
    /// Its list.
    pub(crate) list: Arc<str>,
    /// The record's own number, which no other record ever has.
    pub(crate) uid: u64,
    /// Where it was when it was bound; only a hint.
    pub(crate) at: usize,
}

/// The loop variables around an element, outermost first.
pub(crate) type Env = Arc<[Bound]>;

/// A scope with one more variable in it.
pub(crate) fn with(env: &[Bound], bound: Bound) -> Env {
    env.iter().cloned().chain([bound]).collect()
}

/// The value of an expression. Unknown names are found when an app is loaded; what is gone reads as unset.
pub(crate) fn eval(expr: &Expr, state: &State, env: &[Bound]) -> Value {
    match expr {
        Expr::Value(v) => v.clone(),
        Expr::Text(parts) => {
            let mut out = String::new();
            for part in parts {
                match part {
                    Part::Plain(s) => out.push_str(s),
                    Part::Of(e) => out.push_str(&eval(e, state, env).to_string()),
                }
            }
            Value::text(out)
        }
        Expr::Var(name) => state.vars.get(name).cloned().unwrap_or_default(),
        Expr::Field(var, field) => field_of(state, env, var, field),
        Expr::Not(e) => Value::Bool(!eval(e, state, env).truthy()),
        Expr::Minus(e) => Value::Int(-eval(e, state, env).int()),
        Expr::Binary(op, a, b) => binary(*op, a, b, state, env),
        Expr::Call(function, args) => call(*function, args, state, env),
    }
}

fn field_of(state: &State, env: &[Bound], var: &str, field: &str) -> Value {
    let Some(bound) = env.iter().rev().find(|b| &*b.name == var) else { return Value::Null };
    let Some(at) = state.position(bound) else { return Value::Null };
    if field == "index" {
        return Value::Int(i64::try_from(at).unwrap_or(i64::MAX));
    }
    state.lists[&*bound.list][at].get(field)
}

fn binary(op: Op, a: &Expr, b: &Expr, state: &State, env: &[Bound]) -> Value {
    let left = eval(a, state, env);
    match op {
        Op::Or if left.truthy() => return left,
        Op::And if !left.truthy() => return left,
        _ => {}
    }
    let right = eval(b, state, env);
    let number = |f: fn(i64, i64) -> Option<i64>| Value::Int(f(left.int(), right.int()).unwrap_or(0));
    match op {
        Op::Or | Op::And => right,
        Op::Equal => Value::Bool(left.same(&right)),
        Op::Unequal => Value::Bool(!left.same(&right)),
        Op::Less => Value::Bool(left.order(&right).is_lt()),
        Op::AtMost => Value::Bool(left.order(&right).is_le()),
        Op::More => Value::Bool(left.order(&right).is_gt()),
        Op::AtLeast => Value::Bool(left.order(&right).is_ge()),
        Op::Contains => {
            Value::Bool(left.to_string().to_lowercase().contains(&right.to_string().to_lowercase()))
        }
        Op::Plus if matches!((&left, &right), (Value::Str(_), _) | (_, Value::Str(_))) => {
            Value::text(format!("{left}{right}"))
        }
        Op::Plus => number(i64::checked_add),
        Op::Minus => number(i64::checked_sub),
        Op::Times => number(i64::checked_mul),
        Op::Over => number(i64::checked_div),
        Op::Modulo => number(i64::checked_rem_euclid),
    }
}

/// The records of the list that `args[0]` names for which `args[1]` holds, in a scope where `it` is the record.
fn matching<'a>(
    args: &'a [Expr],
    state: &'a State,
    env: &'a [Bound],
) -> impl Iterator<Item = (usize, Env)> + 'a {
    let list = match &args[0] {
        Expr::Var(name) => name.as_str(),
        _ => "",
    };
    state.lists.get(list).into_iter().flatten().enumerate().map(move |(at, record)| {
        (at, with(env, Bound { name: "it".into(), list: list.into(), uid: record.uid, at }))
    })
}

fn call(function: Function, args: &[Expr], state: &State, env: &[Bound]) -> Value {
    let arg = |i: usize| eval(&args[i], state, env);
    let length = |n: usize| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    match function {
        Function::Count if args.len() == 1 => match &args[0] {
            Expr::Var(name) => length(state.lists.get(name).map_or(0, Vec::len)),
            _ => Value::Int(0),
        },
        Function::Count => {
            length(matching(args, state, env).filter(|(_, e)| eval(&args[1], state, e).truthy()).count())
        }
        Function::Sum => {
            Value::Int(matching(args, state, env).map(|(_, e)| eval(&args[1], state, &e).int()).sum())
        }
        Function::First => matching(args, state, env)
            .find(|(_, e)| eval(&args[1], state, e).truthy())
            .map(|(_, e)| field_of(state, &e, "it", "id"))
            .unwrap_or_default(),
        Function::If => arg(if arg(0).truthy() { 1 } else { 2 }),
        Function::Pick => {
            let choices = i64::try_from(args.len() - 1).unwrap_or(1);
            arg(1 + usize::try_from(arg(0).int().rem_euclid(choices)).unwrap_or(0))
        }
        Function::Money => {
            let cents = arg(0).int();
            Value::text(format!("{}.{:02}", cents / 100, (cents % 100).abs()))
        }
        Function::Clock => {
            // Noon when the app was opened, so that a picture of it is the same every day.
            let s = 12 * 3600 + state.now_ms / 1000;
            Value::text(format!("{:02}:{:02}:{:02}", s / 3600 % 24, s / 60 % 60, s % 60))
        }
        Function::Ago => {
            let s = arg(0).int().max(0);
            Value::text(match s {
                0..60 => "just now".to_owned(),
                60..3600 => format!("{} min ago", s / 60),
                _ => format!("{} h ago", s / 3600),
            })
        }
        Function::Seconds => Value::Int(i64::try_from(state.now_ms / 1000).unwrap_or(i64::MAX)),
        Function::Lower => Value::text(arg(0).to_string().to_lowercase()),
    }
}
