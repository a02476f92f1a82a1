// One person, with one domain or one mailbox of their own, stops no tenant: not with addresses that bounce at
// subdomains, not with complaints from spellings of one address. A real daemon, real SMTP, real reports.
import t, { type Test } from 'tap';
import { composeArf } from '../../../src/protocol/mail/reports/arf.ts';
import type { Daemon } from '../../support/daemon-process.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import {
  addReceiver,
  publish,
  RECEIVER,
  registerSender,
  type Sender,
  send,
  startWorld,
  type World,
} from '../../support/world.ts';

const BOUNCES = 'bounces.mail.postrider.test';
const SERVICE_KEY = `postrider._domainkey.${BOUNCES}`;

async function open(t: Test, world: World) {
  const daemon = await world.postrider.serve();
  const announced = await daemon.logged({ record: SERVICE_KEY });
  publish(world.dns, [{ name: SERVICE_KEY, type: 'TXT', value: String(announced.value) }]);
  const attacked = await registerSender(world, daemon, { name: 'Attacked', domain: 'attacked.test' });
  const guilty = await registerSender(world, daemon, { name: 'Guilty', domain: 'guilty.test' });
  t.not(attacked.tenantId, guilty.tenantId);
  return { daemon, attacked, guilty };
}

/** The guilty one's signs came last, so whoever could be stopped was judged when it is. */
async function onlyTheGuiltyIsStopped(t: Test, { postrider }: World, stage: Awaited<ReturnType<typeof open>>) {
  const { daemon, attacked, guilty } = stage;
  await daemon.logged({ fact: 'tenant_stopped', tenant_id: guilty.tenantId });
  t.same(
    daemon.find({ fact: 'tenant_stopped' }).map(({ name }) => name),
    ['Guilty'],
  );
  const shown = await postrider.json('tenant', 'show', attacked.tenantId);
  t.equal(shown.status, 'active');
  return shown;
}

t.test('hard bounces at subdomains of one owner', async (t) => {
  const world = await startWorld(t, {
    sink: { onRcpt: () => ({ code: 550, text: '5.1.1 No such user here' }) },
    settings: { suppression: { spike_hard_bounces: 1000 } },
  });
  const stage = await open(t, world);
  const bounce = async (sender: Sender, domains: string[]) => {
    for (const domain of domains) addReceiver(world.dns, domain);
    const before = stage.daemon.find({ fact: 'bounced' }).length;
    const to = Array.from({ length: 25 }, (_, index) => `r${index}@${domains[index % 5]}`);
    await send(stage.daemon, sender, to);
    await stage.daemon.until(() => stage.daemon.find({ fact: 'bounced' }).length === before + 25, 'bounce all');
  };
  await bounce(
    stage.attacked,
    [0, 1, 2, 3, 4].map((index) => `s${index}.evil.example`),
  );
  await bounce(
    stage.guilty,
    [0, 1, 2, 3, 4].map((index) => `many${index}.example`),
  );
  const shown = await onlyTheGuiltyIsStopped(t, world, stage);
  t.match(JSON.stringify(shown.brake), /100 % of the way to a review, from 1 domain /, 'and both can read why not');
});

t.test('complaints from spellings of one mailbox, and from ten mailboxes', async (t) => {
  const world = await startWorld(t);
  addReceiver(world.dns, RECEIVER);
  // As in life: the real names of the hosts tell the provider.
  world.dns.set('gmail.com', 'MX', [{ exchange: 'gmail-smtp-in.l.google.com', preference: 5 }]);
  world.dns.set('gmail-smtp-in.l.google.com', 'A', ['127.0.0.1']);
  const stage = await open(t, world);
  const { daemon } = stage;
  const smtpPort = Number((await daemon.logged({ msg: 'ready' })).smtp_port);
  const complain = async (sender: Sender, recipients: string[]) => {
    for (const to of recipients) {
      const [id] = await send(daemon, sender, to);
      await daemon.logged({ fact: 'delivered', message_id: id! });
      const mail = (await world.sink.received(1)).find(({ raw }) => raw.includes(id!))!;
      await report(daemon, smtpPort, mail.raw);
    }
  };
  const spellings = Array.from(
    { length: 10 },
    (_, at) => `${'manydotsinhere'.slice(0, at + 1)}.${'manydotsinhere'.slice(at + 1)}`,
  );
  await complain(
    stage.attacked,
    spellings.map((name) => `${name}@gmail.com`),
  );
  await complain(
    stage.guilty,
    spellings.map((_, at) => `somebody${at}@gmail.com`),
  );
  const shown = await onlyTheGuiltyIsStopped(t, world, stage);
  t.match(JSON.stringify(shown.brake), /complaints: 10 % of the way to a review, from 1 domain /);
});

async function report(daemon: Daemon, smtpPort: number, raw: Buffer): Promise<void> {
  const arf = composeArf({
    ...{ feedbackType: 'abuse', from: 'complaints@provider.test', to: `fbl@${BOUNCES}`, originalMessage: raw },
    ...{ sourceIp: '192.0.2.1', arrivalDate: new Date('2026-11-20T10:00:00Z'), reportedDomain: 'acme.test' },
    ...{ originalRcptTo: 'redacted@provider.test', reportingMta: 'mx.provider.test' },
    date: new Date('2026-11-20T11:00:00Z'),
  });
  const client = await SmtpClient.hello(smtpPort);
  const reply = await client.send({ from: '', to: `fbl@${BOUNCES}`, data: arf });
  client.close();
  const id = /kept as (\S+)$/.exec(reply)?.[1];
  await daemon.logged({ fact: 'inbound', inbound_id: id!, effect: 'complained' });
}
