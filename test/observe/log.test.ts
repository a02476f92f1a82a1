// The log as its reader sees it: parsed lines.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { Fault } from '../../src/base/errors.ts';
import { createLogger, type LogLevel, silentLogger } from '../../src/observe/log.ts';
import { testFolder } from '../support/test-folder.ts';

function capture(level: LogLevel = 'info') {
  const lines: Record<string, unknown>[] = [];
  const to = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { lines, log: createLogger({ level, to, clock: { now: () => 0 } }) };
}

const API_KEY = 'pr_ab12_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4';

t.test('a line is JSON with level, time, facts and message', async (t) => {
  const { log, lines } = capture();
  log.with({ part: 'courier' }).info({ mx: 'mx.example.com' }, 'connected');
  t.same(lines, [
    { level: 'info', time: '1970-01-01T00:00:00.000Z', part: 'courier', mx: 'mx.example.com', msg: 'connected' },
  ]);
});

t.test('levels below the configured one are not written', async (t) => {
  const { log, lines } = capture('warn');
  log.info({}, 'no');
  log.debug({}, 'no');
  log.warn({}, 'yes');
  log.with({ a: 1 }).trace({}, 'no');
  log.error({}, 'yes');
  t.same(
    lines.map(({ level, msg }) => [level, msg]),
    [
      ['warn', 'yes'],
      ['error', 'yes'],
    ],
  );
});

t.test('secrets are hidden by the name of their field, at any depth', async (t) => {
  const { log, lines } = capture();
  const secret = 'S3CRET';
  log.info(
    {
      authorization: secret,
      headers: { Authorization: secret, cookie: [secret], accept: 'text/html' },
      user: { password: secret, passwordHash: secret, email: 'a@example.com' },
      domain: { private_key: secret, privateKey: secret, key_id: 'k1', sealed: Buffer.from(secret) },
      list: [{ api_key: secret }, { webhook_secret: secret }, { key: secret }],
      request: { subject: secret, html: secret, text: secret, body: { a: secret } },
    },
    'call',
  );
  log.with({ token: secret }).info({}, 'child');
  t.notOk(JSON.stringify(lines).includes(secret));
  t.match(lines[0], { headers: { accept: 'text/html' }, user: { email: 'a@example.com' }, domain: { key_id: 'k1' } });
});

t.test('secrets are hidden by their look, wherever they stand', async (t) => {
  const { log, lines } = capture();
  const pem = '-----BEGIN PRIVATE KEY-----\nMIIEvS3CRET\n-----END PRIVATE KEY-----';
  log.info({ note: `called with ${API_KEY}`, header: 'Bearer S3CRETtoken', pem2: `x ${pem} y` }, `key ${API_KEY}`);
  log.info({ proxy: 'http://user:S3CRET@proxy.example.com/x' }, pem);
  const text = JSON.stringify(lines);
  t.notMatch(text, /Zm9v|S3CRET/);
  t.match(lines[0], { note: 'called with pr_ab12_[hidden]', header: 'Bearer [hidden]', pem2: 'x [hidden] y' });
  t.equal(lines[1]!.proxy, 'http://user:[hidden]@proxy.example.com/x');
});

t.test('errors keep their message, place and cause, and lose their secrets', async (t) => {
  const { log, lines } = capture();
  const cause = Object.assign(new Error(`refused ${API_KEY}`), { code: 'EREFUSED' });
  log.error({ error: new Fault('cannot send', { detail: 'disk full', cause }) }, 'failed');
  const error = lines[0]!.error as Record<string, unknown>;
  t.match(error, { type: 'Fault', message: 'cannot send', detail: 'disk full', permanence: 'temporary' });
  t.match(error.stack, /log\.test\.ts/);
  t.match(error.cause, { type: 'Error', message: 'refused pr_ab12_[hidden]', code: 'EREFUSED' });
});

t.test('odd values do not break a line', async (t) => {
  const { log, lines } = capture();
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  log.info(
    { circle, big: 1n, bytes: Buffer.alloc(3), long: 'x'.repeat(5000), when: new Date(0), none: undefined },
    'odd',
  );
  t.match(lines[0], { big: '1', bytes: '[3 bytes]', when: '1970-01-01T00:00:00.000Z' });
  t.equal((lines[0]!.long as string).length, 2001);
  log.info({ items: Array.from({ length: 1000 }, () => 1) }, 'many');
  t.equal((lines[1]!.items as unknown[]).length, 50);
});

t.test('the silent logger has silent children', async (t) => {
  t.doesNotThrow(() => silentLogger.with({ a: 1 }).error({ error: new Error('x') }, 'nobody hears'));
});

/** A program with such a standard output. It logs each message that it is sent, and one information more, and answers. */
async function logInto(t: Test, stdout: number | 'pipe') {
  const program = `
    import { createLogger } from '${new URL('../../src/observe/log.ts', import.meta.url)}';
    const log = createLogger({ level: 'info', to: 'stdout' });
    log.info({}, 'begun');
    process.on('message', (text) => {
      if (text === 'end') return process.disconnect();
      log.error({}, text);
      log.info({}, text + ', too');
      setImmediate(() => setImmediate(() => process.send('goes on')));
    });
    setImmediate(() => process.send('begun'));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', stdout, 'inherit', 'ipc'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const answered = () => Promise.race([once(child, 'message'), once(child, 'exit')]);
  await answered();
  return {
    stdout: child.stdout,
    async log(text: string) {
      const said = answered();
      child.send(text);
      t.equal((await said)[0], 'goes on', text);
    },
    async end() {
      const exit = once(child, 'exit');
      child.send('end');
      t.equal((await exit)[0], 0);
    },
  };
}

t.test('the program goes on when nobody reads its log any more', async (t) => {
  const { stdout, log, end } = await logInto(t, 'pipe');
  stdout!.destroy();
  await once(stdout!, 'close');
  await log('to nobody');
  await log('to nobody again');
  await end();
});

t.test('and when the disk of its log is full', { skip: !fs.existsSync('/dev/full') && 'no /dev/full' }, async (t) => {
  const full = fs.openSync('/dev/full', 'w');
  const { log, end } = await logInto(t, full);
  fs.closeSync(full);
  await log('into a full disk');
  await log('into a full disk again');
  await end();
});

t.test('when the log can be written again, it says how many lines were lost', async (t) => {
  const pipe = path.join(testFolder(t), 'log');
  execFileSync('mkfifo', [pipe]);
  const openReader = () => fs.openSync(pipe, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  const first = openReader();
  const writer = fs.openSync(pipe, 'w');
  const { log, end } = await logInto(t, writer);
  fs.closeSync(writer);
  const readFrom = (reader: number) => {
    const room = Buffer.alloc(10_000);
    const text = room.toString('utf8', 0, fs.readSync(reader, room));
    const lines = text.trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line));
  };
  t.match(readFrom(first), [{ msg: 'begun' }]);
  fs.closeSync(first);
  await log('kept');
  await log('lost');
  const second = openReader();
  await log('back');
  await end();
  const read = readFrom(second);
  fs.closeSync(second);
  t.match(read, [
    { level: 'error', msg: 'kept' },
    { level: 'error', lost_lines: 3, msg: /^the log could not be written: / },
    { level: 'error', msg: 'back' },
    { level: 'info', msg: 'back, too' },
  ]);
});
