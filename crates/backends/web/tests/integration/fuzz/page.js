// Random pages and random changes to them. Everything is derived from the seeds, except for the page's timers.
const random = seed => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
let next = random(Number(new URL(location).searchParams.get('seed')));
const pick = list => list[Math.floor(next() * list.length)];
const chance = p => next() < p;
const word = () => pick(['Save', 'Cancel', 'Mail 1', 'Mail 2', 'open', '', 'x  y', '3']);

const PIECES = [
  () => `<button>${word()}</button>`,
  () => `<a href="/${word()}">${word()}</a>`,
  () => `<label>${word()} <input value="${word()}"></label>`,
  () => `<label><input type=checkbox> ${word()}</label><input type=radio name=r aria-label="${word()}"><input type=radio name=r>`,
  () => `<select aria-label="${word()}"><option>a<option class=c1>b<optgroup class=c2 label=g><option>c</optgroup></select>`,
  () => `<select multiple><option>x<option>x<option>y</select>`,
  () => `<textarea>${word()}</textarea>`,
  () => `<h2 class=c${Math.floor(next() * 4)}>${word()}</h2><p class=c1>${word()}</p>`,
  () => `<details><summary>${word()}</summary>${word()}<button>inside</button></details>`,
  () => `<div class=c2 style="overflow:auto;height:30px"><div class=c3 style="height:20px">${word()}</div></div>`,
  () => `<dialog><p>${word()}</p><button>ok</button></dialog><div popover>${word()}<button>p</button></div>`,
  () => `<span hidden id=h${Math.floor(next() * 3)}>${word()}</span><button aria-labelledby=h${Math.floor(next() * 3)}>b</button><i id=h${Math.floor(next() * 3)} hidden>i</i>`,
  () => `<img src=/${word()} alt=${word()}><svg width=9 height=9><use href=#${word()}></use></svg><input list=h1><datalist id=h1><option>a</datalist>`,
  () => `<div contenteditable>${word()}<b>b</b></div>`,
  () => `<table><tr><th>${word()}<td>${word()}<td><button>t</button></table>`,
  () => `<ul role=${pick(['list', 'menu', 'listbox', 'none'])}><li role=option>${word()}<li>${word()}</ul>`,
  () => `<div class=host><span slot=a>${word()}</span><button>light</button></div>`,
  () => `<meter value=0.3></meter><progress value=0.2></progress><video controls></video><canvas><button>c</button></canvas>`,
  () => `<fieldset><legend>${word()}</legend><input><button>f</button></fieldset>`,
  () => `<svg width=20 height=20><title>${word()}</title><a href=#><text y=9>${word()}</text></a></svg>`,
  () => `<div style="display:none"><button>${word()}</button><select><option>n</select><div popover>hp</div></div>`,
];

const roots = [];
function build(into, depth) {
  let html = '';
  for (let i = 2 + Math.floor(next() * 5); i > 0; i--) html += pick(PIECES)();
  into.innerHTML = html;
  for (const host of into.querySelectorAll('.host')) if (chance(0.7)) shadow(host, depth);
}
function shadow(host, depth) {
  const manual = chance(0.3);
  const root = host.attachShadow({ mode: 'open', slotAssignment: manual ? 'manual' : 'named' });
  roots.push(root);
  if (depth < 3) build(root, depth + 1);
  root.append(Object.assign(document.createElement('slot'), manual ? {} : { name: pick(['a', '']) }));
}

const sheet = () => document.styleSheets[0];
const all = () => {
  const lists = [document, ...roots].map(root => root.querySelectorAll('body *, :host *, *'));
  for (const frame of document.querySelectorAll('iframe')) {
    try {
      if (frame.contentDocument) lists.push(frame.contentDocument.querySelectorAll('body *'));
    } catch {}
  }
  return lists.flatMap(l => [...l]).filter(e => !/^(script|style|head|html|body|title|meta|iframe)$/i.test(e.localName));
};
const of = selector => all().filter(e => e.matches(selector));
const RULES = ['display:none', 'visibility:hidden', 'display:contents', 'cursor:pointer', 'text-transform:uppercase', 'overflow:auto', 'height:5px', 'content-visibility:hidden', 'color:red', 'display:block', 'visibility:visible', 'content-visibility:auto', 'interactivity:inert'];
const SELECTORS = ['.c0', '.c1', '.c2', '.c3', 'option', 'button', 'li', '[hidden]', 'span', ':checked', ':focus', 'input:placeholder-shown', 'b::before', '.c1::after', ':popover-open', '[popover]', ':invalid', 'area'];
const rule = () => `${pick(SELECTORS)}{${pick(RULES)};content:"${pick(['+', 'new', ''])}"}`;

