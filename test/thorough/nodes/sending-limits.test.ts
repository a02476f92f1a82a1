// Limits on sending hold over two daemons: the messages of a tenant's tier per hour, and those to a provider per minute.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { MINUTE_MS } from '../../../src/base/clock.ts';
import { startNodes, type TestNode } from '../../support/nodes.ts';
import { postgresMissing } from '../../support/postgres-server.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';
import { registerSender, send } from '../../support/world.ts';

const PER_HOUR = 20;
const PER_MINUTE = 15;
const PROVIDER = `[[provider]]
id = "receiver"
mx = ["receiver.test"]
connections = 2
messages_per_connection = 10
messages_per_minute = ${PER_MINUTE}
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
  fs.writeFileSync(file, PROVIDER);
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
