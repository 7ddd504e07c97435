//! Rows that are parts of one object.

use crate::testing::tree;
use crate::{Handle, NodeId, NodeRef, Openers, Records, Tree};

fn page(heading: &str, body: &str) -> Tree {
    numbered(heading, 3, body)
}

/// Returns `body` below a heading, always in the same nodes.
fn numbered(heading: &str, id: u64, body: &str) -> Tree {
    let body = body.lines().fold(String::new(), |text, line| format!("{text}    {line}\n"));
    tree(&format!(
        "page \"App\" http://app.test/ scope=1\n  main #2\n    heading \"{heading}\"* level=2 #{id}\n{body}"
    ))
}

fn called(tree: &Tree, name: &str) -> NodeId {
    tree.nodes().find(|n| !n.is_text() && n.name() == name).map(NodeRef::id).expect("an element")
}

/// Returns whether the element with this name in the first tree is still that element in the
/// second.
fn same(then: &Tree, now: &Tree, name: &str) -> bool {
    let openers = Openers::default();
    let issued = Records::new(then, &openers).meaning(called(then, name));
    Records::new(now, &openers).judge(&issued, called(now, name)).is_same()
}

/// Returns whether an element of a page with a title `{}` is still the same with the later title.
fn holds(shown: &str, then: &str, now: &str, name: &str) -> bool {
    let [then, now] = [then, now].map(|title| tree(&shown.replace("{}", title)));
    same(&then, &now, name)
}

const BARS: &str = "generic #10\n  button \"Edit\"* #11\n  button \"Delete\"* #12\ngeneric #13\n  \
                    button \"Print\"* #14\n  button \"Mail\"* #15";

#[test]
fn heading_is_compared_only_for_row_parts() {
    let below = |then: &str, now: &str, body: &str, name| same(&page(then, body), &page(now, body), name);
    let labelled = |label: &str| {
        format!(
            "generic #10\n  text \"{label}\" #11\n  textbox \"Customer\" #12\n  text \"as in the books\" #17\n\
             generic #13\n  text \"Due\" #14\n  textbox \"Due\" #15"
        )
    };
    let said = "generic #10\n  text \"Anna\" #11\n  button \"Delete\"* #12\ngeneric #13\n  text \"Bruno\" #14\n  \
                button \"Remove\"* #15";
    let own = "generic #10\n  button \"Delete\"* #12\ngeneric #13\n  button \"Print\"* #15";
    let invoices = ("Invoice 1041", "Invoice 1042");
    for (body, name, acts) in [
        (BARS, "Delete", false),
        (own, "Delete", false),
        (&labelled("Customer"), "Customer", false),
        (&labelled("Customer: *"), "Customer", false),
        // Text that is not the label of a field belongs to the row.
        (&labelled("Anna"), "Customer", true),
        (said, "Delete", true),
        (&BARS.replace("#10", "#10 id=edit-bar").replace("#13", "#13 id=print-bar"), "Delete", false),
        (&BARS.replace("#10", "#10 id=order-7").replace("#13", "#13 id=order-3"), "Delete", true),
        (&BARS.replace("#10", "#10 data-id=a").replace("#13", "#13 data-id=b"), "Delete", true),
    ] {
        assert_eq!(below(invoices.0, invoices.1, body, name), acts, "{body}");
        for (then, now) in [("Inbox (3)", "Inbox (4)"), ("Report", "Report *"), ("Report", "• Report")] {
            assert!(below(then, now, body, name), "{then} and {now} above {body}");
        }
    }
}

const ADDRESSES: &str = "generic #10\n  text \"Billing address\" #11\n  button \"Edit\"* #12\ngeneric #13\n  \
                         text \"Shipping address\" #14\n  button \"Edit\"* #15";

/// Returns what is reported about the heading above the first element `name` when the page changes
/// from `then` to `now`.
fn reported_heading(then: &Tree, now: &Tree, name: &str) -> Option<String> {
    let openers = Openers::default();
    let issued = Records::new(then, &openers).meaning(called(then, name));
    let records = Records::new(now, &openers);
    assert!(records.judge(&issued, called(now, name)).is_same());
    // With the nodes of an equal tree, the result is the same.
    let again = issued.with_nodes_of(&Records::new(then, &openers).meaning(called(then, name)));
    let [first, second] = [&issued, &again].map(|m| records.changed_heading(m, called(now, name)));
    assert_eq!(first, second);
    first
}

