//! Options of `open` that make a promise: if it cannot be kept, nothing is opened.

use crate::support::World;

#[test]
fn an_option_that_a_device_does_not_read_is_refused_by_name() {
    let world = World::new();
    for (what, option) in [
        ("sim:shop", "--private"),
        ("sim:shop", "--private-home"),
        ("sim:shop", "--attach"),
        ("sim:shop", "--headed"),
        ("sim:shop", "--profile=kept"),
        ("about:blank", "--private"),
        ("about:blank", "--private-home"),
        ("about:blank", "--attach"),
    ] {
        let ran = world.run(&["open", what, option]);
        let flag = option.split('=').next().expect("a word");
        assert!(ran.code == 2 && ran.err.starts_with("INVALID_ARGS"), "{what} {option}: {ran:?}");
        assert!(ran.err.contains(&format!("device does not support `{flag}`;")), "{what} {option}: {ran:?}");
        assert!(ran.err.contains("omit "), "no hint: {ran:?}");
    }
    assert!(world.ok("session list").contains("no session"), "something was opened");
    world.ok("open sim:shop --viewport 800x600");
    let ran = world.run(&["open", "sim:shop", "--private"]);
    assert!(ran.code == 2 && ran.err.contains("--private"), "an open session refuses it, too: {ran:?}");
}
