// Orders that are resumed, at a real directory: which are dropped, and which are asked for again.
import t from 'tap';
import { DAY_MS, HOUR_MS, MINUTE_MS, toTimestamp } from '../../../src/base/clock.ts';
import { startHttpsServer } from '../../support/https-server.ts';
import { pebbleMissing } from '../../support/pebble.ts';
import { until } from '../../support/until.ts';
import { bound, NONE, PAIR, startBench } from './acme-bench.ts';

const skip = pebbleMissing();
const NAME = 'mail.a.test';

type Bench = Awaited<ReturnType<typeof startBench>>;

/** Leaves an order whose certificate has been issued and not been stored. */
async function leaveOrder({ store, open }: Bench) {
  const certificates = bound(store.certificates);
  certificates.keepCertificate = () => Promise.reject(new Error('died'));
  const keeper = await open([[NAME]], { store: { certificates, platformKeys: store.platformKeys } });
  t.match(await keeper.run(NONE), 'failed: died');
}

async function recordOf({ store }: Bench, names: string) {
  return (await store.certificates.listCertificates()).find((one) => one.names === names)!;
}

t.test('an order that the directory has forgotten is made again', { skip }, async (t) => {
  const { store, kit, open, pebble, time } = await startBench(t);
  const id = { directory: pebble.directory, names: NAME };
  await store.certificates.beginCertificateAttempt(id, time.at);
  const key = kit.vault.seal(Buffer.from('x'), `certificate:${NAME}`);
  await store.certificates.keepCertificateOrder(id, { url: `${pebble.directory}/nothing`, key });
  t.match(await (await open([[NAME]])).run(NONE), 'issued');
});

t.test('an order whose certificate lacks a name is dropped', { skip }, async (t) => {
  const bench = await startBench(t);
  const { store, kit, pebble, time, open } = bench;
  await leaveOrder(bench);
  const { order } = await recordOf(bench, NAME);
  const [id, names] = [{ directory: pebble.directory, names: PAIR.join(' ') }, PAIR.join(' ')];
  await store.certificates.beginCertificateAttempt(id, time.at);
  const plain = kit.vault.open(order!.key, `certificate:${NAME}`);
  const key = kit.vault.seal(plain, `certificate:${names}`);
  await store.certificates.keepCertificateOrder(id, { url: order!.url, key });
  const keeper = await open([PAIR]);
  t.match(await keeper.run(NONE), 'failed: the certificate is not valid for links.a.test');
  t.match(await recordOf(bench, names), { order: null, failures: 2 });
  time.at += DAY_MS;
  t.match(await keeper.run(NONE), 'issued', 'the next attempt makes another');
});

t.test('so is one whose certificate has ended', { skip }, async (t) => {
  const bench = await startBench(t, { certificateSeconds: 2 });
  const { time, open } = bench;
  await leaveOrder(bench);
  time.at = Date.now() + HOUR_MS;
  const keeper = await open([[NAME]]);
  const ended = await until('the certificate to end', async () => {
    const result = await keeper.run(NONE);
    time.at += HOUR_MS;
    return (await recordOf(bench, NAME)).order === null && result;
  });
  t.match(ended, /failed: the certificate ended at .* GMT$/);
});

t.test('with a wrong clock no certificate is ordered twice', { skip }, async (t) => {
  const bench = await startBench(t);
  const { time, open } = bench;
  const now = time.at;
  time.at += 30 * 365 * DAY_MS;
  const keeper = await open([[NAME]]);
  const said = /failed: the certificate ended at .* by this machine's clock, but the directory's says 20\d\d-/;
  t.match(await keeper.run(NONE), said);
  const { order } = await recordOf(bench, NAME);
  t.match(order?.url, /^https:/, `kept at ${toTimestamp(time.at)}`);
  time.at += HOUR_MS;
  t.match(await keeper.run(NONE), said);
  t.same((await recordOf(bench, NAME)).order?.url, order?.url);
  time.at = now;
  t.match(await keeper.run(NONE), 'issued');
});

t.test('an order that only cannot be asked for is kept', { skip }, async (t) => {
  const bench = await startBench(t);
  const { store, kit, pebble, time, open } = bench;
  const problem = (type: string) => JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail: `a ${type}` });
  const answers = [
    { status: 429, type: 'rateLimited', kept: true, waits: DAY_MS },
    { status: 503, type: 'serverInternal', kept: true, waits: DAY_MS },
    { status: 500, type: 'serverInternal', kept: true, waits: 40 * MINUTE_MS },
    { status: 0, type: '', kept: true, waits: 80 * MINUTE_MS },
    { status: 400, type: 'malformed', kept: false, waits: 0 },
  ];
  const waiting = [...answers];
  // A server of the directory's that has the order.
  const { origin, ca } = await startHttpsServer(t, (_request, response) => {
    const { status, type } = waiting.shift()!;
    if (status === 0) return void response.destroy();
    response.writeHead(status, { 'Content-Type': 'application/problem+json', 'Retry-After': String(24 * 3600) });
    response.end(problem(type));
  });
  const url = `${origin}/order`;
  const id = { directory: pebble.directory, names: NAME };
  await store.certificates.beginCertificateAttempt(id, time.at);
  const key = kit.vault.seal(Buffer.from('x'), `certificate:${NAME}`);
  await store.certificates.keepCertificateOrder(id, { url, key });
  const keeper = await open([[NAME]], { account: { ...kit.account, root: `${pebble.root}\n${ca}` } });
  for (const { status, type, kept, waits } of answers) {
    const result = await keeper.run(NONE);
    const { order, nextAttemptAt } = await recordOf(bench, NAME);
    if (!kept) {
      t.match(result, 'issued', 'another order');
      break;
    }
    t.match(result, status === 0 ? /failed: .*could not be called/ : `failed: a ${type}`);
    t.equal(order?.url, url, `${status} ${type}`);
    t.equal(nextAttemptAt - time.at, waits);
    time.at = nextAttemptAt;
  }
  t.same(waiting, [], 'each was asked for');
});
