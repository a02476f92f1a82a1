// Holds src/ to the rules of docs/development.md: imports run downhill by the table in
// architecture/tiers.ts, no cycles, no barrel files, no hidden state, bounded files.
// First every rule is shown a small offender, so that a rule that never fires is noticed.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { parseSource, readSources } from './architecture/read-source.ts';
import { longFiles, packagesAtHome, RULES, type Rule } from './architecture/rules.ts';
import { HOMES } from './architecture/tiers.ts';
import { readAll, unusedExports } from './architecture/unused-exports.ts';

const ROOT = path.join(import.meta.dirname, '..');
const MANIFEST = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
const packages = packagesAtHome(Object.keys(MANIFEST.dependencies));

/** Runs one rule over files that exist only here. */
function violations(rule: Rule, files: Record<string, string>): string[] {
  return rule(Object.entries(files).map(([file, text]) => parseSource(file, text)));
}

t.test('the rules catch offenders', async (t) => {
  const offence = (name: string, files: Record<string, string>, expected: string[]) =>
    t.same(violations(RULES[name]!, files), expected, name);

  offence('every folder has its tier', { 'src/misc/a.ts': '', 'src/base/a.ts': '', 'src/other.ts': '' }, [
    'src/misc: not listed in test/architecture/tiers.ts; give it a tier',
    'src/other: not listed in test/architecture/tiers.ts; give it a tier',
  ]);
  offence('imports exist', { 'src/base/a.ts': "import './gone.ts';\nimport '../../x.ts';" }, [
    'src/base/a.ts:1: imports ./gone.ts, which does not exist',
  ]);
  offence(
    'no cycles',
    {
      'src/base/a.ts': "import { b } from './b.ts';",
      'src/base/b.ts': "import type { C } from './c.ts';",
      'src/base/c.ts': "export { a } from './a.ts';",
      'src/base/d.ts': "const w = new URL('./d.ts', import.meta.url);",
    },
    ['cycle: src/base/a.ts -> src/base/b.ts -> src/base/c.ts -> src/base/a.ts'],
  );
  offence(
    'commands start light',
    {
      'src/main.ts': "import '../cli/a.ts';\nimport './cli/a.ts';\nawait import('./delivery/a.ts');",
      'src/cli/a.ts': "import type { X } from 'undici';\nimport { type Y, y } from './b.ts';",
      'src/cli/b.ts': "import 'node:fs';\nimport z from 'ajv';",
      'src/cli/commands/c.ts':
        "import type { A } from '../../delivery/a.ts';\nimport { a } from '../../delivery/a.ts';",
      'src/delivery/a.ts': "import 'undici';",
    },
    [
      'src/main.ts -> src/cli/a.ts -> src/cli/b.ts: loads ajv; import() it where it is used',
      'src/cli/commands/c.ts -> src/delivery/a.ts: loads all that delivery needs; import() it where it is used',
    ],
  );
  offence(
    'no barrel files',
    {
      'src/base/a.ts': "// All of it.\nexport * from './b.ts';\nexport { type C, c } from './c.ts';\n",
      'src/base/b.ts': "export { c } from './c.ts';\nexport const b = 1;\n",
      'src/base/c.ts': '// Nothing yet.\n',
    },
    ['src/base/a.ts: only exports again what others export; import from them'],
  );
  offence(
    'environment and exit only where the process is run',
    {
      'src/api/a.ts': '// process.env\nconst a = "process.env";\nprocess.exit(1);\nf(process.env.HOME);',
      'src/http/engines/a.ts': "process.env.UWS_HTTP_MAX_HEADERS_SIZE = '1';\nprocess.env.UWS = '1';",
      'src/cli/commands/a.ts': 'process.exit(1)',
      'src/main.ts': 'process.exit(1)',
    },
    [
      'src/api/a.ts:3: process.exit outside main, cli, config; take the value as a parameter',
      'src/api/a.ts:4: process.env outside main, cli, config; take the value as a parameter',
      'src/http/engines/a.ts:2: process.env outside main, cli, config; take the value as a parameter',
    ],
  );
  offence('no module state', { 'src/api/a.ts': 'const a = 1;\nexport let seen = 0;\nf(() => {\n  let b = 1;\n});' }, [
    'src/api/a.ts:2: seen is state of the module; put it into an object',
  ]);
  offence(
    'parts get what they use by name',
    {
      'src/daemon/a.ts': 'f({ ...foundation, a });\ng({ ...kit.pool, ...kits });',
      'src/delivery/a.ts': '// ...kit\nf({ ...this.#kit, a });',
    },
    [
      'src/daemon/a.ts:1: ...foundation hands over a whole bag; name what the part uses',
      'src/delivery/a.ts:2: ...this.#kit hands over a whole bag; name what the part uses',
    ],
  );
  offence(
    'objects are written plainly',
    { 'src/api/a.ts': 'f({\n  ...{ a, b },\n  ...(c && { d }),\n  ...e,\n}); // ...{ a }' },
    ['src/api/a.ts:2: ...{ is for the formatter alone; write the members one by one'],
  );
  offence(
    'SQL only in the drivers',
    {
      'src/api/a.ts': 'db.run(`SELECT id\n  FROM tenants`);\n// DELETE FROM tenants\nf("Select one from the list");',
      'src/store/sqlite/a.ts': "db.run('DELETE FROM tenants')",
    },
    ["src/api/a.ts:1: SQL outside of the store's drivers"],
  );
  offence(
    'steps are run',
    {
      'src/store/sql/a.ts':
        'function* look(db) {\n  const row = yield* read(db);\n  read(db);\n  if (row) read(db);\n  return read(db);\n}\n',
      'src/store/sql/b.ts':
        'function* read(db) {\n  yield* db.sql(q).get();\n  db\n    .sql(q)\n    .run();\n  const all = () => read(db);\n  for (const id of ids) erase.run(id);\n}\n',
      'src/api/a.ts': 'f();\nread(db);\n',
    },
    [
      'src/store/sql/a.ts:3: read( is never run: yield* is missing',
      'src/store/sql/a.ts:4: read( is never run: yield* is missing',
      'src/store/sql/b.ts:3: db.sql( is never run: yield* is missing',
      'src/store/sql/b.ts:7: erase.run( is never run: yield* is missing',
    ],
  );
  offence(
    'every file says what it is for',
    { 'src/api/a.ts': "import 'b';", 'src/api/b.ts': '// Fine.\n', 'src/api/c.ts': `${'// long\n'.repeat(6)}f();` },
    [
      'src/api/a.ts: does not open with a comment that says what it is for',
      'src/api/c.ts: opens with 6 lines of comment; five are enough',
    ],
  );
  offence('names say something', { 'src/api/mail-utils.ts': '', 'src/api/index.ts': '', 'src/api/MyFile.ts': '' }, [
    'src/api/mail-utils.ts: "utils" says nothing; name it after what it holds',
    'src/api/index.ts: "index" says nothing; name it after what it holds',
    'src/api/MyFile.ts: not in kebab-case',
  ]);
  offence(
    'files end before they are too long',
    { 'src/api/a.ts': '\n'.repeat(401), 'src/api/b.ts': '\n'.repeat(400) },
    ['src/api/a.ts: 401 lines; 400 is the stop'],
  );
  t.same(longFiles([parseSource('src/api/a.ts', '\n'.repeat(301))]), ['src/api/a.ts: 301 lines; aim for at most 300']);
});