#[test]
fn row_with_own_text_holds_and_reports_changed_heading() {
    let anna = page("Anna", ADDRESSES);
    let below = |heading: &str, id| reported_heading(&anna, &numbered(heading, id, ADDRESSES), "Edit");
    assert_eq!(below("Bruno", 3).as_deref(), Some("Bruno"));
    // Rendered again with equal text.
    for (heading, id) in [("Anna", 3), ("Anna", 4), ("Anna *", 3)] {
        assert_eq!(below(heading, id), None, "{heading}");
    }
    let bare = tree(&format!(
        "page \"App\" http://app.test/ scope=1\n  main #2\n    {}",
        ADDRESSES.replace('\n', "\n    ")
    ));
    assert_eq!(reported_heading(&anna, &bare, "Edit").as_deref(), Some(""));
    assert_eq!(reported_heading(&bare, &anna, "Edit"), None);
    let counted = [3, 4].map(|count| page(&format!("Inbox ({count})"), ADDRESSES));
    assert_eq!(reported_heading(&counted[0], &counted[1], "Edit"), None);
}

#[test]
fn context_handles_include_the_reported_heading() {
    let anna = page("Anna", ADDRESSES);
    let openers = Openers::default();
    let asked = |tree: &Tree| Records::new(tree, &openers).meaning(called(tree, "Edit")).context_handles();
    let heading = called(&anna, "Anna");
    assert!(asked(&anna).contains(&anna.node(heading).handle().unwrap()));
    // The frame of the page is not below the heading.
    let framed = tree(&format!(
        "page \"App\" http://app.test/ scope=1\n  navigation #2\n    {}\n  main #20\n    heading \"Anna\"* level=1 #3",
        ADDRESSES.replace('\n', "\n    ")
    ));
    assert!(!asked(&framed).contains(&framed.node(called(&framed, "Anna")).handle().unwrap()));
}

#[test]
fn row_part_is_displayed_with_its_record() {
    let tree = page("Invoice 1041", BARS);
    let openers = Openers::default();
    let meaning = Records::new(&tree, &openers).meaning(called(&tree, "Delete"));
    assert_eq!(meaning.to_string(), "button \"Delete\" in section \"Invoice 1041\"");
}

#[test]
fn equally_named_row_parts_are_displayed_apart() {
    let lines = "generic #10\n  button \"Edit Anna\"* #11\n  button \"Remove\"* #12\ngeneric #13\n  \
                 button \"Edit Bruno\"* #14\n  button \"Remove\"* #15";
    let tree = page("Order 7", lines);
    let openers = Openers::default();
    let records = Records::new(&tree, &openers);
    let removes = tree.nodes().filter(|n| !n.is_text() && n.name() == "Remove");
    let told: Vec<String> = removes.map(|n| records.meaning(n.id()).to_string()).collect();
    assert_eq!(told, ["button \"Remove\" in row \"Edit Anna\"", "button \"Remove\" in row \"Edit Bruno\""]);
}

#[test]
fn heading_in_sibling_wrapper_is_above_toolbars() {
    let headed = |heading: &str| {
        format!(
            "page \"App\" http://app.test/ scope=1\n  main #2\n    generic #3\n      heading \"{{}}\"* {heading} #4\n    \
             generic #5\n      heading \"Items\"* level=2 #6\n{}",
            BARS.lines().fold(String::new(), |text, line| format!("{text}    {line}\n"))
        )
    };
    for heading in ["level=1", "level=2"] {
        assert!(!holds(&headed(heading), "Invoice 1041", "Invoice 1042", "Delete"), "{heading}");
        assert!(holds(&headed(heading), "Invoice 1041", "Invoice 1041", "Delete"), "{heading}");
    }
    // The title has a button next to it, as the other headings do.
    let with_buttons = headed("level=1").replace(" #4\n", " #4\n      button \"Back\"* #7\n");
    let with_buttons = with_buttons.replace(" #6\n", " #6\n      button \"Add\"* #8\n");
    assert!(!holds(&with_buttons, "Invoice 1041", "Invoice 1042", "Delete"));
    let grouped = headed("level=2").replace("generic", "group");
    assert!(!holds(&grouped, "Invoice 1041", "Invoice 1042", "Delete"));
}

