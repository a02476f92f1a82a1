// The world in which the flows play: a DNS server, a receiving server behind receiver.test, a
// daemon, and a tenant with a key and a verified domain, all made the way people make them.
import {
  type Daemon,
  type Installation,
  install,
  type Json,
  type Launch,
  type Owner,
  type Settings,
} from './daemon-process.ts';
import { startDnsServer, type TestDnsServer } from './dns-server.ts';
import { type MailSink, type SinkOptions, startMailSink } from './mail-sink.ts';

export const RECEIVER = 'receiver.test';

export interface World {
  dns: TestDnsServer;
  sink: MailSink;
  postrider: Installation;
}

export interface WorldOptions {
  sink?: SinkOptions;
  settings?: Settings;
  launch?: Launch;
}

export async function startWorld(t: Owner, options: WorldOptions = {}): Promise<World> {
  const sink = await startMailSink(options.sink);
  const dns = await startDnsServer();
  // Teardowns run the other way round: the daemon goes first, then those whom it talks to.
  t.teardown(() => Promise.all([sink.close(), dns.close()]));
  addReceiver(dns, RECEIVER);
  const { settings, launch } = options;
  const postrider = install(t, { dns, smtpPort: sink.port, ...(settings && { settings }), ...(launch && { launch }) });
  return { dns, sink, postrider };
}

/** A domain whose mail goes to the test's receiving server. */
export function addReceiver(dns: TestDnsServer, domain: string): void {
  dns.set(domain, 'MX', [{ exchange: `mx.${domain}`, preference: 10 }]);
  dns.set(`mx.${domain}`, 'A', ['127.0.0.1']);
}

/** A tenant as its programs see it: a key, and a domain that it may send from. */
export interface Sender {
  tenantId: string;
  keyId: string;
  key: string;
  domain: string;
  domainId: string;
}

/** A daemon's API. */
type Caller = Pick<Daemon, 'call'>;

export interface Registration {
  name: string;
  domain: string;
}

export async function registerSender(
  { dns, postrider }: { dns: TestDnsServer; postrider: Pick<Installation, 'json'> },
  daemon: Caller,
  { name, domain }: Registration = { name: 'Acme', domain: 'acme.test' },
): Promise<Sender> {
  const { id: tenantId } = await postrider.json('tenant', 'create', '--name', name, '--status', 'active');
  await postrider.json('tenant', 'set', String(tenantId), '--tier', 'uncapped');
  const rights = ['--name', 'app', '--scopes', 'emails:send,domains:write'];
  const { id: keyId, key } = await postrider.json('key', 'create', '--tenant', String(tenantId), ...rights);
  const registered = await daemon.call(String(key), 'POST /domains', { body: { domain } });
  dns.addZone(domain);
  publish(dns, registered.body.records as DnsRecord[]);
  const domainId = String(registered.body.id);
  const verified = await daemon.call(String(key), `POST /domains/${domainId}/verify`);
  if (verified.status !== 200) throw new Error(`not verified: ${JSON.stringify(verified.body)}`);
  return { tenantId: String(tenantId), keyId: String(keyId), key: String(key), domain, domainId };
}

export interface DnsRecord {
  name: string;
  type: string;
  value: string;
}

export function publish(dns: TestDnsServer, records: DnsRecord[]): void {
  for (const { name, value } of records) dns.set(name, 'TXT', [value]);
}

/** Sends, insists on the 202, and gives the message ids. */
export async function send(daemon: Caller, sender: Sender, to: string | string[], mail: Json = {}): Promise<string[]> {
  const body = { from: `app@${sender.domain}`, to, subject: 'Hello', text: 'Hello there.', ...mail };
  const answer = await daemon.call(sender.key, 'POST /emails', { body });
  if (answer.status !== 202) throw new Error(`not accepted: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.message_ids as string[];
}

/** The id that a received message carries: in its Message-ID, or in a field of ours where the application wrote that. */
export function messageIdOf(raw: Buffer): string {
  const header = raw.toString('latin1', 0, raw.indexOf('\r\n\r\n'));
  const [, id] = WRITTEN_ID.exec(header) ?? COMPOSED_ID.exec(header) ?? [];
  if (id === undefined) throw new Error('a message without an id of ours arrived');
  return id;
}

const WRITTEN_ID = /^X-Postrider-Message-ID: ([0-9a-f-]{36})$/m;
const COMPOSED_ID = /^Message-ID: <([0-9a-f-]{36})@/im;

export async function stateOf(daemon: Caller, sender: Sender, messageId: string): Promise<unknown> {
  return (await daemon.call(sender.key, `GET /emails/${messageId}`)).body.state;
}
