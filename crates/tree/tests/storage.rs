//! Measures the memory of a large tree with a counting allocator. This is the only test of its
//! program, because the memory of any other test would be counted as well.

use peak_alloc::PeakAlloc;
use stickpin_tree::testing;

#[global_allocator]
static COUNTING: PeakAlloc = PeakAlloc;

#[test]
fn hundred_thousand_nodes_take_under_40_megabytes() {
    let before = COUNTING.current_usage();
    COUNTING.reset_peak_usage();
    let tree = testing::generate(100_000, 1);
    let held = COUNTING.current_usage() - before;
    let peak = COUNTING.peak_usage() - before;
    assert_eq!(tree.len(), 100_000);

    // The bound assumes names of 24 bytes on average and five states, and so does this tree.
    let bytes: usize = tree.nodes().skip(1).map(|n| n.name().len()).sum();
    assert!((23.0..=25.0).contains(&(bytes as f64 / 99_999.0)), "{bytes} bytes of names");
    assert!(tree.nodes().skip(1).all(|n| n.states().bits().count_ones() == 5));

    assert!(held < 40_000_000, "{held} bytes held");
    assert!(peak < 40_000_000, "{peak} bytes while it was built");
    // The size that the tree reports is its actual size, except for the documents.
    assert!(held.abs_diff(tree.heap_bytes()) < 4_096, "{held} held, {} reported", tree.heap_bytes());
}
