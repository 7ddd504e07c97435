// Looking for one element again, at the moment of an act.

/**
 * A capture of the whole document as it is now, or null when the element with `id` is no longer connected. Judging a
 * record needs the siblings of rows, the leaves of sections and the headings around them: short of the whole tree
 * there is no part that surely holds them. `watch` as in capture.
 */
function locate(id, watch) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  return capture({ watch: watch ? [id, ...watch] : [id] });
}
