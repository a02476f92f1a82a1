// Rows that cannot be read, as a bad disk or a careless hand leaves them: each message of that
// kind is parked with a reason, and everybody else's mail goes out.
import type Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { uuidToBytes } from '../../src/base/ids.ts';
import { withDatabase } from '../support/database.ts';
import type { ReceivedMail } from '../support/mail-sink.ts';
import { messageIdOf, RECEIVER, registerSender, send, startWorld } from '../support/world.ts';

const OF_CONTENT =
  'WHERE id = (SELECT content_id FROM submissions s JOIN messages m ON m.submission_id = s.id WHERE m.id = ?)';
const OF_SUBMISSION = 'WHERE id = (SELECT submission_id FROM messages WHERE id = ?)';
const OF_MESSAGE = 'WHERE id = ?';
const LATER_THAN_ANY_CALENDAR = '9000000000000000000';

const UNREADABLE = {
  'headers that are no JSON': `UPDATE contents SET headers = '[["X-Tag",' ${OF_CONTENT}`,
  'headers that are no list': `UPDATE contents SET headers = '{"a":1}' ${OF_CONTENT}`,
  'a number for a header': `UPDATE contents SET headers = '[["X-Tag",5]]' ${OF_CONTENT}`,
  'a header with a line end': `UPDATE contents SET headers = '[["X-A\\r\\nBcc","b"]]' ${OF_CONTENT}`,
  'no content': `DELETE FROM contents ${OF_CONTENT}`,
  'no submission': `DELETE FROM submissions ${OF_SUBMISSION}`,
  'a sender that is none': `UPDATE submissions SET from_address = 'nobody' ${OF_SUBMISSION}`,
  'an unknown domain': `UPDATE submissions SET domain_id = x'00' ${OF_SUBMISSION}`,
  'a recipient that is none': `UPDATE messages SET recipient = 'joe', expires_at = ${LATER_THAN_ANY_CALENDAR} ${OF_MESSAGE}`,
  'a recipient with a line end': `UPDATE messages SET recipient = 'a@b.test' || char(13, 10) || 'DATA' ${OF_MESSAGE}`,
  'an id that is too short': `UPDATE messages SET submission_id = x'0102' ${OF_MESSAGE}`,
  'a birth after all calendars': `UPDATE messages SET created_at = ${LATER_THAN_ANY_CALENDAR} ${OF_MESSAGE}`,
  'a tenant that does not exist': `UPDATE messages SET tenant_id = x'0102' ${OF_MESSAGE}`,
};

/** Odd, but still a message. */
const READABLE = {
  'a subject with a line end': `UPDATE contents SET subject = 'a' || char(13, 10) || 'Bcc: b@c.test' ${OF_CONTENT}`,
  'a value with a line end': `UPDATE contents SET headers = '[["X-A","b\\r\\nBcc: b@c.test"]]' ${OF_CONTENT}`,
  'negative attempts': `UPDATE messages SET attempts = -7 ${OF_MESSAGE}`,
};

t.test('bad rows are parked, the others are delivered', async (t) => {
  const mood = { willing: false };
  const onRcpt = () => (mood.willing ? null : { code: 451, text: '4.3.2 Not now' });
  const settings = { delivery: { retry_steps: ['1h'], connections_per_destination: 1 } };
  const world = await startWorld(t, { sink: { onRcpt }, settings });
  const { postrider } = world;
  const first = await postrider.serve();
  const sender = await registerSender(world, first);
  const waiting = async (local: string) => {
    const [id] = await send(first, sender, `${local}@${RECEIVER}`);
    await first.logged({ fact: 'deferred', message_id: id! });
    return id!;
  };
  const before = await waiting('before');
  const unreadable = new Map<string, string>();
  for (const name of Object.keys(UNREADABLE)) unreadable.set(name, await waiting('unreadable'));
  const readable = new Map<string, string>();
  for (const name of Object.keys(READABLE)) readable.set(name, await waiting('readable'));
  const after = await waiting('after');
  await first.stop();
  mood.willing = true;

  withDatabase(postrider.databaseFile, (db) => {
    for (const [name, sql] of Object.entries(UNREADABLE)) damage(db, sql, unreadable.get(name)!);
    for (const [name, sql] of Object.entries(READABLE)) damage(db, sql, readable.get(name)!);
    db.prepare('UPDATE messages SET due_at = 0').run();
  });
  const daemon = await postrider.serve();
  for (const id of [before, ...readable.values(), after]) await daemon.logged({ fact: 'delivered', message_id: id });
  for (const [name, id] of unreadable) {
    const { reason } = await daemon.logged({ fact: 'parked', message_id: id });
    t.match(reason, /cannot be|is missing/, `${name}: ${reason}`);
    t.match(await postrider.json('queue', 'show', id), { state: 'deferred', parked: true, last_reason: reason }, name);
  }
  t.match(await postrider.runHere('queue', 'list'), { code: 0, stdout: /parked/ });
  checkArrivals(t, world.sink.mails, [before, ...readable.values(), after]);
  const [next] = await send(daemon, sender, `next@${RECEIVER}`);
  await daemon.logged({ fact: 'delivered', message_id: next! });
  t.same(await daemon.stop(), { code: 0, signal: null });

  const mended = unreadable.get('headers that are no JSON')!;
  withDatabase(postrider.databaseFile, (db) => damage(db, `UPDATE contents SET headers = '[]' ${OF_CONTENT}`, mended));
  const last = await postrider.serve();
  t.match(await postrider.runHere('queue', 'retry', mended), { code: 0 }, 'a row that was mended gets another chance');
  await last.logged({ fact: 'delivered', message_id: mended });
});

function damage(db: Database.Database, sql: string, messageId: string): void {
  db.pragma('foreign_keys = OFF');
  if (db.prepare(sql).run(uuidToBytes(messageId)).changes !== 1) throw new Error(`damaged nothing: ${sql}`);
}

function checkArrivals(t: Test, mails: ReceivedMail[], expected: string[]): void {
  t.same(mails.map(({ raw }) => messageIdOf(raw)).sort(), [...expected].sort());
  for (const { raw } of mails) {
    const header = raw.toString('latin1').split('\r\n\r\n')[0]!;
    t.notMatch(header, /^Bcc:/im, 'no line of the header was smuggled in');
  }
}
