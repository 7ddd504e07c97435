// Where an element is, which point of it to press, and what a press there would reach. Coordinates are CSS pixels of
// this document's viewport. The content of a frame is handled by its own script.

import {
  $body, $clientHeight, $clientLeft, $clientTop, $clientWidth, $closest, $contains, $createRange, $docQuery,
  $documentElement, $getRootNode, $hasAttributes, $isConnected, $nodeType, $ownerDocument, $rect, $rects, DOC,
  ELEMENT, FRAMES, P, attr, flatParent, has, idOf, inFrame, isEditable, later, nodeOf, shadowOf, styleOf, tagOf,
  wellFormed,
} from '../dom.js';
import { LEAF_CONTROLS, roleOf } from '../read/roles.js';
import { enterScope, newScope, readRoot, scope } from '../scope.js';
import { A_CLASS, A_ID, A_ROLE, readAttributes } from '../read/attributes.js';
import { nameOf } from '../read/names.js';
import { insideFlat, walkNumber, walkOf } from '../read/capture.js';
import { locate } from '../read/locate.js';
import { guardContent } from './guard.js';
import { WATCH_MS, expectClick } from './press.js';
import { reachesSurface, surfaceOf } from './editors.js';
import { changeCount, tell, turn } from '../changes.js';

/** A rectangle as [left, top, right, bottom]. */
const box = r => [r.left, r.top, r.right, r.bottom];
const meet = (a, b) => [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
const area = b => Math.max(0, b[2] - b[0]) * Math.max(0, b[3] - b[1]);
const round = n => Math.round(n * 100) / 100;

/** The part of a rectangle of `e` that the scrollers and clips around it leave visible (CSS Overflow 3, 3). */
function clipped(b, e) {
  let position = styleOf(e).position;
  for (let p = flatParent(e); p && $nodeType.call(p) === ELEMENT; p = flatParent(p)) {
    const doc = $ownerDocument.call(p);
    if (p === $body.call(doc) || p === $documentElement.call(doc)) break;
    const style = styleOf(p);
    // No box, no scroller and no containing block.
    if (style.display === 'contents') continue;
    if (position === 'fixed') {
      // Only a transformed ancestor contains a fixed box.
      if (style.transform === 'none' && style.filter === 'none' && style.contain === 'none') continue;
      position = style.position;
    } else if (position === 'absolute' && style.position === 'static' && style.transform === 'none') continue;
    else position = style.position;
    if (style.overflowX !== 'visible' || style.overflowY !== 'visible') {
      const r = $rect.call(p);
      const left = r.left + $clientLeft.call(p), top = r.top + $clientTop.call(p);
      const inner = [left, top, left + $clientWidth.call(p), top + $clientHeight.call(p)];
      // CSS Overflow 3, 3: `overflow` applies to block, flex and grid containers.
      if (style.display === 'inline' || style.display.startsWith('table-row') || /^table-(header|footer|column)/.test(style.display)) continue;
      if (style.overflowX === 'visible') inner[0] = -Infinity, inner[2] = Infinity;
      if (style.overflowY === 'visible') inner[1] = -Infinity, inner[3] = Infinity;
      b = meet(b, inner);
    }
  }
  return b;
}

/** The boxes of an element in its own document: one per line or, if it has no box of its own, those of its content. */
export function boxesOf(e) {
  const tag = tagOf(e);
  if (tag === 'area') return areaBoxes(e);
  const surface = surfaceOf(e);
  if (surface) return boxesOf(surface);
  let list = Array.from($rects.call(e), box).filter(b => area(b) > 0);
  if (!list.length && styleOf(e).display === 'contents') {
    const range = $createRange.call($ownerDocument.call(e));
    range.selectNodeContents(e);
    list = Array.from(range.getClientRects(), box).filter(b => area(b) > 0);
  }
  if (!list.length && (tag === 'option' || tag === 'optgroup')) {
    const select = $closest.call(e, 'select');
    if (select) list = [box($rect.call(select))].filter(b => area(b) > 0);
  }
  return list;
}

/** The bounding box of an `area`, in the image that uses its map (HTML 4.8.14). */
function areaBoxes(e) {
  const map = $closest.call(e, 'map');
  const name = map && attr(map, 'name');
  if (!name) return [];
  const image = $docQuery.call($ownerDocument.call(e), `img[usemap="#${CSS.escape(name)}" i]`);
  if (!image) return [];
  const r = $rect.call(image);
  const c = (attr(e, 'coords') || '').split(',').map(Number);
  const shape = (attr(e, 'shape') || 'rect').toLowerCase();
  if (shape === 'default') return [box(r)];
  if (shape === 'circle' && c.length >= 3) return [[r.left + c[0] - c[2] / 2, r.top + c[1] - c[2] / 2, r.left + c[0] + c[2] / 2, r.top + c[1] + c[2] / 2]];
  const xs = c.filter((_, i) => i % 2 === 0), ys = c.filter((_, i) => i % 2 === 1);
  return xs.length >= 2 ? [[r.left + Math.min(...xs), r.top + Math.min(...ys), r.left + Math.max(...xs), r.top + Math.max(...ys)]] : [];
}

/** The bounding box of an element, [x, y, width, height]; null without one. */
function rectOf(e) {
  const boxes = boxesOf(e);
  if (!boxes.length) return null;
  const all = boxes.reduce((a, b) => [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])]);
  return [round(all[0]), round(all[1]), round(all[2] - all[0]), round(all[3] - all[1])];
}

