// The pages under /docs in a real browser, and those that are not there: readable, light and dark as the system
// says, on a phone too, and linked with each other.
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { noBrowser, openBrowser } from '../../support/browser.ts';
import { patience } from '../../support/patience.ts';
import { startPortal } from '../../support/portal.ts';
import { checkPage } from './check-page.ts';

/** What Swagger UI builds, and no style mends: buttons within buttons, and lists to choose from without a label. */
const OF_SWAGGER_UI = ['nested-interactive', 'select-name'];

t.test('pages under /docs', { skip: noBrowser }, async (t) => {
  const world = await startPortal(t);
  const origin = `http://127.0.0.1:${world.daemon.httpPort}`;
  const { browser, window } = await openBrowser(t, origin);
  const { page } = await window();
  for (const path of ['/docs/guide', '/docs/clients/go']) await t.test(path, (t) => checkPage(t, page, path));
  await t.test('/docs', (t) => checkReader(t, page));
  await t.test('what a call that is tried out sends unasked', (t) => tryOut(t, page));
  await t.test('the way between them', (t) => walk(t, page));
  // The browser logs a 404 as an error, which fails the test in a window of `window`.
  const elsewhere = await browser.newContext({ baseURL: origin, reducedMotion: 'reduce' });
  elsewhere.setDefaultTimeout(patience(30_000));
  const missing = await elsewhere.newPage();
  for (const path of ['/docs/nowhere', '/portal/nowhere']) await t.test(path, (t) => checkPage(t, missing, path));
});

async function checkReader(t: Test, page: Page): Promise<void> {
  const openSome = async () => {
    for (const method of ['get', 'post', 'put', 'delete']) {
      const operation = page.locator(`.opblock-${method}`).first();
      await operation.locator('.opblock-summary-control').click();
      await operation.locator('.responses-table').first().waitFor();
    }
  };
  // A script sets the class when the browser tells it of the change.
  const follows = (colorScheme: 'light' | 'dark') =>
    page.locator(colorScheme === 'dark' ? 'html.dark-mode' : 'html:not(.dark-mode)').waitFor({ state: 'attached' });
  await checkPage(t, page, '/docs', { prepare: openSome, follows, except: OF_SWAGGER_UI });
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await follows(colorScheme);
    const background = String(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
    const brightest = Math.max(...(background.match(/\d+/g) ?? []).map(Number));
    t.equal(brightest < 64, colorScheme === 'dark', `${colorScheme}: ${background}`);
  }
}

/** Values of optional parameters would be sent: a key that was used before, filters that find nothing. */
async function tryOut(t: Test, page: Page): Promise<void> {
  const examples = { sendEmail: 'order-4711-shipped', listEmails: 'mail.acme.example', listEvents: 'c9-5e2d7f4a9c10' };
  await page.goto('/docs');
  for (const [id, example] of Object.entries(examples)) {
    const operation = page.locator(`.opblock[id$="-${id}"]`);
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    const fields = operation.locator('.parameters input[type=text]:not([value=""])');
    const filled = await fields.evaluateAll((inputs) => inputs.map((input) => input.getAttribute('placeholder')));
    t.same(
      filled.filter((name) => name !== 'limit'),
      [],
      `${id}: what is filled in`,
    );
    t.match(await operation.locator('.parameters').allInnerTexts(), [new RegExp(example)], `${id}: to read`);
  }
}

async function walk(t: Test, page: Page): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto('/docs');
  await page.click('nav[aria-label=Documentation] >> text=Guide');
  await page.click('nav[aria-label="On this page"] >> text=Errors');
  t.match(page.url(), /\/docs\/guide#errors$/);
  const top = Number(await page.evaluate('document.querySelector("#errors").getBoundingClientRect().top'));
  t.ok(top >= 0 && top < 450, `the section is on the screen: ${top}`);
  await page.click('nav[aria-label=Documentation] >> text=Portal');
  t.match(page.url(), /\/portal\/sign-in$/);
  const width = await page.evaluate(`(async () => {
    const mark = document.querySelector('.brand img');
    await mark.decode();
    return mark.naturalWidth;
  })()`);
  t.ok(Number(width) > 0, 'the mark is shown');
}
