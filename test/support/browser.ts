// A real Chromium for tests, driven by playwright-core. Where there is none, the test is skipped with
// the line that installs it.
import { existsSync, mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';
import { patience } from './patience.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** For the option `skip` of a test: why it cannot run, or false. */
export const noBrowser: string | false = PLACES.some((place) => existsSync(place))
  ? false
  : 'there is no Chromium: apt-get install chromium';

/** Said of a frame that shows mail of others: as it should be. */
const SANDBOXED = /frame is sandboxed and the 'allow-scripts' permission is not set/;

export interface OpenBrowser {
  browser: Browser;
  /** A window of its own, with cookies of its own; what its pages log as errors fails the test. */
  window(options?: BrowserContextOptions): Promise<{ context: BrowserContext; page: Page }>;
}

/** `origin` is the daemon's, for example http://127.0.0.1:8080. */
export async function openBrowser(t: Test, origin: string): Promise<OpenBrowser> {
  const executablePath = PLACES.find((place) => existsSync(place));
  const browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] });
  t.teardown(async () => {
    if (!t.passing()) await takePictures(t, browser);
    await browser.close();
  });
  return {
    browser,
    async window(options = {}) {
      // Colours that are on their way from light to dark would be judged for what they are just then.
      const context = await browser.newContext({ baseURL: origin, reducedMotion: 'reduce', ...options });
      context.setDefaultTimeout(patience(30_000));
      const page = await context.newPage();
      page.on('pageerror', (error) => t.fail(`an error on ${page.url()}: ${error.message}`));
      page.on('console', (message) => {
        if (message.type() === 'error' && !SANDBOXED.test(message.text()))
          t.fail(`on ${page.url()}: ${message.text()}`);
      });
      return { context, page };
    },
  };
}

/** Of what its windows show when a test has failed. */
async function takePictures(t: Test, browser: Browser): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'postrider-browser-'));
  const pages = browser.contexts().flatMap((context) => context.pages());
  const picture = (page: Page, at: number) => page.screenshot({ path: path.join(folder, `${at}.png`), fullPage: true });
  await Promise.allSettled(pages.map(picture));
  t.comment(`pictures of what the browser showed: ${folder}`);
}
