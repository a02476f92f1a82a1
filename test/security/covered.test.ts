// The page that says which test tries which attack names files that are there, and every file of this folder.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';

const ROOT = path.join(import.meta.dirname, '../..');
const page = fs.readFileSync(path.join(import.meta.dirname, 'README.md'), 'utf8');
const rows = page.split('\n').filter((line) => /^\| (?!group|---)/.test(line));

t.test('every group names tests that are there', async (t) => {
  t.ok(rows.length >= 9, `${rows.length} groups`);
  for (const row of rows) {
    const [, group = '', , tests = ''] = row.split('|');
    const files = [...tests.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
    t.ok(files.length > 0, group);
    for (const file of files) t.ok(fs.existsSync(path.join(ROOT, file)), `${group}: ${file}`);
  }
});

t.test('every test of this folder is named', async (t) => {
  for (const file of fs.globSync('*.test.ts', { cwd: import.meta.dirname })) {
    t.ok(page.includes(`test/security/${file}\``), file);
  }
});
