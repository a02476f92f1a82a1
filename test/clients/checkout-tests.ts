// The lines of a library's README that install it from the checkout, followed in an empty project without a network;
// then the library is loaded by the name that the README uses.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { testFolder } from '../support/test-folder.ts';
import { type Language, openSite } from './language.ts';
import { readBlocks } from './read-blocks.ts';

const CLIENTS = path.join(import.meta.dirname, '../../clients');
/** What the READMEs write for the place of the checkout. */
const SHOWN = '/path/to/postrider';

export async function checkoutTests(t: Test, { name, fromCheckout }: Language): Promise<void> {
  const readme = readFileSync(path.join(CLIENTS, name, 'README.md'), 'utf8');
  const install = readme.split(/^## /m).find((section) => section.startsWith('Install\n')) ?? '';
  t.match(install, /no release yet/, 'the README says that nothing is published');
  const lines = readBlocks(install, 'bash').map(({ code }) => code);
  t.ok(lines.length > 0, 'the README says how to install');
  t.match(lines.join(''), SHOWN, 'from the checkout');
  if ('cannot' in fromCheckout)
    return void t.match(
      fromCheckout.cannot,
      /\w/,
      `note: not followed: ${lines.join('').trim()}: ${fromCheckout.cannot}`,
    );

  const folder = testFolder(t);
  const checkout = path.join(folder, 'checkout');
  const project = path.join(folder, 'project');
  // A build leaves files beside the sources.
  cpSync(path.join(CLIENTS, name), path.join(checkout, 'clients', name), { recursive: true });
  mkdirSync(project);
  for (const [file, text] of Object.entries(fromCheckout.project)) writeFileSync(path.join(project, file), text);
  const { run } = openSite(CLIENTS, project);
  const env = fromCheckout.env(folder);
  for (const code of lines) await run('bash', ['-eu', '-c', code.replaceAll(SHOWN, checkout)], { env });
  const [command, ...args] = fromCheckout.loads;
  t.match(await run(command, args, { env }), /loaded/, 'and the library can be used');
}