#[test]
fn heading_in_following_main_does_not_hide_the_one_above() {
    let body = BARS.lines().fold(String::new(), |text, line| format!("{text}    {line}\n"));
    let shown = |title: &str, items: &str| {
        format!(
            "page \"App\" http://app.test/ scope=1\n  heading \"{title}\"* level=1 #3\n  generic #4\n{body}    \
             main #5\n      heading \"{items}\"* level=2 #6\n"
        )
    };
    assert!(!holds(&shown("{}", "Items"), "Invoice 1041", "Invoice 1042", "Delete"));
    assert!(holds(&shown("Invoice 1041", "{}"), "Items", "Notes", "Delete"));
}

#[test]
fn result_headings_are_no_titles_of_toolbars_above() {
    let results = |item: &str| {
        let items = ["{}", "Cup", "Jar"].iter().zip(3..).fold(String::new(), |text, (name, n)| {
            format!("{text}    {item} #{n}0\n      heading \"{name}\"* level=3 #{n}1\n      button \"Buy\"* #{n}2\n")
        });
        let bars = BARS.lines().fold(String::new(), |text, line| format!("{text}    {line}\n"));
        format!(
            "page \"Shop\" http://app.test/ scope=1\n  main #2\n{bars}    list #20\n{}",
            items.replace("    ", "      ")
        )
    };
    for item in ["listitem", "article", "generic"] {
        assert!(holds(&results(item), "Tea pot", "Kettle", "Delete"), "{item}");
        // The name of the list itself is above it.
        let titled = |title: &str| {
            results(item)
                .replace("{}", "Tea pot")
                .replace("  main #2\n", &format!("  main #2\n    heading \"{title}\"* level=2 #9\n"))
        };
        assert!(!holds(&titled("{}"), "Teas", "Coffees", "Delete"), "{item}");
    }
    // A single article is the content of the page.
    let article = "page \"Mail\" http://app.test/ scope=1\n  main #2\n    generic #10\n      button \"Edit\"* #11\n      \
                   button \"Delete\"* #12\n    generic #13\n      button \"Print\"* #14\n    article #20\n      \
                   heading \"{}\"* level=2 #21\n      text \"Dear all\" #22\n";
    assert!(!holds(article, "Tea", "Coffee", "Delete"));
}

#[test]
fn heading_after_button_list_belongs_to_shown_content() {
    let people = |heads: [&str; 2]| {
        format!(
            "page \"Chat\" http://app.test/ scope=1\n  generic #2\n{}    list #4\n      listitem #5\n        button \"Anna\"* #6\n      \
             listitem #7\n        button \"Bruno\"* #8\n    generic #9\n{}      textbox \"Message\" #11\n",
            heads[0], heads[1]
        )
    };
    let chat = "      heading \"{}\"* level=2 #10\n";
    assert!(holds(&people(["", chat]), "Anna", "Bruno", "Anna"));
    let team = "    heading \"{}\"* level=2 #10\n";
    assert!(!holds(&people([team, ""]), "Team Tea", "Team Coffee", "Anna"));
}

/// Returns a dialog in front of a page, with two bars in it.
fn dialog(said: &str) -> String {
    let said = said.lines().fold(String::new(), |text, line| format!("{text}    {line}\n"));
    format!(
        "page \"App\" http://app.test/ scope=1\n  main #2\n    heading \"Files\"* level=1 #3\n  dialog \"\" #5\n{said}    \
         generic #10\n      button \"Details\"* #11\n      button \"Hide\"* #12\n    generic #13\n      \
         button \"Pause\"* #14\n      button \"Cancel\"* #15\n"
    )
}

