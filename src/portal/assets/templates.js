// The live preview of templates: the form is sent in the background a moment after somebody has stopped
// typing, and the parts of the preview are exchanged. Without script the button Preview does it. Sample data
// is remembered as long as the window is open, because it is not kept with the template.
const QUIET_MS = 500;

const form = document.querySelector('[data-template-preview]');
const sample = form?.elements.data;
const keyOf = (template) => `sample data of ${template}`;
const sampleKey = keyOf(form?.dataset.sampleOf);
let timer;
let running;

/** What was typed for a new template belongs to the one that it has become. */
function takenAlong() {
  const fromNew = document.referrer === `${location.origin}/portal/templates/new`;
  if (!fromNew || form.dataset.sampleOf === 'new') return null;
  const typed = sessionStorage.getItem(keyOf('new'));
  sessionStorage.removeItem(keyOf('new'));
  if (typed !== null) sessionStorage.setItem(sampleKey, typed);
  return typed;
}

function exchange(id, found) {
  const [old, next] = [document.getElementById(id), found.getElementById(id)];
  if (!old || !next) return;
  const [oldFrame, nextFrame] = [old.querySelector('iframe'), next.querySelector('iframe')];
  // The frame stays: a new one would blink, and every address would become a step back in the history.
  if (oldFrame && nextFrame) oldFrame.contentWindow.location.replace(nextFrame.src);
  else if (oldFrame && next.closest('#preview').querySelector('.fault, .notice')) old.dataset.outdated = '';
  else old.replaceWith(document.importNode(next, true));
  if (nextFrame) delete old.dataset.outdated;
}

async function refresh() {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  const pane = document.getElementById('preview');
  pane.setAttribute('aria-busy', 'true');
  const body = new URLSearchParams(new FormData(form));
  body.set('only', 'preview');
  try {
    const answer = await fetch(form.dataset.templatePreview, { method: 'POST', body, signal });
    if (answer.redirected || !answer.headers.get('content-type')?.startsWith('text/html')) return;
    const found = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const id of ['preview-problems', 'preview-subject', 'preview-html', 'preview-text']) exchange(id, found);
  } catch {
    // Aborted by the next one, or not to be reached: what is shown stays.
  } finally {
    if (running.signal === signal) pane.removeAttribute('aria-busy');
  }
}

if (form) {
  const kept = sessionStorage.getItem(sampleKey) ?? takenAlong();
  const isShownAgain = form.closest('main').querySelector('.fault, .problem, .notice.bad');
  if (kept !== null && !isShownAgain) sample.value = kept;
  form.addEventListener('input', ({ target }) => {
    if (target === sample) sessionStorage.setItem(sampleKey, sample.value);
    clearTimeout(timer);
    timer = setTimeout(refresh, QUIET_MS);
  });
  refresh();
}