const CHANGES = [
  e => e.setAttribute(pick(['aria-label', 'title', 'aria-description', 'placeholder', 'alt', 'data-id', 'href', 'src', 'value', 'aria-current']), word()),
  e => e.setAttribute('role', pick(['button', 'listitem', 'none', 'heading', 'checkbox', 'menuitem', 'img'])),
  e => e.toggleAttribute(pick(['hidden', 'disabled', 'inert', 'open', 'required', 'readonly', 'contenteditable', 'multiple'])),
  e => e.setAttribute(pick(['aria-hidden', 'aria-checked', 'aria-expanded', 'aria-selected', 'aria-disabled']), pick(['true', 'false'])),
  e => e.setAttribute(pick(['aria-labelledby', 'aria-owns', 'aria-describedby', 'for']), 'h' + Math.floor(next() * 3)),
  e => e.classList.toggle('c' + Math.floor(next() * 4)),
  e => (e.style.cssText = pick(RULES)),
  e => e.remove(),
  e => e.append(word()),
  e => { if (e.firstChild && e.firstChild.nodeType === 3) e.firstChild.data = word(); },
  e => e.insertAdjacentHTML('afterend', pick(PIECES)()),
  e => pick(all()).append(e),
  () => { const e = pick(of('input,textarea')); if (e) try { e.value = word(); } catch {} },
  () => { const e = pick(of('input')); if (e) e.checked = !e.checked; },
  () => { const e = pick(of('input')); if (e) e.indeterminate = chance(0.5); },
  () => { const e = pick(of('input')); if (e) e.type = pick(['text', 'checkbox', 'range', 'number', 'date', 'password', 'submit']); },
  () => { const e = pick(of('input,select,textarea')); if (e) e.setCustomValidity(pick(['', 'bad'])); },
  () => { const e = pick(of('select')); if (e) e.selectedIndex = Math.floor(next() * 4) - 1; },
  () => { const e = pick(of('option')); if (e) e.selected = !e.selected; },
  () => { const e = pick(of('button,input,a,[contenteditable],select,summary')); if (e) e.focus(); },
  () => document.activeElement && document.activeElement.blur(),
  () => { const e = pick(of('details')); if (e) e.open = !e.open; },
  () => { const e = pick(of('dialog')); if (e) e.open ? e.close() : chance(0.5) ? e.showModal() : e.show(); },
  () => { const e = pick(of('[popover]')); if (e) try { e.togglePopover(); } catch {} },
  () => { const e = pick(of('meter,progress')); if (e) e.value = next(); },
  () => sheet().insertRule(rule(), 0),
  () => sheet().cssRules.length && sheet().deleteRule(0),
  () => { const r = pick([...sheet().cssRules]); if (r && r.style) r.style.cssText = pick(RULES); },
  () => { const r = pick([...sheet().cssRules]); if (r) r.selectorText = pick(SELECTORS); },
  () => (sheet().disabled = !sheet().disabled),
  () => { const s = new CSSStyleSheet(); s.replaceSync(rule()); pick([document, ...roots]).adoptedStyleSheets = chance(0.5) ? [s] : []; },
  e => { try { shadow(e, 3); } catch {} },
  () => { const s = pick(of('slot')); if (s) try { s.assign(...(chance(0.5) ? s.getRootNode().host.childNodes : [])); } catch {} },
  e => e.animate([{ display: pick(['none', 'block']), visibility: pick(['hidden', 'visible']) }, { height: '50px' }], { duration: pick([1, 20, 1e6]), fill: pick(['both', 'none']) }),
  () => { const a = pick(document.getAnimations()); if (a) pick([() => a.cancel(), () => a.pause(), () => { try { a.finish(); } catch {} }])(); },
  () => history.replaceState(0, '', location.search + '#' + Math.floor(next() * 3)),
  () => (document.title = word()),
  () => (document.designMode = pick(['on', 'off'])),
  e => setTimeout(() => e.setAttribute('aria-label', 'later'), next() * 20),
  () => setTimeout(() => { const i = document.querySelector('input'); if (i) i.value = 'later'; }, next() * 20),
  () => setTimeout(() => sheet().insertRule('button{display:none}', 0), next() * 20),
  e => { e.ariaLabelledByElements = [pick(all())].filter(Boolean); },
  () => document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: `<button>${word()}</button><input>` })),
  () => { const f = document.querySelector('iframe'); if (f && chance(0.3)) f.remove(); },
  () => { for (const f of document.querySelectorAll('iframe')) f.contentWindow.postMessage(Math.floor(next() * 1e9), '*'); },
  () => (document.body.style.width = pick(['300px', '600px', ''])),
  () => { const e = pick(all()); if (e) e.scrollTop = 5; scrollTo(0, pick([0, 50])); },
  () => { if (chance(0.1) && !customElements.get('x-late')) customElements.define('x-late', class extends HTMLElement {}); },
  () => { if (chance(0.1)) document.body.append(document.createElement('x-late')); },
  e => e.addEventListener('click', () => {}),
  e => e.addEventListener('click', () => e.remove(), { once: true, signal: AbortSignal.timeout(next() * 30) }),
  e => (e.onclick = chance(0.5) ? () => {} : null),
  () => { const n = document.createTreeWalker(document.body, 4).nextNode(); if (n) n.data = word(); },
];

/** Performs one step: usually one change, sometimes none. Returns a description of it. */
function step(seed) {
  next = random(seed);
  if (chance(0.25)) return 'nothing';
  const change = pick(CHANGES);
  const target = pick(all());
  if (!target && change.length) return 'nothing';
  try {
    change(target);
  } catch (e) {
    return `${change} threw ${e}`;
  }
  return String(change);
}
addEventListener('message', m => typeof m.data === 'number' && step(m.data));
build(document.getElementById('content'), 0);
