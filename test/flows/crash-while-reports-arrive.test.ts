// What was answered 250 is acted on, whatever happens to the daemon in between: a kill -9 while a
// report waits, and one in the middle of a flood of reports.
import Database from 'better-sqlite3';
import t from 'tap';
import { dsnFor } from '../support/bounce-mail.ts';
import type { Daemon } from '../support/daemon-process.ts';
import type { ReceivedMail } from '../support/mail-sink.ts';
import { patience } from '../support/patience.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { messageIdOf, RECEIVER, registerSender, send, startWorld } from '../support/world.ts';

async function smtpPortOf(daemon: Daemon): Promise<number> {
  return Number((await daemon.logged({ msg: 'ready' })).smtp_port);
}

/** How many mails wait in the database of a daemon that is dead. */
function waitingIn(file: string): number {
  const db = new Database(file);
  const waiting = db.prepare('SELECT count(*) FROM inbound_mails WHERE processed_at IS NULL').pluck().get();
  db.close();
  return Number(waiting);
}

t.test('a report that waits when the daemon is killed', async (t) => {
  const arrived = Promise.withResolvers<ReceivedMail>();
  let tries = 0;
  const onMail = (mail: ReceivedMail) => {
    arrived.resolve(mail);
    // The first time it is never told that the mail was taken: for the daemon it is still being sent.
    return tries++ === 0 ? new Promise<null>(() => {}) : null;
  };
  const { dns, postrider } = await startWorld(t, { sink: { onMail } });
  const first = await postrider.serve();
  const sender = await registerSender({ dns, postrider }, first);
  const [id] = await send(first, sender, `gone@${RECEIVER}`);
  const mail = await arrived.promise;
  const client = await SmtpClient.hello(await smtpPortOf(first));
  t.match(await client.send({ from: '', to: mail.from, data: dsnFor(mail) }), /^250/);
  await first.kill();
  t.equal(waitingIn(postrider.databaseFile), 1, 'it was stored, and nobody had acted on it');

  const second = await postrider.serve();
  t.match(await second.logged({ fact: 'inbound' }), { effect: 'bounced', message_id: id });
  const { state, events } = (await second.call(sender.key, `GET /emails/${id}`)).body;
  t.equal(state, 'bounced');
  t.match((events as { type: string }[]).at(-1), { type: 'email.bounced', data: { bounce: { source: 'dsn' } } });
  t.same(await second.stop(), { code: 0, signal: null });
  t.equal(waitingIn(postrider.databaseFile), 0);
});

const MESSAGES = 50;
const CLIENTS = 10;

t.test('a flood of reports, cut off by a kill', async (t) => {
  const { dns, postrider, sink } = await startWorld(t);
  const first = await postrider.serve();
  const sender = await registerSender({ dns, postrider }, first);
  const ids = await send(
    first,
    sender,
    Array.from({ length: MESSAGES }, (_, index) => `gone-${index}@${RECEIVER}`),
  );
  const mails = await sink.received(MESSAGES);
  await first.until(() => first.find({ fact: 'delivered' }).length === MESSAGES, 'deliver all');

  const promised = new Set<string>();
  const waiting = [...mails];
  const halfDone = Promise.withResolvers<void>();
  const port = await smtpPortOf(first);
  const work = async () => {
    const client = await SmtpClient.hello(port);
    for (let mail = waiting.pop(); mail; mail = waiting.pop()) {
      const reply = await client.send({ from: '', to: mail.from, data: dsnFor(mail) });
      if (!reply.startsWith('250')) return;
      promised.add(messageIdOf(mail.raw));
      if (promised.size === MESSAGES / 2) halfDone.resolve();
    }
  };
  const working = Promise.all(Array.from({ length: CLIENTS }, work));
  await halfDone.promise;
  await first.kill();
  await working;
  t.comment(`${promised.size} promised, ${waitingIn(postrider.databaseFile)} of them waited at the kill`);

  const second = await postrider.serve();
  const states = async () => {
    const all = await Promise.all(ids.map((id) => second.call(sender.key, `GET /emails/${id}`)));
    return new Map(all.map(({ body }) => [String(body.id), body]));
  };
  const bounced = (body: Record<string, unknown>) => body.state === 'bounced';
  let seen = await states();
  for (const deadline = Date.now() + patience(15_000); Date.now() < deadline; seen = await states()) {
    if ([...promised].every((id) => bounced(seen.get(id)!))) break;
  }
  const missing = [...promised].filter((id) => !bounced(seen.get(id)!));
  t.same(missing, [], 'every report that was answered 250 has taken effect');
  const twice = [...seen.values()].filter(
    ({ events }) => (events as { type: string }[]).filter(({ type }) => type === 'email.bounced').length > 1,
  );
  t.same(twice, [], 'and none of them twice');
});
