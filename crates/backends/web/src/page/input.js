// The inside half of acting: the net that confirms where a press landed, focus and selection for filling, native
// lists and fields that typing cannot set, scrolling, and questions about one element.

// ---- Presses: the second net behind the hit test ----

let expected = null;
const GESTURE = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];

/** Listeners are there from the document's first moment: whatever the page adds to the window comes after them. */
function watchGestures() {
  for (const type of GESTURE) window.addEventListener(type, watchGesture, { capture: true });
}
watchGestures();

/** What these show is drawn by themselves: no mutation tells of it. */
const DRAWN = new Set(['canvas', 'embed', 'object']);

/** For expectClick: the press is meant for another frame, or for no one in particular. */
const NOBODY = -1;
const ANYBODY = 0;

/** How long a press is watched for that is announced before it is certain: who does not come then does not come. */
const WATCH_MS = 5000;

/**
 * From now on presses must land on `id`, its label or its inside; what lands elsewhere is stopped. NOBODY:
 * all is stopped; ANYBODY: nothing is, and the verdict says what was hit. A press that is made after `until` is not the
 * one. false: gone.
 */
function expectClick(id, until = Infinity) {
  clickVerdict();
  const target = id > 0 ? nodeOf(id) : null;
  if (id > 0 && (!target || !$isConnected.call(target))) return false;
  expected = { id, target, until, verdict: null, reactions };
  // `document.open()` takes all listeners away; adding them twice does nothing.
  watchGestures();
  return true;
}

function watchGesture(event) {
  if (expected === null || !event.isTrusted) return;
  // By when it was made: a page that is busy hears of it late.
  if (event.timeStamp > expected.until) {
    expected = null;
    return;
  }
  // Of a double click each press is judged: what the first one does may bring something else under the pointer.
  const again = event.type === 'pointerdown' && expected.verdict !== null && !expected.verdict.stopped;
  if (expected.verdict === null || again) {
    const at = innermost(event);
    if (!at) return;
    putOffAtPress = putOff();
    const { id, target } = expected;
    const ok = id === ANYBODY || (id !== NOBODY && reaches(at, target));
    expected.verdict = ok ? { landed: 'target', what: id === ANYBODY ? words(at) : '', stopped: false }
      : { landed: 'elsewhere', what: words(at), stopped: true };
    if (ok && DRAWN.has(tagOf(at))) expected.verdict.drawn = tagOf(at);
    signal({ press: expected.verdict });
  }
  if (expected.verdict.stopped) {
    event.stopImmediatePropagation();
    event.preventDefault();
  }
}

/**
 * What an event is for. Its path ends at the host of a closed shadow root; what is inside is where the pointer is, or
 * the focus.
 */
function innermost(event) {
  let e = event.composedPath().find(n => n instanceof Node && $nodeType.call(n) === ELEMENT);
  for (let root = anyClosed && e && closedRoots.get(e); root; root = shadowOf(e)) {
    const inner = typeof event.clientX === 'number' ? root.elementFromPoint(event.clientX, event.clientY) : $shadowActive.call(root);
    if (!inner || inner === e || $getRootNode.call(inner) !== root) break;
    e = inner;
  }
  return e;
}

/** How the press that was expected went: {landed: 'target' | 'elsewhere' | 'none', what, stopped}. Ends the watch. */
function clickVerdict() {
  const verdict = (expected && expected.verdict) || { landed: 'none', what: '', stopped: false };
  expected = null;
  return verdict;
}

/**
 * How many callbacks for frames and timers the page has asked for: both are counted per document, whoever asks. That the
 * next number is asked for brings a frame about, which a press does anyway.
 */
function putOff() {
  const frames = inFrame(() => {});
  cancelAnimationFrame(frames);
  const timers = later(() => {});
  clearTimeout(timers);
  return [frames - ownFrames, timers - ownTimers];
}
let putOffAtPress = [0, 0];

/**
 * Resolves when the page has done what it put off at the press, at most until the second frame. After a press the browser
 * runs no timer before the frame, so that a page that asked for one gets a frame, too.
 */
async function answered() {
  let before = putOffAtPress;
  for (let n = 0; n < 2; n++) {
    const now = putOff();
    if (now[0] === before[0] && now[1] === before[1]) return;
    await frame();
    before = now;
  }
}

/**
 * Reads an element as `locate` does when the page has answered a press. Where it showed nothing since the watch began but
 * a focus that moved, it gets a frame in any case.
 */
