// `npm run audit` against a registry on loopback: no advisory, one, and a registry that does not answer are told apart.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testFolder } from '../support/test-folder.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const BULK = '/-/npm/v1/security/advisories/bulk';
const ADVISORY = {
  ...{ id: 1, url: 'https://advisories.test/1', title: 'Answers too much', severity: 'high' },
  ...{ vulnerable_versions: '<999.0.0', cwe: [], cvss: { score: 7.5, vectorString: null } },
};

async function audit(t: Test, status: number, advisories: object) {
  const asked: string[] = [];
  const registry = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.resume().on('end', () => {
      const isBulk = request.url === BULK;
      response.writeHead(isBulk ? status : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isBulk && status === 200 ? advisories : {}));
    });
  });
  registry.listen(0, '127.0.0.1');
  await once(registry, 'listening');
  t.teardown(() => registry.close());
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
    npm_config_cache: testFolder(t),
    npm_config_fetch_retry_mintimeout: '10',
  };
  return new Promise<{ code: number | null; out: string; asked: string[] }>((resolve) => {
    const child = execFile(process.execPath, ['scripts/audit.ts'], { cwd: ROOT, env }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, out: stdout + stderr, asked }),
    );
  });
}

t.test('no advisory', async (t) => {
  const { code, out, asked } = await audit(t, 200, {});
  t.equal(code, 0, out);
  t.match(out, /\d+ packages, 0 with advisories\./);
  t.ok(asked.includes(`POST ${BULK}`));
});

t.test('an advisory', async (t) => {
  const { code, out } = await audit(t, 200, { uqr: [ADVISORY] });
  t.equal(code, 1, out);
  t.match(out, /1 with advisories\.\nhigh: uqr .*\n {2}Answers too much https:\/\/advisories\.test\/1/);
});

t.test('a registry without the endpoint says nothing about advisories', async (t) => {
  const { code, out } = await audit(t, 405, {});
  t.equal(code, 2, out);
  t.match(out, /did not answer, so nothing is known/);
});

t.test('the list of pinned versions is that of package.json', async (t) => {
  const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const page = readFileSync(path.join(ROOT, 'docs/dependencies.md'), 'utf8');
  const section = page.split('## Pinned versions')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| `([^`]+)` \| (\S+) \| (\d{4}-\d{2}-\d{2}) \|$/gm)];
  const pinned = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.devDependencies };
  const registered = Object.entries(pinned).filter(([, version]) => !String(version).startsWith('file:'));
  t.same(Object.fromEntries(rows.map(([, name, version]) => [name, version])), Object.fromEntries(registered));
  for (const [, name, , date] of rows) t.ok(Date.parse(date!) > 0, `${name}: ${date}`);
});
