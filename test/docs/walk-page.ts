// Follows a page from its first snippet to its last as a reader would, and reports each to the
// test: what was run and what came of it, or why it was not run.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { patience } from '../support/patience.ts';
import { compareOutput } from './compare-output.ts';
import { Examples } from './examples.ts';
import { type Page, readPage, type Snippet } from './read-page.ts';
import { type ShellOptions, ShellSession } from './shell-session.ts';

/** Where a page is followed. */
export interface Place extends ShellOptions {
  /** Texts of the page and what stands in their place here, such as the address of the API. */
  differences?: Readonly<Record<string, string>>;
  /** What commands that ran beforehand have printed. */
  printed?: string;
}

const REPEAT_FOR_MS = 20_000;
const REPEAT_EVERY_MS = 50;

export function openPage(file: string): Page {
  return readPage(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
}

/** For `skip`: false when there is a curl. */
export const noCurl = spawnSync('curl', ['--version']).error !== undefined && 'needs curl: apt-get install curl';

/** Nothing of this machine's settings. */
export function plainEnv(): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/', LC_ALL: 'C.UTF-8' };
}

export function walkPage(t: Test, page: Page, place: Place): Promise<void> {
  return walkPages(t, [page], place);
}

/** One after the other, in the same session. */
export async function walkPages(t: Test, pages: readonly Page[], place: Place): Promise<void> {
  for (const problem of pages.flatMap(({ problems }) => problems)) t.fail(problem);
  const session = new ShellSession(place);
  t.teardown(() => session.close());
  let examples = new Examples();
  for (const snippet of pages.flatMap(({ snippets }) => snippets)) {
    const name = `line ${snippet.line}: ${snippet.code.split('\n', 1)[0]}`;
    const { marker } = snippet;
    if (marker?.kind === 'not run') {
      t.comment(`not run, ${marker.reason}: ${name}`);
      continue;
    }
    const outcome = await follow(snippet, { session, place, examples });
    if (outcome.problem !== null) return void t.fail(name, { at: null, stack: '', problem: outcome.problem });
    t.equal(outcome.problem, null, name);
    examples = outcome.examples;
  }
}

interface Walk {
  session: ShellSession;
  place: Place;
  examples: Examples;
}

type Outcome = { problem: null; examples: Examples } | { problem: string };

async function follow(snippet: Snippet, walk: Walk): Promise<Outcome> {
  if (snippet.marker?.kind === 'beforehand') return judge(snippet, walk.place.printed ?? '', walk);
  const deadline = Date.now() + patience(REPEAT_FOR_MS);
  for (;;) {
    const outcome = await runOnce(snippet, walk);
    if (outcome.problem === null || snippet.marker?.kind !== 'repeated' || Date.now() > deadline) return outcome;
    await sleep(REPEAT_EVERY_MS);
  }
}

async function runOnce(snippet: Snippet, walk: Walk): Promise<Outcome> {
  let code = walk.examples.fill(snippet.code);
  for (const [shown, real] of Object.entries(walk.place.differences ?? {})) code = code.replaceAll(shown, real);
  const { session } = walk;
  const { ok, stdout, stderr } = await (snippet.marker?.kind === 'repeated'
    ? session.attempt(code)
    : session.run(code));
  if (!ok) return { problem: `a command failed\n${stdout}\n${stderr}` };
  const outcome = judge(snippet, stdout, walk);
  return outcome.problem === null ? outcome : { problem: `${outcome.problem}\n${stderr}` };
}

function judge({ expected }: Snippet, printed: string, { place, examples }: Walk): Outcome {
  if (expected === null) return { problem: null, examples };
  let output = printed;
  for (const [shown, real] of Object.entries(place.differences ?? {})) output = output.replaceAll(real, shown);
  // A comparison that fails half-way has learned nothing.
  const learned = examples.copy();
  const difference = compareOutput(expected, output, learned);
  if (difference === null) return { problem: null, examples: learned };
  return { problem: `line ${expected.line}: ${difference}. Printed was:\n${output}` };
}
