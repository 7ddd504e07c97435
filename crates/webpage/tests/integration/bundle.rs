//! How the agent's modules are bundled into one script, and what is rejected.

#[path = "../../bundle.rs"]
mod bundler;

use std::path::Path;

fn bundled(modules: &[(&str, &str)]) -> Result<String, String> {
    bundler::bundle(Path::new("main.js"), |path| {
        let found = modules.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| format!("{} is missing", path.display()))
    })
}

const A: &str = "import {\n  two,\n} from '../b.js';\nexport const one = () => two();\n";
const B: &str = "import { one } from './in/a.js';\nexport function two() { return one; }\nlet own = 0;\n";

#[test]
fn a_list_of_names_is_declared_as_a_whole() {
    let list = "export const [\n  X, Y,\n  Z,\n] = [1, 2, 3];\n";
    let main = "import './list.js';\nimport { X, Z } from './list.js';\nconst sum = X + Z;\n";
    let script = bundled(&[("main.js", main), ("list.js", list)]).unwrap();
    assert!(script.contains("const [\n  X, Y,\n  Z,\n] = [1, 2, 3];\nconst sum = X + Z;\n"), "{script}");
    let again = bundled(&[("main.js", &format!("{main}let Y = 0;\n")), ("list.js", list)]);
    assert_eq!(again.unwrap_err(), "Y is declared in list.js and in main.js");
}

#[test]
fn modules_are_joined_in_the_order_of_the_entry() {
    let main = "import './in/a.js';\nimport './b.js';\nimport { two } from './b.js';\ntwo();\n";
    let script = bundled(&[("main.js", main), ("in/a.js", A), ("b.js", B)]).unwrap();
    let body = "const one = () => two();\nfunction two() { return one; }\nlet own = 0;\ntwo();\n})();";
    assert!(script.ends_with(body), "{script}");
}

#[test]
fn what_could_mean_something_else_is_refused() {
    let both = "import './in/a.js';\nimport './b.js';\n";
    for (main, a, why) in [
        ("import './b.js';\n", A, "in/a.js does not export one, which b.js imports"),
        (both, "export const one = own;\nlet own = 1;\n", "own is declared in in/a.js and in b.js"),
        (both, "const one = 1;\n", "in/a.js does not export one, which b.js imports"),
        ("import './none.js';\n", A, "none.js is missing"),
    ] {
        assert_eq!(bundled(&[("main.js", main), ("in/a.js", a), ("b.js", B)]).unwrap_err(), why);
    }
}
