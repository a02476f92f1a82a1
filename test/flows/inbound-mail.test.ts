// Mail that comes in as operators find it: shown octet by octet, beside a daemon and without one;
// refused with a note; and taken at the EHLO name.
import { execFile } from 'node:child_process';
import t from 'tap';
import type { Daemon, Installation } from '../support/daemon-process.ts';
import { findFreePort } from '../support/free-port.ts';
import { PROGRAM_ARGUMENTS } from '../support/program.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { until } from '../support/until.ts';
import { startWorld } from '../support/world.ts';

const BOUNCES = 'bounces.mail.postrider.test';
const HEADER = 'From: Jo <jo@people.test>\r\nSubject: Hello\r\n\r\n';

async function smtpPortOf(daemon: Daemon): Promise<number> {
  return Number((await daemon.logged({ msg: 'ready' })).smtp_port);
}

/** Octets as a terminal must not get them, in lines that SMTP takes. */
function everyOctet(): Buffer {
  const all = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet));
  return Buffer.from(all.filter((octet) => octet !== 0x0a && octet !== 0x0d));
}

interface Printed {
  code: number;
  stdout: Buffer;
}

function printed({ configFile }: Installation, ...args: string[]): Promise<Printed> {
  const options = { env: { PATH: process.env.PATH }, encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 } as const;
  return new Promise((resolve) => {
    execFile(process.execPath, [...PROGRAM_ARGUMENTS, ...args, '--config', configFile], options, (error, stdout) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout });
    });
  });
}

t.test('a mail that is refused for a bare LF is counted and listed', async (t) => {
  const metricsPort = await findFreePort();
  const { postrider } = await startWorld(t, { settings: { metrics: { port: metricsPort } } });
  const daemon = await postrider.serve();
  const client = await SmtpClient.hello(await smtpPortOf(daemon));
  const to = `postmaster@${BOUNCES}`;
  const reply = await client.send({ from: 'old@scanner.test', to, data: Buffer.from(`${HEADER}one\ntwo`) });
  client.close();
  t.match(reply, /^554 5\.6\.11 Line 4 of the mail has a bare CR or LF/);
  const { mails } = await postrider.json('inbound', 'list', '--kind', 'refused');
  const facts = {
    kind: 'refused',
    effect: 'none',
    mail_from: 'old@scanner.test',
    recipients: [to],
    remote_ip: '127.0.0.1',
  };
  t.match(mails, [{ ...facts, reason: `refused with ${reply}` }]);
  const [{ id }] = mails as [{ id: string }];
  t.match(((await postrider.json('inbound', 'list')).mails as unknown[]).length, 1, 'in the list of all, too');
  t.match(await postrider.json('inbound', 'show', id), facts);
  const raw = await postrider.runHere('inbound', 'show', id, '--raw');
  t.match(raw, { code: 1, stdout: '', stderr: /was rejected, so its content was not kept/ });
  const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  t.match(page, /^postrider_inbound_mails_total\{outcome="bare_line_end"\} 1$/m);
});

t.test('postmaster and abuse of the EHLO name reach the operator', async (t) => {
  const settings = { service: { base_url: 'https://mail.postrider.test', ehlo_name: 'mx7.postrider.test' } };
  const { postrider } = await startWorld(t, { settings });
  const daemon = await postrider.serve();
  const client = await SmtpClient.hello(await smtpPortOf(daemon));
  for (const to of ['postmaster@mx7.postrider.test', 'abuse@mx7.postrider.test']) {
    const reply = await client.send({ from: 'jo@people.test', to, data: `${HEADER}Please call me.` });
    const id = /kept as (\S+)$/.exec(reply)?.[1];
    t.match(await daemon.logged({ fact: 'inbound', inbound_id: id! }), { kind: 'human', effect: 'kept' }, to);
  }
  const refused = await client.send({ from: 'jo@people.test', to: 'info@mx7.postrider.test', data: HEADER });
  t.match(refused, /^550 5\.1\.1/);
  client.close();
});

t.test('inbound retry has a mail worked on again, with a daemon and without', async (t) => {
  const { postrider } = await startWorld(t);
  const daemon = await postrider.serve();
  const client = await SmtpClient.hello(await smtpPortOf(daemon));
  const unread = await client.send({ from: 'jo@people.test', to: `abuse@${BOUNCES}`, data: 'This is no header' });
  const human = await client.send({ from: 'jo@people.test', to: `abuse@${BOUNCES}`, data: `${HEADER}Hi` });
  client.close();
  const [id, other] = [unread, human].map((reply) => /kept as (\S+)$/.exec(reply)![1]!) as [string, string];
  for (const each of [id, other]) await daemon.logged({ fact: 'inbound', inbound_id: each });
  t.match(await postrider.run('inbound', 'retry', id), {
    code: 0,
    stdout: /^\S+ is queued. A running daemon processes it within/,
  });
  await until('it was worked on again', () => daemon.find({ inbound_id: id }).length === 2);
  const refused = await postrider.run('inbound', 'retry', other);
  t.match(refused, { code: 1, stderr: /was read successfully: only mail of the kind unreadable can be retried/ });
  await daemon.stop();
  t.match(await postrider.json('inbound', 'retry', id), { id, state: 'waits' });
  t.match(await postrider.json('inbound', 'show', id), { kind: null, effect: null });
  t.match(await postrider.run('inbound', 'retry', id), { code: 1, stderr: /is already queued/ });
});

t.test('inbound show --raw prints the octets of the mail as they came', async (t) => {
  const { postrider } = await startWorld(t, { settings: { smtp: { max_role_mail_mib: 16 } } });
  const daemon = await postrider.serve();
  const port = await smtpPortOf(daemon);
  const bring = async (body: Buffer) => {
    const client = await SmtpClient.hello(port);
    const data = Buffer.concat([Buffer.from(HEADER), body]);
    const reply = await client.send({ from: 'jo@people.test', to: `abuse@${BOUNCES}`, data });
    client.close();
    const id = /kept as (\S+)$/.exec(reply)![1]!;
    await daemon.logged({ fact: 'inbound', inbound_id: id });
    // What ends the last line belongs to the mail: RFC 5321 section 4.1.1.4.
    return { id, octets: Buffer.concat([data, Buffer.from('\r\n')]) };
  };
  const small = await bring(Buffer.concat([everyOctet(), Buffer.from('\r\n\r\n')]));
  const line = Buffer.concat([Buffer.alloc(998, 0xe4), Buffer.from('\r\n')]);
  const large = await bring(Buffer.concat(Array.from({ length: 12_000 }, () => line)));

  for (const [what, { id, octets }] of Object.entries({ small, large })) {
    const { code, stdout } = await printed(postrider, 'inbound', 'show', id, '--raw');
    t.equal(code, 0);
    t.ok(stdout.equals(octets), `a ${what} mail, out of the running daemon`);
  }
  const { raw_base64 } = await postrider.json('inbound', 'show', small.id, '--raw');
  t.ok(Buffer.from(String(raw_base64), 'base64').equals(small.octets), 'in base64 with --json');

  await daemon.stop();
  const { stdout } = await printed(postrider, 'inbound', 'show', small.id, '--raw');
  t.ok(stdout.equals(small.octets), 'without a daemon');
});
