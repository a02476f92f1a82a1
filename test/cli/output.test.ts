// What a command prints arrives, whoever reads it and however slowly; and what cannot be written is no success.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { suppressionExport } from '../../src/cli/commands/suppression-csv.ts';
import { patience } from '../support/patience.ts';
import { newProgram, PROGRAM_ARGUMENTS, runInThisProcess } from '../support/program.ts';

const shell = (script: string) =>
  promisify(execFile)('bash', ['--norc', '-c', script], { env: { PATH: process.env.PATH }, timeout: patience(60_000) });

t.test('a long list, into a slow pipe, a closed one, and a full disk', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const { id } = await program.json('tenant', 'create', '--name', 'Acme');
  const file = path.join(program.folder, 'list.csv');
  const addresses = Array.from({ length: 6000 }, (_, n) => `somebody.with.a.longer.address.${n}@x.test`);
  fs.writeFileSync(file, ['address', ...addresses].join('\n'));
  await program.json('suppression', 'import', file, '--tenant', String(id));
  const list = `${process.execPath} ${PROGRAM_ARGUMENTS.join(' ')} suppression export --tenant ${id} --config ${program.configFile}`;
  t.match(await shell(`${list} | (sleep 1; wc -l)`), { stdout: /^\s*6001\s*$/ });
  const json = await shell(`${list} --json | (sleep 1; cat) | wc -c`);
  t.ok(Number(json.stdout) > 6000 * 40, 'one JSON value, to its end');
  t.match(await shell(`${list} | head -1; echo "\${PIPESTATUS[0]}"`), { stdout: /^address,[^\n]*\n0\n$/, stderr: '' });
  t.match(await shell(`${list} > /dev/full; echo "$?"`), {
    stdout: '1\n',
    stderr: /^postrider: the output cannot be written: .*no space left/,
  });
});

t.test('an export that is not all says where to go on', async (t) => {
  const found = { csv: 'address\n', addresses: 200_000 };
  t.match(
    suppressionExport.note({ ...found, next: 'm@x.test' }),
    /Only 200000 addresses were exported: .* --after m@x\.test$/,
  );
  t.equal(suppressionExport.note({ ...found, next: null }), null);
});

t.test("other people's words do not command the terminal, nor do one's own", async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const { stderr } = await runInThisProcess(['queue', 'resume', '\u001b[2J']);
  t.match(stderr, 'ID: "\ufffd[2J" is not a valid ID');
  const failed = await program.runHere('backup', `${program.folder}/\u001b[2J/x.db`);
  t.match(failed, { code: 1, stdout: '' });
  t.notMatch(failed.stderr, '\u001b');
});

t.test('a folder without a database is most likely the wrong one, and is left as it is', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  for (const command of [
    ['queue', 'list'],
    ['tenant', 'list'],
    ['suppression', 'list', '--platform'],
  ]) {
    t.match(await program.runHere(...command), {
      code: 1,
      stdout: '',
      stderr: /there is no database in .*data\. If this is not/,
    });
  }
  t.notOk(fs.existsSync(program.dataDir));
  t.match(await program.runHere('tenant', 'create', '--name', 'Acme'), { code: 0 });
  t.match(await program.runHere('queue', 'list'), { code: 0, stdout: 'The queue is empty.\n' });
});
