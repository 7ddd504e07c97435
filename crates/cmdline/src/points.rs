//! Joins two bare numbers in the position of a target into a point: `press 120 340` becomes `press
//! 120,340`. A pure pass before the grammar sees the words.

use stickpin_kernel::schema::{Field, Kind};

/// Joins the two numbers of a point into one word. Option values, and words that are not in the
/// position of a target, are unchanged.
pub(crate) fn join_points(
    fields: &[Field],
    args: Vec<String>,
    takes_value: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut positionals: Vec<&Field> = fields.iter().filter(|f| f.positional.is_some()).collect();
    positionals.sort_by_key(|f| f.positional);
    let is_target = |place: usize| positionals.get(place).is_some_and(|f| f.kind == Kind::Target);

    let mut out = Vec::with_capacity(args.len());
    let mut args = args.into_iter().peekable();
    let (mut place, mut only_values) = (0, false);
    while let Some(arg) = args.next() {
        if !only_values && arg == "--" {
            only_values = true;
            out.push(arg);
        } else if !only_values && arg.starts_with('-') && arg.len() > 1 {
            let value = if takes_value(&arg) { args.next() } else { None };
            out.push(arg);
            out.extend(value);
        } else {
            let second = args.next_if(|next| is_target(place) && is_number(&arg) && is_number(next));
            place += 1;
            out.push(match second {
                Some(second) => format!("{arg},{second}"),
                None => arg,
            });
        }
    }
    out
}

/// Returns whether the text consists of digits with at most one decimal point between them, without
/// a sign or an exponent.
fn is_number(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    digits(whole) && digits(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(positional: Option<usize>, kind: Kind) -> Field {
        Field {
            name: "f".into(),
            doc: String::new(),
            kind,
            required: true,
            positional,
            trailing: false,
            short: None,
            optional_value: false,
            is_free_text: false,
            reads_stdin: false,
            is_path: false,
            is_output_path: false,
            is_openable: false,
            is_secret_name: false,
            unrecorded: false,
            nested_targets: None,
            placeholder: "F".into(),
            default: None,
        }
    }

    fn joined(kinds: &[Kind], line: &str) -> String {
        let fields: Vec<_> = kinds.iter().enumerate().map(|(i, k)| field(Some(i), k.clone())).collect();
        let args = line.split(' ').map(str::to_owned).collect();
        join_points(&fields, args, |option| option == "--count").join(" ")
    }

    #[test]
    fn point_numbers_join_only_in_target_position() {
        let (target, number, text) = (Kind::Target, Kind::Integer, Kind::String);
        for (kinds, line, expected) in [
            (vec![target.clone()], "120 340", "120,340"),
            (vec![target.clone()], "12.5 0.25", "12.5,0.25"),
            (vec![target.clone()], "--count 2 120 340", "--count 2 120,340"),
            (vec![target.clone()], "120 --settle 340", "120 --settle 340"),
            (vec![target.clone()], "-- 1 2", "-- 1,2"),
            (vec![target.clone(), number.clone()], "1 2 800", "1,2 800"),
            (vec![target.clone(), number], "@e3 1 800", "@e3 1 800"),
            (vec![target.clone(), target.clone()], "1 2 3 4", "1,2 3,4"),
            (vec![target.clone(), target.clone()], "@e1 3 4", "@e1 3,4"),
            (vec![target.clone(), text.clone()], "@e1 3 4", "@e1 3 4"),
            (vec![text, target], "1 2 3", "1 2,3"),
            (vec![], "1 2", "1 2"),
        ] {
            assert_eq!(joined(&kinds, line), expected, "{line}");
        }
    }

    #[test]
    fn only_digits_are_numbers() {
        for text in ["0", "10", "3.25"] {
            assert!(is_number(text), "{text}");
        }
        for text in ["", ".", "1.", ".5", "-1", "1e3", "1,2", "1.2.3", "x"] {
            assert!(!is_number(text), "{text}");
        }
    }
}