async function pressed(id, watch) {
  takePending();
  const still = expected !== null && expected.reactions === reactions;
  clickVerdict();
  await (still ? frame() : answered());
  return locate(id, watch);
}

// ---- The pointer ----

/** Where the pointer was seen last, and whether it was since it was asked about. */
let pointer = null;

function watchPointer(event) {
  if (event.isTrusted) pointer = [event.clientX, event.clientY];
}
window.addEventListener('mousemove', watchPointer, { capture: true, passive: true });

/** Where the pointer was seen last; null: it was not. With `forget`, only from now on. */
function pointerAt(forget) {
  const at = pointer;
  if (forget) {
    pointer = null;
    window.addEventListener('mousemove', watchPointer, { capture: true, passive: true });
  }
  return at;
}

// ---- Fields ----

const valueSetter = proto => Object.getOwnPropertyDescriptor(proto, 'value').set;
const $setInput = valueSetter(HTMLInputElement.prototype);
const $setArea = valueSetter(HTMLTextAreaElement.prototype);

/** The field that the next inserted text is meant for, and until when: a page may move the focus on meanwhile. */
let awaited = null;
const AWAITED_MS = 2000;

function watchText(event) {
  if (awaited === null || !event.isTrusted) return;
  const { field, until } = awaited;
  awaited = null;
  const at = innermost(event);
  if (performance.now() > until || at === field || $contains.call(field, at)) return;
  event.stopImmediatePropagation();
  event.preventDefault();
}
window.addEventListener('beforeinput', watchText, { capture: true });

/** Types that typing cannot set, or not by their value. */
const SET_TYPES = new Set(['color', 'range', 'date', 'month', 'week', 'time', 'datetime-local']);
const NO_TEXT = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'file', 'hidden']);

/** The element that takes the text: it itself, or the only field inside it (a combobox around its input). */
function fieldIn(e) {
  if (fieldKind(e)) return e;
  const inside = [];
  const look = node => {
    for (const c of node.querySelectorAll('*')) {
      if (inside.length > 1) return;
      if (fieldKind(c) && $checkVisibility.call(c, VISIBLE)) inside.push(c);
      const shadow = shadowOf(c);
      if (shadow) look(shadow);
    }
  };
  const shadow = shadowOf(e);
  if (shadow) look(shadow);
  look({ querySelectorAll: s => P.querySelectorAll.call(e, s) });
  if (inside.length === 1) return inside[0];
  const control = tagOf(e) === 'label' ? e.control : null;
  return control && fieldKind(control) ? control : null;
}

/** `type`: select all and insert text; `set`: through the native setter; `edit`: an editing host; '' for no field. */
function fieldKind(e) {
  const tag = tagOf(e);
  if (tag === 'textarea') return 'type';
  if (tag === 'input') return NO_TEXT.has(e.type) ? '' : SET_TYPES.has(e.type) ? 'set' : 'type';
  return has(e, 'contenteditable') && isEditHost(e) ? 'edit' : '';
}

/**
 * Focuses a field and selects what is in it, so that inserted text replaces it. null: gone. `fill`: `text` by
 * inserting text, `set` by setValue, `none`: it cannot be filled, because of `why`. `id`: the field itself.
 */
function focusField(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const field = fieldIn(e);
  if (!field) return { focused: false, fill: 'none', why: 'it is no field' };
  const tag = tagOf(field);
  if ($matches.call(field, ':disabled') || attr(field, 'aria-disabled') === 'true') return { focused: false, fill: 'none', why: 'it is disabled' };
  if ((tag === 'input' || tag === 'textarea') && field.readOnly) return { focused: false, fill: 'none', why: 'it is read-only' };
  const kind = fieldKind(field);
  giveFocus(field);
  if (kind === 'type') field.select();
  else if (kind === 'edit') $getSelection.call(document).selectAllChildren(field);
  awaited = kind === 'set' ? null : { field, until: performance.now() + AWAITED_MS };
  return { focused: deepActive(document) === field, fill: kind === 'set' ? 'set' : 'text', id: idOf(field), value: fieldValue(field), editor: kind === 'edit', accepts: accepts(field) };
}

