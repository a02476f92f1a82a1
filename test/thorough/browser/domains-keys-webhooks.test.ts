// What needs script on the pages of domains, keys and webhooks, in a real browser: an open page sees a record as soon
// as it is published, and what is shown once can be copied with one click.
import type { BrowserContext } from 'playwright-core';
import t from 'tap';
import { noBrowser, openBrowser } from '../../support/browser.ts';
import { type PortalVisitor, type PortalWorld, startPortal } from '../../support/portal.ts';
import { type DnsRecord, publish } from '../../support/world.ts';

t.test('in a browser', { skip: noBrowser }, async (t) => {
  const world: PortalWorld = await startPortal(t, { settings: { webhooks: { allow_private: true } } });
  const origin = `http://127.0.0.1:${world.daemon.httpPort}`;
  const browser = await openBrowser(t, origin);
  const visitor = await world.visitor();
  const { context, page } = await browser.window();
  await lendCookies(context, visitor, origin);
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
  const clipboard = () => page.evaluate('navigator.clipboard.readText()');

  await t.test('a domain goes from failed to verified while its page is open', async (t) => {
    world.dns.addZone('shop.test');
    await page.goto('/portal/domains');
    await page.fill('[name=domain]', 'shop.test');
    await page.click('text=Add domain');
    await page.click('text=Check now');
    await page.waitForSelector('#status >> text=failed');
    await page.waitForSelector('#found-dkim >> text=missing');
    const id = page.url().split('/').at(-1);
    const { body } = await world.daemon.call(world.sender.key, `GET /domains/${id}`);
    const records = body.records as DnsRecord[];
    await page.click('[aria-label="Copy the value of the DKIM record"]');
    t.equal(await clipboard(), records[0]!.value);
    await page.click('[aria-label="Copy the host of the SPF record"]');
    t.equal(await clipboard(), '@');

    await page.evaluate('window.isSamePage = true');
    publish(world.dns, records);
    await page.waitForSelector('#status >> text=verified');
    await page.waitForSelector('#found-dkim >> text=OK');
    await page.waitForSelector('#found-spf >> text=OK');
    t.equal(await page.evaluate('window.isSamePage'), true, 'nobody has reloaded it');
    t.equal(await page.getAttribute('#status', 'data-poll'), null, 'and it asks no more');
  });

  await t.test('a key is copied, and its question is asked before it is revoked', async (t) => {
    await page.goto('/portal/keys/new');
    await page.fill('[name=name]', 'browser');
    await page.click('text=Create key');
    await page.click('[aria-label="Copy the API key"]');
    const key = String(await clipboard());
    t.equal((await world.daemon.call(key, 'GET /domains')).status, 200);
    await page.click('text=Done');
    const row = page.locator('tr', { hasText: 'browser' });
    t.equal(await row.locator('text=Revoke key').isVisible(), false);
    await row.locator('summary').click();
    await row.locator('text=Revoke key').click();
    await page.waitForSelector('text=The key browser was revoked.');
    t.equal((await world.daemon.call(key, 'GET /domains')).status, 401);
  });
});

async function lendCookies(context: BrowserContext, visitor: PortalVisitor, url: string): Promise<void> {
  await context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url })));
}
