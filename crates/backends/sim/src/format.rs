//! Fields that reformat typed text.

/// Formats a text as a field with this format does; an unknown format changes nothing.
pub(crate) fn format_value(format: &str, text: &str) -> String {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    match format {
        "phone" => {
            let d = &digits[..digits.len().min(10)];
            match d.len() {
                0 => String::new(),
                1..=3 => format!("({d}"),
                4..=6 => format!("({}) {}", &d[..3], &d[3..]),
                _ => format!("({}) {}-{}", &d[..3], &d[3..6], &d[6..]),
            }
        }
        "card" => {
            let d = &digits.as_bytes()[..digits.len().min(16)];
            d.chunks(4).map(String::from_utf8_lossy).collect::<Vec<_>>().join(" ")
        }
        "digits" => digits,
        "upper" => text.to_uppercase(),
        "trim" => text.trim().to_owned(),
        // A field that silently truncates its text.
        "short" => text.chars().take(8).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_write_digits_in_their_groups() {
        assert_eq!(format_value("phone", "5551234567"), "(555) 123-4567");
        assert_eq!(format_value("phone", "555 12"), "(555) 12");
        assert_eq!(format_value("card", "4111 1111-11111111"), "4111 1111 1111 1111");
        assert_eq!(format_value("short", "123456789"), "12345678");
        assert_eq!(format_value("digits", "a1b2"), "12");
    }
}
