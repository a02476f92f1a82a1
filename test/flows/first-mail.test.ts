// From an empty folder to a message that arrived: the operator makes a tenant and a key, the
// tenant registers a domain, publishes its records, verifies it and sends. What arrives bears
// two signatures that hold before two verifiers, with the keys that stand in DNS.
import { Resolver } from 'node:dns/promises';
import fs from 'node:fs';
import path from 'node:path';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { simpleParser } from 'mailparser';
import t, { type Test } from 'tap';
import type { TestDnsServer } from '../support/dns-server.ts';
import { verifyByPerl } from '../support/mail-dkim.ts';
import type { ReceivedMail } from '../support/mail-sink.ts';
import { testFolder } from '../support/test-folder.ts';
import { type DnsRecord, publish, RECEIVER, startWorld } from '../support/world.ts';

const SERVICE_KEY = 'postrider._domainkey.bounces.mail.postrider.test';

t.test('the first mail', async (t) => {
  const { dns, sink, postrider } = await startWorld(t, { settings: { log: { level: 'trace' } } });
  const daemon = await postrider.serve();

  // The operator: the log tells which record the service itself needs, commands make the rest.
  const announced = await daemon.logged({ record: SERVICE_KEY });
  publish(dns, [{ name: SERVICE_KEY, type: 'TXT', value: String(announced.value) }]);
  const tenant = await operate(t, 'tenant', 'create', '--name', 'Acme', '--status', 'active');
  const rights = ['--name', 'app', '--scopes', 'emails:send,domains:write'];
  const { key } = await operate(t, 'key', 'create', '--tenant', String(tenant.id), ...rights);

  // The tenant: a domain counts only when its record is in DNS.
  const api = (route: string, body?: unknown) => daemon.call(String(key), route, { body });
  const mail = { from: 'Acme <orders@acme.test>', to: `joe@${RECEIVER}`, subject: 'Thank you', text: 'Bye' };
  t.match(await api('POST /emails', mail), { status: 422, body: { error: 'domain_not_verified' } });
  const registered = await api('POST /domains', { domain: 'acme.test' });
  t.match(registered, { status: 201, body: { state: 'pending', domain: 'acme.test' } });
  const domainId = String(registered.body.id);
  dns.addZone('acme.test');
  t.match(await api(`POST /domains/${domainId}/verify`), {
    status: 422,
    body: { error: 'verification_failed', domain: 'acme.test', check: { record: 'dkim', reason: 'not_found' } },
  });
  const records = registered.body.records as DnsRecord[];
  publish(dns, records);
  t.match(await api(`POST /domains/${domainId}/verify`), { status: 200, body: { state: 'verified' } });

  // And sends.
  for (const sample of Object.values(SAMPLES)) {
    const { status, body } = await api('POST /emails', { ...mail, ...sample });
    t.match({ status, body }, { status: 202, body: { message_ids: [/./], rejected: [], replayed: false } });
    const [messageId] = body.message_ids as string[];
    await daemon.logged({ fact: 'delivered', message_id: messageId! });
    await checkShown(t, (await api(`GET /emails/${messageId}`)).body, messageId!);
    t.same(lifeOf(messageId!), ['accepted', 'attempt_started', 'delivered'], 'its whole life is in the log');
  }
  const mails = await sink.received(Object.keys(SAMPLES).length);
  await checkContent(t, mails);
  await checkSignatures(t, mails, dns);

  t.same(await daemon.stop(), { code: 0, signal: null });
  checkSilence(t, postrider.everythingLogged, { key: String(key), folder: postrider.folder });

  /** Commands in processes of their own, as the operator types them. */
  async function operate(t: Test, ...args: string[]): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await postrider.run(...args, '--json');
    t.match({ code, stderr }, { code: 0, stderr: '' });
    return JSON.parse(stdout);
  }

  function lifeOf(messageId: string): (string | undefined)[] {
    return daemon.find({ message_id: messageId }).map(({ fact }) => fact);
  }
});

