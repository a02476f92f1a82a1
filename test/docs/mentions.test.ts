// What the documentation mentions exists: files and folders, links, npm scripts, commands with
// their options, configuration keys. So do the files that comments name.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { ALL_KEYS } from '../../src/config/keys.ts';
import { wholeCommandProblem } from './command-problem.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...fs.globSync('docs/*.md', { cwd: ROOT }).sort()];
const SOURCES = new Set(fs.globSync('{src,test}/**/*.ts', { cwd: ROOT }).map((file) => path.basename(file)));
const ALL_SOURCES = fs.globSync('{src,test,scripts}/**/*.ts', { cwd: ROOT });
/** `store/reads.ts`, or the name alone. */
const FILE_IN_COMMENT = /(?<![\w/.-])(?:[\w-]+\/)*[\w-]+\.ts\b/g;
const SCRIPTS: Record<string, string> = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')).scripts;
const SECTIONS = [...new Set(ALL_KEYS.map(({ name }) => name.split('.')[0]))];

const FOLDERS = '(?:\\.ci|bench|bin|config|docs|packaging|schema|scripts|shims|src|systemd|test)';

t.test('offenders are caught', async (t) => {
  t.equal(wholeCommandProblem('postrider doctor intake'), 'no place for intake');
  t.equal(wholeCommandProblem('postrider queue show ID --json OTHER'), 'no place for OTHER');
  t.equal(wholeCommandProblem("postrider suppression remove --since TIME --rule 'route-*'"), null);
  t.equal(wholeCommandProblem("postrider bounce reply '550 5.1.1 User unknown'"), null);
});

for (const page of PAGES) {
  t.test(page, async (t) => {
    const markdown = fs.readFileSync(path.join(ROOT, page), 'utf8');
    const prose = markdown.replace(/^```[\s\S]*?^```$/gm, '');
    const code = [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!);

    for (const name of code.filter((text) => new RegExp(`^${FOLDERS}/[\\w./-]*$`).test(text))) {
      if (name.includes('NNNN')) continue; // a pattern of names
      t.ok(fs.existsSync(path.join(ROOT, name)), name);
    }
    for (const name of code.filter((text) => /^[a-z-]+\.ts$/.test(text))) t.ok(SOURCES.has(name), name);
    for (const [, target = ''] of prose.matchAll(/\]\((?!https?:)([^)]+)\)/g)) checkLink(t, page, target);
    for (const [, script = ''] of markdown.matchAll(/\bnpm run ([\w-]+)/g)) t.ok(SCRIPTS[script], `npm run ${script}`);
    for (const text of code) {
      if (text.startsWith('postrider ')) t.equal(wholeCommandProblem(text), null, text);
      // `dmarc.ts` is a file.
      const isKey = new RegExp(`^(?:${SECTIONS.join('|')})\\.(?!ts$)[a-z_]+$`).test(text);
      if (isKey)
        t.ok(
          ALL_KEYS.some(({ name }) => name === text),
          text,
        );
    }
    t.ok(markdown.length > 0);
  });
}

t.test('comments', async (t) => {
  const named = fs.globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) => {
    const comments = fs.readFileSync(path.join(ROOT, file), 'utf8').match(/^\s*(?:\/\/|\/?\*).*$/gm) ?? [];
    return comments.flatMap((line) => line.match(FILE_IN_COMMENT) ?? []).map((name) => ({ file, name }));
  });
  t.ok(named.length > 50, `${named.length} names`);
  const gone = named.filter(({ name }) => !ALL_SOURCES.some((file) => file.endsWith(`/${name}`) || file === name));
  t.same(gone, []);
});

function checkLink(test: Test, page: string, target: string): void {
  const [file = '', anchor] = target.split('#');
  const linked = file === '' ? path.join(ROOT, page) : path.join(ROOT, path.dirname(page), file);
  if (!test.ok(fs.existsSync(linked), `link to ${target}`) || anchor === undefined) return;
  const headings = fs.readFileSync(linked, 'utf8').match(/^#+ .*$/gm) ?? [];
  test.ok(headings.map(toAnchor).includes(anchor), `link to ${target}`);
}

/** As Markdown readers name a heading. */
function toAnchor(heading: string): string {
  const words = heading.replace(/^#+ /, '').toLowerCase();
  return words.replace(/[^\p{L}\p{N} -]/gu, '').replaceAll(' ', '-');
}
