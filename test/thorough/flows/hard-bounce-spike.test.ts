// A provider that answers 5.1.1 for everybody: its hard bounces are doubted, suppress nobody any more,
// and what they have done can be undone. The operator's whole way, by the command line.
import t from 'tap';
import { addReceiver, RECEIVER, registerSender, send, startWorld } from '../../support/world.ts';

const GROUP = `mx.${RECEIVER}`;

t.test('a bad hour of a provider', async (t) => {
  const refuse = { code: 550, text: '5.1.1 No such user here' };
  const { dns, postrider } = await startWorld(t, {
    sink: { onRcpt: () => refuse },
    settings: { suppression: { spike_hard_bounces: 5 }, limits: { review_hard_bounce_rate: 1 } },
  });
  const daemon = await postrider.serve();
  const sender = await registerSender({ dns, postrider }, daemon);
  const bounced = async (count: number, name: string) => {
    const before = daemon.find({ fact: 'bounced' }).length;
    await send(
      daemon,
      sender,
      Array.from({ length: count }, (_, index) => `${name}${index}@${RECEIVER}`),
    );
    await daemon.until(() => daemon.find({ fact: 'bounced' }).length === before + count, 'bounce all');
    return daemon.find({ fact: 'bounced' }).slice(before);
  };
  const listed = async () => {
    const { suppressions } = await postrider.json('suppression', 'list', '--platform');
    return (suppressions as unknown[]).length;
  };

  const all = await bounced(10, 'a');
  const kinds = all.map(({ bounce }) => String(bounce)).sort();
  t.same(kinds, [...Array(4).fill('hard'), ...Array(6).fill('soft')], 'the fifth one is doubted already');
  t.match(all.find(({ bounce }) => bounce === 'soft')!.reason, /counts as soft until an operator decides/);
  t.equal(await listed(), 4);
  const { doubts } = await postrider.json('suppression', 'doubts');
  t.match(doubts, [{ mx_group: GROUP, reason: /5 of the last 5 messages bounced hard/ }]);
  t.match(await daemon.logged({ mx_group: GROUP }), { undo: /postrider suppression remove --since/ });

  const removed = await postrider.json('suppression', 'remove', '--since', '2026-01-01T00:00:00Z', '--group', GROUP);
  t.match(removed, { platform: 4, tenants: 4 });
  t.equal(await listed(), 0);
  t.same(
    (await bounced(2, 'a')).map(({ bounce }) => bounce),
    ['soft', 'soft'],
    'the same addresses can be written to, and are doubted still',
  );

  await daemon.kill();
  const second = await postrider.serve();
  await send(second, sender, `b@${RECEIVER}`);
  t.match(await second.logged({ fact: 'bounced' }), { bounce: 'soft' }, 'after a restart, too');
  await postrider.json('suppression', 'trust', '--group', GROUP);
  await send(second, sender, `c@${RECEIVER}`);
  await second.until(() => second.find({ fact: 'bounced' }).length === 2, 'bounce again');
  t.match(second.find({ fact: 'bounced' })[1], { bounce: 'hard' }, 'until the operator has decided');
  const again = await postrider.runHere('suppression', 'trust', '--group', GROUP);
  t.match(again, { code: 1, stderr: /are not doubted/ });
});

t.test('what a provider says after DATA is undone too, though only the tenant has it on a list', async (t) => {
  const { dns, postrider } = await startWorld(t, {
    sink: { onMail: () => ({ code: 550, text: '5.1.1 No such user here' }) },
  });
  const daemon = await postrider.serve();
  const sender = await registerSender({ dns, postrider }, daemon);
  await send(daemon, sender, `a@${RECEIVER}`);
  t.match(await daemon.logged({ fact: 'bounced' }), { bounce: 'hard' });
  t.match(await postrider.json('suppression', 'list', '--platform'), { suppressions: [] });
  const own = ['suppression', 'list', '--tenant', sender.tenantId];
  t.match(await postrider.json(...own), { suppressions: [{ address: `a@${RECEIVER}`, mx_group: GROUP }] });
  const undo = ['suppression', 'remove', '--since', '2026-01-01T00:00:00Z', '--group', GROUP];
  t.match(await postrider.json(...undo), { platform: 0, tenants: 1 });
  t.match(await postrider.json(...own), { suppressions: [] });
});

t.test('a tenant whose mail bounces is stopped', async (t) => {
  const { dns, postrider } = await startWorld(t, {
    sink: { onRcpt: () => ({ code: 550, text: '5.1.1 No such user here' }) },
    settings: { suppression: { spike_hard_bounces: 1000 } },
  });
  const domains = Array.from({ length: 5 }, (_, index) => `receiver${index}.test`);
  for (const domain of domains) addReceiver(dns, domain);
  const daemon = await postrider.serve();
  const sender = await registerSender({ dns, postrider }, daemon);
  await send(
    daemon,
    sender,
    Array.from({ length: 24 }, (_, index) => `a${index}@${domains[index % 5]}`),
  );
  t.match(await daemon.logged({ fact: 'tenant_near_review' }), { tenant_id: sender.tenantId }, 'people are told first');
  await send(daemon, sender, [`z@${RECEIVER}`]);
  t.match(await daemon.logged({ fact: 'tenant_stopped' }), { tenant_id: sender.tenantId, reason: /bounced hard/ });
  const answer = await daemon.call(sender.key, 'POST /emails', {
    body: { from: `a@${sender.domain}`, to: `b@${RECEIVER}`, subject: 'x', text: 'x' },
  });
  t.match(answer, { status: 403, body: { error: 'tenant_not_active' } });
});
