// A machine whose own disk is nearly full, beside others on one PostgreSQL: it leaves what is stored for all.
import t from 'tap';
import { startNodes } from '../../support/nodes.ts';
import { postgresMissing } from '../../support/postgres-server.ts';
import { SmtpClient } from '../../support/smtp-client.ts';

t.test('the full disk of one machine erases nothing of all', { skip: postgresMissing() }, async (t) => {
  const { nodes, install } = await startNodes(t, ['a']);
  const { postrider, daemon } = nodes[0]!;
  const client = await SmtpClient.hello(Number((await daemon.logged({ msg: 'ready' })).smtp_port));
  const to = 'postmaster@bounces.mail.postrider.test';
  const data = 'From: Jo <jo@people.test>\r\nSubject: Hello\r\n\r\nPlease call me.';
  const id = /kept as (\S+)$/.exec(await client.send({ from: 'jo@people.test', to, data }))![1]!;
  client.close();
  await daemon.logged({ fact: 'inbound', inbound_id: id });

  // A fifth above this no disk has: from its start on it would make room.
  const full = await install('b', { intake: { min_disk_free: 0.9 } }).serve();
  t.same(full.find({ fact: 'intake_made_room' }), []);
  t.match(await postrider.runHere('inbound', 'show', id, '--raw'), { code: 0, stdout: /Please call me\./ });
});
