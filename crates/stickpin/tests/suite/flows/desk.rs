//! A back office built with Mantine.

use super::Stage;
use super::agent::Agent;

pub fn flows(stage: &mut Stage) {
    let mut flow = |name: &str, page: &str, run: fn(&mut Agent<'_>)| {
        stage.flow("desk", name, &format!("desk/index.html?page={page}"), run);
    };
    flow("three fields and submit", "customers", form);
    flow("a form that is sent twice", "customers", form_twice);
    flow("show the password", "customers", password);
    flow("counters beside counters", "products", counters);
    flow("cards that change places", "products", reordered_cards);
    flow("accordion", "products", accordion);
    flow("cart badge", "products", badge);
    flow("navigation over five routes", "orders", navigation);
    flow("a toggle by its name", "orders", toggle);
    flow("live search", "orders", search);
    flow("sorted table", "orders", sorted);
    flow("menus of rows", "orders", row_menus);
    flow("delete after a question", "orders", delete);
    flow("optimistic rows", "orders", optimistic);
    flow("check boxes of rows over pages", "orders", pages);
    flow("tabs closed and opened", "settings", tabs);
    flow("field array", "settings", field_array);
    flow("subscribe becomes cancel", "settings", subscribe);
}

fn form(a: &mut Agent<'_>) {
    let read = a.look();
    let [mut name, mut mail, mut phone] = ["Name", "Mail", "Phone"].map(|n| a.find(&read, "textbox", n));
    let mut country = a.find(&read, "combobox", "Country");
    let mut team = a.find(&read, "radio", "Team");
    let mut news = a.find(&read, "switch", "Newsletter");
    let mut terms = a.find(&read, "checkbox", "Terms accepted");
    let mut save = a.find(&read, "button", "Save customer");
    a.fill(&mut name, "Lise", "");
    a.fill(&mut mail, "lise", "");
    a.fill(&mut phone, "0316 1234", "");
    a.act(&mut country, &["select", "{}", "Ghana"], "country Ghana");
    a.press(&mut team, "plan team");
    a.act(&mut news, &["check", "{}"], "news true");
    a.act(&mut terms, &["check", "{}"], "terms true");
    a.press(&mut save, "rejected");
    a.fill(&mut mail, "lise@example.com", "");
    a.press(&mut save, "saved Lise lise@example.com 0316 1234 Ghana team true true");
}

fn form_twice(a: &mut Agent<'_>) {
    let read = a.look();
    let [mut name, mut mail, mut phone] = ["Name", "Mail", "Phone"].map(|n| a.find(&read, "textbox", n));
    let mut save = a.find(&read, "button", "Save customer");
    for who in ["Mia", "Noah", "Ida"] {
        a.fill(&mut name, who, "");
        a.fill(&mut mail, &format!("{who}@example.com"), "");
        a.fill(&mut phone, "1", "");
        // The toast of the previous action is still there.
        a.press(&mut save, &format!("saved {who} {who}@example.com 1 null free false false"));
    }
}

fn password(a: &mut Agent<'_>) {
    let read = a.look();
    let mut field = a.find(&read, "textbox", "Password");
    let mut show = a.find(&read, "button", "Show password");
    let mut name = a.find(&read, "textbox", "Name");
    a.fill(&mut field, "secret", "");
    a.press(&mut show, "visible true");
    a.fill(&mut field, "secret two", "");
    a.fill(&mut name, "Lise", "");
    a.press(&mut show, "visible false");
    a.fill(&mut field, "three", "");
}

fn counters(a: &mut Agent<'_>) {
    let read = a.look();
    for product in ["Chair", "Lamp"] {
        let mut more = a.near(&read, product, "button", "More");
        let mut up = a.near(&read, product, "button", "Up");
        let mut down = a.near(&read, product, "button", "Down");
        let mut like = a.near(&read, product, "button", "♥ 3");
        let mut quantity = a.near(&read, product, "textbox", "Quantity");
        for _ in 0..5 {
            a.press(&mut more, &format!("more {product}"));
            a.press(&mut up, &format!("up {product}"));
        }
        a.press(&mut like, &format!("like {product}"));
        a.fill(&mut quantity, "3", &format!("quantity {product} 3"));
        a.press(&mut down, &format!("down {product}"));
        a.press(&mut like, &format!("like {product}"));
        a.press(&mut more, &format!("more {product}"));
    }
}

fn reordered_cards(a: &mut Agent<'_>) {
    let read = a.look();
    let mut reverse = a.find(&read, "button", "Reverse");
    let cards =
        [("Lamp", "Warm light"), ("Desk", "Oak, with"), ("Chair", "Five wheels"), ("Shelf", "Holds what")];
    let mut cards = cards.map(|(product, text)| (product, a.near(&read, text, "button", "Up")));
    for _ in 0..3 {
        a.press(&mut reverse, "reverse");
        for (product, up) in &mut cards {
            a.press(up, &format!("up {product}"));
        }
    }
}

