//! Datasette: a table that is filtered, sorted and queried.

use super::Stage;
use super::agent::Agent;
use super::server::Programs;
use serde_json::json;

pub fn flows(stage: &mut Stage, programs: &Programs) {
    let mut flow = |name, path, run: fn(&mut Agent<'_>)| {
        stage.served(programs, "records.py", ["datasette", name, path], run);
    };
    flow("facets and filters", "records/sightings?_facet=bird", filters);
    flow("rows, forth and back", "", rows);
}

const TABLE: &str = "/records/sightings";

fn filters(a: &mut Agent<'_>) {
    a.reported(&format!("{TABLE}?_facet=bird"));
    a.read();
    for bird in ["owl", "gull", "wren"] {
        a.go("link", bird, &format!("{TABLE}?_facet=bird&bird={bird}"));
        a.go_in(bird, "link", "✖", &format!("{TABLE}?_facet=bird"));
    }
    a.does(["- column -", "combobox", ""], &["select", "{}", "count"], "");
    a.does(["\"=\"", "combobox", ""], &["select", "{}", ">"], "");
    a.does(["", "textbox", ""], &["fill", "{}", "5"], "");
    let asked = format!("{TABLE}?_filter_column=count&_filter_op=gt&_filter_value=5&_sort=id&_facet=bird");
    a.go("button", "Apply", &format!("{asked}\n{TABLE}?_sort=id&_facet=bird&count__gt=5"));
    a.holds(&json!({ "last": format!("{TABLE}?_sort=id&_facet=bird&count__gt=5") }));
}

fn rows(a: &mut Agent<'_>) {
    a.reported("/");
    a.read();
    a.go("link", "sightings", TABLE);
    for row in ["3", "8", "21"] {
        a.go("link", row, &format!("{TABLE}/{row}"));
        a.go("link", "sightings", TABLE);
    }
    a.go("link", "records", "/records");
    a.go("link", "sightings", TABLE);
    a.go_in("id ▼", "link", "count", &format!("{TABLE}?_sort=count"));
    a.go("link", "25", &format!("{TABLE}/25"));
    a.holds(&json!({ "last": format!("{TABLE}/25") }));
}
