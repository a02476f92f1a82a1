// What holds for every file of test/ (test/README.md): no assertion that always passes, no numbers in front of names.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';

const NAMED_BY_VERSION = new Set(['npm-9.test.ts']);
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

function read(file: string): string {
  return readFileSync(path.join(import.meta.dirname, file), 'utf8');
}
