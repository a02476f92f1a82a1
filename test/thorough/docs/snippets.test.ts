// The documentation is followed as it stands: every bash block of these pages is run in its
// order, and prints what the page says it prints. Other pages have a test of their own.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { loadConfig } from '../../../src/config/load.ts';
import { noCurl, openPage, plainEnv, walkPage } from '../../docs/walk-page.ts';
import { newDataDir, spawnSandbox } from '../../support/sandbox-process.ts';
import { testFolder } from '../../support/test-folder.ts';

const NEEDS_CURL = { skip: noCurl };

const CHECKOUT = path.join(import.meta.dirname, '../../..');

interface SandboxSite {
  /** Where a reader who calls the sandbox's folder `data/sandbox` is. */
  dir: string;
  url: string;
  key: string;
  printed: string;
}

async function startSandbox(test: Test): Promise<SandboxSite> {
  const dir = newDataDir(test);
  const config = path.join(dir, 'ports.toml');
  fs.writeFileSync(config, '[http]\nport = 0\n[smtp]\nport = 0\n[submission]\nport = 0\n');
  const sandbox = spawnSandbox(test, path.join(dir, 'data/sandbox'), '--config', config);
  const printed = await sandbox.ready();
  const [url = '', key = ''] = [/http:\S+/, /pr_\w+/].map((pattern) => pattern.exec(printed)?.[0]);
  return { dir, url, key, printed };
}

t.test('docs/api.md', NEEDS_CURL, async (t) => {
  const { dir, url, printed } = await startSandbox(t);
  const differences = { 'http://127.0.0.1:8080': url };
  await walkPage(t, openPage('docs/api.md'), { cwd: dir, env: plainEnv(), differences, printed });
});

t.test('docs/resend.md', NEEDS_CURL, async (t) => {
  const { dir, url, key } = await startSandbox(t);
  const page = openPage('docs/resend.md');
  const [shownKey = ''] = /pr_\w+/.exec(page.snippets.map(({ code }) => code).join()) ?? [];
  const differences = { 'http://127.0.0.1:8080': url, [shownKey]: key };
  await walkPage(t, page, { cwd: dir, env: plainEnv(), differences });
});

t.test('README.md', NEEDS_CURL, async (t) => {
  const { dir, url, key } = await startSandbox(t);
  const page = openPage('README.md');
  const [shownKey = ''] = /pr_\w+/.exec(page.snippets.map(({ code }) => code).join()) ?? [];
  const dataDir = path.join(dir, 'data/sandbox');
  const differences = { 'http://127.0.0.1:8080': url, 'data/sandbox': dataDir, [shownKey]: key };
  await walkPage(t, page, { cwd: CHECKOUT, env: plainEnv(), differences });
});

t.test('docs/portal.md', NEEDS_CURL, async (t) => {
  const { dir } = await startSandbox(t);
  const env = { ...plainEnv(), POSTRIDER_DATA_DIR: path.join(dir, 'data/sandbox') };
  await walkPage(t, openPage('docs/portal.md'), { cwd: CHECKOUT, env });
});

t.test('docs/development.md', NEEDS_CURL, async (t) => {
  await walkPage(t, openPage('docs/development.md'), { cwd: CHECKOUT, env: plainEnv() });
});

t.test('docs/releasing.md', async (t) => {
  const page = openPage('docs/releasing.md');
  t.ok(
    page.snippets.every(({ marker }) => marker?.kind === 'not run'),
    'none of its commands is for a test',
  );
  await walkPage(t, page, { cwd: CHECKOUT, env: plainEnv() });
});

t.test('docs/scaling.md', async (t) => {
  const page = openPage('docs/scaling.md');
  t.ok(
    page.snippets.every(({ marker }) => marker?.kind === 'not run'),
    'its commands need several machines',
  );
  await walkPage(t, page, { cwd: CHECKOUT, env: plainEnv() });
  const folder = testFolder(t);
  const file = path.join(folder, 'postrider.toml');
  fs.writeFileSync(path.join(folder, 'secret'), Buffer.alloc(32, 1).toString('base64'), { mode: 0o600 });
  fs.writeFileSync(file, page.configurations.join('\n').replaceAll(/"\/etc\/postrider\/[^"]*"/g, '"secret"'));
  t.match(loadConfig({ file, env: {} }).config.store, { node: 'mail-1', url: /^postgres:/ });
});

t.test('no page is forgotten', async (t) => {
  const withSnippets = fs
    .globSync('docs/*.md', { cwd: CHECKOUT })
    .filter((file) => /^```(?:bash|sh)/m.test(fs.readFileSync(path.join(CHECKOUT, file), 'utf8')));
  t.same(withSnippets.sort(), [
    'docs/api.md',
    'docs/development.md',
    'docs/install.md',
    'docs/monitoring.md',
    'docs/operate.md',
    'docs/portal.md',
    'docs/releasing.md',
    'docs/resend.md',
    'docs/scaling.md',
    'docs/smtp.md',
  ]);
});
