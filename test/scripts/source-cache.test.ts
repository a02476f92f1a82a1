// scripts/source-cache.cjs in a checkout of its own: what it keeps, that nothing stale or broken is used, and that
// everything works where it cannot write. Whether Node had to strip types is asked of Node itself.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { noOtherUser, OTHER_USER } from '../support/other-user.ts';

const CACHE = path.join(import.meta.dirname, '../../scripts/source-cache.cjs');

const MAIN = `// Prints what it imports, and which part of Node that took.
import { word } from './part.ts';
interface Unused { a: string }
const stripper = 'NativeModule internal/deps/amaro/dist/index';
const { moduleLoadList } = process as unknown as { moduleLoadList: string[] };
console.log(JSON.stringify({ word, stripped: moduleLoadList.includes(stripper) }));
`;
const part = (word: string) => `export const word: string = '${word}';\n`;

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

interface Checkout {
  folder: string;
  part: string;
  /** Below the cache, as they are now. */
  cached(pattern: string): string[];
  run(as?: { uid?: number; gid?: number }): Promise<Outcome>;
}

function makeCheckout(t: Test, name = 'checkout'): Checkout {
  const above = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-cache-'));
  t.teardown(() => fs.rmSync(above, { recursive: true, force: true }));
  fs.chmodSync(above, 0o755);
  const folder = path.join(above, name);
  for (const below of ['scripts', 'src', 'node_modules']) fs.mkdirSync(path.join(folder, below), { recursive: true });
  fs.copyFileSync(CACHE, path.join(folder, 'scripts/source-cache.cjs'));
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  fs.writeFileSync(path.join(folder, 'src/main.ts'), MAIN);
  const file = path.join(folder, 'src/part.ts');
  fs.writeFileSync(file, part('one'));
  const cwd = path.join(folder, 'node_modules');
  return {
    folder,
    part: file,
    cached: (pattern) => fs.globSync(`.cache/postrider/${pattern}`, { cwd }).map((found) => path.join(cwd, found)),
    run: (as = {}) =>
      new Promise((resolve) => {
        const args = ['--require', path.join(folder, 'scripts/source-cache.cjs'), path.join(folder, 'src/main.ts')];
        const options = { env: { PATH: process.env.PATH }, cwd: '/', ...as };
        execFile(process.execPath, args, options, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
        );
      }),
  };
}

const said = (word: string, stripped: boolean) => ({
  code: 0,
  stdout: `${JSON.stringify({ word, stripped })}\n`,
  stderr: '',
});

t.test('the second start strips nothing, in whatever folder the checkout is', async (t) => {
  for (const name of ['checkout', 'with a space, 100%, #1 and ?']) {
    const { run, cached } = makeCheckout(t, name);
    t.same(await run(), said('one', true), name);
    t.equal(cached('stripped-*/src/*.ts').length, 2);
    t.ok(cached('v*/*').length > 0, "V8's code is kept, too");
    t.same(await run(), said('one', false), name);
  }
});

t.test('a changed source is noticed, even one of the same length and time', async (t) => {
  const { run, part: file } = makeCheckout(t);
  await run();
  const { atime, mtime } = fs.statSync(file);
  fs.writeFileSync(file, part('two'));
  fs.utimesSync(file, atime, mtime);
  t.same(await run(), said('two', true));
  t.same(await run(), said('two', false));
});

t.test('what is broken in the cache is made again', async (t) => {
  const { run, cached } = makeCheckout(t);
  await run();
  const [file] = cached('stripped-*/src/part.ts');
  const whole = fs.readFileSync(file!, 'utf8');
  const broken = ['', '\n//# ', whole.slice(0, -5), whole.slice(5), whole.replace('one', 'bad'), `${whole}more`];
  for (const text of broken) {
    fs.writeFileSync(file!, text);
    t.same(await run(), said('one', true), JSON.stringify(text));
    t.equal(fs.readFileSync(file!, 'utf8'), whole);
  }
  t.same(cached('stripped-*/src/*').length, 2, 'no drafts are left');
});

t.test('where nothing can be written, everything works', async (t) => {
  const { folder, run } = makeCheckout(t);
  fs.writeFileSync(path.join(folder, 'node_modules/.cache'), 'a file, not a folder');
  t.same(await run(), said('one', true));
  t.same(await run(), said('one', true));
  const { run: withoutPackages, folder: bare } = makeCheckout(t);
  fs.rmdirSync(path.join(bare, 'node_modules'));
  t.same(await withoutPackages(), said('one', true));
  t.notOk(fs.existsSync(path.join(bare, 'node_modules')));
});

t.test('another user than the owner reads the cache and writes nothing', { skip: noOtherUser }, async (t) => {
  const { run, cached, folder } = makeCheckout(t);
  fs.chmodSync(path.join(folder, 'node_modules'), 0o777);
  t.same(await run(OTHER_USER), said('one', true));
  t.same(cached('**'), [], 'though the folder would let it');
  await run();
  fs.chmodSync(path.join(folder, 'node_modules/.cache/postrider'), 0o777);
  const before = cached('**');
  t.same(await run(OTHER_USER), said('one', false));
  t.same(cached('**'), before);
});

t.test('run by itself it strips everything', async (t) => {
  const { run, folder, cached } = makeCheckout(t);
  fs.mkdirSync(path.join(folder, 'src/below'));
  fs.writeFileSync(path.join(folder, 'src/below/unused.ts'), part('x'));
  const fill = promisify(execFile)(process.execPath, [path.join(folder, 'scripts/source-cache.cjs')]);
  t.same(await fill, { stdout: '', stderr: '' });
  t.equal(cached('stripped-*/src/**/*.ts').length, 3);
  t.same(await run(), said('one', false));
});

t.test('what Node says of a broken source is what it says without the cache', async (t) => {
  const { run, part: file } = makeCheckout(t);
  fs.writeFileSync(file, 'export enum word { A }\n');
  const { code, stderr } = await run();
  t.equal(code, 1);
  t.match(stderr, /part\.ts:1[\s\S]*TypeScript enum is not supported in strip-only mode/);
  fs.writeFileSync(file, "// one line\nexport const word: string = fail('x');\n");
  t.match(await run(), { code: 1, stderr: /at .*src\/part\.ts:2:29/ }, 'lines and columns are those of the source');
  fs.rmSync(file);
  t.match(await run(), { code: 1, stderr: /Cannot find module '.*src\/part\.ts' imported from .*src\/main\.ts/ });
});

t.test('threads use it as well', async (t) => {
  const { folder, run } = makeCheckout(t);
  fs.writeFileSync(
    path.join(folder, 'src/main.ts'),
    "import { Worker } from 'node:worker_threads';\nnew Worker(new URL('./thread.ts', import.meta.url));\n",
  );
  fs.writeFileSync(path.join(folder, 'src/thread.ts'), MAIN);
  t.same(await run(), said('one', true));
  t.same(await run(), said('one', false));
});