#[test]
fn row_part_in_dialog_belongs_to_dialog_heading() {
    let days = [1, 2].iter().fold(String::new(), |text, week| {
        let days = [1, 2].map(|day| {
            format!("        gridcell \"\" #{week}{day}0\n          button \"{week}{day}\"* #{week}{day}1\n")
        });
        format!("{text}      row #{week}00\n{}", days.concat())
    });
    let dates = format!(
        "page \"Trip\" http://app.test/ scope=1\n  heading \"Trip\"* level=1 #3\n  dialog \"Choose date\" #5\n    \
         heading \"{{}}\"* level=2 #6\n    grid #7\n{days}"
    );
    assert!(!holds(&dates, "November 2026", "December 2026", "12"));
    assert!(holds(&dates, "November 2026", "November 2026", "12"));
    // Content behind the dialog is not its heading.
    let behind = dates.replace("{}", "November 2026").replace("heading \"Trip\"", "heading \"{}\"");
    assert!(holds(&behind, "Trip", "Trip to Rome", "12"));
}

#[test]
fn dialog_text_with_progress_bar_may_change() {
    let question = dialog("text \"{}\" #6");
    assert!(!holds(&question, "Delete all of Anna?", "Delete all of Bruno?", "Cancel"));
    let copying = dialog("text \"{}\" #6\nprogressbar \"\" #7");
    assert!(holds(&copying, "Copying a.txt", "Copying b.txt", "Cancel"));
    // Its heading is still its title.
    let titled = dialog("heading \"{}\"* level=2 #6\nprogressbar \"\" #7");
    assert!(!holds(&titled, "Copying to Anna", "Copying to Bruno", "Cancel"));
}

#[test]
fn dialog_tab_pages_do_not_identify_sibling_toolbars() {
    let pages = "tablist \"\" #20\n  tab \"General\"* #21\n  tab \"Looks\"* #22\ntabpanel \"\" #23\n  \
                 heading \"{}\"* level=2 #24\n  text \"About {}\" #25\n  checkbox \"Use it\" #26";
    assert!(holds(&dialog(pages), "General", "Looks", "Cancel"));
    let beside = format!("text \"{{}}\" #6\n{}", pages.replace("{}", "General"));
    assert!(!holds(&dialog(&beside), "Order Anna", "Order Bruno", "Cancel"));
    // On the tab page itself, the result differs.
    let on_page = dialog(&format!(
        "{pages}\n  generic #30\n    button \"Reset\"* #31\n    button \"Try\"* #32\n  \
                                   generic #33\n    button \"Help\"* #34"
    ));
    assert!(!holds(&on_page, "General", "Looks", "Reset"));
}

#[test]
fn labels_shared_by_all_rows_do_not_make_a_form() {
    let cart = |rows: &[&str]| {
        let rows = rows.iter().zip(1..).fold(String::new(), |text, (name, n)| {
            format!(
                "{text}    listitem #{n}0\n      paragraph \"{name}\"* #{n}1\n      label \"Quantity\"* #{n}2\n      \
                 spinbutton \"Quantity\" #{n}3\n      button \"Remove\"* #{n}4\n"
            )
        });
        format!("page \"Cart\" http://app.test/ scope=1\n  heading \"{{}}\"* level=1 #3\n  list #4\n{rows}")
    };
    assert!(holds(&cart(&["Tea", "Cup"]), "Your cart (2)", "Your cart (3)", "Remove"));
    assert!(holds(&cart(&["Tea"]), "Your cart (1)", "Your cart (2)", "Remove"));
    let field = "page \"Cart\" http://app.test/ scope=1\n  heading \"{}\"* level=1 #3\n  list #4\n    listitem #10\n      \
                 text \"Customer\" #11\n      textbox \"Customer\" #12\n";
    assert!(!holds(field, "Order 7", "Order 8", "Customer"));
}

#[test]
fn window_toolbars_hold_for_any_title() {
    let window = |title: &str, labels: &[&str]| {
        let labels = labels
            .iter()
            .zip(30..)
            .fold(String::new(), |text, (label, n)| format!("{text}    text \"{label}\" #{n}\n"));
        let bars = BARS.lines().fold(String::new(), |text, line| format!("{text}    {line}\n"));
        format!("page \"\" linux:1 scope=1\n  window \"{title}\" #2\n{bars}{labels}")
    };
    assert!(holds(&window("{}", &["{}"]), "IMG_1.jpg", "IMG_2.jpg", "Delete"));
    assert!(holds(&window("Anna – {}", &["{}", "Anna"]), "Tea", "Coffee", "Delete"));
    assert!(holds(&window("Notes", &["{}"]), "Ready", "Saved", "Delete"), "a status");
    assert!(!holds(&window("Orders", &["Order {}", "Tea for {}"]), "Anna", "Bruno", "Delete"));
}

