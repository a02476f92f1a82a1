// A real Chromium for tests, driven by playwright-core. Where there is none, the test is skipped with
// the line that installs it.
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** For the option `skip` of a test: why it cannot run, or false. */
export const noBrowser: string | false = PLACES.some((place) => existsSync(place))
  ? false
  : 'there is no Chromium: apt-get install chromium';

export interface OpenBrowser {
  browser: Browser;
  /** A window of its own, with cookies of its own; what its pages log as errors fails the test. */
  window(options?: BrowserContextOptions): Promise<{ context: BrowserContext; page: Page }>;
}

/** `origin` is the daemon's, for example http://127.0.0.1:8080. */
export async function openBrowser(t: Test, origin: string): Promise<OpenBrowser> {
  const executablePath = PLACES.find((place) => existsSync(place));
  const browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] });
  t.teardown(() => browser.close());
  return {
    browser,
    async window(options = {}) {
      const context = await browser.newContext({ baseURL: origin, ...options });
      const page = await context.newPage();
      page.on('pageerror', (error) => t.fail(`an error on ${page.url()}: ${error.message}`));
      page.on('console', (message) => {
        if (message.type() === 'error') t.fail(`on ${page.url()}: ${message.text()}`);
      });
      return { context, page };
    },
  };
}