/** Focuses an element; in a field the caret goes to the end. null: gone; else {focused, fill} as focusField. */
function focusOn(id) {
  awaited = null;
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const field = fieldIn(e) || e;
  const kind = fieldKind(field);
  giveFocus(field);
  if (kind === 'type') {
    try {
      field.setSelectionRange(field.value.length, field.value.length);
    } catch {
      // Number and e-mail fields have no selection to set; focusing put the caret somewhere sensible.
    }
  } else if (kind === 'edit') {
    const selection = $getSelection.call(document);
    selection.selectAllChildren(field);
    selection.collapseToEnd();
  }
  return { focused: deepActive(document) === field, fill: kind === 'set' ? 'set' : kind ? 'text' : 'none', id: idOf(field) };
}

/** What a field takes, in words; empty for any text. */
function accepts(field) {
  const kinds = {
    date: 'a date like 2026-11-22', time: 'a time like 09:30', 'datetime-local': 'a date and time like 2026-11-22T09:30', month: 'a month like 2026-11',
    week: 'a week like 2026-W47', color: 'a colour like #00ff7f', range: 'a number', number: 'a number like 12.5',
  };
  const parts = tagOf(field) === 'input' && kinds[field.type] ? [kinds[field.type]] : [];
  if (parts.length) for (const name of ['min', 'max', 'step']) if (has(field, name)) parts.push(`${name} ${attr(field, name).slice(0, 40)}`);
  if (field.maxLength > 0) parts.push(`at most ${field.maxLength} characters`);
  return parts.join(', ');
}

/**
 * Sets a field through the browser's own setter and says so to the page, as the browser's picker would. null: gone;
 * {value}; {refused: true, value, accepts}: it cannot hold that, and the page heard nothing.
 */
function setValue(id, text) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const field = fieldIn(e) || e;
  if (tagOf(field) !== 'input') return null;
  const want = field.type === 'datetime-local' ? text.trim().replace(' ', 'T') : text.trim();
  // A field of the same kind that nobody sees says what becomes of the value.
  const probe = DOC.createElement.call(document, 'input');
  for (const name of ['type', 'min', 'max', 'step', 'value']) if (has(field, name)) probe.setAttribute(name, attr(field, name));
  $setInput.call(probe, want);
  const holds = probe.value;
  const same = holds.toLowerCase() === want.toLowerCase() || (holds !== '' && want !== '' && (field.type === 'range' ? Number(holds) === Number(want)
    : field.type !== 'color' && want.startsWith(holds) && /^(:00|\.0+)+$/.test(want.slice(holds.length))));
  if (!same) return { refused: true, value: holds, accepts: accepts(field) };
  if (fieldValue(field) !== holds) {
    $setInput.call(field, holds);
    fire(field, 'input');
    fire(field, 'change');
  }
  return { value: fieldValue(field) };
}

function fire(e, type) {
  const event = type === 'input' ? new InputEvent(type, { bubbles: true, composed: true }) : new Event(type, { bubbles: true });
  EventTarget.prototype.dispatchEvent.call(e, event);
}

function fieldValue(e) {
  const tag = tagOf(e);
  if (tag === 'input' || tag === 'textarea') return e.value;
  if (tag === 'select') return selectedText(e);
  return ((e instanceof HTMLElement && $innerText.call(e)) || '').replace(/\n$/, '');
}

/** What a field holds now; null: gone. */
function readValue(id) {
  awaited = null;
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  return fieldValue(fieldIn(e) || e);
}

/**
 * Chooses options of a native list by label or value. {handled: false}: no native list; {missing, options}, {several}
 * or {why}: nothing was changed; {value}: done. null: gone.
 */
