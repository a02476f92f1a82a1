// What holds for every file of test/ (test/README.md): no assertion that always passes, no numbers in front of names.
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { testFolder } from './support/test-folder.ts';

const NAMED_BY_VERSION = new Set(['npm-9.test.ts']);
/** What starts something. */
const STARTS = /^export (?:async )?function (?:start|spawn|install|run|new)[A-Z(]/m;
const files = globSync('**/*.ts', { cwd: import.meta.dirname });

t.test('every assertion can fail', async (t) => {
  t.ok(files.length > 300, `${files.length} files`);
  const remarks = files.filter((file) => /\bt(?:est)?\.pass\(/.test(read(file)));
  t.same(remarks, [], 'a remark is the name of an assertion: `t.ok(…, "note: …")`');
});

t.test('files are named by behaviour', async (t) => {
  t.same(
    files.filter(
      (file) => /^\d|-\d\.test\.ts$/.test(path.basename(file)) && !NAMED_BY_VERSION.has(path.basename(file)),
    ),
    [],
    'not by number',
  );
});

t.test('the page shows a test that runs, and each file of test/support that starts something', async (t) => {
  const page = read('README.md');
  const [, example = ''] = /```ts\n(.*?)```/s.exec(page) ?? [];
  t.ok(read('flows/accepted-mail-is-delivered.test.ts').endsWith(`\n${example}`), 'the example is a test');
  const starters = files.filter((file) => /^support\//.test(file) && STARTS.test(read(file)));
  t.ok(starters.length > 15, `${starters.length} files`);
  for (const file of starters) t.ok(page.includes(`\`${path.basename(file)}\``), file);
});

t.test("a test's folder is there until everything that the test opened is closed", async (t) => {
  const found: boolean[] = [];
  let folder = '';
  await t.test('one with a folder', async (t) => {
    folder = testFolder(t);
    t.teardown(() => found.push(existsSync(folder)));
    t.ok(existsSync(folder));
  });
  t.same(found, [true], 'at the teardown');
  t.notOk(existsSync(folder), 'and is removed after it');
  const bare = files.filter((file) => file !== 'support/test-folder.ts' && /\bt\.testdir\b/.test(read(file)));
  t.same(bare, [], 'opened by `testFolder`');
});

function read(file: string): string {
  return readFileSync(path.join(import.meta.dirname, file), 'utf8');
}
