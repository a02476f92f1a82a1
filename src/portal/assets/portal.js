// What pages do beyond forms and links. Every page works without it.
//   data-copy="text"                 a button that copies the text
//   data-poll="url" data-poll-ms=…   an element with an id that is fetched anew, until it has no data-poll any more
//   data-polled-with="id"            an element that is taken over along with that one
//   data-submit-on-change            a form that sends itself when a choice in it changes
//   time[datetime]                   shown in the reader's own time zone
const PATIENCE_MS = 2000;

document.documentElement.classList.add('scripted');

const narrow = matchMedia('(max-width: 50rem)');
const menu = document.querySelector('.menu');
if (menu && narrow.matches) menu.open = false;
narrow.addEventListener('change', () => {
  if (menu) menu.open = !narrow.matches;
});

// What a button says of itself is not read out while its name is another.
const spoken = document.createElement('p');
spoken.className = 'unseen';
spoken.setAttribute('role', 'status');
document.body.append(spoken);

document.addEventListener('click', async ({ target }) => {
  const button = target.closest?.('[data-copy]');
  if (!button) return;
  button.dataset.word ??= button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Copy it manually';
  }
  spoken.textContent = button.textContent;
  setTimeout(() => {
    button.textContent = button.dataset.word;
    spoken.textContent = '';
  }, PATIENCE_MS);
});

document.addEventListener('change', ({ target }) => {
  const form = target.closest?.('form[data-submit-on-change]');
  if (form && target.matches('select, [type=checkbox], [type=radio]')) form.requestSubmit();
});

// A second click on a slow button must not do it twice.
document.addEventListener('submit', ({ target, submitter }) => {
  if (target.method !== 'post') return;
  setTimeout(() => submitter?.setAttribute('disabled', ''), 0);
  setTimeout(() => submitter?.removeAttribute('disabled'), PATIENCE_MS);
});
addEventListener('pageshow', () => {
  for (const button of document.querySelectorAll('button[disabled]')) button.removeAttribute('disabled');
});

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
function showLocalTimes(root) {
  for (const element of root.querySelectorAll('time[datetime]:not([title])')) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    element.title = element.dateTime;
    element.textContent = format.format(at);
  }
}
showLocalTimes(document);

/** What stands in the place of the element from now on. */
function takeOver(element, fresh) {
  const found = fresh.getElementById(element.id);
  if (!found) return element;
  const next = document.importNode(found, true);
  // What somebody has opened stays open.
  const opened = [...element.querySelectorAll('details')].map((details) => details.open);
  for (const [at, details] of next.querySelectorAll('details').entries()) details.open ||= opened[at] === true;
  element.replaceWith(next);
  showLocalTimes(next);
  return next;
}

/** Asks for the page again and takes over the element of the same id; waits while nobody looks. */
async function poll(element) {
  const { poll: url, pollMs = '5000' } = element.dataset;
  await new Promise((resolve) => setTimeout(resolve, Number(pollMs)));
  if (!element.isConnected) return;
  let next = element;
  if (!document.hidden && !element.contains(document.activeElement)) {
    try {
      const answer = await fetch(url, { headers: { Accept: 'text/html' } });
      const text = answer.ok && !answer.redirected ? await answer.text() : '';
      const fresh = new DOMParser().parseFromString(text, 'text/html');
      const beside = document.querySelectorAll(`[data-polled-with="${element.id}"][id]`);
      for (const old of beside) if (!old.contains(document.activeElement)) takeOver(old, fresh);
      next = takeOver(element, fresh);
    } catch {
      // The next turn tries again.
    }
  }
  if (next.dataset.poll) poll(next);
}
for (const element of document.querySelectorAll('[data-poll][id]')) poll(element);
