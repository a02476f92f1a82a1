// Limits on sending hold over two daemons: the messages of a tenant's tier per hour, and those to a provider per minute and
// over all connections.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { MINUTE_MS } from '../../../src/base/clock.ts';
import type { ReceivedMail } from '../../support/mail-sink.ts';
import { startNodes, type TestNode } from '../../support/nodes.ts';
import type { Page } from '../../support/page-reader.ts';
import { PortalVisitor } from '../../support/portal.ts';
import { postgresMissing } from '../../support/postgres-server.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';
import { registerSender, send } from '../../support/world.ts';

const PER_HOUR = 20;
const PER_MINUTE = 15;
const shared = (connections: number) => `[[provider]]
id = "receiver"
mx = ["receiver.test"]
connections = ${connections}
messages_per_connection = 10000
per = "service"
reason = "the test"
`;

interface Reason {
  code: string;
  reason: string;
}

async function whyWaits({ postrider }: TestNode, id: string): Promise<Reason[]> {
  const { waits_for: reasons = [] } = await postrider.json('queue', 'show', id);
  return reasons as Reason[];
}

async function connectionsInPortal({ daemon, postrider }: TestNode): Promise<Page> {
  const email = 'op@postrider.test';
  const { password } = await postrider.json('user', 'create', '--operator', '--email', email);
  const visitor = new PortalVisitor(`http://127.0.0.1:${daemon.httpPort}`);
  await visitor.signIn({ email, password: String(password) });
  return visitor.get('/portal/operator/queue?group=receiver');
}

const skip = postgresMissing();

t.test('what a tenant may send per hour is for both daemons together', { skip }, async (t) => {
  const settings = { limits: { messages_per_hour: [PER_HOUR, 0, 0] } };
  const { dns, sink, nodes } = await startNodes(t, ['a', 'b'], settings);
  const [a, b] = [nodes[0]!, nodes[1]!];
  const sender = await registerSender({ dns, postrider: a.postrider }, a.daemon);
  await a.postrider.json('tenant', 'set', sender.tenantId, '--tier', '1k');
  const ids: string[] = [];
  for (let at = 0; at < 2 * PER_HOUR; at++) {
    ids.push(...(await send(nodes[at % 2]!.daemon, sender, `ann${at}@receiver.test`)));
  }
  await sink.received(PER_HOUR);
  // The last two, one of each daemon: both daemons know why they wait.
  const ofBoth = [a, b].map((node, at) => ({ node, id: ids.at(at - 2)! }));
  const isHeld = async ({ node, id }: (typeof ofBoth)[number]) =>
    (await whyWaits(node, id)).some(
      ({ code, reason }) => code === 'tenant_paced' && /has sent 20 messages/.test(reason),
    );
  for (const one of ofBoth) await until('the limit is used up', () => isHeld(one));
  t.equal(sink.mails.length, PER_HOUR);

  // Another start gives nobody a second hour.
  t.match(await a.daemon.stop(), { code: 0 });
  a.daemon = await a.postrider.serve();
  await until('the limit is used up at its start', () => isHeld(ofBoth[0]!));
  t.equal(sink.mails.length, PER_HOUR);
  await a.postrider.json('tenant', 'set', sender.tenantId, '--tier', 'uncapped');
  await sink.received(2 * PER_HOUR);
  t.equal(new Set(sink.mails.map(({ to }) => to)).size, 2 * PER_HOUR, 'nothing is forgotten');
});

t.test('messages per minute to a provider can be for both daemons together', { skip }, async (t) => {
  const file = path.join(testFolder(t), 'providers.toml');
  fs.writeFileSync(file, `${shared(2)}messages_per_minute = ${PER_MINUTE}\n`);
  const { dns, sink, nodes } = await startNodes(t, ['a', 'b'], { delivery: { provider_limits_file: file } });
  const a = nodes[0]!;
  const sender = await registerSender({ dns, postrider: a.postrider }, a.daemon);
  const began = performance.now();
  const ids: string[] = [];
  for (let at = 0; at < 4 * PER_MINUTE; at++) {
    ids.push(...(await send(nodes[at % 2]!.daemon, sender, `ann${at}@receiver.test`)));
  }
  await sink.received(PER_MINUTE);
  for (const node of nodes) {
    const isHeld = async () =>
      (await whyWaits(node, ids.at(-1)!)).some(({ reason }) => /^15 messages were sent to receiver/.test(reason));
    await until('the limit is used up', isHeld);
  }
  const arrived = sink.mails.length;
  const minutes = Math.floor((performance.now() - began) / MINUTE_MS) + 1;
  const most = Math.ceil(PER_MINUTE * minutes * (1 + nodes.length * 0.05));
  t.ok(arrived <= most, `${arrived} in ${minutes} minutes, at most ${most}`);
  const { groups } = await a.postrider.json('queue', 'list', '--group', 'receiver');
  t.match(groups, [{ group: 'receiver', messages_per_minute: PER_MINUTE, per: 'service' }]);
});

t.test('connections to a provider can be shared by both daemons', { skip }, async (t) => {
  const file = path.join(testFolder(t), 'providers.toml');
  fs.writeFileSync(file, shared(3));
  const settings = { delivery: { provider_limits_file: file }, portal: { require_second_step: 'nobody' as const } };
  const replies: (() => void)[] = [];
  const onMail = ({ to }: ReceivedMail) =>
    to.startsWith('bob') ? null : new Promise<null>((reply) => replies.push(() => reply(null)));
  const { dns, sink, nodes } = await startNodes(t, ['a', 'b'], settings, { sink: { onMail } });
  const [a, b] = [nodes[0]!, nodes[1]!];
  const sender = await registerSender({ dns, postrider: a.postrider }, a.daemon);
  let sent = 0;
  const mailOfA = () => send(a.daemon, sender, `ann${sent++}@receiver.test`);
  for (let at = 0; at < 40; at++) await mailOfA();
  await until('all of the connections are one daemon’s', () => replies.length === 3);
  const id = (await send(b.daemon, sender, 'bob@receiver.test'))[0]!;
  const asks = /^this daemon asks for its part of the 3 connections to receiver that all daemons share$/;
  await until('the other one says why its mail waits', async () => {
    return (await whyWaits(b, id)).some(({ code, reason }) => code === 'connections_full' && asks.test(reason));
  });
  const { groups } = await a.postrider.json('queue', 'list', '--group', 'receiver');
  t.match(groups, [{ connections: 3, per: 'service' }]);
  t.match(
    (await connectionsInPortal(a)).text,
    /of \d+ \(this daemon has \d of the 3 that all daemons share\) open/,
    'so do the pages of operators',
  );

  // However much mail the first one has, more than its connections ever take: they are ended for the other one.
  const hasArrived = () => sink.mails.some(({ to }) => to.startsWith('bob'));
  await until('the other one has its part', async () => {
    await Promise.all([mailOfA(), mailOfA()]);
    replies.shift()?.();
    return hasArrived();
  });
  await until('all of it has gone', async () => {
    for (const reply of replies.splice(0)) reply();
    return sink.mails.length === sent + 1;
  });
  t.ok(sink.connections.most <= 3, `${sink.connections.most} connections at one time`);
});
