// What needs a browser on the overview and on templates: steps that are ticked while somebody looks, charts that
// are seen in light and dark, tabs without script, and the live preview.
import Database from 'better-sqlite3';
import type { BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { noBrowser, openBrowser } from '../../support/browser.ts';
import { type PortalVisitor, type PortalWorld, startPortal } from '../../support/portal.ts';
import { roomInThisHour } from '../../support/time-border.ts';
import { until } from '../../support/until.ts';

t.test('in a browser', { skip: noBrowser }, async (t) => {
  const world: PortalWorld = await startPortal(t);
  const origin = `http://127.0.0.1:${world.daemon.httpPort}`;
  const browser = await openBrowser(t, origin);
  await roomInThisHour();
  const visitor = await world.visitor();
  const windowOf = async (options: Parameters<typeof browser.window>[0] = {}) => {
    const opened = await browser.window(options);
    await lendCookies(opened.context, visitor, origin);
    return opened;
  };
  await t.test('a step is ticked while the page is open', async (t) => {
    const { page } = await windowOf();
    await page.goto('/portal');
    await page.evaluate('window.isSamePage = true');
    await page.waitForSelector('.steps li.next >> text=Send your first message');
    await world.daemon.call(world.sender.key, 'POST /emails', {
      body: { from: 'a@acme.test', to: 'joe@receiver.test', subject: 'Hi', text: 'Hi' },
    });
    await page.waitForSelector('.steps li.done >> text=Send your first message');
    t.equal(await page.evaluate('window.isSamePage'), true, 'nobody has reloaded it');
  });

  await t.test('charts are seen in light and dark, at the width of a desk and of a phone', async (t) => {
    addFigures(world);
    const { page } = await windowOf();
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await page.goto('/portal?range=24h');
        await checkChart(t, page, `${colorScheme}, ${width} px`);
      }
    }
  });

  await t.test('a bar says its values under the pointer and under the keyboard', async (t) => {
    const { page } = await windowOf();
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto('/portal?range=24h');
    const seen = () =>
      page.evaluate(`[...document.querySelectorAll('.bars foreignObject')]
        .filter((words) => getComputedStyle(words).opacity === '1').map((words) => words.textContent)`);
    t.same(await seen(), []);
    const bars = page.locator('.bars g');
    t.equal(await page.locator('.bars g[tabindex="0"]').count(), 1, 'the chart is one stop for the keyboard');
    await page.focus('.bars g[tabindex="0"]');
    const newest = await seen();
    t.match(newest, [/^[A-Z][a-z]{2} \d+, \d\d:00 UTC: Delivered \d+/]);
    t.equal(await page.evaluate(`document.activeElement === document.querySelector('.bars g:last-of-type')`), true);
    await page.keyboard.press('ArrowLeft');
    t.match(await seen(), [/Delivered 129, Complaints 1$/]);
    t.equal(await page.locator('.bars g[tabindex="0"]').count(), 1);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    t.same(await seen(), newest, 'the last one has none beside it');
    await page.keyboard.press('Home');
    t.match(await seen(), [/Delivered 1,009, Complaints 1$/]);
    await bars.nth(20).locator('.room').hover();
    t.match(await seen(), [/Delivered 209, Complaints 1$/], 'the pointer goes before the focus');
    const room = (await page.locator('.bars > svg').boundingBox())!;
    const words = (await bars.nth(20).locator('p').boundingBox())!;
    t.ok(words.y >= room.y && words.y + words.height <= room.y + room.height * 0.2 + 1, 'above the bars');

    const { page: plain } = await windowOf({ javaScriptEnabled: false });
    await plain.goto('/portal?range=24h');
    t.equal(await plain.locator('.bars g[tabindex="0"]').count(), 24, 'without script each of them is');
  });

  await t.test('tabs and preview work without script', async (t) => {
    const { page } = await windowOf({ javaScriptEnabled: false });
    await page.goto('/portal');
    const panel = page.locator('.tabs > .panel:visible');
    t.match(await panel.textContent(), 'curl -X POST');
    await page.click('label:text-is("Python")');
    t.equal(await panel.count(), 1);
    t.match(await panel.textContent(), 'from postrider import Postrider');

    await page.goto('/portal/templates/new');
    await page.fill('[name=html]', '<h1>Hi {{ who }}</h1>');
    await page.fill('[name=data]', '{"who": "Ann"}');
    await page.click('button:text-is("Preview")');
    t.equal(await page.frameLocator('iframe.preview').locator('h1').textContent(), 'Hi Ann');
    t.equal(await page.inputValue('[name=html]'), '<h1>Hi {{ who }}</h1>');
  });

  await t.test('the preview follows the typing, and nothing in it runs', (t) => checkLivePreview(t, windowOf));
});

