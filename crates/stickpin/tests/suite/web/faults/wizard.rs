//! A multi-step dialog that the app re-renders completely with each keystroke, keeping the focus in
//! its field.

use super::web::{Web, html};
use stickpin_kernel::ErrorCode;

/// All nodes below the dialog are new after each event; its heading names the customer.
const WIZARD: &str = "<button onclick='show(0)'>New customer</button><div id=root></div><script>\
    const steps = [['Name', 'Company'], ['Street', 'City'], []];\
    const values = {}; let step = 0, who = 'Ada';\
    function show(next) { step = next; render(); }\
    function render() {\
      const focused = document.activeElement?.name, caret = document.activeElement?.selectionStart;\
      const fields = steps[step].map(n => `<label>${n} <input name='${n}' value='${values[n] || ''}'></label>`).join('');\
      const last = step === 2;\
      root.innerHTML = `<div role=dialog aria-modal=true aria-labelledby=t><h2 id=t>Customer ${who}</h2><p>Step ${step + 1} of 3</p>${fields}\
        <button class=next>${last ? 'Save' : 'Next'}</button>${step ? '<button class=back>Back</button>' : ''}</div>`;\
      for (const i of root.querySelectorAll('input')) i.oninput = () => { values[i.name] = i.value; render(); };\
      root.querySelector('.next').onclick = () => last ? tell('saved:' + who + ':' + Object.values(values).join(',')) : show(step + 1);\
      const back = root.querySelector('.back'); if (back) back.onclick = () => show(step - 1);\
      const again = focused && root.querySelector(`[name='${focused}']`);\
      if (again) { again.focus(); again.setSelectionRange(caret, caret); }\
    }\
    </script>";

/// Returns the last listed ref of a field or button.
fn ref_of(listed: &str, name: &str) -> String {
    let line = listed.lines().find(|line| line.contains(&format!("\"{name}\""))).expect(listed);
    line.trim().split(' ').next().expect("a ref").to_owned()
}

#[test]
fn rerendering_wizard_fields_are_filled_without_refusals() {
    let Some(mut web) = Web::new(&[("/", html(WIZARD))]) else { return };
    web.open("/");
    web.ok(&["press", "text=\"New customer\""]);
    let listed = web.text(&["snapshot", "-i"]);
    // By the refs of one snapshot, as an agent fills a form.
    web.ok(&["fill", &ref_of(&listed, "Name"), "Ada"]);
    web.ok(&["fill", &ref_of(&listed, "Company"), "Acme"]);
    web.ok(&["press", &ref_of(&listed, "Next")]);
    let listed = web.text(&["snapshot", "-i"]);
    web.ok(&["fill", &ref_of(&listed, "City"), "Riga"]);
    web.ok(&["fill", &ref_of(&listed, "Street"), "Brivibas 1"]);
    web.ok(&["type", "--into", &ref_of(&listed, "City"), " 2"]);
    web.ok(&["press", &ref_of(&listed, "Back")]);
    web.ok(&["press", "text=Next"]);
    let listed = web.text(&["snapshot", "-i"]);
    web.ok(&["fill", &ref_of(&listed, "City"), "Oslo"]);
    web.ok(&["press", "text=Next"]);
    web.ok(&["press", "text=Save"]);
    web.was_asked("/log?saved:Ada:Ada,Acme,Oslo,Brivibas%201");
}

#[test]
fn field_of_a_wizard_on_another_customer_is_refused() {
    let switching = WIZARD.replace(
        "</script>",
        "const later = setInterval(() => { if (values.Company === 'Acme') { clearInterval(later); who = 'Nils'; render(); window.switched = true; } }, 2500);</script>",
    );
    let Some(mut web) = Web::new(&[("/", html(&switching))]) else { return };
    web.open("/");
    web.ok(&["press", "text=\"New customer\""]);
    let listed = web.text(&["snapshot", "-i"]);
    web.ok(&["fill", &ref_of(&listed, "Company"), "Acme"]);
    web.ok(&["wait", "fn", "window.switched === true"]);
    // The dialog of another customer is another dialog, although its fields are equal.
    let error = web.fails(&["fill", &ref_of(&listed, "Name"), "Ada"], ErrorCode::StaleRef);
    assert!(error.message.contains("Customer Ada"), "{}", error.message);
    let listed = web.text(&["snapshot", "-i"]);
    web.ok(&["fill", &ref_of(&listed, "Name"), "Nils"]);
}