fn accordion(a: &mut Agent<'_>) {
    let read = a.look();
    let mut details = a.near(&read, "Oak, with", "button", "Show details");
    let mut buy = a.near(&read, "Oak, with", "button", "Add to cart");
    let mut shipping = a.find(&read, "button", "Shipping");
    let mut payment = a.find(&read, "button", "Payment");
    a.press(&mut details, "details Desk true");
    let mut reserve = a.see("button", "Reserve");
    a.press(&mut reserve, "reserve Desk");
    a.press(&mut buy, "buy Desk 1");
    a.press(&mut details, "details Desk false");
    a.press(&mut details, "details Desk true");
    a.press(&mut reserve, "reserve Desk");
    a.press(&mut shipping, "topic Shipping");
    a.press(&mut payment, "topic Payment");
    let mut ask = a.see("button", "Ask us");
    a.press(&mut ask, "ask Payment");
    a.press(&mut shipping, "topic Shipping");
    a.trap(&ask);
    a.press(&mut payment, "topic Payment");
    a.press(&mut ask, "ask Payment");
}

fn badge(a: &mut Agent<'_>) {
    let read = a.look();
    let mut buy = a.near(&read, "Chair", "button", "Add to cart");
    let mut cart = a.find(&read, "button", "Cart (0)");
    let mut inbox = a.find(&read, "button", "Inbox");
    for n in 1..=4 {
        a.press(&mut buy, "buy Chair 1");
        a.press(&mut cart, &format!("cart {n}"));
        a.press(&mut inbox, "inbox");
    }
}

fn navigation(a: &mut Agent<'_>) {
    let read = a.look();
    let names = ["Customers", "Products", "Reports", "Settings", "Orders"];
    let mut links = names.map(|n| a.find(&read, "link", n));
    let mut mute = a.find(&read, "button", "Mute");
    let raise = a.near(&read, "Grace", "button", "Raise");
    for (name, link) in names.iter().zip(&mut links) {
        a.press(link, &format!("go {}", name.to_lowercase()));
        if *name == "Reports" {
            let mut report = a.see("button", "New report");
            a.press(&mut report, "report 1");
            a.press(&mut report, "report 2");
        }
    }
    a.press(&mut mute, "muted true");
    a.press(&mut links[1], "go products");
    a.trap(&raise);
    a.press(&mut mute, "muted false");
}

fn toggle(a: &mut Agent<'_>) {
    let mut mute = a.see("button", "Mute");
    for n in 0..6 {
        a.press(&mut mute, &format!("muted {}", n % 2 == 0));
    }
}

fn search(a: &mut Agent<'_>) {
    let read = a.look();
    let mut field = a.find(&read, "textbox", "Search");
    let mut add = a.find(&read, "button", "New order");
    let mut raise = a.near(&read, "Grace", "button", "Raise");
    for text in ["g", "gr", "gra"] {
        a.fill(&mut field, text, &format!("search {text}"));
        a.press(&mut raise, "raise 4703");
    }
    a.fill(&mut field, "zz", "search zz");
    a.trap(&raise);
    a.fill(&mut field, "", "search ");
    a.press(&mut raise, "raise 4703");
    a.press(&mut add, "added Guest 1");
    a.fill(&mut field, "gu", "search gu");
}

fn sorted(a: &mut Agent<'_>) {
    let read = a.look();
    let mut by_name = a.find(&read, "button", "Customer");
    let mut by_city = a.find(&read, "button", "City");
    let mut ada = a.near(&read, "Ada", "button", "Raise");
    let mut barbara = a.near(&read, "Barbara", "checkbox", "Done");
    for n in 0..3 {
        a.press(&mut by_name, "sort who");
        if n % 2 == 0 {
            a.press(&mut ada, "raise 4700");
            a.act(&mut barbara, &["check", "{}"], if n == 0 { "done 4712 true" } else { "" });
        }
    }
    a.press(&mut by_city, "sort city");
    a.press(&mut barbara, "done 4712 false");
    a.press(&mut by_city, "sort city");
    a.press(&mut by_name, "sort who");
    a.press(&mut ada, "raise 4700");
}

fn row_menus(a: &mut Agent<'_>) {
    let read = a.look();
    let mut more: Vec<_> = ["Grace", "Tony", "Alan"]
        .iter()
        .filter(|p| read.within(p, "button", "More").is_some())
        .map(|p| a.near(&read, p, "button", "More"))
        .collect();
    a.press(&mut more[0], "");
    a.look_for("menuitem", "Ship");
    let mut ship = a.see("menuitem", "Ship");
    a.press(&mut ship, "ship 4703");
    // The same menu of the same row, opened again.
    a.press(&mut more[0], "");
    a.look_for("menuitem", "Ship");
    a.press(&mut ship, "ship 4703");
    // The menu of another row has the same text.
    a.press(&mut more[1], "");
    let read = a.look_for("menuitem", "Print");
    a.trap(&ship);
    let mut print = a.find(&read, "menuitem", "Print");
    a.press(&mut print, "print 4706");
}

