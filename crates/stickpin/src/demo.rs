//! `stickpin demo`: the main job on the simulated shop, each command with its output. In this process, without a
//! daemon, and the same every time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use stickpin_cli::{Env, Streams};
use stickpin_kernel::{CancellationToken, Error, ErrorCode, Host, HostConfig, Response, Result};

/// Seeds generations, so that the transcript is the same every time.
const SEED: u64 = 2;

/// One thing that is shown.
enum Step {
    /// A sentence.
    Say(&'static str),
    /// A command that works. `{name}` stands for a ref that an earlier output gave; the pairs say which refs to
    /// remember from this one: a name, and how the line goes on after the ref.
    Do(&'static str, &'static [(&'static str, &'static str)]),
    /// A command that is refused.
    Refused(&'static str, ErrorCode),
}

use Step::{Do, Refused, Say};

const SCRIPT: &[Step] = &[
    Say("An app is read as a short text. What can be acted on has a ref."),
    Do("open sim:shop -i", &[("add", "button \"Add to cart\""), ("cart", "link \"Cart")]),
    Say("Act by ref. --settle waits until the app is quiet and prints only what changed."),
    Do("press {add} --settle", &[]),
    Do("press {cart} --settle", &[]),
    Say("Where nothing was read yet, a selector does as well. fill reads back what it wrote."),
    Do("press 'role=link text=\"Check out\"'", &[]),
    Do("fill 'label=Name' 'Ada Berg'", &[]),
    Do("fill 'label=Email' ada@example.com", &[]),
    Do("press 'text=\"Place order\"' --settle", &[]),
    Do("is visible 'role=heading text=\"Thank you, Ada Berg\"'", &[]),
    Say(
        "Now the dangerous kind of list: its rows have no keys. When somebody else archives the first order, every\n\
         # row is reused for the next one, and the buttons stay the same elements.",
    ),
    Do("open sim:shop/orders", &[]),
    Do("snapshot -i", &[("sync", "button \"Sync\""), ("delete", "button \"Delete\"")]),
    Do("press {sync}", &[]),
    Do("wait absent 'text=\"Ada Berg\"'", &[]),
    Say("A new snapshot gives new numbers, and does not bless the old one: it meant the order of Ada Berg."),
    Do("snapshot -i", &[]),
    Refused("press {delete}", ErrorCode::StaleRef),
    Do("close", &[]),
];

/// Shows it. Fails if a command does not do what it is shown for.
pub(crate) fn run(streams: &mut Streams<'_>) -> u8 {
    let shown = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::new(ErrorCode::Io, format!("the runtime could not be made: {e}")))
        .and_then(|runtime| runtime.block_on(show(streams)));
    match shown {
        Ok(()) => 0,
        Err(error) => {
            // Nothing is left to report it to if stderr is gone.
            let _ = writeln!(streams.err, "{}: {error}", error.code.name());
            error.code.exit()
        }
    }
}

async fn show(streams: &mut Streams<'_>) -> Result<()> {
    let scratch = Scratch::new()?;
    let mut config = HostConfig::new(&scratch.0, crate::backends::all());
    config.random = std::sync::Arc::new(|| SEED);
    let host = Host::new(config);
    let env = Env { cwd: "/demo".into(), ..Env::default() };
    let mut refs = HashMap::new();
    for step in SCRIPT {
        let (line, refused, names) = match step {
            Say(sentence) => {
                print(streams, &format!("# {sentence}"))?;
                continue;
            }
            Do(line, names) => (line, None, *names),
            Refused(line, code) => (line, Some(*code), &[][..]),
        };
        let line = refs.iter().fold((*line).to_owned(), |line, (name, r): (&&str, &String)| {
            line.replace(&format!("{{{name}}}"), r)
        });
        print(streams, &format!("$ stickpin {line}"))?;
        let response = host.call(stickpin_cli::request(&words(&line), &env)?, CancellationToken::new()).await;
        let text = response.text.clone().unwrap_or_default();
        print(streams, &format!("{}{}\n", text.trim_end(), said_beside(&response)))?;
        if response.error.as_ref().map(|e| e.code) != refused
            || response.exit != refused.map_or(0, ErrorCode::exit)
        {
            return Err(Error::new(ErrorCode::Internal, format!("`{line}` did not do what it is shown for")));
        }
        for (name, rest) in names {
            let found = text
                .lines()
                .filter_map(|l| l.trim_start().split_once(' '))
                .find(|(_, l)| l.starts_with(rest));
            let (number, _) =
                found.ok_or_else(|| Error::new(ErrorCode::Internal, format!("no ref of {rest}")))?;
            refs.insert(*name, number.to_owned());
        }
    }
    Ok(())
}

/// What a command line prints on stderr.
fn said_beside(response: &Response) -> String {
    response.warning.as_ref().map(|warning| format!("\nwarning: {warning}")).unwrap_or_default()
}

fn print(streams: &mut Streams<'_>, text: &str) -> Result<()> {
    writeln!(streams.out, "{text}").map_err(|e| Error::new(ErrorCode::Io, format!("nobody reads this: {e}")))
}

/// Words of a command line; those that hold spaces stand in single quotes.
fn words(line: &str) -> Vec<&str> {
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(i, part)| if i % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
        .collect()
}

/// A folder that goes with the demonstration.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("stickpin-demo-{}", std::process::id()));
        let mut builder = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&dir).map_err(|e| stickpin_kernel::io_error("make the folder", &dir, &e))?;
        Ok(Self(dir))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(dir: &Path) {
    // What is left lies in the folder for temporary files.
    let _ = std::fs::remove_dir_all(dir);
}
