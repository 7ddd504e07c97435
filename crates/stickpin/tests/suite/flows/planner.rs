//! A calendar built with FullCalendar.

use super::Stage;
use super::agent::Agent;
use serde_json::json;

pub fn flows(stage: &mut Stage) {
    stage.checked("planner", "events of two months", months);
    stage.checked("planner", "events entered and moved", events);
}

fn months(a: &mut Agent<'_>) {
    a.reported("shows March 2026");
    a.read();
    a.go("clickable", "Review", "opened Review");
    a.enter("Title", "Big review");
    a.go("button", "Save", "saved Big review 2026-03-10");
    a.go("button", "Next month", "shows April 2026");
    a.go("clickable", "Tax day", "opened Tax day");
    a.enter("Day", "2026-04-20");
    a.go("button", "Save", "saved Tax day 2026-04-20");
    a.go("button", "Previous month", "shows March 2026");
    a.go("clickable", "Dentist", "opened Dentist");
    a.go("button", "Delete", "deleted Dentist");
    for _ in 0..2 {
        a.go("button", "Next month", "shows April 2026");
        a.go("button", "Previous month", "shows March 2026");
    }
    a.go("clickable", "Concert", "opened Concert");
    a.go("button", "Close", "closed");
    a.holds(&json!([
        ["Stand-up", "2026-03-03"],
        ["Big review", "2026-03-10"],
        ["Concert", "2026-03-27"],
        ["Tax day", "2026-04-20"],
    ]));
}

fn events(a: &mut Agent<'_>) {
    a.reported("shows March 2026");
    a.read();
    for (title, day) in [("Walk", "2026-03-05"), ("Swim", "2026-03-12"), ("Ride", "2026-03-19")] {
        a.go("button", "New event", "new");
        a.enter("Title", title);
        a.enter("Day", day);
        a.go("button", "Save", &format!("saved {title} {day}"));
    }
    for (title, day) in [("Swim", "2026-03-13"), ("Walk", "2026-03-06"), ("Stand-up", "2026-03-04")] {
        a.go("clickable", title, &format!("opened {title}"));
        a.enter("Day", day);
        a.go("button", "Save", &format!("saved {title} {day}"));
    }
    a.holds(&json!([
        ["Stand-up", "2026-03-04"],
        ["Review", "2026-03-10"],
        ["Dentist", "2026-03-17"],
        ["Concert", "2026-03-27"],
        ["Tax day", "2026-04-15"],
        ["Walk", "2026-03-06"],
        ["Swim", "2026-03-13"],
        ["Ride", "2026-03-19"],
    ]));
}