/**
 * The point to press: the middle of the largest visible part or, if something covers it, another point of that part
 * that is free. null: no part is visible. `thorough`: tries every corner of the part.
 */
export function pointOf(e, target, thorough) {
  let best = null;
  for (const b of boxesOf(e)) {
    const seen = meet(clipped(b, surfaceOf(e) || e), [0, 0, innerWidth, innerHeight]);
    if (area(seen) > 0 && (best === null || area(seen) > area(best))) best = seen;
  }
  if (best === null) return null;
  const at = ([x, y]) => [round(best[0] + (best[2] - best[0]) * x), round(best[1] + (best[3] - best[1]) * y)];
  const points = [[0.5, 0.5], [0.5, 0.2], [0.5, 0.8], [0.2, 0.5], [0.8, 0.5]].map(at);
  // Prefer the field itself, if it is free, to content that is drawn over it.
  return points.find(point => hits(target, point) && isIn(deepAt(point[0], point[1]), target)) || points.find(point => hits(target, point))
    || (thorough && freePoint(best, target)) || points[0];
}

/** The number of points that are tried along each side of a box, and along an outline. */
const TRIED = 7;

/**
 * The free point of a box that is nearest to its middle: a cover may leave a part of the element free, and a drawn
 * shape (an arc, a line) often does not include the middle of its box. null: there is none.
 */
function freePoint(seen, target) {
  const [left, top, right, bottom] = seen;
  const points = [];
  for (let i = 0; i < TRIED; i++) for (let j = 0; j < TRIED; j++) points.push([(i + 0.5) / TRIED, (j + 0.5) / TRIED]);
  const off = point => (point[0] - 0.5) ** 2 + (point[1] - 0.5) ** 2;
  points.sort((a, b) => off(a) - off(b));
  const found = points.map(([x, y]) => [round(left + (right - left) * x), round(top + (bottom - top) * y)]).find(point => hits(target, point));
  return found || outlinePoint(target);
}

/** A free point on the line of a drawn shape: all other points miss a thin line. */
function outlinePoint(target) {
  if (!(target instanceof SVGGeometryElement)) return null;
  const matrix = target.getScreenCTM();
  const length = target.getTotalLength();
  if (matrix === null || !(length > 0)) return null;
  for (let i = 0; i < TRIED; i++) {
    const { x, y } = target.getPointAtLength(length * (i + 0.5) / TRIED).matrixTransform(matrix);
    const point = [round(x), round(y)];
    if (x >= 0 && y >= 0 && x < innerWidth && y < innerHeight && hits(target, point)) return point;
  }
  return null;
}

/** The innermost element at a point, through open shadow roots. */
export function deepAt(x, y) {
  let e = DOC.elementFromPoint.call(document, x, y);
  while (e) {
    const root = shadowOf(e);
    const inner = root && root.elementFromPoint(x, y);
    if (!inner || inner === e || $getRootNode.call(inner) !== root) break;
    e = inner;
  }
  return e;
}

