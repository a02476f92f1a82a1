// What people do on every page of the portal, found by what they see: labels, names of buttons and links, texts.
import type { Locator, Page } from 'playwright-core';
import { patience } from '../../support/patience.ts';
import type { Login } from '../../support/portal.ts';

/** Longer than a busy machine needs; whoever waits longer waits for something that does not come. */
export const PATIENCE_MS = patience(20_000);

export async function signIn(page: Page, { email, password }: Login): Promise<void> {
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto('/portal/sign-in');
  await page.getByLabel('Mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: /Overview|Operator/ }).waitFor();
}

/** By the way through the portal that stands on every page. */
export async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Portal' }).getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

/** Waits for the sentence that says what was done. */
export async function told(page: Page, sentence: string | RegExp): Promise<void> {
  await page.getByRole('status').filter({ hasText: sentence }).first().waitFor();
}

/** Opens the question and answers it; what the question holds is filled in before. */
export async function decide(
  within: Locator,
  { open, button, fill = {} }: { open: string; button: string; fill?: Record<string, string> },
): Promise<void> {
  const summary = within.page().locator('summary', { hasText: new RegExp(`^${open}$`) });
  const question = within.locator('details').filter({ has: summary });
  await question.locator('summary').click();
  for (const [label, text] of Object.entries(fill)) await question.getByLabel(label).fill(text);
  await question.getByRole('button', { name: button }).click();
}

/** Presses a button that copies; what is in the clipboard then. */
export async function copied(page: Page, what: string): Promise<string> {
  const button = page.getByRole('button', { name: `Copy ${what}`, exact: true });
  await button.click();
  await button.getByText('Copied').waitFor();
  return page.evaluate('navigator.clipboard.readText()');
}

/** The row of a table in which this stands. */
export function rowWith(page: Page, text: string | RegExp): Locator {
  return page.getByRole('row').filter({ hasText: text });
}
