// Attack: mails that cost more to read than to send, through a real daemon's listener: nested and countless parts, lines
// that look like delimiters, archives that unpack to gigabytes. Each is kept with a reason, within bounded processor time
// and memory of the daemon, and a bounce that comes behind them takes effect.
import fs from 'node:fs';
import { deflateRawSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { memoryOf, pidByArgument } from '../contract/process-memory.ts';
import { dsnFor } from '../support/bounce-mail.ts';
import type { Json } from '../support/daemon-process.ts';
import { dmarcMail, zipOf } from '../support/dmarc-mail.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { RECEIVER, registerSender, send, startWorld, stateOf } from '../support/world.ts';

t.setTimeout(0); // the runner has its own limit

const BOUNCES = 'bounces.mail.postrider.test';
const MIB = 1024 * 1024;
/** For each mail: a hundredth of it is usual, ten times as much were a thread that hangs. */
const MAX_PROCESSOR_MS = 4000;
/** Several copies of a mail, and what one archive may unpack to. */
const MAX_GROWTH_BYTES = 400 * MIB;
const HEADER = 'From: jo@people.test\r\nSubject: bomb\r\nMIME-Version: 1.0\r\n';

function nested(depth: number): string {
  const levels = Array.from(
    { length: depth },
    (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`,
  );
  return `${HEADER}${levels.join('')}Content-Type: text/plain\r\n\r\nHello.\r\n`;
}

function embedded(depth: number): string {
  return `${HEADER}${'Content-Type: message/rfc822\r\n\r\n'.repeat(depth)}Subject: x\r\n\r\nHello.\r\n`;
}

function multipart(body: string, boundary = 'b'): string {
  return `${HEADER}Content-Type: multipart/report; report-type=delivery-status; boundary="${boundary}"\r\n\r\n${body}`;
}

function packed(type: string, file: Buffer, count: number): string {
  const part = `--b\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n${file.toString('base64').replace(/.{76}/g, '$&\r\n')}\r\n`;
  return `${HEADER}Content-Type: multipart/mixed; boundary=b\r\n\r\n${part.repeat(count)}--b--\r\n`;
}

/** utime and stime in hundredths of a second: proc(5). */
function processorMsOf(pid: number): number {
  const fields = fs
    .readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

t.test('mails that are bombs', async (t) => {
  const world = await startWorld(t);
  const { postrider, sink } = world;
  const daemon = await postrider.serve();
  const sender = await registerSender(world, daemon);
  const smtpPort = Number((await daemon.logged({ msg: 'ready' })).smtp_port);
  const pid = pidByArgument(postrider.configFile);
  const bring = async (to: string, from: string, data: string | Buffer): Promise<Json> => {
    const client = await SmtpClient.hello(smtpPort);
    const reply = await client.send({ from, to, data: Buffer.from(data) });
    client.close();
    const id = /kept as (\S+)$/.exec(reply)?.[1];
    if (id === undefined) throw new Error(reply);
    return daemon.logged({ fact: 'inbound', inbound_id: id });
  };
  const ids = await send(
    daemon,
    sender,
    ['jo', 'amy', 'bob'].map((name) => `${name}@${RECEIVER}`),
  );
  const mails = await sink.received(3);
  const mailTo = (name: string) => mails.find(({ to }) => to.startsWith(`${name}@`))!;

  const zeros = Buffer.alloc(128 * MIB);
  const gzip = gzipSync(zeros);
  const zip = zipOf('report.xml', Buffer.alloc(1), deflateRawSync(zeros), 8);
  const nestedGzip = gzipSync(gzip);
  const part = '--b\r\nContent-Type: message/delivery-status\r\n\r\nFinal-Recipient: rfc822; a@x.test\r\n\r\n';
  const dmarc = `dmarc@${BOUNCES}`;
  const role = `postmaster@${BOUNCES}`;
  const unpacks = { kind: 'dmarc', effect: 'kept', reason: /unpacks to more than 25 MiB/ };
  const human = { kind: 'human', effect: 'kept', reason: /mail to postmaster, kept/ };
  const bombs: [name: string, to: string, data: string | Buffer, Json][] = [
    ['15,000 levels', role, nested(15_000), human],
    ['30,000 embedded mails', role, embedded(30_000), human],
    ['200,000 parts of a mail', mailTo('bob').from, multipart('--b\r\n\r\nx\r\n'.repeat(200_000)), {}],
    ['100,000 reports in a report', mailTo('bob').from, multipart(part.repeat(100_000)), {}],
    ['lines that look like delimiters', mailTo('bob').from, multipart('--bx\r\n'.repeat(1_500_000)), {}],
    ['a delimiter of one octet', role, multipart('-'.repeat(900_000), '-'), human],
    ['a header field of 900 KB', role, `${HEADER}X: ${'a=?utf-8?q?='.repeat(70_000)}\r\n\r\nx`, human],
    ['a header of 100,000 fields', role, `${HEADER}${'A: b\r\n'.repeat(100_000)}\r\nx`, human],
    [
      'a field that is folded 100,000 times',
      role,
      `${HEADER}References: x\r\n${' <a@b>\r\n'.repeat(100_000)}\r\nx`,
      human,
    ],
    ['gzip', dmarc, dmarcMail(gzip), unpacks],
    ['zip', dmarc, dmarcMail(zip, 'application/zip'), unpacks],
    ['zip, five times and more', dmarc, packed('application/zip', zip, 8), unpacks],
    ['gzip in gzip', dmarc, dmarcMail(nestedGzip), { kind: 'dmarc', effect: 'kept', reason: /is not usable/ }],
  ];
  const atRest = memoryOf(pid).peakBytes;
  for (const [name, to, data, expected] of bombs) {
    const before = processorMsOf(pid);
    const outcome = await bring(to, '', data);
    t.match(outcome, expected, name);
    t.ok(String(outcome.reason).length > 10, `a reason: ${String(outcome.reason).slice(0, 160)}`);
    const usedMs = processorMsOf(pid) - before;
    t.ok(usedMs < MAX_PROCESSOR_MS, `${name}: ${data.length} bytes, ${usedMs} ms of processor time`);
  }
  const grown = memoryOf(pid).peakBytes - atRest;
  t.ok(grown < MAX_GROWTH_BYTES, `${(grown / MIB).toFixed(0)} MiB more at the peak`);
  t.match(await bring(mailTo('amy').from, '', dsnFor(mailTo('amy'))), { effect: 'bounced' });
  t.equal(await stateOf(daemon, sender, ids[1]!), 'bounced');
});