t.test('imports run downhill', async (t) => {
  const rule = RULES['imports run downhill']!;
  const importing = (file: string, target: string) =>
    violations(rule, { [file]: `import type { X } from '${target}';` });
  const forbidden = (file: string, target: string, reason: string) =>
    t.match(importing(file, target), [reason], `${file} -> ${target}`);
  const allowed = (file: string, target: string) => t.same(importing(file, target), [], `${file} -> ${target}`);

  forbidden(
    'src/base/a.ts',
    '../observe/log.ts',
    'src/base/a.ts:1: imports src/observe/log.ts, but observe (tier 1) is above',
  );
  forbidden('src/store/a.ts', '../api/a.ts', 'api (tier 5) is above store (tier 2)');
  forbidden('src/delivery/a.ts', '../submission/a.ts', 'submission is a sibling of delivery (both tier 4)');
  forbidden('src/protocol/mail/a.ts', '../smtp/a.ts', 'protocol/smtp is a sibling');
  forbidden('src/events/a.ts', '../tenants/a.ts', 'tenants is a sibling');
  forbidden('src/delivery/a.ts', '../config/keys.ts', 'config is only for operator, cli, daemon, sandbox, main');
  forbidden('src/delivery/a.ts', '../store/sqlite/a.ts', 'store/sqlite is only for store/opening');
  forbidden('src/main.ts', './store/sqlite/a.ts', 'store/sqlite is only for store/opening');
  forbidden('src/store/a.ts', './sqlite/a.ts', 'store/sqlite is only for');
  forbidden('src/cli/commands/a.ts', '../../daemon/a.ts', 'daemon (tier 6) is above');
  forbidden('src/daemon/a.ts', '../sandbox/a.ts', 'sandbox is a sibling of daemon');
  forbidden('src/delivery/shaping/a.ts', '../queue/a.ts', 'delivery/queue is a sibling');
  forbidden('src/store/sqlite/engine/a.ts', '../reading/a.ts', 'store/sqlite/reading is a sibling');
  forbidden('src/store/sql/verbs/queue/a.ts', '../../../sqlite/a.ts', 'store/sqlite is only for');
  forbidden('src/delivery/a.ts', '../store/sql/a.ts', 'store/sql is only for store/sqlite');
  forbidden('src/portal/a.ts', '../cli/a.ts', 'cli is a sibling');
  forbidden('src/api/a.ts', '../../test/support/a.ts', 'imports test/support/a.ts, outside of src/');
  allowed('src/api/a.ts', '../submission/a.ts');
  allowed('src/protocol/smtp/a.ts', '../mail/a.ts');
  allowed('src/tenants/a.ts', '../events/a.ts');
  allowed('src/delivery/a.ts', './courier/a.ts');
  forbidden('src/delivery/courier/a.ts', '../../store/sqlite/a.ts', 'store/sqlite is only for store/opening');
  allowed('src/delivery/courier/a.ts', '../../store/opening/a.ts');
  allowed('src/store/opening/a.ts', '../sqlite/reading/a.ts');
  allowed('src/cli/commands/a.ts', '../../config/keys.ts');
  allowed('src/sandbox/a.ts', '../daemon.ts');
  allowed('src/daemon/daemon.ts', './store/sqlite/a.ts');

  const byOtherWays =
    'await import("../api/a.ts");\nnew URL(\'../api/w.ts\', import.meta.url);\nexport * from "../api/b.ts";';
  t.match(
    violations(rule, { 'src/base/a.ts': byOtherWays }).sort(),
    [':1: imports src/api/a.ts', ':2: imports src/api/w.ts', ':3: imports src/api/b.ts'],
    'import(), a worker by its URL and a re-export count too',
  );
  t.same(violations(rule, { 'src/base/a.ts': "// import '../api/a.ts'\n/* import '../api/a.ts' */" }), []);
});