async function checkLivePreview(t: Test, windowOf: () => Promise<{ page: Page }>): Promise<void> {
  const { page } = await windowOf();
  await page.goto('/portal/templates/new');
  const steps = await page.evaluate('history.length');
  const shown = page.frameLocator('iframe.preview');
  await shown.locator('text=your order number').waitFor();
  await page.fill('[name=html]', '<h1 style="color: rgb(1, 2, 3)">Hi {{ who }}</h1><p>{{ who | raw }}</p>');
  await page.fill('[name=data]', '{"who": "<i>Ann</i>"}');
  await shown.locator('h1:has-text("Hi <i>Ann</i>")').waitFor();
  t.equal(await shown.locator('p > i').textContent(), 'Ann');
  const color = await page.frames()[1]!.evaluate(`getComputedStyle(document.querySelector('h1')).color`);
  t.equal(color, 'rgb(1, 2, 3)', "the mail's own style holds");
  t.match(await page.textContent('#preview-text'), 'your order');
  const heightIs = (name: string, isIt: (px: number) => boolean) =>
    until(`the frame to be ${name}`, async () =>
      isIt((await page.locator('iframe.preview').boundingBox())?.height ?? 0),
    );
  await heightIs('low', (px) => px < 200);
  await page.fill('[name=html]', '<h1 style="height: 700px">Hi {{ who }}</h1><p>{{ who | raw }}</p>');
  await heightIs('high', (px) => px > 700);
  await page.fill('[name=html]', '<h1>Hi {{ who }}</h1><p>{{ who | raw }}</p>');
  await heightIs('low again', (px) => px < 200);

  await page.fill('[name=data]', '{"who": }');
  await page.waitForSelector('.fault >> text=Sample data, line 1, column 9');
  t.equal(await page.textContent('.fault mark'), '}');
  t.equal(await page.locator('#preview-html[data-outdated]').count(), 1, 'what is older is pale');
  await page.fill('[name=data]', '{"who": "Bob"}');
  await shown.locator('h1:has-text("Hi Bob")').waitFor();
  t.equal(await page.locator('.fault').count(), 0);
  t.equal(await page.evaluate('history.length'), steps, 'no step back for each preview');

  await page.evaluate('window.reached = false');
  const hostile = `<h1>hostile</h1><script>parent.reached = true; top.location = '/portal/keys'</script><img src="x" onerror="parent.reached = true"><form action="/portal/sign-out" method="post"><button>go</button></form>`;
  page.removeAllListeners('console'); // the browser says that it has blocked them
  await page.fill('[name=html]', hostile);
  await shown.locator('h1:has-text("hostile")').waitFor();
  await shown.locator('button').click();
  t.equal(await page.evaluate('window.reached'), false);
  t.match(page.url(), /\/portal\/templates\/new$/);

  await page.reload();
  t.equal(await page.inputValue('[name=data]'), '{"who": "Bob"}', 'sample data is remembered in this window');
}

/** The bars are drawn inside of their box, and stand out from the card that they lie on. */
async function checkChart(t: Test, page: Page, name: string): Promise<void> {
  const facts = (await page.evaluate(`(() => {
    const bars = [...document.querySelectorAll('.bars g .part-2')];
    const [first, last] = [bars[0], bars.at(-1)].map((bar) => bar.getBoundingClientRect());
    const chart = bars[0].closest('figure').getBoundingClientRect();
    const text = document.querySelector('.bars svg text');
    const rgb = (color) => color.match(/[\\d.]+/g).slice(0, 3).map(Number);
    return {
      bar: rgb(getComputedStyle(bars[0]).fill),
      card: rgb(getComputedStyle(bars[0].closest('.card')).backgroundColor),
      text: rgb(getComputedStyle(text).fill),
      textHeight: text.getBoundingClientRect().height,
      inside: bars.length === 24 && last.right - first.left > chart.width * 0.8 && first.left >= chart.left && last.right <= chart.right + 1,
      height: first.height,
    };
  })()`)) as { bar: Color; card: Color; text: Color; textHeight: number; inside: boolean; height: number };
  t.ok(facts.inside && facts.height > 40, `${name}: drawn over its whole width`);
  t.ok(contrast(facts.bar, facts.card) >= 3, `${name}: the bars stand out`);
  t.ok(contrast(facts.text, facts.card) >= 4.5, `${name}: texts can be read`);
  t.ok(facts.textHeight >= 10, `${name}: and are not stretched`);
}

type Color = [red: number, green: number, blue: number];

/** WCAG 2.2, contrast ratio. */
function contrast(one: Color, other: Color): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(color: Color): number {
  const [red, green, blue] = color
    .map((value) => value / 255)
    .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4)) as Color;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** As if much had been sent in the last day. */
function addFigures({ postrider, sender }: PortalWorld): void {
  const db = new Database(postrider.databaseFile);
  db.pragma('busy_timeout = 5000');
  const insert = db.prepare(
    'INSERT INTO chart_figures (tenant_id, hour, provider, accepted, delivered, complained) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const tenant = Buffer.from(sender.tenantId.replaceAll('-', ''), 'hex');
  const hour = Math.floor(Date.now() / 3_600_000);
  for (let ago = 0; ago < 24; ago++) insert.run(tenant, hour - ago, 'google', 100 + ago * 40, 90 + ago * 40, ago % 2);
  db.close();
}

/** Signing in takes time, and is tested elsewhere. */
async function lendCookies(context: BrowserContext, visitor: PortalVisitor, origin: string): Promise<void> {
  const cookies = [...visitor.cookies].map(([name, value]) => ({ name, value, url: origin }));
  await context.addCookies(cookies);
}