/** The roles of elements that a person would not consider part of a field, whatever contains them. */
const OWN_POPUPS = /^(alert|alertdialog|dialog|grid|listbox|menu|progressbar|status|tooltip|tree)$/;
/** Elements that are pressed for their own sake. */
const PRESSED_ITSELF = 'a[href],button,input:not([type=hidden]),select,textarea,summary,label,iframe,[tabindex]:not([tabindex^="-"]),[contenteditable]:not([contenteditable=false]),'
  + '[onclick],[role=button],[role=checkbox],[role=combobox],[role=link],[role=menuitem],[role=option],[role=radio],[role=slider],[role=spinbutton],[role=switch],[role=tab],[role=textbox],[role=searchbox]';
/** How far the box of a control extends beyond the field in it: padding, an icon, a caption. */
const CONTROL_MARGIN = 48;
const CONTROL_DEPTH = 5;

/** Whether an element is a field, checkbox or similar control, whose appearance pages draw around it or over it. */
function isDrawnField(e) {
  const tag = tagOf(e);
  if (tag === 'input') return !/^(button|submit|reset|image|hidden)$/.test(e.type);
  return tag === 'select' || tag === 'textarea' || isEditable(e) || /^(checkbox|combobox|radio|searchbox|slider|spinbutton|switch|textbox)$/.test(attr(e, 'role') || '');
}

/**
 * The box that a page draws for a field: the outermost element around it that is about as large and contains nothing
 * else that can be pressed. null: there is none.
 */
function controlAround(target) {
  if (!isDrawnField(target)) return null;
  const inner = rectOf(target);
  if (inner === null) return null;
  let around = null;
  for (let p = flatParent(target), depth = 0; p && depth < CONTROL_DEPTH; p = flatParent(p), depth++) {
    if ($nodeType.call(p) !== ELEMENT) continue;
    const tag = tagOf(p);
    if (p === $body.call(document) || /^(a|button|dialog|fieldset|form|label|li|td|th|tr)$/.test(tag) || OWN_POPUPS.test(attr(p, 'role') || '')) break;
    if (/^(button|gridcell|link|listitem|option|row|tab|treeitem)$/.test(attr(p, 'role') || '')) break;
    const r = $rect.call(p);
    if (r.width > inner[2] + 4 * CONTROL_MARGIN || r.height > inner[3] + CONTROL_MARGIN) break;
    const others = Array.from(P.querySelectorAll.call(p, PRESSED_ITSELF));
    if (others.some(o => o !== target && !$contains.call(target, o) && !$contains.call(o, target) && boxesOf(o).length)) break;
    around = p;
  }
  return around;
}

/**
 * Whether an element over a field is the field as a person sees it: the box that it is drawn in, or a part of that box.
 * The page treats a press there as a press on the field. An element with its own function, or one that blocks the
 * field, is a cover.
 */
function reachesControl(at, target) {
  if (!at || !isDrawnField(target)) return false;
  const surface = surfaceOf(target);
  if (surface) return reachesSurface(at, surface);
  const control = controlAround(target);
  if (control === null || !(at === control || insideFlat(at, control))) return false;
  const outer = $rect.call(control);
  for (let p = at; p && $nodeType.call(p) === ELEMENT; p = flatParent(p)) {
    const r = $rect.call(p);
    const within = r.left >= outer.left - 2 && r.top >= outer.top - 2 && r.right <= outer.right + 2 && r.bottom <= outer.bottom + 2;
    if (!within || OWN_POPUPS.test(attr(p, 'role') || '') || attr(p, 'aria-busy') === 'true' || /^(wait|progress|not-allowed)$/.test(styleOf(p).cursor)) return false;
    if (p === control) break;
  }
  return true;
}

const ONE_WITH_ITS_INSIDE = /^(button|checkbox|menuitemcheckbox|menuitemradio|option|radio|switch|tab)$/;

