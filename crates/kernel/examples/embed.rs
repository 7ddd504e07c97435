//! A program that embeds the kernel and puts an item into the cart of the built-in shop.
//!
//! `cargo run -p stickpin-kernel --example embed`

use stickpin_backend_sim::SimProvider;
use stickpin_kernel::{ErrorCode, Host, Property, Result, Snapshot};

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let state_dir = std::env::temp_dir().join(format!("stickpin-embed-{}", std::process::id()));
    let host = Host::builder(&state_dir).provider(SimProvider::default()).build()?;
    let shop = host.session("shop");
    shop.open("sim:shop").await?;

    // An answer is typed. Its text form is what an agent would read.
    let page = shop.snapshot(Snapshot::interactive()).await?;
    println!("{page}\n");

    // A name that several elements share causes an error that lists them.
    match page.find("Add to cart") {
        Err(e) if e.code == ErrorCode::AmbiguousMatch => println!("{e}\n{}\n", e.hint),
        other => println!("only one thing is for sale: {other:?}"),
    }

    // A selector is looked up when the command runs, and must match exactly one element.
    let first = shop.find("role=button text=\"Add to cart\"").await?;
    let added = shop.press(first.elements()?[0].0).settle().await?;
    println!("{added}\n");
    for line in added.receipt() {
        println!("seen since: {line}");
    }

    // Typed values of an element.
    let cart = shop.get(Property::Name, "role=link label=\"Cart (1)\"").await?;
    println!("the cart says {}", cart.value);

    shop.close().await?;
    host.shutdown().await;
    // The host has shut down: nothing in the state folder is needed any more.
    std::fs::remove_dir_all(&state_dir).map_err(|e| stickpin_kernel::io_error("remove", &state_dir, &e))
}
