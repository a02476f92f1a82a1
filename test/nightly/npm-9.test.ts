// The README's two commands with the oldest npm and Node that they work with, those of Debian 12, but as npm's
// registry has them: nothing has to be installed. .ci/run runs this file, too (`npm run test-install`).
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import {
  type Checkout,
  checkProduction,
  copyCheckout,
  npmSettings,
  npmStart,
  runInside,
  sendFirstMail,
} from '../support/clean-checkout.ts';

const OLDEST_NODE = '18.20.8';
/** A small part of the tests: that they run is what is shown, not that they pass. */
const SOME_TESTS = 'test/scripts/lockfile.test.ts test/base/ids.test.ts';

const noPackage =
  !['linux-x64', 'linux-arm64'].includes(`${process.platform}-${process.arch}`) &&
  `npm has no Node ${OLDEST_NODE} for ${process.platform}-${process.arch}`;

function fetchPackage(spec: string, folder: string): string {
  fs.mkdirSync(folder, { recursive: true });
  const archive = execFileSync('npm', ['pack', spec, '--silent', '--pack-destination', folder], { cwd: folder });
  execFileSync('tar', ['-xf', path.join(folder, archive.toString().trim()), '-C', folder]);
  return path.join(folder, 'package');
}

/** A folder with `node`, `npm` and `npx` of these versions. */
function fetchTools(folder: string, npmVersion: string): string {
  const npm = fetchPackage(`npm@${npmVersion}`, path.join(folder, 'npm'));
  const node = fetchPackage(`node-linux-${process.arch}@${OLDEST_NODE}`, path.join(folder, 'node'));
  const bin = path.join(folder, 'bin');
  fs.mkdirSync(bin);
  fs.symlinkSync(path.join(node, 'bin/node'), path.join(bin, 'node'));
  for (const name of ['npm', 'npx']) fs.symlinkSync(path.join(npm, `bin/${name}-cli.js`), path.join(bin, name));
  return bin;
}

async function newCheckout(t: Test, npmVersion: string): Promise<Checkout> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-npm-'));
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }));
  const bin = fetchTools(folder, npmVersion);
  const checkout = path.join(folder, 'checkout');
  copyCheckout(checkout);
  const env = {
    ...(await npmSettings()),
    PATH: [bin, '/usr/bin', '/bin'].join(path.delimiter),
    HOME: folder,
    // Any that are free.
    POSTRIDER_HTTP_PORT: '0',
    POSTRIDER_SMTP_PORT: '0',
  };
  const found = await runInside(
    { folder: checkout, env, inside: (command) => ['sh', '-c', command] },
    'node -v; npm -v',
  );
  t.equal(found.output, `v${OLDEST_NODE}\n${npmVersion}\n`);
  return { folder: checkout, env, inside: (command) => ['sh', '-c', command] };
}

t.test('npm start and npm test with npm 9.2.0', { skip: noPackage }, async (t) => {
  const checkout = await newCheckout(t, '9.2.0');
  const sandbox = await npmStart(t, checkout);
  checkProduction(t, checkout.folder);
  await sendFirstMail(t, sandbox.printed, 'npm start');

  const library = path.join(checkout.folder, 'node_modules/better-sqlite3/package.json');
  const before = fs.statSync(library).ino;
  const tests = await runInside(checkout, `npm test -- ${SOME_TESTS}`);
  t.equal(tests.code, 0, `npm test -- ${SOME_TESTS}`, { output: tests.output });
  t.match(tests.output, /^\d+ passed, 0 failed$/m);
  t.equal(fs.statSync(library).ino, before, 'the tools came beside the packages of the running sandbox');
  await sendFirstMail(t, sandbox.printed, 'the sandbox meanwhile');
  const url = /http:\/\/127\S+?:\d+/.exec(sandbox.printed)?.[0];
  const description = await fetch(`${url}/openapi.json`);
  t.equal(description.status, 200, 'it loads what it has not needed before');
  await description.arrayBuffer();
  await sandbox.interrupt();
});

t.test('the program with npm 10', { skip: noPackage }, async (t) => {
  const checkout = await newCheckout(t, '10.9.9');
  const { code, output } = await runInside(checkout, 'bin/postrider --version');
  t.equal(code, 0, 'bin/postrider --version', { output });
  checkProduction(t, checkout.folder);
});
