// How a page is judged in a real browser: light and dark, axe-core finds nothing serious, and it fits a phone.
import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';

const AXE = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const PHONE = { width: 360, height: 740 };

export interface PageCheck {
  /** On the page, before it is judged. */
  prepare?(): Promise<void>;
  /** Once the system has another colour scheme, before the page is judged. */
  follows?(colorScheme: 'light' | 'dark'): Promise<void>;
  /** Rules of axe-core that do not count. */
  except?: readonly string[];
}

export async function checkPage(
  t: Test,
  page: Page,
  path: string,
  { prepare, follows, except = [] }: PageCheck = {},
): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(path);
  await prepare?.();
  await page.evaluate(AXE);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await follows?.(colorScheme);
    const { violations } = (await page.evaluate('axe.run(document, { iframes: false })')) as AxeResults;
    const serious = violations
      .filter(({ id }) => !except.includes(id))
      .filter(({ impact }) => impact === 'serious' || impact === 'critical');
    const places = serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
    t.same(places, [], `nothing serious, ${colorScheme}`);
  }
  await page.setViewportSize(PHONE);
  const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
  t.ok(width <= PHONE.width, `fits a phone: ${width} px`);
}
