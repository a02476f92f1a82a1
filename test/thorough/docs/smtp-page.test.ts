// docs/smtp.md is followed as it stands, with a sandbox.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { noCurl, openPage, plainEnv, walkPage } from '../../docs/walk-page.ts';
import { findFreePort } from '../../support/free-port.ts';
import { newDataDir, spawnSandbox } from '../../support/sandbox-process.ts';

const noSwaks = spawnSync('swaks', ['--version']).error !== undefined && 'needs swaks: apt-get install swaks';
const noPython = spawnSync('python3', ['--version']).error !== undefined && 'needs python3: apt-get install python3';

t.test('docs/smtp.md', { skip: noCurl || noSwaks || noPython }, async (t) => {
  const dir = newDataDir(t);
  const config = path.join(dir, 'ports.toml');
  const submission = await findFreePort();
  fs.writeFileSync(config, `[http]\nport = 0\n[smtp]\nport = 0\n[submission]\nport = ${submission}\n`);
  const printed = await spawnSandbox(t, path.join(dir, 'sandbox'), '--config', config).ready();
  const [, port = ''] = /^ {2}SMTP +127\.0\.0\.1:(\d+)/m.exec(printed) ?? [];
  const [, api = ''] = /http:\/\/(127\.0\.0\.1:\d+)/.exec(printed) ?? [];
  const [key = ''] = /pr_\w+/.exec(printed) ?? [];
  const page = openPage('docs/smtp.md');
  const [shownKey = ''] = /pr_\w+/.exec(page.snippets.map(({ code }) => code).join()) ?? [];
  await walkPage(t, page, {
    cwd: dir,
    env: plainEnv(),
    differences: { '127.0.0.1:8080': api, '2587': port, [shownKey]: key },
  });
});
