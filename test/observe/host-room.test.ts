// What the machine says of itself, also while file descriptors have run out.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { residentMemory } from '../../src/observe/host-room.ts';
import { Intake } from '../../src/observe/intake.ts';
import { silentLogger } from '../../src/observe/log.ts';

const HOST_ROOM = pathToFileURL(path.join(import.meta.dirname, '../../src/observe/host-room.ts')).href;

/** Of a process of its own, since it uses up what it may open. */
const STARVED = `
  import fs from 'node:fs';
  import { residentMemory } from '${HOST_ROOM}';
  const read = residentMemory();
  const before = read();
  const files = [];
  let fault = null;
  while (fault === null) {
    try { files.push(fs.openSync('/dev/null')); } catch (error) { fault = error.code; }
  }
  let raw = null;
  try { process.memoryUsage.rss(); } catch (error) { raw = error.code; }
  const starved = read();
  for (const file of files) fs.closeSync(file);
  console.log(JSON.stringify({ fault, raw, before, starved, after: read() }));
`;

t.test('the memory in use, while no file can be opened', async (t) => {
  const command = 'ulimit -n 64; exec "$0" --input-type=module --no-warnings -e "$1"';
  const { stdout } = await promisify(execFile)('bash', ['-c', command, process.execPath, STARVED]);
  const { fault, raw, before, starved, after } = JSON.parse(stdout);
  t.equal(fault, 'EMFILE');
  t.ok(raw === 'EMFILE' || raw === null, 'where it is no file it can still be told');
  t.ok(before > 0);
  if (raw !== null) t.equal(starved, before, 'what it was last');
  t.ok(after > 0);
});

t.test('an intake decides and closes without it', async (t) => {
  let memory: number | null = 100;
  const intake = new Intake({
    ...{ clock: { now: () => 1 }, log: silentLogger, limits: { minDiskFreeShare: 0.1, maxResidentBytes: 1000 } },
    ...{ diskFreeShare: async () => 0.5, reusableShare: async () => 0, makeRoom: async () => null },
    proveWritable: () => Promise.reject(new Error('EMFILE')),
    residentBytes: residentMemory(() => {
      if (memory === null) throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' });
      return memory;
    }),
  });
  t.match(await intake.check(), { accepting: true });
  memory = null;
  t.match(await intake.check(), { accepting: true });
  intake.commitFailed(new Error('unable to open database file'));
  t.match(await intake.check(), { accepting: false, reason: /the database cannot be written/ });
  memory = 1001;
  t.match(await intake.check(), { reason: /the process uses/ });
  memory = null;
  t.match(await intake.check(), { reason: /the process uses/ }, 'what it was last still counts');
});
