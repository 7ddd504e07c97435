//! Scripts that are too large are refused before they are read.

use std::path::Path;
use std::time::{Duration, Instant};
use stickpin_replay::formats;

#[test]
fn hundred_megabytes_are_refused_at_once() {
    let text = "press id=a\n".repeat(10_000_000);
    for name in ["flow.ad", "flow.yaml"] {
        let begun = Instant::now();
        let refused = formats::parse(Path::new(name), &text).unwrap_err();
        assert!(refused.message.contains("more than"), "{refused}");
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    }
}
