// All that is tested of one client library: its package is built and installed in a temporary
// folder, the conformance suite and the suite against a real daemon run from there, and so do
// the snippets of its README.
import path from 'node:path';
import type { Test } from 'tap';
import { testFolder } from '../support/test-folder.ts';
import { checkoutTests } from './checkout-tests.ts';
import { conformance } from './conformance.ts';
import { daemonSuite } from './daemon-suite.ts';
import { type Installed, type Language, missingTools, openSite } from './language.ts';
import { manifestTests } from './manifest-tests.ts';
import { readmeTests } from './readme-tests.ts';
import { type SandboxSite, startSandboxSite } from './sandbox-site.ts';

const CLIENTS = path.join(import.meta.dirname, '../../clients');

export async function testClient(t: Test, language: Language): Promise<void> {
  const missing = missingTools(language);
  if (missing !== null) {
    // Also on standard output: a skip is easily overlooked.
    console.error(missing);
    await t.test(`the ${language.title} library`, { skip: missing }, async () => {});
    return;
  }
  const source = path.join(CLIENTS, language.name);
  const site = openSite(source, testFolder(t));
  let ready: { installed: Installed; sandbox: SandboxSite } | undefined;
  // Within a test: the runner takes a moment between two tests for the end.
  await t.test('the package is built and installed', async () => {
    const installed = await language.install(site);
    // Not beside a compiler: a start has its patience.
    ready = { installed, sandbox: await startSandboxSite(t) };
  });
  if (ready === undefined) return;
  const { installed, sandbox } = ready;
  const parts = {
    manifest: manifestTests,
    'from the checkout': checkoutTests,
    conformance,
    'a real daemon': daemonSuite,
    README: readmeTests,
  };
  for (const [name, part] of Object.entries(parts)) {
    await t.test(name, (t) => part(t, language, installed, sandbox));
  }
}
