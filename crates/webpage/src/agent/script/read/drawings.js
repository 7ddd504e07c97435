// Drawings (SVG): which of them have parts that are read or pressed separately. All others are one image.

import { P, idOf, styleOf } from '../dom.js';
import { scope } from '../scope.js';

const PARTS = 'text,a,image,[role],[tabindex],foreignObject,:scope * > title,:scope [aria-label]';
const SHAPES = 'circle,ellipse,g,line,path,polygon,polyline,rect,use';
/** The maximum number of shapes of a drawing that is pressed part by part. A drawing with more shapes is an image,
 * which is pressed at points. */
const MOST_SHAPES = 200;

/** Drawings in which a shape listens for presses, as reported by the debugger. */
const heardIn = new WeakSet();

/** Records elements that listen for presses. Returns their numbers, and whether there is a drawing that must be walked
 * now but was not before. */
export function heard(elements) {
  let anew = false;
  const ids = elements.map(e => {
    if (!(e instanceof Element)) return 0;
    for (let svg = e instanceof SVGElement ? e.ownerSVGElement : null; svg !== null; svg = svg.ownerSVGElement) {
      anew ||= !heardIn.has(svg);
      heardIn.add(svg);
    }
    return idOf(e);
  });
  return [ids, anew];
}

/** Whether a drawing is walked. `at`: the walk's state inside it. */
export function hasParts(svg, at) {
  if (P.querySelector.call(svg, PARTS) !== null) return true;
  if (at.lean) return false;
  const listens = heardIn.has(svg);
  if (!listens && (!scope.pointer || at.pointer || at.inside)) return false;
  const shapes = P.querySelectorAll.call(svg, SHAPES);
  if (shapes.length > MOST_SHAPES) return false;
  if (listens) return true;
  for (const shape of shapes) if (styleOf(shape).cursor === 'pointer') return true;
  return false;
}
