// The log file of the sandbox: goes on where it was, and does not grow without end.
import { existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openLogFile } from '../../src/sandbox/log-file.ts';
import { testFolder } from '../support/test-folder.ts';

t.test('appends, for nobody else to read, and keeps one large old file', async (t) => {
  const file = path.join(testFolder(t), 'postrider.log');
  for (const line of ['one\n', 'two\n']) {
    const log = openLogFile(file);
    log.write(line);
    log.close();
    log.write('after its end\n');
  }
  t.equal(readFileSync(file, 'utf8'), 'one\ntwo\n');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.notOk(existsSync(`${file}.old`));
  truncateSync(file, 10 * 1024 * 1024 + 1);
  openLogFile(file).close();
  t.equal(statSync(file).size, 0);
  t.equal(statSync(`${file}.old`).size, 10 * 1024 * 1024 + 1);
});
