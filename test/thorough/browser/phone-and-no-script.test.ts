// The portal where less is given: on a phone by touch, with nothing wider than its screen, and with JavaScript
// switched off, where everything that has to be done can still be done.
import type { Locator } from 'playwright-core';
import t, { type Test } from 'tap';
import { noBrowser, type OpenBrowser, openBrowser } from '../../support/browser.ts';
import { type PortalWorld, startPortal } from '../../support/portal.ts';
import { until } from '../../support/until.ts';
import { stateOf } from '../../support/world.ts';
import { decide, goTo, PATIENCE_MS, rowWith, signIn, told } from './as-people-do.ts';

const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, locale: 'de-DE' };
const LONG_SUBJECT = `Your order ${'0123456789'.repeat(12)} is on its way, and this says so at some length`;

t.test('with less', { skip: noBrowser }, async (t) => {
  const world: PortalWorld = await startPortal(t);
  const browser = await openBrowser(t, `http://127.0.0.1:${world.daemon.httpPort}`);
  await t.test('on a phone', (t) => onPhone(t, world, browser));
  await t.test('without script', (t) => withoutScript(t, world, browser));
});

async function onPhone(t: Test, { daemon, sender, owner }: PortalWorld, browser: OpenBrowser) {
  const mail = { from: 'a@acme.test', to: 'joe@receiver.test', subject: LONG_SUBJECT, text: 'x'.repeat(400) };
  const { body } = await daemon.call(sender.key, 'POST /emails', { body: mail });
  const [id] = body.message_ids as string[];
  await until('the message to arrive', async () => (await stateOf(daemon, sender, id!)) === 'delivered');
  const { context, page } = await browser.window(PHONE);
  context.setDefaultTimeout(PATIENCE_MS);
  const fits = async () => {
    const width = await page.evaluate('document.documentElement.scrollWidth');
    t.equal(width, PHONE.viewport.width, `${new URL(page.url()).pathname} is as wide as the screen`);
  };

  await page.goto('/portal/sign-in');
  await fits();
  await page.getByLabel('Mail address').fill(owner.email);
  await page.getByLabel('Password').fill(owner.password);
  await page.getByRole('button', { name: 'Sign in' }).tap();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await fits();
  const way = page.getByRole('navigation', { name: 'Portal' });
  t.equal(await way.isVisible(), false, 'the menu is closed');
  await page.getByText('Menu').tap();
  await way.waitFor();
  await fits();
  await way.getByRole('link', { name: 'Messages' }).tap();
  await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor();
  await fits();
  const row = rowWith(page, 'joe@receiver.test');
  const [height, line] = [(await row.boundingBox())!.height, (await page.getByText('Filters').boundingBox())!.height];
  t.ok(height < 3.5 * line, `a message has two lines: ${height} px, of ${line} each`);
  t.match(await row.locator('.ago').textContent(), /^(?:now|\d+ (?:second|minute)s? ago)$/, 'words of the page');
  t.match(await row.locator('.exact').textContent(), /^\d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d:\d\d$/);
  t.equal(await row.locator('.exact').isVisible(), false, 'the time is how long ago it was');
  const subject = (await row.getByText('Your order').boundingBox())!;
  await page.touchscreen.tap(subject.x + subject.width / 2, subject.y + subject.height / 2);
  await page.getByText('Attempt 1: accepted by the receiving server').waitFor();
  await fits();
  for (const path of [
    '/portal/domains',
    `/portal/domains/${sender.domainId}`,
    '/portal/keys',
    '/portal/templates/new',
  ]) {
    await page.goto(path);
    await fits();
  }
}

async function withoutScript(t: Test, { daemon, owner, dns }: PortalWorld, browser: OpenBrowser) {
  const { context, page } = await browser.window({ javaScriptEnabled: false });
  context.setDefaultTimeout(PATIENCE_MS);
  await signIn(page, owner);
  await goTo(page, 'API keys');
  await page.getByRole('link', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('plain');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = await read(page.locator('.secret code'));
  t.equal((await daemon.call(key, 'GET /domains')).status, 200);

  dns.addZone('plain.test');
  await goTo(page, 'Domains');
  await page.getByLabel('Domain', { exact: true }).fill('plain.test');
  await page.getByRole('button', { name: 'Add domain' }).click();
  await told(page, 'plain.test was added.');
  await page.getByRole('button', { name: 'Check now' }).click();
  await told(page, 'Publish the DKIM record');
  const dkim = page.getByRole('region', { name: 'DKIM' });
  const name = await read(dkim.getByText('Full name').locator('..').locator('code'));
  dns.set(name, 'TXT', [await read(dkim.locator('pre').first())]);
  await page.getByRole('button', { name: 'Check now' }).click();
  await told(page, 'plain.test is verified');

  await goTo(page, 'Suppressions');
  await decide(page.getByRole('main'), {
    open: 'Add address',
    fill: { Address: 'no@receiver.test' },
    button: 'Add to list',
  });
  await told(page, 'no@receiver.test was added to the list');
  const mail = { from: 'a@plain.test', to: 'no@receiver.test', subject: 'x', text: 'x' };
  t.match(await daemon.call(key, 'POST /emails', { body: mail }), { body: { error: 'all_recipients_suppressed' } });
  await decide(rowWith(page, 'no@receiver.test'), { open: 'Remove', button: 'Remove from list' });
  await told(page, 'no@receiver.test is no longer on the list.');
  t.equal((await daemon.call(key, 'POST /emails', { body: mail })).status, 202);

  await goTo(page, 'API keys');
  await decide(rowWith(page, 'plain'), { open: 'Revoke', button: 'Revoke key' });
  await told(page, 'The key plain was revoked.');
  t.equal((await daemon.call(key, 'GET /domains')).status, 401);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.goto('/portal/keys');
  t.match(page.url(), /sign-in/);
}

async function read(place: Locator): Promise<string> {
  return ((await place.textContent()) ?? '').trim();
}
