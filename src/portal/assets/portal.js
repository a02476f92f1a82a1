// What pages do beyond forms and links. Every page works without it.
//   data-copy="text"                 a button that copies the text
//   data-poll="url" data-poll-ms=…   an element with an id that is fetched anew, until it has no data-poll any more
//   data-polled-with="id"            an element that is taken over along with that one
//   data-submit-on-change            a form that sends itself when a choice in it changes
//   .bars g[tabindex]                the bars of a chart: one stop of the keyboard, arrows go from bar to bar
//   iframe[data-measured]            as high as what it shows
//   time[datetime]                   shown in the reader's own time zone, and how long ago that is
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

const LEAST_PX = 48;
const MOST_PX = 4000;
const SCROLL_BAR_PX = 20;

/** Only numbers are read: all of it is somebody else's markup, which may have given anything another name. */
function measure(frame) {
  const page = frame.contentDocument?.documentElement;
  if (!page) return;
  const { scrollX, scrollY } = window;
  // What fills its window must not keep it as high as it was.
  frame.style.height = '0';
  const bar = page.scrollWidth > page.clientWidth ? SCROLL_BAR_PX : 0;
  const height = Number(page.scrollHeight) + frame.offsetHeight - frame.clientHeight + bar;
  frame.style.height = `${Math.min(Math.max(height || 0, LEAST_PX), MOST_PX)}px`;
  scrollTo(scrollX, scrollY);
}

function measureAll() {
  for (const frame of document.querySelectorAll('iframe[data-measured]')) measure(frame);
}
document.addEventListener('load', ({ target }) => target.matches?.('iframe[data-measured]') && measure(target), true);
addEventListener('resize', measureAll);
measureAll();

const barsOf = (root) => [...root.querySelectorAll('g[tabindex]')];

/** The last bar of each chart is the one that the keyboard comes to. */
function joinBars(root) {
  for (const chart of root.querySelectorAll('.bars')) {
    for (const bar of barsOf(chart).slice(0, -1)) bar.setAttribute('tabindex', '-1');
  }
}
joinBars(document);

document.addEventListener('keydown', (event) => {
  const bar = event.target.closest?.('.bars g[tabindex]');
  if (!bar) return;
  const bars = barsOf(bar.closest('.bars'));
  const at = bars.indexOf(bar);
  const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 }[event.key];
  if (!bars[next]) return;
  event.preventDefault();
  bar.setAttribute('tabindex', '-1');
  bars[next].setAttribute('tabindex', '0');
  bars[next].focus();
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

// Times stand in English sentences: their words are English too. Hours are as the browser has them.
const english = navigator.languages.find((language) => /^en\b/.test(language)) ?? 'en-GB';
const { hourCycle } = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions();
const format = new Intl.DateTimeFormat(english, { dateStyle: 'medium', timeStyle: 'medium', hourCycle });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' });
const SECOND_MS = 1000;
const UNITS = [
  ['day', 24 * 3600 * SECOND_MS],
  ['hour', 3600 * SECOND_MS],
  ['minute', 60 * SECOND_MS],
  ['second', SECOND_MS],
];
const NEXT_LOOK_MS = 30 * SECOND_MS;

function fromNow(at) {
  const away = at.getTime() - Date.now();
  const [unit, ms] = UNITS.find(([, ms]) => Math.abs(away) >= ms) ?? UNITS.at(-1);
  return relative.format(Math.trunc(away / ms), unit);
}

function showLocalTimes(root) {
  for (const element of root.querySelectorAll('time[datetime]')) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    if (element.title === '') {
      element.title = element.dateTime;
      element.innerHTML = '<span class="exact"></span> <span class="ago"></span>';
      element.firstChild.textContent = format.format(at);
    }
    element.lastChild.textContent = fromNow(at);
  }
}
setInterval(() => showLocalTimes(document), NEXT_LOOK_MS);
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
  joinBars(next);
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
      // Says that nobody asks: an open page does not keep its session alive.
      const answer = await fetch(url, { headers: { Accept: 'text/html', 'Postrider-Poll': '1' } });
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
