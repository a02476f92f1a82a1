// The log as its reader sees it: parsed lines.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { Fault } from '../../src/base/errors.ts';
import { createLogger, type LogLevel, silentLogger } from '../../src/observe/log.ts';

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

t.test('the program goes on when nobody reads its log any more', async (t) => {
  const program = `
    import { createLogger } from '${new URL('../../src/observe/log.ts', import.meta.url)}';
    const log = createLogger({ level: 'info', to: 'stdout' });
    log.info({}, 'begun');
    process.once('message', () => {
      log.error({}, 'to nobody');
      log.info({}, 'to nobody');
      setImmediate(() => setImmediate(() => process.send('goes on', () => process.disconnect())));
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const [line] = await once(child.stdout!, 'data');
  t.match(String(line), /"msg":"begun"/);
  child.stdout!.destroy();
  await once(child.stdout!, 'close');
  const said = once(child, 'message');
  child.send('log');
  t.equal((await said)[0], 'goes on');
  t.equal((await once(child, 'exit'))[0], 0);
});
