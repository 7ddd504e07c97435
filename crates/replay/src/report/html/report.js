'use strict';
// Keys, filters and highlighting. The page can also be read without this script.
{
  /** @param {string} css @param {ParentNode} [within] @returns {HTMLElement[]} */
  const all = (css, within = document) => [...within.querySelectorAll(css)].filter((e) => e instanceof HTMLElement);
  /** @param {string} css @returns {HTMLElement} */
  const one = (css) => all(css)[0];
  const help = /** @type {HTMLDialogElement} */ (one('#keys'));

  // A screenshot that is shown repeatedly is embedded only once.
  for (const img of document.querySelectorAll('img[data-same]')) {
    const same = document.getElementById(img.getAttribute('data-same') ?? '');
    img.setAttribute('src', same?.getAttribute('src') ?? '');
  }
  for (const time of document.querySelectorAll('time')) time.title = new Date(time.dateTime).toLocaleString();

  /** Opens the containers of an element, and scrolls to it. @param {HTMLElement | undefined} target */
  const show = (target) => {
    if (!target) return;
    for (let e = target.parentElement; e; e = e.parentElement) if (e instanceof HTMLDetailsElement) e.open = true;
    const focus = (target instanceof HTMLDetailsElement ? target.querySelector('summary') : null) ?? target;
    focus.scrollIntoView({ block: target.matches('article') ? 'start' : 'nearest' });
    if (focus instanceof HTMLElement) focus.focus({ preventScroll: true });
  };

  /** The steps that can be navigated to: not those of hidden scripts or collapsed attempts. */
  const steps = () => all('.step').filter((step) => step.checkVisibility());
  const scripts = () => all('article').filter((script) => !script.hidden);

  /** Returns the element after the focused one, or before it. @param {HTMLElement[]} list @param {number} way */
  const next = (list, way) => {
    const at = document.activeElement;
    const inside = list.findIndex((e) => e.contains(at));
    if (inside >= 0) return list[inside + way];
    const follows = (/** @type {HTMLElement} */ e) =>
      at !== null && at !== document.body && (at.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
    const after = at === document.body ? 0 : list.findIndex(follows);
    return way > 0 ? list[after] : list[(after < 0 ? list.length : after) - 1];
  };

  /** @param {string} outcome */
  const filter = (outcome) => {
    for (const button of all('[data-filter]')) {
      button.setAttribute('aria-pressed', String(button.dataset.filter === outcome));
    }
    for (const e of all('[data-outcome]')) e.hidden = outcome !== '' && e.dataset.outcome !== outcome;
  };

  const refs = () => {
    const off = document.body.classList.toggle('no-refs');
    one('#refs').setAttribute('aria-pressed', String(!off));
  };

  /** @param {HTMLElement} button */
  const openAll = (button) => {
    const open = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(open));
    for (const e of all(open ? 'details.step, details.all' : 'details.step')) /** @type {HTMLDetailsElement} */ (e).open = open;
  };

  /** @param {HTMLElement} button */
  const copy = async (button) => {
    const code = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(code?.textContent ?? '');
      button.textContent = 'Copied';
    } catch {
      // A local file may have no clipboard access: select the text, so that it can be copied with one key.
      if (code) getSelection()?.selectAllChildren(code);
      button.textContent = 'Selected';
    }
  };

  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    if (!button) return;
    if (button.dataset.filter !== undefined) filter(button.dataset.filter);
    else if (button.id === 'refs') refs();
    else if (button.id === 'all') openAll(button);
    else if (button.id === 'help') help.showModal();
    else if (button.dataset.copy !== undefined) void copy(button);
    else if (button.classList.contains('zoom')) {
      button.setAttribute('aria-pressed', String(button.getAttribute('aria-pressed') !== 'true'));
    }
  });

  // Highlights a ref in the text and its box in the screenshot of the same step or attempt.
  const point = (/** @type {Event} */ event, /** @type {boolean} */ on) => {
    const ref = event.target instanceof Element ? event.target.closest('[data-ref]') : null;
    const scope = ref?.closest('.step, .attempt');
    if (!ref || !scope) return;
    const name = CSS.escape(ref.getAttribute('data-ref') ?? '');
    for (const e of scope.querySelectorAll(`[data-ref="${name}"]`)) e.classList.toggle('hot', on);
  };
  document.addEventListener('pointerover', (event) => point(event, true));
  document.addEventListener('pointerout', (event) => point(event, false));

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const focus = document.activeElement;
    const on = focus instanceof HTMLElement && focus.matches('.step > summary') ? focus.parentElement : null;
    const step = on instanceof HTMLDetailsElement ? on : null;
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp':
        if (!step) return;
        show(next(steps(), event.key === 'ArrowDown' ? 1 : -1));
        break;
      case 'ArrowRight':
      case 'ArrowLeft':
        if (!step) return;
        step.open = event.key === 'ArrowRight';
        break;
      case 'j': show(next(steps(), 1)); break;
      case 'k': show(next(steps(), -1)); break;
      case 'n': show(next(scripts(), 1)); break;
      case 'p': show(next(scripts(), -1)); break;
      case 'f': {
        const failed = steps().filter((e) => e.matches('.failed, .broken'));
        show(next(failed, 1) ?? failed[0]);
        break;
      }
      case 'r': refs(); break;
      case '?': help.showModal(); break;
      default: return;
    }
    event.preventDefault();
  });

  // Marks the script that is being read.
  const links = new Map(all('nav a').map((link) => [link.getAttribute('href')?.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      links.get(target.id)?.setAttribute('aria-current', String(isIntersecting));
    }
  }, { rootMargin: '-10% 0px -80% 0px' });
  for (const script of all('article')) seen.observe(script);

  const named = () => {
    const target = document.getElementById(location.hash.slice(1)) ?? undefined;
    if (target instanceof HTMLDetailsElement) target.open = true;
    show(target);
  };
  addEventListener('hashchange', named);
  named();
}