#[test]
fn tools_before_main_are_not_below_its_heading() {
    let tools = BARS.lines().fold(String::new(), |text, line| format!("{text}  {line}\n"));
    let document = |title: &str| format!("  main #2\n    heading \"{title}\"* level=1 #3\n");
    let page = |parts: [&str; 2]| tree(&format!("page \"App\" http://app.test/ scope=1\n{}", parts.concat()));
    let [then, now] = [document("Report"), document("Notes")];
    assert!(same(&page([&tools, &then]), &page([&tools, &now]), "Delete"));
    assert!(!same(&page([&then, &tools]), &page([&now, &tools]), "Delete"));
}

#[test]
fn toolbars_are_not_below_heading_of_following_named_region() {
    let page = |region: &str| {
        let bars = BARS.lines().fold(String::new(), |text, line| format!("{text}    {line}\n"));
        format!(
            "page \"Posts\" http://app.test/edit\n  generic #2\n{bars}    {region} #3\n      heading \"{{}}\"* level=1 #4\n      \
             text \"Some text\" #5\n"
        )
    };
    for region in ["region \"Editor content\"", "complementary \"Settings\"", "form \"Post\""] {
        assert!(holds(&page(region), "Add title", "My first post", "Delete"), "{region}");
        // A heading above the bars is still theirs.
        let titled = page(region)
            .replace("{}", "Add title")
            .replace("  generic #2\n", "  generic #2\n    heading \"{}\"* level=2 #9\n");
        assert!(!holds(&titled, "Invoice 1041", "Invoice 1042", "Delete"), "{region}");
    }
    // A region without a name is a part of what the bars belong to; so is one that is named by its
    // heading.
    for region in ["generic", "region", "article", "region \"{}\""] {
        assert!(!holds(&page(region), "Invoice 1041", "Invoice 1042", "Delete"), "{region}");
    }
}

#[test]
fn editable_heading_is_no_title_of_toolbar() {
    let written = |text: &str| {
        let body = BARS.lines().fold(String::new(), |text, line| format!("{text}  {line}\n"));
        let editor = format!("  textbox \"Text\" edit-host #20\n    heading \"{text}\"* level=1 #21\n");
        tree(&format!("page \"App\" http://app.test/ scope=1\n{body}{editor}"))
    };
    assert!(same(&written("Tea"), &written("Tea for two"), "Delete"));
}

#[test]
fn menu_opened_from_row_part_has_the_same_record() {
    let with_menu = |heading| {
        let menu = "menu \"\" #20\n  menuitem \"Archive\"* #21";
        page(heading, &format!("{}\n{menu}", BARS.replace("\"Mail\"*", "\"More\"*")))
    };
    let [then, now, counted] = ["Invoice 1041", "Invoice 1042", "Invoice 1041 (2)"].map(with_menu);
    let opened = |tree: &Tree| {
        let mut openers = Openers::default();
        openers.note_act(Records::new(tree, &Openers::default()).as_opener(called(tree, "More")));
        openers.observe(tree);
        openers
    };
    let issued = Records::new(&then, &opened(&then)).meaning(called(&then, "Archive"));
    let holds = |tree: &Tree| Records::new(tree, &opened(tree)).judge(&issued, called(tree, "Archive"));
    assert!(holds(&then).is_same() && holds(&counted).is_same());
    assert!(!holds(&now).is_same());
}

#[test]
fn context_handles_follow_a_rerendered_heading() {
    let openers = Openers::default();
    let [then, anew] = [3, 33].map(|heading| numbered("Invoice 1041", heading, BARS));
    let handle = |id| Handle { scope: 1, id };
    let issued = Records::new(&then, &openers).meaning(called(&then, "Delete"));
    assert!(issued.context_handles().contains(&handle(3)));
    let now = Records::new(&anew, &openers).meaning(called(&anew, "Delete"));
    assert!(issued.with_nodes_of(&now).context_handles().contains(&handle(33)));
}