function select(id, wanted) {
  let e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  if (tagOf(e) === 'label' && e.control) e = e.control;
  if (tagOf(e) !== 'select') return { handled: false };
  if ($matches.call(e, ':disabled')) return { handled: true, why: 'it is disabled' };
  const options = Array.from(e.options);
  const chosen = [];
  const missing = [];
  for (const text of wanted) {
    const want = squeeze(text);
    // By label, then by value, then by label whatever its case: the first that there is decides.
    const ways = [o => squeeze(o.label) === want, o => o.value === text, o => squeeze(o.label).toLowerCase() === want.toLowerCase()];
    const found = ways.map(way => options.filter(way)).find(list => list.length) || [];
    const usable = found.filter(o => !$matches.call(o, ':disabled'));
    // The value decides between labels that are equal.
    const one = usable.length > 1 ? only(usable.filter(o => o.value === text)) : usable[0];
    if (one) chosen.push(one);
    else if (usable.length) return { handled: true, several: text, options: usable.slice(0, 50).map(o => o.value) };
    else if (found.length) return { handled: true, why: `its option ${JSON.stringify(text.slice(0, 120))} is disabled` };
    else missing.push(text);
  }
  if (missing.length) return { handled: true, missing, options: options.slice(0, 50).map(o => squeeze(o.label)) };
  if (!e.multiple && chosen.length !== 1) return { handled: true, why: 'it takes one option' };
  giveFocus(e);
  const before = options.filter(o => o.selected);
  if (e.multiple) for (const o of options) o.selected = chosen.includes(o);
  else chosen[0].selected = true;
  const after = options.filter(o => o.selected);
  if (before.length !== after.length || before.some((o, i) => o !== after[i])) {
    fire(e, 'input');
    fire(e, 'change');
  }
  const now = Array.from(e.selectedOptions);
  const kept = now.length === new Set(chosen).size && chosen.every(o => now.includes(o));
  return { handled: true, value: selectedText(e), refused: $isConnected.call(e) && !kept };
}

const only = list => (list.length === 1 ? list[0] : undefined);

// ---- Scrolling ----

/** The scroll container of an element that can still move that way; of none (0), the page. */
function scrollerOf(e, dx, dy) {
  for (let p = e; p && $nodeType.call(p) === ELEMENT; p = flatParent(p)) {
    if (p === $documentElement.call(document) || p === $body.call(document)) break;
    const style = styleOf(p);
    const scrolls = o => o === 'auto' || o === 'scroll' || o === 'overlay' || o === 'hidden';
    if ((dy && $scrollHeight.call(p) > $clientHeight.call(p) + 1 && scrolls(style.overflowY)) || (dx && $scrollWidth.call(p) > $clientWidth.call(p) + 1 && scrolls(style.overflowX))) return p;
  }
  return $scrolling.call(document);
}

/** Which container would scroll, how far it is, and a point where the wheel would reach it (else null). null: gone. */
function scroller(id, dx, dy) {
  const e = id ? nodeOf(id) : null;
  if (id && (!e || !$isConnected.call(e))) return null;
  const container = scrollerOf(e, dx, dy);
  if (!container) return { point: null, left: 0, top: 0 };
  const point = container === $scrolling.call(document) ? [innerWidth / 2, innerHeight / 2] : pointOf(container, container);
  // Another scroller under the pointer would take the wheel for itself.
  const under = point && deepAt(point[0], point[1]);
  const reached = under && scrollerOf(under, dx, dy) === container;
  return { point: reached ? point : null, left: $scrollLeft.call(container), top: $scrollTop.call(container) };
}

/** How far the page is scrolled. */
const scrolled = () => [scrollX, scrollY];

/** Scrolls the container of an element, or the page (0), by pixels at once. null: gone. */
function scrollBy(id, dx, dy) {
  const e = id ? nodeOf(id) : null;
  if (id && (!e || !$isConnected.call(e))) return null;
  const container = scrollerOf(e, dx, dy);
  if (!container) return { moved: false };
  const left = $scrollLeft.call(container), top = $scrollTop.call(container);
  P.scrollBy.call(container, { left: dx, top: dy, behavior: 'instant' });
  return { moved: $scrollLeft.call(container) !== left || $scrollTop.call(container) !== top, left: $scrollLeft.call(container), top: $scrollTop.call(container) };
}

// ---- Questions ----

function attrs(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const out = {};
  // A secret that the server filled in stays one.
  const secret = tagOf(e) === 'input' && e.type === 'password';
  for (const name of $attributeNames.call(e)) if (!(secret && name === 'value')) out[name] = attr(e, name);
  return out;
}

/** Characters that are answered at most; who asked cuts further, and says so. */
const HTML_LIMIT = 8 << 20;

function html(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const root = $nodeType.call(e) === 9 ? $documentElement.call(e) : e;
  return root ? $outerHTML.call(root).slice(0, HTML_LIMIT) : '';
}

/** The text that a person sees. */
function text(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  if ($nodeType.call(e) === 9) return $body.call(e) ? $innerText.call($body.call(e)).slice(0, HTML_LIMIT) : '';
  const shown = fieldKind(e) === 'type' && e.type !== 'password' ? e.value : e instanceof HTMLElement ? $innerText.call(e) : $textContent.call(e);
  return shown.slice(0, HTML_LIMIT);
}
