// Packages that only some of the daemon's work needs are loaded when that begins: each costs every start, and every restart.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { testFolder } from '../support/test-folder.ts';
import { startWorld } from '../support/world.ts';

const LATER = ['mailauth', 'joi', 'undici', 'acme-client', '@peculiar/x509', 'mailparser', 'pg'];

/** Notes whatever a thread of the process loads, from its start on. */
const NOTE = `
const fs = require('node:fs');
require('node:module').registerHooks({
  load(url, context, nextLoad) {
    fs.appendFileSync(process.env.LOADED_FILE, url + '\\n');
    return nextLoad(url, context);
  },
});
`;

t.test('a start loads none of what only some of its work needs', async (t) => {
  const folder = testFolder(t);
  const [hook, loadedFile] = [path.join(folder, 'note.cjs'), path.join(folder, 'loaded')];
  fs.writeFileSync(hook, NOTE);
  const launch = { nodeArguments: ['--require', hook], env: { LOADED_FILE: loadedFile } };
  const { postrider } = await startWorld(t, { launch });
  await postrider.serve();
  const names = fs.readFileSync(loadedFile, 'utf8').matchAll(/\/node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/g);
  const loaded = new Set(Array.from(names, ([, name]) => name));
  t.ok(loaded.has('hyper-express') && loaded.has('better-sqlite3'), 'main thread and others');
  t.strictSame(
    LATER.filter((name) => loaded.has(name)),
    [],
  );
});
