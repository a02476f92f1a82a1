// Attack: a stranger with a domain that proves itself sends DMARC reports until the limits of a domain's day, and of a
// day's arrivals, are used up. The reports of others are stored all the same.
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import type { Installation, Json, Settings } from '../../support/daemon-process.ts';
import { dmarcMail, dmarcXml } from '../../support/dmarc-mail.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { roomInThisHour } from '../../support/time-border.ts';
import { registerSender, startWorld } from '../../support/world.ts';

t.setTimeout(0); // the runner has its own limit

const BOUNCES = 'bounces.mail.postrider.test';
const ROWS = 1000;

interface Report {
  /** The domain that proves itself. */
  from: string;
  id: string;
  orgName?: string;
  rows: number;
}

interface Crowd {
  postrider: Installation;
  bring(report: Report): Promise<Json>;
}

async function startCrowd(t: Test, dmarc: Settings[string] = {}): Promise<Crowd> {
  const world = await startWorld(t, { settings: { dmarc } });
  const { dns, postrider } = world;
  for (const name of ['evil.test', 'honest.test', 'google.com']) {
    dns.set(name, 'TXT', ['v=spf1 ip4:127.0.0.1 -all']);
    dns.set(`mail.${name}`, 'TXT', ['v=spf1 ip4:127.0.0.1 -all']);
  }
  const daemon = await postrider.serve();
  await roomInThisHour();
  await registerSender(world, daemon);
  const smtpPort = Number((await daemon.logged({ msg: 'ready' })).smtp_port);
  return {
    postrider,
    async bring({ from, id, orgName = from, rows }) {
      const records = Array.from({ length: rows }, (_, row) => ({
        sourceIp: `2001:db8::${Number.parseInt(id, 36).toString(16)}:${row.toString(16)}`,
      }));
      const xml = dmarcXml({ id, orgName, records });
      const data = dmarcMail(gzipSync(xml)).replace('noreply-dmarc@big.test', `noreply-dmarc@${from}`);
      const client = await SmtpClient.hello(smtpPort);
      const reply = await client.send({ from: `bounces@${from}`, to: `dmarc@${BOUNCES}`, data: Buffer.from(data) });
      client.close();
      return daemon.logged({ fact: 'inbound', inbound_id: /kept as (\S+)$/.exec(reply)![1]! });
    },
  };
}

t.test('the rows of a domain and day', async (t) => {
  const { postrider, bring } = await startCrowd(t);
  for (let count = 0; count < 12; count++) {
    const { effect, reason } = await bring({
      ...{ from: count % 2 === 0 ? 'evil.test' : 'mail.evil.test', id: `${count}`, rows: ROWS },
      orgName: `Evil ${count}`,
    });
    t.equal(effect, 'stored');
    t.match(reason, count < 2 ? /SPF of [a-z.]+\)$/ : /sources are summed up, since the 2500 rows for reports by evil/);
  }
  t.match(await bring({ from: 'honest.test', id: 'a', rows: 3 }), { effect: 'stored', reason: /honest\.test\)$/ });
  t.match(await bring({ from: 'google.com', id: 'b', rows: ROWS }), { effect: 'stored', reason: /google\.com\)$/ });
  const shown = await postrider.json('dmarc', 'show', 'acme.test');
  t.equal(shown.messages, 13 * ROWS + 3, 'no message is left out of the sums');
  t.match(
    (shown.reporters as Json[]).filter(({ sender }) => !String(sender).endsWith('evil.test')),
    [
      { sender: 'google.com', messages: ROWS },
      { sender: 'honest.test', messages: 3 },
    ],
  );
});

t.test('the bytes of a day', async (t) => {
  const { bring } = await startCrowd(t, { max_mib_per_day: 1 });
  const reasons: unknown[] = [];
  for (let count = 0; reasons.length === 0; count++) {
    const { effect, reason } = await bring({ from: 'evil.test', id: `${count}`, rows: ROWS });
    if (effect !== 'stored') reasons.push(reason);
  }
  t.match(reasons, [/^reports by evil\.test have taken their 131072 bytes of this day \(dmarc\.max_mib_per_day\)/]);
  t.match(await bring({ from: 'honest.test', id: 'a', rows: 3 }), { effect: 'stored', reason: /honest\.test\)$/ });
  for (let count = 0; count < 3; count++) {
    const large = await bring({ from: 'google.com', id: `g${count}`, rows: ROWS });
    t.match(large, { effect: 'stored', reason: /google\.com\)$/ }, 'a large one has no share');
  }
});
