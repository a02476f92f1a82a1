// Why a tenant may not send is said in the same words wherever it is asked: by the API, to its people and to
// the operator in the portal, and by the command line.
import t from 'tap';
import { startPortal } from '../support/portal.ts';
import { addReceiver, RECEIVER, send } from '../support/world.ts';

const world = await startPortal(t, {
  sink: { onRcpt: () => ({ code: 550, text: '5.1.1 No such user here' }) },
  settings: { suppression: { spike_hard_bounces: 1000 } },
});
const { daemon, sender, postrider } = world;
const operator = await world.visitor(await world.addUser('operator', 'jo@service.test'));
const owner = await world.visitor();
const operatorsPage = `/portal/operator/tenants/${sender.tenantId}`;

async function refusal(): Promise<{ status: number; body: unknown }> {
  const mail = { from: `a@${sender.domain}`, to: `b@${RECEIVER}`, subject: 'x', text: 'x' };
  const { status, body } = await daemon.call(sender.key, 'POST /emails', { body: mail });
  return { status, body };
}

t.test('under review, by itself', async (t) => {
  const domains = Array.from({ length: 5 }, (_, index) => `receiver${index}.test`);
  for (const domain of domains) addReceiver(world.dns, domain);
  t.match((await owner.get('/portal/settings')).text, 'Hard bounces: 0 % of the way to a review, from 0 domains');
  const recipients = Array.from({ length: 30 }, (_, index) => `a${index}@${domains[index % 5]}`);
  await send(daemon, sender, recipients);
  const { reason } = await daemon.logged({ fact: 'tenant_stopped' });
  t.match(reason, /^(2[5-9]|30) of the last (2[5-9]|30) messages bounced hard \(limit 10 %/);
  const message = `Sending is suspended while the account is under review: ${reason}. Contact the operator.`;
  t.strictSame(await refusal(), { status: 403, body: { error: 'tenant_not_active', message } });
  for (const path of ['/portal', '/portal/settings']) t.match((await owner.get(path)).text, String(reason), path);
  const page = await operator.get(operatorsPage);
  t.match(page.text, /Distance to a review: Hard bounces: \d+ % of the way/);
  t.match(page.text, `Waiting for your review: ${reason}. Until you approve it`);
  t.match(page.text, `postrider tenant set ${sender.tenantId} --status active`);
  t.match((await operator.get('/portal/operator/tenants')).text, String(reason));
  const { tenants } = await postrider.json('tenant', 'list');
  t.match(
    (tenants as { id: string }[]).find(({ id }) => id === sender.tenantId),
    { status: 'in_review', status_reason: reason },
  );
  t.match((await postrider.run('tenant', 'list')).stdout, String(reason));
  const shown = await postrider.json('tenant', 'show', sender.tenantId);
  t.match(shown, {
    id: sender.tenantId,
    status: 'in_review',
    brake: { nearness: Number, hard_bounces: { domains: Number } },
  });
  t.match(
    (await postrider.run('tenant', 'show', sender.tenantId)).stdout,
    /until a review: +Hard bounces: \d+ % of the way/,
  );
});

t.test('what the operator does to end it ends it', async (t) => {
  await operator.submit(await operator.get(operatorsPage), (await operator.get(operatorsPage)).form('Approve'));
  t.not((await refusal()).status, 403);
});

t.test('suspended, with what the operator says', async (t) => {
  const page = await operator.get(operatorsPage);
  await operator.submit(page, page.form('Suspend'), { reason: 'The list was bought.' });
  const message = 'The operator has suspended sending: The list was bought. Contact the operator.';
  t.strictSame(await refusal(), { status: 403, body: { error: 'tenant_not_active', message } });
  t.match((await owner.get('/portal')).text, 'Reason: The list was bought.');
});

t.test('new: nobody has approved it yet', async (t) => {
  await postrider.json('tenant', 'set', sender.tenantId, '--status', 'in_review');
  const message = 'Sending is off until the operator has approved the account. Contact the operator.';
  t.strictSame(await refusal(), { status: 403, body: { error: 'tenant_not_active', message } });
});