/** Whether an event at `at` is for `target`: the target, a descendant, or its label. */
export function reaches(at, target) {
  for (let p = at; p; p = flatParent(p)) {
    if (p === target) return true;
    if ($nodeType.call(p) !== ELEMENT) continue;
    const tag = tagOf(p);
    if (tag === 'label') return p.control === target;
    // A press on an interactive element inside a label does not press the label's control (HTML 4.10.4).
    if (tag === 'a' || tag === 'button' || tag === 'input' || tag === 'select' || tag === 'textarea') {
      if (tagOf(target) === 'label' && target.control === p) return true;
      // The content of a tab or similar element is part of it (ARIA 1.2, "children presentational"): a tab in jQuery UI
      // is a link in a tab.
      if (ONE_WITH_ITS_INSIDE.test(attr(target, 'role') || '') && $contains.call(target, p)) continue;
      // A press on an image-map area is reported at its image, and a press on an option at its list.
      return (tag === 'select' && $contains.call(p, target));
    }
  }
  return (tagOf(target) === 'area' && tagOf(at) === 'img' && has(at, 'usemap')) || reachesControl(at, target);
}

/** The result of `aim` for an element that is in view and free: nothing is scrolled. Otherwise null. */
export function glimpse(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e) || !boxesOf(e).length) return null;
  const point = pointOf(e, e);
  if (point === null || !hits(e, point)) return null;
  tell();
  return { rect: rectOf(e), point, hit: { target: true }, at: changeCount };
}

/**
 * Brings an element into view, chooses the point to press, and hit-tests it. null: gone; rect null: no box; point null:
 * no part of it can be brought into view. `at`: the change count of the document at that time, -1 if it was scrolled,
 * because changes by scrolling are known only in the next frame. `guard`: the arguments of guardContent after the id,
 * or null.
 */
export function aim(id, guard) {
  if (guard) guardContent(id, ...guard);
  // An element that is in view and free is not moved: scrolling moves content that a person is looking at.
  const free = glimpse(id);
  if (free) return free;
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  let aimed = surfaceOf(e) || e;
  if (!boxesOf(e).length) {
    aimed = labelWithBox(e);
    if (aimed === null) return { rect: null, point: null };
  }
  let point = pointOf(aimed, e);
  let scrolled = false;
  const show = what => {
    scrolled = true;
    P.scrollIntoView.call(what, { block: 'center', inline: 'center', behavior: 'instant' });
  };
  if (point === null || !hits(e, point)) {
    show(aimed);
    point = pointOf(aimed, e, true);
  }
  // A control that exists only for assistive technology is pressed through its label.
  if (point === null || !hits(e, point)) {
    const label = labelWithBox(e);
    if (label && label !== aimed) {
      if (pointOf(label, e) === null) show(label);
      const other = pointOf(label, e);
      if (other && hits(e, other)) point = other;
    }
  }
  const rect = rectOf(e) || rectOf(aimed);
  if (!point) return { rect, point: null };
  tell();
  return { rect, point, hit: hit(id, point[0], point[1]), at: scrolled ? -1 : changeCount };
}

/**
 * What a press at a point would reach now that the pointer is there, and the box of the element: [hit, rect]. A page
 * that has reacted to the pointer, in its handlers or in work that they deferred, gets a frame to draw the result. `at`
 * comes from `aim`; `guard` is the same as in `aim`.
 */
export async function arrived(id, x, y, at, guard) {
  await turn();
  await turn();
  tell();
  if (at !== changeCount) await frame();
  if (guard) guardContent(id, ...guard);
  return [hit(id, x, y), rects([id])[0]];
}

/**
 * Like `arrived`, together with the data that is requested next anyway, read at the same moment: [hit, rect, look,
 * watched]. `look` is the result of `locate` for these ranges of ids. `press`: whether to watch the press that follows,
 * as `expectClick` does, for WATCH_MS.
 */
export async function arrivedLook(id, x, y, at, press, ranges, guard) {
  const until = performance.now() + WATCH_MS;
  const [there, rect] = await arrived(id, x, y, at, guard);
  if (there === null || !there.target) return [there, rect, null, false];
  return [there, rect, locate(id, ranges), press && expectClick(id, until, guard && [guard[0]])];
}

/** Resolves as soon as a frame has been drawn, or after 100 ms without one. */
export const frame = () => new Promise(done => {
  inFrame(() => later(done));
  later(done, 100);
});

const isIn = (at, e) => at !== null && (at === e || insideFlat(at, e));

export const hits = (e, point) => {
  const at = deepAt(point[0], point[1]);
  return at !== null && reaches(at, e);
};