// Words that stand nowhere else, so that a log that has one of them has it from here.
const SAMPLES: Record<string, { subject: string; text?: string; html?: string }> = {
  ascii: { subject: 'Quagmire order', text: 'Haberdashery\n\n.\n..dots\n-- \nBye' },
  unicode: {
    subject: 'Bestätigung für Ærøskøbing 🚲',
    text: 'Grüße aus Ærøskøbing, 你好.',
    html: '<p>Grüße aus <b>Ærøskøbing</b>, 你好 🚲</p>',
  },
  emptyish: { subject: 'Zeugma', text: '\n\n \n' },
  large: { subject: 'Perspicacious', text: 'Antediluvian — of 4 MiB. '.repeat(162_000) },
};
const SECRET_WORDS = ['Quagmire', 'Haberdashery', 'Ærøskøbing', 'Zeugma', 'Perspicacious', 'Antediluvian'];

async function checkShown(t: Test, shown: Record<string, unknown>, messageId: string): Promise<void> {
  t.match(shown, {
    id: messageId,
    state: 'delivered',
    from: 'orders@acme.test',
    to: `joe@${RECEIVER}`,
    events: [{ type: 'email.delivered', family: 'delivery', data: { message_id: messageId } }],
  });
  const [delivered] = shown.events as { data: { delivery: unknown } }[];
  t.match(delivered!.data.delivery, { mx: `mx.${RECEIVER}`, remote_ip: '127.0.0.1', smtp_code: 250, attempt: 1 });
}

async function checkContent(t: Test, mails: ReceivedMail[]): Promise<void> {
  const samples = Object.values(SAMPLES);
  t.equal(mails.length, samples.length, 'each arrived once');
  for (const [index, { raw, from, to }] of mails.entries()) {
    const { subject, text } = samples[index]!;
    const parsed = await simpleParser(raw, { skipImageLinks: true, skipHtmlToText: true });
    t.equal(parsed.subject, subject);
    t.equal(parsed.from?.text, '"Acme" <orders@acme.test>');
    t.equal(parsed.text?.trimEnd(), text!.trimEnd(), 'the text is what was sent');
    t.equal(to, `joe@${RECEIVER}`);
    t.match(from, /^b[a-z2-7]+@bounces\.mail\.postrider\.test$/, "the return path is the service's");
  }
}

/** Keys come over the wire from DNS, where the log and the API said that they belong. */
async function checkSignatures(t: Test, mails: ReceivedMail[], dns: TestDnsServer): Promise<void> {
  const resolver = new Resolver();
  resolver.setServers([dns.endpoint]);
  const looked = new Map<string, string>();
  const lookUp = async (name: string, type: string) => {
    const found = (await resolver.resolve(name, type)) as string[][];
    looked.set(name, found[0]!.join(''));
    return found;
  };
  for (const { raw } of mails) {
    const { results } = await dkimVerify(raw, { resolver: lookUp as never });
    const verdicts = results.map(({ signingDomain, status }) => `${signingDomain}: ${status.result}`);
    t.same(verdicts, ['acme.test: pass', 'bounces.mail.postrider.test: pass'], 'mailauth finds two good signatures');
  }
  const raws = mails.map(({ raw }) => raw);
  const verdicts = verifyByPerl(testFolder(t), raws, looked);
  await t.test('Mail::DKIM finds them too', { skip: typeof verdicts === 'string' && verdicts }, async (t) => {
    t.same(verdicts, Array(mails.length).fill(['pass', 'pass', 'pass']));
  });
}

/** What must not be in the log, looked for in all of it: a needle that can be there is missed by nobody. */
function checkSilence(t: Test, log: string, { key, folder }: { key: string; folder: string }): void {
  const masterKey = fs.readFileSync(path.join(folder, 'data', 'master.key'), 'utf8').trim();
  const secret = key.slice(key.lastIndexOf('_') + 1);
  t.ok(log.includes(`joe@${RECEIVER}`), 'the log is the one of these messages');
  for (const word of [...SECRET_WORDS, key, secret, masterKey, 'PRIVATE KEY']) {
    t.notOk(log.includes(word), `no ${word === masterKey || key.includes(word) ? 'secret' : word} in the log`);
  }
}
