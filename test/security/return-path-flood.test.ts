// Attack: somebody who got one mail floods its return path, which every recipient knows. What is kept stays within the
// bounds of one message, and the bounce that comes in the middle of it takes effect all the same.
import Database from 'better-sqlite3';
import t from 'tap';
import { dsnFor } from '../support/bounce-mail.ts';
import type { Json } from '../support/daemon-process.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { RECEIVER, registerSender, send, startWorld, stateOf } from '../support/world.ts';

t.setTimeout(0); // the runner has its own limit

const MIB = 1024 * 1024;
/** As in src/inbound/size-limits.ts. */
const KEPT_MAILS = 20;
const KEPT_BYTES = 20 * MIB;
const LINE = `${'x'.repeat(76)}\r\n`;

function letter(bytes: number): Buffer {
  const header = 'From: Jo <jo@people.test>\r\nSubject: Hello\r\n\r\n';
  return Buffer.from(header + LINE.repeat(Math.ceil((bytes - header.length) / LINE.length)));
}

t.test('a flood at one return path', async (t) => {
  const world = await startWorld(t, { settings: { smtp: { max_mail_mib: 8 } } });
  const { postrider, sink } = world;
  const daemon = await postrider.serve();
  const sender = await registerSender(world, daemon);
  const smtpPort = Number((await daemon.logged({ msg: 'ready' })).smtp_port);
  const bring = async (to: string, from: string, data: Buffer): Promise<Json> => {
    const client = await SmtpClient.hello(smtpPort);
    const reply = await client.send({ from, to, data });
    client.close();
    const id = /kept as (\S+)$/.exec(reply)?.[1];
    t.ok(id, reply);
    return daemon.logged({ fact: 'inbound', inbound_id: id! });
  };
  const contents = () => {
    const db = new Database(postrider.databaseFile, { readonly: true });
    const found = db.prepare('SELECT count(*) AS mails, total(length(content)) AS bytes FROM inbound_contents').get();
    const room = db.prepare('SELECT bytes FROM returned_room').pluck().get();
    db.close();
    t.equal((found as { bytes: number }).bytes, room, 'what is counted is what is there');
    return found as { mails: number; bytes: number };
  };

  const [messageId, otherId] = await send(daemon, sender, [`jo@${RECEIVER}`, `amy@${RECEIVER}`]);
  const received = await sink.received(2);
  const mailTo = (name: string) => received.find(({ to }) => to === `${name}@${RECEIVER}`)!;
  const returnPath = mailTo('jo').from;

  for (let count = 0; count < 5; count++) {
    const { effect, reason } = await bring(returnPath, 'jo@people.test', letter(7 * MIB));
    t.match(
      { effect, reason },
      { effect: 'kept', reason: count < 2 ? /programs$/ : /; its content was not kept: too much/ },
    );
  }
  const large = contents();
  t.ok(large.bytes > 13 * MIB && large.bytes <= KEPT_BYTES, `${large.bytes} bytes`);
  t.equal(large.mails, 2);

  for (let count = 0; count < 25; count++) await bring(returnPath, 'jo@people.test', letter(500));
  t.equal(contents().mails, KEPT_MAILS);

  t.match(await bring(returnPath, '', dsnFor(mailTo('jo'))), {
    effect: 'bounced',
    reason: /; its content was not kept/,
  });
  t.equal(await stateOf(daemon, sender, messageId!), 'bounced');
  t.equal(contents().mails, KEPT_MAILS);
  t.match(await bring(mailTo('amy').from, '', dsnFor(mailTo('amy'))), { effect: 'bounced', reason: /^(?!.*not kept)/ });
  t.equal(await stateOf(daemon, sender, otherId!), 'bounced', 'another message');
  t.equal(contents().mails, KEPT_MAILS + 1);

  const { mails } = await postrider.json('inbound', 'list', '--kind', 'human');
  t.equal((mails as Json[]).length, 30, 'the operator sees each of them');
});