fn delete(a: &mut Agent<'_>) {
    let read = a.look();
    let who = ["Grace", "Edsger", "Donald"];
    let ids = [4703, 4709, 4715];
    let mut more = who.map(|p| a.near(&read, p, "button", "More"));
    let mut last = None;
    for ((who, id), more) in who.iter().zip(ids).zip(&mut more) {
        a.press(more, "");
        let read = a.look_for("menuitem", "Delete…");
        let mut item = a.find(&read, "menuitem", "Delete…");
        a.press(&mut item, &format!("ask {id}"));
        let read = a.look_for("button", "Keep");
        if let Some(last) = last.take() {
            a.trap(&last);
        }
        let mut delete = a.find(&read, "button", "Delete");
        a.press(&mut delete, &format!("deleted {id}"));
        a.expect_ok(&["wait", "absent", &format!("text~=\"order of {who}\"")]);
        last = Some(delete);
    }
}

fn optimistic(a: &mut Agent<'_>) {
    let read = a.look();
    let mut add = a.find(&read, "button", "New order");
    let mut ada = a.near(&read, "Ada", "button", "Raise");
    a.press(&mut add, "added Guest 1");
    let read = a.look();
    let mut guest = a.near(&read, "Guest 1", "button", "Raise");
    a.press(&mut add, "added Guest 2");
    a.press(&mut ada, "raise 4700");
    a.expect_ok(&["wait", "ms", "600"]);
    a.press(&mut guest, "raise 9000");
    a.press(&mut ada, "raise 4700");
}

fn pages(a: &mut Agent<'_>) {
    let read = a.look();
    let mut first = ["Ada", "Alan", "Donald"].map(|p| a.near(&read, p, "checkbox", "Done"));
    let [mut one, mut two] = ["1", "2"].map(|p| a.find(&read, "button", p));
    a.press(&mut first[0], "done 4700 true");
    a.press(&mut two, "page 2");
    a.trap(&first[1]);
    let read = a.look();
    let mut ken = a.near(&read, "Ken", "checkbox", "Done");
    a.press(&mut ken, "done 4733 true");
    a.press(&mut one, "page 1");
    a.press(&mut first[1], "done 4706 true");
    a.press(&mut first[2], "done 4715 true");
    a.press(&mut first[0], "done 4700 false");
}

fn tabs(a: &mut Agent<'_>) {
    let read = a.look();
    let [mut profile, mut team, mut billing] =
        ["Profile", "Team", "Billing"].map(|t| a.find(&read, "tab", t));
    let mut name = a.find(&read, "textbox", "Display name");
    let mut save = a.find(&read, "button", "Save");
    a.fill(&mut name, "Lise", "");
    a.press(&mut save, "profile Lise");
    a.press(&mut billing, "tab billing");
    // It has the same text, and saves another record.
    a.trap(&save);
    let mut invoice = a.see("button", "Send invoice");
    a.press(&mut invoice, "invoice");
    a.press(&mut team, "tab team");
    a.press(&mut profile, "tab profile");
    a.fill(&mut name, "Lise M", "");
    a.press(&mut save, "profile Lise M");
    a.press(&mut billing, "tab billing");
    a.press(&mut invoice, "invoice");
}

fn field_array(a: &mut Agent<'_>) {
    let mut team = a.see("tab", "Team");
    a.press(&mut team, "tab team");
    let read = a.look_for("button", "Save team");
    let fields = |a: &mut Agent<'_>, role: &str, name: &str| -> Vec<_> {
        let lines: Vec<_> = read.all(role).into_iter().filter(|l| l.name == name).cloned().collect();
        lines
            .iter()
            .map(|l| {
                let mut known = a.find(&read, role, name);
                known.r#ref.clone_from(&l.id);
                known
            })
            .collect()
    };
    let mut names = fields(a, "textbox", "Member");
    let mut up = fields(a, "button", "Move up");
    let mut remove = fields(a, "button", "Remove");
    let mut save = a.find(&read, "button", "Save team");
    a.fill(&mut names[2], "Olga", "");
    a.press(&mut up[2], "up 3");
    a.press(&mut save, "team Mia Olga Noah");
    a.press(&mut up[2], "up 3");
    a.fill(&mut names[0], "Maja", "");
    a.press(&mut save, "team Olga Maja Noah");
    a.press(&mut remove[0], "remove 1");
    a.trap(&remove[0]);
    a.fill(&mut names[1], "Nils", "");
    a.press(&mut save, "team Olga Nils");
}

fn subscribe(a: &mut Agent<'_>) {
    let mut billing = a.see("tab", "Billing");
    a.press(&mut billing, "tab billing");
    let read = a.look_for("button", "Subscribe");
    let mut subscribe = a.find(&read, "button", "Subscribe");
    let was = subscribe.clone();
    let mut invoice = a.find(&read, "button", "Send invoice");
    a.press(&mut subscribe, "plan Free");
    a.trap(&was);
    a.press(&mut invoice, "invoice");
    // The new ref comes from the action.
    a.press(&mut subscribe, "plan Paid");
    a.press(&mut subscribe, "plan Free");
}
