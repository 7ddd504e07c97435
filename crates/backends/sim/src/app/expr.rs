//! Expressions: `r.qty + 1`, `count(cart, it.qty > 0) == 0`, `'Cart ({count(cart)})'`.

use super::lex::{Lexer, Token};
use super::value::Value;
use std::ops::RangeInclusive;

/// An expression that was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expr {
    /// A constant.
    Value(Value),
    /// Text of several pieces.
    Text(Vec<Expr>),
    /// A variable; of `count`, `sum` and `first` a list.
    Var(String),
    /// A field of the record that a loop variable stands for.
    Field(String, String),
    /// `a op b`, `not a`, `name(a, b)`
    Call(Function, Vec<Expr>),
}

words! {
    /// Operators and what can be called.
    Function {
        Or = "or",
        And = "and",
        Equal = "==",
        Unequal = "!=",
        Less = "<",
        AtMost = "<=",
        More = ">",
        AtLeast = ">=",
        Contains = "~",
        Plus = "+",
        Minus = "-",
        Times = "*",
        Over = "/",
        Modulo = "%",
        Not = "not",
        /// `count(list)`, `count(list, it.x)`
        Count = "count",
        /// `sum(list, it.x)`
        Sum = "sum",
        /// `first(list, it.x)`: of the first record for which it holds, its id.
        First = "first",
        /// `if(condition, a, b)`
        If = "if",
        /// `pick(n, a, b, ...)`: round and round
        Pick = "pick",
        /// `money(cents)`: `12.50`
        Money = "money",
        /// `clock()`: `12:00:07`
        Clock = "clock",
        /// `ago(seconds)`: `2 min ago`
        Ago = "ago",
        /// `seconds()` since the app was opened
        Seconds = "seconds",
        Lower = "lower",
    }
}

impl Function {
    /// How tightly an operator binds; `None` for what stands before its arguments.
    fn strength(self) -> Option<u8> {
        Some(match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Equal
            | Self::Unequal
            | Self::Less
            | Self::AtMost
            | Self::More
            | Self::AtLeast
            | Self::Contains => 3,
            Self::Plus | Self::Minus => 4,
            Self::Times | Self::Over | Self::Modulo => 5,
            _ => return None,
        })
    }

    /// How many arguments stand in its brackets; `None` for operators, which have none.
    fn arguments(self) -> Option<RangeInclusive<usize>> {
        match self {
            Self::Clock | Self::Seconds => Some(0..=0),
            Self::Money | Self::Ago | Self::Lower => Some(1..=1),
            Self::Count => Some(1..=2),
            Self::Sum | Self::First => Some(2..=2),
            Self::If => Some(3..=3),
            Self::Pick => Some(2..=usize::MAX),
            _ => None,
        }
    }
}

impl Expr {
    /// Reads a whole source as one expression.
    pub(crate) fn parse(source: &str) -> Result<Self, String> {
        let mut lexer = Lexer::new(source);
        let expr = Self::read(&mut lexer)?;
        lexer.end()?;
        Ok(expr)
    }

    /// Reads the inside of a quoted text.
    pub(crate) fn template(source: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = source;
        while let Some(open) = rest.find('{') {
            let close =
                closing(&rest[open..]).ok_or_else(|| format!("`{{` in `{source}` has no end"))? + open;
            if open > 0 {
                parts.push(Self::Value(Value::text(&rest[..open])));
            }
            parts.push(Self::parse(&rest[open + 1..close])?);
            rest = &rest[close + 1..];
        }
        if parts.is_empty() {
            return Ok(Self::Value(Value::text(rest)));
        }
        if !rest.is_empty() {
            parts.push(Self::Value(Value::text(rest)));
        }
        Ok(Self::Text(parts))
    }

    /// Reads as much as belongs to one expression.
    pub(crate) fn read(lexer: &mut Lexer<'_>) -> Result<Self, String> {
        Self::level(lexer, 0)
    }

    /// Reads what can be written to: `query`, `item.qty`.
    pub(crate) fn place(lexer: &mut Lexer<'_>) -> Result<Self, String> {
        let name = lexer.word()?.to_owned();
        Ok(if lexer.take(".")? { Self::Field(name, lexer.word()?.into()) } else { Self::Var(name) })
    }

    fn level(lexer: &mut Lexer<'_>, min: u8) -> Result<Self, String> {
        let mut left = Self::unary(lexer)?;
        while let Token::Op(word) | Token::Word(word) = lexer.peek()?
            && let Some(operator) = Function::named(word)
            && let Some(strength) = operator.strength().filter(|strength| *strength >= min)
        {
            lexer.next()?;
            let right = Self::level(lexer, strength + 1)?;
            left = Self::Call(operator, vec![left, right]);
        }
        Ok(left)
    }

    fn unary(lexer: &mut Lexer<'_>) -> Result<Self, String> {
        if lexer.take("not")? {
            return Ok(Self::Call(Function::Not, vec![Self::level(lexer, 3)?]));
        }
        if lexer.take("-")? {
            let zero = Self::Value(Value::Int(0));
            return Ok(Self::Call(Function::Minus, vec![zero, Self::unary(lexer)?]));
        }
        let before = lexer.rest();
        match lexer.next()? {
            Token::Int(n) => Ok(Self::Value(Value::Int(n))),
            Token::Text(t) => Self::template(t),
            Token::Op("(") => {
                let inner = Self::read(lexer)?;
                lexer.expect(")")?;
                Ok(inner)
            }
            Token::Word("true") => Ok(Self::Value(Value::Bool(true))),
            Token::Word("false") => Ok(Self::Value(Value::Bool(false))),
            Token::Word(name) => Self::name(lexer, name),
            _ => Err(format!("an expression is missing before `{before}`")),
        }
    }

    fn name(lexer: &mut Lexer<'_>, name: &str) -> Result<Self, String> {
        if lexer.take(".")? {
            return Ok(Self::Field(name.into(), lexer.word()?.into()));
        }
        if !lexer.take("(")? {
            return Ok(Self::Var(name.into()));
        }
        let function = Function::named(name).and_then(|function| Some((function, function.arguments()?)));
        let (function, arguments) = function.ok_or_else(|| format!("`{name}` is no function"))?;
        let mut args = Vec::new();
        while !lexer.take(")")? {
            if !args.is_empty() {
                lexer.expect(",")?;
            }
            args.push(Self::read(lexer)?);
        }
        if !arguments.contains(&args.len()) {
            return Err(format!("`{name}` does not take {} arguments", args.len()));
        }
        Ok(Self::Call(function, args))
    }
}

/// Where the brace that `s` begins with is closed.
fn closing(s: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in s.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_bind_tighter_than_sums_and_comparisons() {
        assert_eq!(Expr::parse("a + 2 * 3 == b"), Expr::parse("(a + (2 * 3)) == b"));
        assert_eq!(Expr::parse("not a == b and c"), Expr::parse("(not (a == b)) and c"));
        assert_eq!(Expr::parse("a - b - c"), Expr::parse("(a - b) - c"));
    }

    #[test]
    fn mistakes_are_named() {
        for (source, part) in [
            ("a +", "missing"),
            ("f(x)", "no function"),
            ("sum(x)", "arguments"),
            ("'{a'", "no end"),
            ("a b", "`b`"),
        ] {
            let error = Expr::parse(source).unwrap_err();
            assert!(error.contains(part), "{source}: {error}");
        }
    }
}
