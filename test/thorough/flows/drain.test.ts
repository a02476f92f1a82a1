// SIGTERM: what is on the wire is finished, what waits stays in the queue, nobody new is let in,
// and the exit code says that all was well. The receiving server holds its last answer back for
// as long as the story needs.
import { once } from 'node:events';
import net from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { SMTPServerSession } from 'smtp-server';
import t from 'tap';
import { Arrivals } from '../../flows/arrivals.ts';
import type { Daemon } from '../../support/daemon-process.ts';
import { lookInto } from '../../support/database.ts';
import { patience } from '../../support/patience.ts';
import { RawHttp } from '../../support/raw-http.ts';
import { RECEIVER, registerSender, type Sender, send, startWorld, type WorldOptions } from '../../support/world.ts';

const SESSIONS = 4;
const PER_CALL = 50;
/**
 * What one session may still finish: the message on the wire, the one announced behind it, and one more where the
 * answer to the first comes to the courier's thread in the same turn as the order to stop, and before it.
 */
const FINISHED_PER_SESSION = 3;

/** Takes messages whole and says nothing to the final dot until it is let go. */
function holdingReceiver() {
  const arrivals = new Arrivals();
  const held: (() => void)[] = [];
  let holding = true;
  let onHeld = () => {};
  return {
    arrivals,
    async onData(stream: Readable, { envelope, id }: SMTPServerSession, done: () => void) {
      const raw = await buffer(stream);
      arrivals.take({ raw, from: '', to: envelope.rcptTo[0]!.address, session: id, secure: false });
      if (!holding) return done();
      held.push(done);
      onHeld();
    },
    async holds(count: number): Promise<void> {
      while (held.length < count) await new Promise<void>((resolve) => (onHeld = resolve));
    },
    letGo(): void {
      holding = false;
      for (const done of held.splice(0)) done();
    },
  };
}

function slowWorld(receiver: ReturnType<typeof holdingReceiver>, grace: string): WorldOptions {
  const delivery = { connections_per_destination: SESSIONS };
  return {
    sink: { server: { onData: (stream, session, done) => void receiver.onData(stream, session, done) } },
    settings: { delivery, stop: { grace } },
  };
}

const recipients = Array.from({ length: PER_CALL }, (_, index) => `reader-${index}@${RECEIVER}`);

t.test('messages on the wire are finished, the others wait for the next start', async (t) => {
  const receiver = holdingReceiver();
  const world = await startWorld(t, slowWorld(receiver, '10s'));
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  const ids = [...(await send(daemon, sender, recipients)), ...(await send(daemon, sender, recipients))];
  await receiver.holds(SESSIONS);

  const ended = daemon.stop();
  await refused(daemon.httpPort);
  receiver.letGo();
  t.same(await ended, { code: 0, signal: null });
  t.ok(daemon.find({ msg: 'stopped' }).length > 0);
  const finished = receiver.arrivals.times.size;
  t.ok(finished <= FINISHED_PER_SESSION * SESSIONS, `only what was on its way is finished: ${finished}`);
  const { states, attempts } = lookInto(world.postrider.databaseFile);
  t.same(states, { delivered: finished, queued: ids.length - finished });
  t.same(attempts, { 0: ids.length - finished, 1: finished }, 'what was not tried counts as not tried');

  await world.postrider.serve();
  t.same(await receiver.arrivals.missing(new Set(ids)), []);
  t.equal(receiver.arrivals.duplicates, 0, 'everything arrived once');
});

t.test('a receiver that never answers holds the end up for the grace, and no longer', async (t) => {
  const receiver = holdingReceiver();
  const world = await startWorld(t, slowWorld(receiver, '500ms'));
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  const [id] = await send(daemon, sender, `joe@${RECEIVER}`);
  await receiver.holds(1);
  t.same(await daemon.stop(), { code: 0, signal: null });
  const elapsedMs = drainMs(daemon);
  t.ok(elapsedMs >= 450 && elapsedMs < patience(3000), `the end came after ${elapsedMs} ms`);

  receiver.letGo();
  const next = await world.postrider.serve();
  await next.logged({ fact: 'delivered', message_id: id! });
  t.same([...receiver.arrivals.times], [[id, 2]], 'nobody knows whether it had arrived, so it came again');
});

for (const engine of ['uws', 'node']) {
  t.test(`calls that run are answered, idle connections hold nobody up (${engine})`, async (t) => {
    const world = await startWorld(t, { settings: { http: { engine }, stop: { grace: '10s' } } });
    const daemon = await world.postrider.serve();
    const sender = await registerSender(world, daemon);
    const idle = await RawHttp.connect(daemon.httpPort);
    await idle.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    t.match(await idle.answer(), { status: 200 });
    const { call, finish } = await beginCall(daemon, sender);

    const ended = daemon.stop();
    await refused(daemon.httpPort);
    await finish();
    const answer = await call.answer();
    t.equal(answer.status, 202, 'a call that had begun is taken in');
    t.same(await ended, { code: 0, signal: null });
    t.equal(await idle.rest(), '', 'the idle connection is closed');

    const next = await world.postrider.serve();
    const [id] = JSON.parse(answer.text).message_ids;
    await next.until(() => world.sink.mails.length > 0, 'deliver what it took in last');
    await next.logged({ fact: 'delivered', message_id: id });
  });
}

t.test('a call that never ends and a slow receiver share one grace', async (t) => {
  const receiver = holdingReceiver();
  const world = await startWorld(t, slowWorld(receiver, '2s'));
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  await send(daemon, sender, `joe@${RECEIVER}`);
  await receiver.holds(1);
  const { call } = await beginCall(daemon, sender);
  t.same(await daemon.stop(), { code: 0, signal: null });
  const elapsedMs = drainMs(daemon);
  t.ok(elapsedMs < 2000 + patience(1500), `the end came after ${elapsedMs} ms`);
  call.destroy();
});

t.test('while a call is waited for, no new session begins', async (t) => {
  const receiver = holdingReceiver();
  const world = await startWorld(t, slowWorld(receiver, '1s'));
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  await send(daemon, sender, recipients);
  await receiver.holds(1);
  const { call } = await beginCall(daemon, sender);
  const ended = daemon.stop();
  await refused(daemon.httpPort);
  receiver.letGo();
  t.same(await ended, { code: 0, signal: null });
  const arrived = receiver.arrivals.times.size;
  t.ok(arrived <= FINISHED_PER_SESSION * SESSIONS, `${arrived} of ${PER_CALL} arrived`);
  call.destroy();
});

function drainMs(daemon: Daemon): number {
  const at = (message: RegExp) => Date.parse(String(daemon.lines.find(({ msg }) => message.test(msg))?.time));
  return at(/^stopped/) - at(/^stopping/);
}

/** A POST /emails of which the last byte is held back; the daemon has the rest. */
async function beginCall(daemon: Daemon, { key, domain }: Sender) {
  const body = JSON.stringify({ from: `app@${domain}`, to: `joe@${RECEIVER}`, subject: 'Late', text: 'Late.' });
  const head = [
    'POST /emails HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ];
  const call = await RawHttp.connect(daemon.httpPort);
  await call.send(`${head.join('\r\n')}\r\n\r\n`);
  await call.answer(); // 100 Continue: the daemon waits for the body
  await call.send(body.slice(0, -1));
  return { call, finish: () => call.send(body.slice(-1)) };
}

/** Resolves when new connections are turned away. */
async function refused(port: number): Promise<void> {
  for (let open = true; open; ) {
    const socket = net.connect(port, '127.0.0.1');
    open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
  }
}
