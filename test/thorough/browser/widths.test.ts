// On a screen of any width, nothing of a table is beyond its edge, no button and no question: nothing says that one
// could scroll there. The pages of a sandbox, since they have one of everything.
import type { Page } from 'playwright-core';
import t from 'tap';
import { kindOf } from '../../portal/crawl.ts';
import { noBrowser, openBrowser } from '../../support/browser.ts';
import { newDataDir, spawnSandbox } from '../../support/sandbox-process.ts';
import { until } from '../../support/until.ts';
import { signIn } from './as-people-do.ts';

const WIDTHS = [1920, 1280, 1100, 1024, 820, 390, 320];
const RECIPIENTS = ['ann', 'bounce+a-rather-long-name', 'full', 'defer', 'later-bounce+1', 'complain+1', 'block'];

interface Welcome {
  url: string;
  api_key: string;
  domain: string;
  login: { email: string; password: string };
  operator_login: { email: string; password: string };
}

t.test('tables and their questions at every width', { skip: noBrowser }, async (t) => {
  const welcome: Welcome = JSON.parse(await spawnSandbox(t, newDataDir(t), '--json').ready());
  await fill(welcome);
  const { window } = await openBrowser(t, welcome.url);
  for (const login of [welcome.login, welcome.operator_login]) {
    const { page } = await window();
    await signIn(page, login);
    let questions = 0;
    for await (const path of pagesFrom(page)) {
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const seen = (await page.evaluate(WHAT_IS_CUT)) as { cut: string[]; questions: number };
        t.same(seen.cut, [], `${path}, ${width} px`);
        questions += seen.questions;
      }
    }
    if (login === welcome.login) t.ok(questions > WIDTHS.length, `questions in tables: ${questions}`);
  }
});

/** What the tables hold: mail of every outcome, its webhook calls, suppressions. */
async function fill({ url, api_key: key, domain }: Welcome): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const call = async (path: string, body?: object) => {
    const method = body ? 'POST' : 'GET';
    const answer = await fetch(`${url}${path}`, { method, headers, body: body ? JSON.stringify(body) : null });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json();
  };
  await call('/webhooks', { url: 'http://127.0.0.1:9/where/the/order/service/hears', description: 'Order service' });
  await call('/templates', { name: 'Order confirmed', text: 'Thank you, {{ name }}' });
  await call('/domains', { domain: 'mail.example.com' });
  for (const name of RECIPIENTS) {
    const mail = { to: `${name}@example.com`, subject: 'Your order 4711 is on its way to you', text: 'Hello' };
    await call('/emails', { from: `Example Shop <orders@${domain}>`, ...mail, tags: { kind: 'order' } });
  }
  await until('the bounces and the complaint are on the list', async () => {
    const { suppressions } = (await call('/suppressions')) as { suppressions: unknown[] };
    return suppressions.length >= 3;
  });
}

/** One page of each kind, by the links; the page shows it. */
async function* pagesFrom(page: Page): AsyncGenerator<string> {
  const start = new URL(page.url()).pathname;
  const waiting = [start];
  const known = new Set(waiting);
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    await page.goto(path);
    for (const href of (await page.evaluate(LINKS)) as string[]) {
      const kind = kindOf(href) + (href.includes('?group=') ? '?group' : '');
      if (known.has(kind)) continue;
      known.add(kind);
      waiting.push(href);
    }
    yield path;
  }
}

/** Without those that a browser saves, or shows as they are. */
const LINKS = `[...document.querySelectorAll('a[href^="/portal"]:not([download])')]
  .map((link) => link.getAttribute('href').replace(/#.*/, ''))
  .filter((href) => !/zone|export|source|raw|csv/.test(href))`;

/** A question is opened as the click on its button does; its left and right edge must be what a click would hit. */
const WHAT_IS_CUT = `(() => {
  const cut = [];
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) cut.push('the page: ' + wide + ' px');
  for (const table of document.querySelectorAll('.stacks'))
    if (table.scrollWidth > table.clientWidth)
      cut.push(table.getAttribute('aria-label') + ': ' + table.scrollWidth + ' of ' + table.clientWidth + ' px');
  const questions = [...document.querySelectorAll('td .confirm')].filter((question) => question.checkVisibility());
  for (const question of questions) {
    question.open = true;
    const form = question.querySelector('form');
    form.scrollIntoView({ block: 'center', inline: 'start' });
    for (const box of document.querySelectorAll('.stacks')) box.scrollLeft = 0;
    const { left, right, top, height } = form.getBoundingClientRect();
    const isHit = (x) => form.contains(document.elementFromPoint(x, top + height / 2));
    if (!isHit(left + 3) || !isHit(right - 3))
      cut.push(question.querySelector('summary').textContent + ': ' + left + ' to ' + right + ' px');
    question.open = false;
  }
  return { cut, questions: questions.length };
})()`;
