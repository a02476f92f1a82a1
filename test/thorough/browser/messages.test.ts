// A message's HTML in a real browser: nothing in it runs, nothing of it leaves the browser, and images
// are loaded only when somebody asks for them.
import t from 'tap';
import { noBrowser, openBrowser } from '../../support/browser.ts';
import { patience } from '../../support/patience.ts';
import { startPortal } from '../../support/portal.ts';
import { send } from '../../support/world.ts';

/** Each line would ask somebody elsewhere, or run something, if it could. */
const HOSTILE = `<!doctype html><html><head>
<meta http-equiv="refresh" content="0; url=https://elsewhere.test/refresh">
<base href="https://elsewhere.test/base/">
<link rel="stylesheet" href="https://elsewhere.test/style.css">
<link rel="preconnect" href="https://elsewhere.test"><link rel="prefetch" href="https://elsewhere.test/prefetch">
<style>@import url(https://elsewhere.test/import.css); p { background: url(https://elsewhere.test/background.png); color: rgb(1, 2, 3) }
@font-face { font-family: f; src: url(https://elsewhere.test/font.woff) } h1 { font-family: f }</style>
<script>document.title = 'ran'; fetch('https://elsewhere.test/fetch'); parent.postMessage('ran', '*')</script>
<script src="https://elsewhere.test/script.js"></script></head>
<body onload="parent.postMessage('ran', '*')"><h1>Your order</h1><p>It is on its way.</p>
<img id="picture" src="https://elsewhere.test/picture.png" onerror="parent.postMessage('ran', '*')">
<iframe src="https://elsewhere.test/frame"></iframe><object data="https://elsewhere.test/object"></object>
<video src="https://elsewhere.test/video" autoplay></video><svg onload="parent.postMessage('ran', '*')"></svg>
<form action="https://elsewhere.test/form"><input name="a"><button>Send</button></form>
<a href="https://elsewhere.test/link" target="_top">Track it</a>
<a href="javascript:parent.postMessage('ran', '*')">Run it here</a>
<a href="javascript:postMessage('ran', '*')" target="_parent">Run it outside</a>
<a href="/portal/account" target="_top">Your account</a><a href="/portal/account" target="_blank">Another window</a>
<img name="documentElement"><img name="scrollHeight"><form name="body"></form></body></html>`;

t.test('the HTML of a message', { skip: noBrowser }, async (t) => {
  const { daemon, sender, owner } = await startPortal(t);
  const [id] = await send(daemon, sender, 'joe@receiver.test', { html: HOSTILE });
  const origin = `http://127.0.0.1:${daemon.httpPort}`;
  const { browser } = await openBrowser(t, origin);
  // Not a window of the harness: here the browser is meant to complain about what it does not do.
  const context = await browser.newContext({ baseURL: origin });
  context.setDefaultTimeout(patience(30_000));
  const asked: string[] = [];
  await context.route(/elsewhere\.test/, (route) => {
    asked.push(route.request().url());
    return route.abort();
  });
  const page = await context.newPage();
  page.on('dialog', (dialog) => t.fail(`a dialog: ${dialog.message()}`));
  await page.addInitScript(
    "addEventListener('message', ({ data }) => document.documentElement.setAttribute('data-told', data))",
  );
  const told = () => page.evaluate("document.documentElement.getAttribute('data-told')");
  await page.goto('/portal/sign-in');
  await page.fill('[name=email]', owner.email);
  await page.fill('[name=password]', owner.password);
  await Promise.all([page.waitForURL(/portal$/), page.press('[name=password]', 'Enter')]);

  await page.goto(`/portal/messages/${id}`, { waitUntil: 'networkidle' });
  const frame = page.frameLocator('iframe.preview');
  await frame.getByText('It is on its way.').waitFor();
  t.equal(await told(), null, 'nothing ran');
  t.same(asked, [], 'nobody was asked for anything');
  await frame.getByText('Track it').click();
  await frame.getByText('Send').click();
  for (const link of ['Run it here', 'Run it outside', 'Your account', 'Another window'])
    await frame.getByText(link).click();
  await page.waitForLoadState('networkidle');
  t.equal(await told(), null);
  t.equal(context.pages().length, 1);
  t.equal(new URL(page.url()).pathname, `/portal/messages/${id}`, 'a click on a link leads nowhere');
  t.same(asked, []);

  await page.getByText('Load images').click();
  await page.waitForURL(/images=on/);
  await page.frameLocator('iframe.preview').getByText('It is on its way.').waitFor();
  await page.waitForLoadState('networkidle');
  t.same([...new Set(asked)].sort(), ['https://elsewhere.test/background.png', 'https://elsewhere.test/picture.png']);
  t.equal(await told(), null);

  // Opened by itself it is no less harmless.
  asked.length = 0;
  await page.goto(`/portal/messages/${id}/html`, { waitUntil: 'networkidle' });
  t.equal(await page.locator('p').textContent(), 'It is on its way.');
  t.equal(new URL(page.url()).origin, origin);
  t.same(asked, []);
});

const long = (px: number) => `<p>First</p><div style="height: ${px}px"></div><p>Last</p>`;
const HEIGHTS: Record<string, { html: string; least: number; most: number }> = {
  'one line': { html: '<!doctype html><p>Hi</p>', least: 48, most: 70 },
  'one line without a doctype': { html: '<p>Hi</p>', least: 48, most: 70 },
  'a long letter': { html: `<!doctype html>${long(1500)}`, least: 1580, most: 1700 },
  'a long letter without a doctype': { html: long(1500), least: 1560, most: 1700 },
  'as high as its window': {
    html: '<!doctype html><body style="margin: 0"><div style="height: 100vh">',
    least: 48,
    most: 60,
  },
  'wider than its window': { html: '<!doctype html><div style="width: 3000px">Wide</div>', least: 48, most: 90 },
  'longer than anybody reads': { html: `<!doctype html>${long(90_000)}`, least: 4000, most: 4000 },
  'names that mean something': {
    html: '<!doctype html><img name="documentElement" height="10"><form name="body"></form>',
    ...{ least: 48, most: 4000 },
  },
};

t.test('the frame is as high as the HTML of the message', { skip: noBrowser }, async (t) => {
  const { daemon, sender, owner } = await startPortal(t);
  const letters = [];
  for (const [name, { html }] of Object.entries(HEIGHTS)) {
    const [id] = await send(daemon, sender, 'joe@receiver.test', { html });
    letters.push({ name, id });
  }
  const { window } = await openBrowser(t, `http://127.0.0.1:${daemon.httpPort}`);
  const { page } = await window();
  await page.goto('/portal/sign-in');
  await page.fill('[name=email]', owner.email);
  await page.fill('[name=password]', owner.password);
  await Promise.all([page.waitForURL(/portal$/), page.press('[name=password]', 'Enter')]);
  const sizes = `(() => {
    const frame = document.querySelector('iframe.preview');
    const { scrollHeight, clientHeight } = frame.contentDocument.scrollingElement ?? {};
    return { height: frame.getBoundingClientRect().height, hidden: scrollHeight - clientHeight };
  })()`;
  for (const { name, id } of letters) {
    await page.goto(`/portal/messages/${id}`, { waitUntil: 'load' });
    const { height, hidden } = (await page.evaluate(sizes)) as { height: number; hidden: number };
    const { least, most } = HEIGHTS[name]!;
    t.ok(height >= least && height <= most, `${name}: ${height} px`);
    if (most < 4000 && !name.startsWith('as high'))
      t.ok(hidden <= 0, `${name}: nothing of it is hidden (${hidden} px)`);
  }
});
