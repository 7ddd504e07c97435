//! A shop built with MUI: a cart in a drawer and a checkout in steps, next to ticking counters.

use super::Stage;
use super::agent::Agent;
use serde_json::json;

pub fn flows(stage: &mut Stage) {
    stage.checked("shop", "three orders", orders);
    stage.checked("shop", "a cart filled and emptied", cart);
}

const GOODS: [(&str, &str); 6] = [
    ("tea", "Green tea"),
    ("mug", "Blue mug"),
    ("pot", "Iron pot"),
    ("jam", "Fig jam"),
    ("oil", "Olive oil"),
    ("pan", "Small pan"),
];

fn add(a: &mut Agent<'_>, [id, name]: [&str; 2]) {
    a.tap_in(name, "button", "Add to cart", &format!("add {id}"));
}

fn orders(a: &mut Agent<'_>) {
    a.read();
    for (n, who) in ["Ada", "Bo", "Cy"].iter().enumerate() {
        for at in [n, n + 2, n + 3] {
            add(a, [GOODS[at].0, GOODS[at].1]);
        }
        a.go("button", "Cart", "cart");
        a.go("button", "Check out", "checkout");
        a.read();
        a.enter("Name", who);
        a.enter("Street", &format!("{n} Long Road"));
        a.go("button", "Next", "step 1");
        a.tap("radio", "By bike", "way bike");
        a.go("button", "Next", "step 2");
        a.go("button", "Back", "back");
        a.tap("radio", "By post", "way post");
        a.go("button", "Next", "step 2");
        a.enter("Card number", &format!("400{n}"));
        a.go("button", "Place order", &format!("step 3\nordered {who} {n} Long Road post 400{n}"));
    }
    let order = |n: usize, who: &str, cart: serde_json::Value, total: u32| json!({ "name": who, "street": format!("{n} Long Road"), "way": "post", "card": format!("400{n}"), "cart": cart, "total": total });
    a.holds(&json!({ "cart": {}, "coupon": "", "orders": [
        order(0, "Ada", json!({ "tea": 1, "pot": 1, "jam": 1 }), 45),
        order(1, "Bo", json!({ "mug": 1, "jam": 1, "oil": 1 }), 27),
        order(2, "Cy", json!({ "pot": 1, "oil": 1, "pan": 1 }), 69),
    ] }));
}

fn cart(a: &mut Agent<'_>) {
    a.read();
    for (id, name) in GOODS {
        add(a, [id, name]);
    }
    a.go("combobox", "Sort by", "");
    a.go("option", "Price", "sort price");
    for (id, name) in &GOODS[..3] {
        add(a, [id, name]);
    }
    a.go("button", "Cart", "cart");
    for name in ["Green tea", "Blue mug"] {
        let id = GOODS.iter().find(|g| g.1 == name).expect("it is sold").0;
        for _ in 0..2 {
            a.tap_in(name, "button", "More", &format!("more {id}"));
        }
        a.tap_in(name, "button", "Less", &format!("less {id}"));
    }
    a.tap_in("Fig jam", "button", "Less", "less jam");
    a.tap_in("Olive oil", "button", "Less", "less oil");
    a.tap_in("Small pan", "button", "More", "more pan");
    a.enter("Coupon", "SPRING");
    a.tap("button", "Apply", "coupon SPRING");
    a.go("button", "Continue shopping", "shop on");
    add(a, ["oil", "Olive oil"]);
    add(a, ["jam", "Fig jam"]);
    a.holds(&json!({
        "cart": { "tea": 3, "mug": 3, "pot": 2, "pan": 2, "oil": 1, "jam": 1 }, "coupon": "SPRING", "orders": [],
    }));
}
