// Attack: mail that anybody can send fills the disk. Many DMARC reports, each row as large and
// each report as far unpacked as can be, and mail to roles, through a real daemon's listener: what stays.
import fs from 'node:fs';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { Json } from '../support/daemon-process.ts';
import { dmarcMail, dmarcXml } from '../support/dmarc-mail.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { registerSender, startWorld } from '../support/world.ts';

t.setTimeout(0); // the runner has its own limit

const BOUNCES = 'bounces.mail.postrider.test';
const DAY_MS = 24 * 60 * 60 * 1000;
const MIB = 1024 * 1024;
const AT_ONCE = 16;
const SENT_BYTES = 350_000;
const DAY_MIB = 1;
/** The day's reports, the mails themselves, and what a database has beside that. Without bounds it would be 6 MiB. */
const MOST_GROWTH_BYTES = (DAY_MIB + 2) * MIB;

/** As many rows as are stored each by itself, on a day and in a name of its own; compresses well. */
function worstReport(number: number): string {
  const beginsAt = Date.now() - (1 + (number % 28)) * DAY_MS;
  const records = Array.from({ length: 1000 }, (_, row) => {
    const host = number * 1000 + row;
    return { sourceIp: `2001:db8:aaaa:bbbb:cccc:dddd:${(host >> 16).toString(16)}:${(host & 0xffff).toString(16)}` };
  });
  const orgName = `${number}-`.padEnd(500, 'x');
  const xml = dmarcXml({ id: `${number}`.padEnd(500, 'y'), orgName, records, beginsAt });
  return dmarcMail(gzipSync(xml, { level: 9 })).replace(/^Subject: .*$/m, `Subject: ${number}`);
}

t.test('350 KB of DMARC reports', async (t) => {
  const world = await startWorld(t, { settings: { dmarc: { max_mib_per_day: DAY_MIB } } });
  const { dns, postrider } = world;
  dns.set('big.test', 'TXT', ['v=spf1 ip4:127.0.0.1 -all']);
  const daemon = await postrider.serve();
  await registerSender(world, daemon);
  const smtpPort = Number((await daemon.logged({ msg: 'ready' })).smtp_port);
  const bring = async (data: string, from: string): Promise<Json> => {
    const client = await SmtpClient.hello(smtpPort);
    const reply = await client.send({ from, to: `dmarc@${BOUNCES}`, data: Buffer.from(data) });
    client.close();
    const id = /kept as (\S+)$/.exec(reply)?.[1];
    t.ok(id, reply);
    return daemon.logged({ fact: 'inbound', inbound_id: id! });
  };
  const sizeNow = () =>
    ['', '-wal'].reduce((sum, end) => {
      const file = `${postrider.databaseFile}${end}`;
      return sum + (fs.existsSync(file) ? fs.statSync(file).size : 0);
    }, 0);

  const day = (beginsAt: number, count = 1) =>
    bring(dmarcMail(gzipSync(dmarcXml({ id: `${beginsAt}${count}`, beginsAt, records: [{ count }] }))), 'a@big.test');
  t.match(await day(Date.UTC(2100, 0)), {
    effect: 'none',
    reason: /its days, 2100-01-01 to 2100-01-02, are not within/,
  });
  t.match(await day(Date.now() - 31 * DAY_MS), { effect: 'none', reason: /are not within the 30 days before/ });
  const absurd = await day(Date.now() - DAY_MS, Number.MAX_SAFE_INTEGER);
  t.match(absurd, { effect: 'kept', reason: /a record counts 9007199254740991 messages; more than 1000000000/ });

  const before = sizeNow();
  const outcomes = { verified: 0, unverified: 0, refused: 0 };
  const reasons = new Set<string>();
  let sent = 0;
  const attack = async (number: number) => {
    const mail = worstReport(number);
    sent += mail.length;
    const isVerified = number % 3 === 0;
    const { effect, reason } = await bring(mail, isVerified ? 'a@big.test' : 'a@elsewhere.test');
    outcomes[effect !== 'stored' ? 'refused' : isVerified ? 'verified' : 'unverified']++;
    if (effect !== 'stored') reasons.add(String(reason).replace(/\d+|x{10,}/g, 'N'));
  };
  for (let first = 0; sent < SENT_BYTES; first += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => attack(first + index)));
  }
  const { code } = await daemon.stop();
  t.equal(code, 0);
  const growth = sizeNow() - before;
  t.comment(`${sent} bytes of mail: the database grew by ${growth} bytes (${(growth / MIB).toFixed(1)} MiB)`);
  t.comment(JSON.stringify({ ...outcomes, reasons: [...reasons] }));
  t.ok(growth < MOST_GROWTH_BYTES, `${growth} bytes`);
  t.ok(outcomes.verified > 0 && outcomes.unverified > 0, 'as long as there is room');
  t.ok(reasons.size > 0, 'and what has none says so');
  const { mails } = (await postrider.json('inbound', 'list', '--kind', 'dmarc', '--effect', 'none')) as {
    mails: Json[];
  };
  t.match(
    mails[0],
    { reason: /have taken their \d+ bytes of this day \(dmarc\.max_mib_per_day\)/ },
    'the operator sees it',
  );
});
