//! The examples run, and `docs/embed.md` shows their code.

#[path = "../../examples/custom_command.rs"]
mod custom_command;
#[path = "../../examples/embed.rs"]
mod embed;

use std::path::Path;

#[test]
fn embed_example_runs() {
    embed::main().expect("the example succeeds");
}

#[test]
fn custom_command_example_runs() {
    custom_command::main().expect("the example succeeds");
}

/// Returns the code of all Rust blocks of a page, each as lines without indentation.
fn blocks(page: &str) -> Vec<Vec<&str>> {
    let blocks = page.split("```rust\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default()).map(lines).collect()
}

fn lines(code: &str) -> Vec<&str> {
    code.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

#[test]
fn page_on_embedding_shows_code_that_is_run() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(home.join(path)).expect("a file of ours");
    // The code of the crate's front page, without doc comment marks and hidden lines.
    let front = read("src/lib.rs");
    let front: Vec<&str> =
        front.lines().filter_map(|line| line.strip_prefix("//! ")).map(str::trim).collect();
    let (embed, command) = (read("examples/embed.rs"), read("examples/custom_command.rs"));
    let sources = [front, lines(&embed), lines(&command)];
    let page = read("../../docs/embed.md");
    let shown = blocks(&page);
    assert!(shown.len() > 2, "the page has code");
    for block in shown {
        let run = sources.iter().any(|source| source.windows(block.len()).any(|part| part == block));
        assert!(run, "no example runs these lines:\n{}", block.join("\n"));
    }
}
