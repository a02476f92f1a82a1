// node scripts/portal-screenshots.ts FOLDER: pictures of every kind of page of the portal and under /docs, light
// and dark, on a desk and as wide as a phone, out of a sandbox of its own with some mail in it. For people to look at.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { loadDaemonCommands } from '../src/cli/registry.ts';
import { startSandbox } from '../src/sandbox/sandbox.ts';

const KINDS: Record<string, BrowserContextOptions> = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
  'dark-phone': { colorScheme: 'dark', viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
};
/** Links, as they are written. */
const HREFS = `[...document.querySelectorAll('a[href^="/portal"]:not([download])')].map((link) => link.getAttribute('href'))`;
const ID = /[0-9a-f]{8}-[0-9a-f-]{27}/g;
/** What everybody sees, and what links do not lead to. */
const PUBLIC = ['/docs', '/docs/guide', '/docs/clients/node', '/docs/nowhere', '/portal/nowhere', '/portal/sign-out'];
const RECIPIENTS = ['ann', 'bob', 'carol', 'bounce', 'block', 'full', 'defer', 'later-bounce', 'complain'];

const folder = process.argv[2];
if (folder === undefined || process.argv.length > 3) {
  process.stderr.write('usage: node scripts/portal-screenshots.ts FOLDER\n');
  process.exit(2);
}
await takeAll(path.resolve(folder));

async function takeAll(target: string): Promise<void> {
  mkdirSync(target, { recursive: true });
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'postrider-pictures-'));
  const env = { POSTRIDER_HTTP_PORT: '0' };
  const sandbox = await startSandbox({
    dataDir,
    json: true,
    env,
    print: () => {},
    commands: await loadDaemonCommands(),
  });
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  try {
    const { url, access } = sandbox.welcome;
    const letter = await sendSome(url, access);
    const people = [
      { ...access, home: '/portal', letter: `/portal/messages/${letter}` },
      { ...access.operator, home: '/portal/operator', letter: null },
    ];
    for (const [kind, options] of Object.entries(KINDS)) {
      await takePublic(browser, { url, options, kind, target });
      for (const login of people) await take(browser, { url, login, kind, options, target });
    }
  } finally {
    await browser.close();
    await sandbox.close();
    rmSync(dataDir, { recursive: true });
  }
}

async function takePublic(browser: Browser, { url, kind, options, target }: Omit<Take, 'login'>): Promise<void> {
  const context = await browser.newContext({ ...options, baseURL: url });
  const page = await context.newPage();
  for (const at of PUBLIC) {
    await page.goto(at, { waitUntil: 'networkidle' });
    await shoot(page, target, `public${at.replaceAll('/', '-')}.${kind}`);
  }
  await context.close();
}

interface Take {
  url: string;
  login: { email: string; password: string; home: string; letter: string | null };
  kind: string;
  options: BrowserContextOptions;
  target: string;
}

async function take(browser: Browser, { url, login, kind, options, target }: Take): Promise<void> {
  const context = await browser.newContext({ ...options, baseURL: url });
  const page = await context.newPage();
  await page.goto('/portal/sign-in');
  await shoot(page, target, `sign-in.${kind}`);
  await page.fill('[name=email]', login.email);
  await page.fill('[name=password]', login.password);
  await Promise.all([page.waitForURL(`**${login.home}`), page.press('[name=password]', 'Enter')]);
  const seen = new Set([login.home]);
  const waiting = [login.home];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const answer = await page.goto(next);
    if (!answer?.headers()['content-type']?.startsWith('text/html')) continue;
    const name = next.slice('/portal'.length).replace(ID, 'one').replace(/\W+/g, '-').replace(/^-/, '') || 'overview';
    await shoot(page, target, `${name}.${kind}`);
    const found = (await page.evaluate(HREFS)) as string[];
    for (const href of found) {
      const shape = href.replace(/[?#].*/, '').replace(ID, ':id');
      if (seen.has(shape) || /zone|export|source|raw|\.csv/.test(shape)) continue;
      seen.add(shape);
      waiting.push(href.replace(/#.*/, ''));
    }
  }
  if (login.letter !== null) {
    await page.goto(login.letter);
    await shoot(page, target, `messages-letter.${kind}`);
  }
  await context.close();
}

async function shoot(page: Page, target: string, name: string): Promise<void> {
  await page.screenshot({ path: path.join(target, `${name}.png`), fullPage: true });
}

/** The ID of a message that has all that a call may have. */
async function sendSome(url: string, { apiKey, domain }: { apiKey: string; domain: string }): Promise<string> {
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
  const post = (route: string, body: unknown) =>
    fetch(url + route, { method: 'POST', headers, body: JSON.stringify(body) }).then((answer) => answer.text());
  await post('/webhooks', { url: 'http://127.0.0.1:9/hook', description: 'Order service' });
  await post('/templates', {
    name: 'Order confirmed',
    html: '<h1>Thank you, {{ name }}</h1>',
    text: 'Thank you, {{ name }}',
  });
  await post('/domains', { domain: 'mail.example.com' });
  const from = `Example Shop <orders@${domain}>`;
  for (const name of RECIPIENTS) {
    const html = `<h1>Thank you</h1><p>Your order is on its way.</p><p><a href="https://example.com/orders/7">Follow it</a></p>`;
    const mail = { from, to: `${name}@example.com`, subject: 'Your order 7' };
    await post('/emails', { ...mail, html, text: 'Your order is on its way.' });
  }
  const answer = await post('/emails', {
    ...{ from, to: 'Dora Example <dora@example.com>', cc: ['Accounting <accounting@example.com>', 'eve@example.com'] },
    ...{ reply_to: 'Billing <billing@example.com>', subject: 'Invoice 4711', tracking: { opens: false } },
    ...{ html: '<h1>Invoice</h1><p>It is attached.</p>', text: 'It is attached.' },
    ...{ tags: { kind: 'invoice', region: 'eu' }, metadata: { order: '4711', customer: 'Dora Example, since 2019' } },
    attachments: [
      { filename: 'Invoice 4711 – Größe & Preis.pdf', content: 'A'.repeat(200_000) },
      { filename: `${'a-long-name-without-a-blank-'.repeat(5)}.csv`, content: 'MTIsMDAK' },
      { filename: 'logo.png', content: 'iVBORw0KGgo=', content_id: 'logo' },
    ],
  });
  return JSON.parse(answer).message_ids[0];
}