t.test('packages stay behind their interface', async (t) => {
  const importing = (file: string, target: string) => violations(packages, { [file]: `import x from '${target}';` });
  t.match(importing('src/api/a.ts', 'sonic-boom'), ['which only observe may know']);
  t.match(importing('src/api/a.ts', 'left-pad'), ['which is not in the dependencies of package.json']);
  t.match(importing('src/api/a.ts', 'fs'), ['which is written node:fs']);
  t.match(importing('src/base/a.ts', 'ajv'), ['but base needs nothing but Node']);
  t.same(importing('src/observe/a.ts', 'sonic-boom'), []);
  t.same(importing('src/api/a.ts', 'ajv/dist/2020.js'), []);
});

t.test('what is exported is imported', async (t) => {
  const found = unusedExports([
    {
      file: 'src/base/a.ts',
      text: 'export const a = 1;\nexport function b() {}\nexport class C {}\nexport type D = 1;',
    },
    { file: 'src/base/b.ts', text: "import { a as x } from './a.ts';\nexport const e = 1;" },
    { file: 'src/base/c.ts', text: 'export const f = 1;' },
    {
      file: 'test/d.ts',
      text: "const { C } = await import('../src/base/a.ts');\nimport * as c from '../src/base/c.ts';",
    },
  ]);
  const hint = 'remove it, or only its "export"';
  t.same(found, [`src/base/a.ts: nobody imports b; ${hint}`, `src/base/b.ts: nobody imports e; ${hint}`]);
  for (const each of unusedExports(readAll(ROOT))) t.fail(each, { at: null, stack: '' });
});

t.test('the table is sound', async (t) => {
  for (const [name, home] of Object.entries(HOMES)) {
    const siblings = home.siblings ?? [];
    for (const other of [...siblings, ...(home.onlyFor ?? []), ...(home.partOf ? [home.partOf] : [])]) {
      t.ok(HOMES[other], `${name} names ${other}, which is listed`);
    }
    for (const sibling of siblings) t.equal(HOMES[sibling]?.tier, home.tier, `${name} and ${sibling} share a tier`);
  }
});

t.test('src/', async (t) => {
  const sources = readSources(ROOT);
  t.ok(sources.length > 50, 'was found');
  for (const [name, rule] of Object.entries({ ...RULES, 'packages stay behind their interface': packages })) {
    const found = rule(sources);
    for (const violation of found) t.fail(violation, { rule: name, at: null, stack: '' });
    t.equal(found.length, 0, name);
  }
  for (const line of longFiles(sources)) t.comment(line);
});