function labelWithBox(e) {
  const labels = e.labels;
  if (!labels || !labels.length) return null;
  for (const label of labels) if (boxesOf(label).length) return label;
  return null;
}

/** What a press at a point would reach: {target: true}, or {target: false, by, what}; `by` 0: nothing. null: gone. */
export function hit(id, x, y) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const at = deepAt(x, y);
  if (!at) return { target: false, by: 0, what: 'nothing' };
  if (reaches(at, e)) return { target: true };
  const cover = coverOf(at, e);
  return { target: false, by: idOf(cover), what: words(cover) };
}

/** The covering element to report: the dialog or popup that it belongs to, otherwise the element itself. */
function coverOf(at, target) {
  for (let p = at; p && $nodeType.call(p) === ELEMENT; p = flatParent(p)) {
    if (insideFlat(target, p)) break;
    if (tagOf(p) === 'dialog' || /^(dialog|alertdialog|menu|listbox|alert|status|tooltip)$/.test(attr(p, 'role') || '')) return p;
  }
  return at;
}

/** Describes an element: `dialog "Cookies"`, `div.overlay`. */
export function words(e) {
  const tag = tagOf(e);
  const outer = scope;
  enterScope(newScope($ownerDocument.call(e)));
  try {
    const root = $getRootNode.call(e);
    if (root instanceof ShadowRoot) readRoot(root);
    const v = $hasAttributes.call(e) ? readAttributes(e) : null;
    const role = roleOf(e, tag, v === null ? null : v[A_ROLE]);
    if (role !== 'generic') {
      const name = nameOf(e, tag, role, v);
      if (name) return `${role} ${JSON.stringify(wellFormed(name.length > 60 ? name.slice(0, 59) + '…' : name))}`;
    }
    const id = v !== null && v[A_ID];
    const cls = v !== null && v[A_CLASS] !== null && v[A_CLASS].trim().split(/\s+/)[0];
    return tag + (id ? '#' + id : cls ? '.' + cls : '');
  } finally {
    enterScope(outer);
  }
}

/** Whether `aria-hidden` excludes an element from the tree: not if the last capture contains it because it has the
 * focus. */
const isAuthorHidden = e => (attr(e, 'aria-hidden') || '').toLowerCase() === 'true' && tagOf(e) !== 'body' && walkOf[idOf(e)] !== walkNumber;

/**
 * The element at a point as it is in the tree: for a picture, its root unless it is read part by part; for the inside
 * of a button, the button. null: none; `frame`: it shows a frame, and the search continues inside.
 */
export function elementAt(x, y) {
  let e = deepAt(x, y);
  if (!e) return null;
  for (let p = e; p && $nodeType.call(p) === ELEMENT; p = flatParent(p)) {
    const tag = tagOf(p);
    if ((tag === 'svg' && walkOf[idOf(e)] !== walkNumber) || tag === 'button' || LEAF_CONTROLS.has(attr(p, 'role'))) e = p;
  }
  // An element that its author hides from assistive technology is in no tree: the element in which it is drawn
  // represents it.
  for (let p = e; p && $nodeType.call(p) === ELEMENT; p = flatParent(p)) {
    const outer = flatParent(p);
    if (isAuthorHidden(p) && outer && $nodeType.call(outer) === ELEMENT) e = outer;
  }
  const tag = tagOf(e);
  return { id: idOf(e), frame: FRAMES.has(tag) };
}

/** [x, y, width, height] per id; null without a box. */
export const rects = list => list.map(id => {
  const e = nodeOf(id);
  return e && $isConnected.call(e) ? rectOf(e) : null;
});

/** The position of the content of a frame: [x, y, scale x, scale y] of the frame's own pixels in this document's. */
export function frameBox(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const r = $rect.call(e);
  const style = styleOf(e);
  const sx = e.offsetWidth ? r.width / e.offsetWidth : 1;
  const sy = e.offsetHeight ? r.height / e.offsetHeight : 1;
  return [
    round(r.left + ($clientLeft.call(e) + parseFloat(style.paddingLeft)) * sx),
    round(r.top + ($clientTop.call(e) + parseFloat(style.paddingTop)) * sy), sx, sy,
  ];
}
