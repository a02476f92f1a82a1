// From a sign-up to a team whose members sign in with a second step, in a real browser and by keyboard where it
// matters; axe-core looks at the pages that no link leads to.
import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { decodeBase32 } from '../../../src/base/text/base32.ts';
import { hotp, stepAt } from '../../../src/tenants/accounts/totp.ts';
import { nextLetter } from '../../portal/next-letter.ts';
import { noBrowser, type OpenBrowser, openBrowser } from '../../support/browser.ts';
import { type PortalWorld, startPortal } from '../../support/portal.ts';

const AXE = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const PASSWORD = 'horse battery lake';

t.test('accounts in a browser', { skip: noBrowser }, async (t) => {
  const settings = { portal: { sign_up: true }, service: { operator_address: 'ops@receiver.test' } };
  const world = await startPortal(t, { settings });
  const browser = await openBrowser(t, `http://127.0.0.1:${world.daemon.httpPort}`);
  await t.test('sign-up, confirmation, approval', (t) => signUp(t, world, browser));
  await t.test('invitation', (t) => invitation(t, world, browser));
  await t.test('the second step', (t) => secondStep(t, world, browser));
});

async function signUp(t: Test, world: PortalWorld, browser: OpenBrowser) {
  const { page } = await browser.window();
  await page.goto('/portal/sign-in');
  await page.click('text=Sign up');
  await looksGood(t, page);
  await page.fill('[name=name]', 'Rockets');
  await page.fill('[name=email]', 'eve@receiver.test');
  await page.fill('[name=password]', PASSWORD);
  await page.press('[name=password]', 'Enter');
  await page.waitForSelector('text=A mail is on its way');
  await page.goto((await nextLetter(world.sink, 'eve@receiver.test', 0)).link);
  await looksGood(t, page);
  await page.fill('[name=password]', PASSWORD);
  await page.press('[name=password]', 'Enter');
  await page.waitForSelector('text=Your address is confirmed');
  await page.goto('/portal/settings');
  t.match(await page.textContent('main'), /in review/);

  const login = await world.addUser('operator');
  const { page: desk } = await browser.window();
  await enter(desk, login.email, login.password);
  await desk.goto((await nextLetter(world.sink, 'ops@receiver.test', 0)).link);
  await desk.click('main >> text=Rockets');
  await desk.click('summary:has-text("Approve")');
  await desk.click('button:has-text("Approve")');
  await desk.waitForSelector('text=Its owners are notified by mail');
  t.match((await nextLetter(world.sink, 'eve@receiver.test', 1)).text, /approved/);
  await page.reload();
  t.match(await page.textContent('main'), /none of your domains is verified/, 'now only a domain is missing');
}

async function invitation(t: Test, world: PortalWorld, browser: OpenBrowser) {
  const { page } = await browser.window();
  await enter(page, world.owner.email, world.owner.password);
  await page.goto('/portal/settings/members');
  await page.fill('[name=email]', 'neo@receiver.test');
  await page.selectOption('form[action$="/invite"] [name=role]', 'viewer');
  await page.press('[name=email]', 'Enter');
  await page.waitForSelector('text=Invitation sent to');
  const { page: invited } = await browser.window();
  await invited.goto((await nextLetter(world.sink, 'neo@receiver.test', 0)).link);
  await looksGood(t, invited);
  await invited.fill('[name=password]', PASSWORD);
  await invited.press('[name=password]', 'Enter');
  await invited.waitForSelector('text=Welcome!');
  await page.reload();
  const row = page.locator('tr', { hasText: 'neo@receiver.test' });
  await row.locator('summary').click();
  await row.locator('button:has-text("Remove")').click();
  await page.waitForSelector('text=was removed');
  await invited.reload();
  t.match(invited.url(), /\/portal\/sign-in/, 'at once');
}

async function secondStep(t: Test, world: PortalWorld, browser: OpenBrowser) {
  const login = await world.addUser('member', 'two@acme.test');
  const { page } = await browser.window();
  await enter(page, login.email, login.password);
  await page.goto('/portal/account');
  await page.click('text=Set it up');
  await page.fill('[name=password]', login.password);
  await page.press('[name=password]', 'Enter');
  await page.waitForSelector('svg.qr');
  await looksGood(t, page);
  await page.click('summary:has-text("It cannot be scanned")');
  const key = (await page.textContent('details .copyable code')) ?? '';
  const secret = decodeBase32(key.replaceAll(' ', ''))!;
  await page.fill('[name=code]', hotp(secret, stepAt(Date.now())));
  await page.press('[name=code]', 'Enter');
  await page.waitForSelector('text=They are shown this once only');
  await looksGood(t, page);

  const { page: other } = await browser.window();
  await enter(other, login.email, login.password);
  t.match(await other.title(), /^Second step/);
  await looksGood(t, other);
  // Each code counts once. The next one is taken from the step before its own on.
  await other.fill('[name=code]', hotp(secret, stepAt(Date.now()) + 1));
  await other.press('[name=code]', 'Enter');
  await other.waitForSelector('nav[aria-label=Portal]');
  await other.goto('/portal/account');
  await other.click('button:has-text("End all other sessions")');
  await other.waitForSelector('text=One other session has ended');
  await other.click('button:has-text("Sign out") >> nth=0');
  await other.waitForURL(/sign-in/);
}

async function enter(page: Page, email: string, password: string): Promise<void> {
  await page.goto('/portal/sign-in');
  await page.fill('[name=email]', email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await page.waitForSelector('nav[aria-label=Portal], [name=code]');
}

async function looksGood(t: Test, page: Page): Promise<void> {
  await page.evaluate(AXE);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = (await page.evaluate('axe.run(document)')) as AxeResults;
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    t.same(
      serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`),
      [],
      colorScheme,
    );
  }
}
