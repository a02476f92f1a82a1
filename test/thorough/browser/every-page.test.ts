// Every kind of page in a real browser, light and dark: axe-core finds nothing serious, nothing is wider
// than a phone, the policy blocks nothing that a page wants, and no script of a stranger runs.
import type { Page } from 'playwright-core';
import t from 'tap';
import { crawl } from '../../portal/crawl.ts';
import { startHostileWorld } from '../../portal/hostile-world.ts';
import { noBrowser, openBrowser } from '../../support/browser.ts';
import type { Login } from '../../support/portal.ts';
import { checkPage } from './check-page.ts';

t.test('every kind of page', { skip: noBrowser }, async (t) => {
  const world = await startHostileWorld(t);
  const browser = await openBrowser(t, `http://127.0.0.1:${world.daemon.httpPort}`);
  const areas: [Login | null, string][] = [
    [null, '/portal/sign-in'],
    [world.owner, '/portal'],
    [world.operator, '/portal/operator'],
  ];
  for (const [login, start] of areas) {
    const visited = await crawl(login ? await world.visitor(login) : world.guest(), [start]);
    const shown = visited.filter(({ page }) => page.texts((name) => name === 'main').length > 0);
    const paths = [...new Map(shown.map(({ kind, page }) => [kind, page.path])).values()];
    const { page } = await browser.window();
    if (login) await signIn(page, login);
    for (const path of paths) await t.test(path, (t) => checkPage(t, page, path));
  }
});

async function signIn(page: Page, { email, password }: Login): Promise<void> {
  await page.goto('/portal/sign-in');
  await page.fill('[name=email]', email);
  await page.fill('[name=password]', password);
  await Promise.all([
    page.waitForURL((url) => !url.pathname.endsWith('/sign-in')),
    page.press('[name=password]', 'Enter'),
  ]);
}
