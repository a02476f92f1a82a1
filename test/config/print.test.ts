// config/postrider.toml is what print.ts writes, and every line of it is true.
// After a change of the key table: UPDATE_GOLDEN=1 node test/config/print.test.ts writes the file.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'smol-toml';
import t from 'tap';
import { ALL_KEYS } from '../../src/config/keys.ts';
import { loadConfig } from '../../src/config/load.ts';
import { effectiveValues, renderDocumentedFile, renderEffective } from '../../src/config/print.ts';
import { testFolder } from '../support/test-folder.ts';

const SHIPPED = path.join(import.meta.dirname, '../../config/postrider.toml');
const SECRET = Buffer.alloc(32, 7).toString('base64');

t.test('the shipped file', async (t) => {
  if (process.env.UPDATE_GOLDEN) writeFileSync(SHIPPED, renderDocumentedFile());
  t.equal(readFileSync(SHIPPED, 'utf8'), renderDocumentedFile(), 'is the rendered table');
  const shipped = loadConfig({ file: SHIPPED, env: {} });
  t.same(shipped.config, loadConfig({ env: {}, defaultFile: null }).config, 'changes nothing when it is used as it is');
});

t.test('every key stands in it, with a reason and in lines that can be read', async (t) => {
  const lines = renderDocumentedFile().split('\n');
  for (const { name, key, spec } of ALL_KEYS) {
    t.ok(
      lines.some((line) => line.startsWith(`${spec.default === null ? '#' : ''}${key} = `)),
      name,
    );
    t.ok(spec.doc.join(' ').length > 20, `${name} is explained`);
  }
  t.same(
    lines.filter((line) => line.length > 102),
    [],
  );
});

t.test('the examples of unset keys are valid', async (t) => {
  const uncommented = renderDocumentedFile().replace(/^#(?=[a-z_]+ = )/gm, '');
  const values = parse(uncommented) as Record<string, Record<string, unknown>>;
  for (const { name, section, key, spec } of ALL_KEYS) {
    // Files do not exist here, and a secret must not have an example that works.
    if (spec.default !== null || spec.type !== 'text' || spec.secret) continue;
    const { source } = loadConfig({ env: {}, defaultFile: null, defaults: { [name]: values[section]![key] } });
    t.equal(source.origins.get(name), 'default', `${name} = ${String(values[section]![key])}`);
  }
});

t.test('the effective configuration', async (t) => {
  const env = {
    POSTRIDER_HTTP_PORT: '9001',
    POSTRIDER_SECRETS_MASTER_KEY: SECRET,
    POSTRIDER_DELIVERY_LINGER: '45s',
    POSTRIDER_STOP_GRACE: '1500ms',
  };
  const loaded = loadConfig({ env, defaultFile: null });
  const text = renderEffective(loaded);
  t.match(text, /^\[http\]\nhost = "127\.0\.0\.1" {2}# default\nport = 9001 {2}# environment$/m);
  t.match(text, /^links_url = "http:\/\/127\.0\.0\.1:9001" {2}# derived$/m);
  t.match(text, /^# tls_cert is not set$/m);
  t.match(text, /^grace = "1500ms" {2}# environment$/m);
  t.match(text, /^master_key = "\(hidden\)" {2}# environment$/m);
  t.notOk(text.includes(SECRET), 'no secret');
  t.notOk(JSON.stringify(effectiveValues(loaded.config)).includes(SECRET), 'no secret for programs either');

  const file = path.join(testFolder(t, { 'again.toml': '' }), 'again.toml');
  writeFileSync(file, text.replace(/^master_key = .*$/m, ''));
  t.same(
    loadConfig({ file, env: { POSTRIDER_SECRETS_MASTER_KEY: SECRET } }).config,
    loaded.config,
    'read again it gives the same configuration',
  );
});
