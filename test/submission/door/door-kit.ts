// The SMTP door on loopback, with a real store behind it and a function that keeps what it is given in memory.
import type { Test } from 'tap';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { RateLimiter } from '../../../src/base/rate-limiter.ts';
import { silentLogger } from '../../../src/observe/log.ts';
import type { ArrivingMail, TakeMail } from '../../../src/submission/door/arriving-mail.ts';
import { type DoorOptions, startSubmissionListener } from '../../../src/submission/door/listener.ts';
import { type ApiHarness, startApiHarness, type TestTenant } from '../../support/api-harness.ts';
import { patience } from '../../support/patience.ts';
import { SmtpClient } from '../../support/smtp-client.ts';

export const LIMITS: DoorOptions['limits'] = {
  maxBytes: 100_000,
  connections: 50,
  connectionsPerPeer: 50,
  connectionsPerKey: 20,
};

export interface TakenMail extends ArrivingMail {
  content: Buffer;
}

export interface Door {
  port: number;
  tlsPort: number | null;
  taken: TakenMail[];
  /** IDs of keys, in the order of their uses. */
  uses: string[];
  /** How often each outcome of a step was counted, such as `login accepted`. */
  counted: Record<string, number>;
  openConnections(): number;
  api: ApiHarness;
  tenant: TestTenant;
  close(): Promise<void>;
}

export interface DoorChange extends Partial<DoorOptions> {
  perMinute?: number;
  clock?: Clock;
  /** What the door sees instead of the store. */
  storeOver?(store: ApiHarness['store']): DoorOptions['store'];
}

export async function openDoor(t: Test, { perMinute = 1000, storeOver, ...change }: DoorChange = {}): Promise<Door> {
  const clock = change.clock ?? systemClock;
  const api = await startApiHarness({ clock });
  t.teardown(() => api.close());
  const taken: TakenMail[] = [];
  const uses: string[] = [];
  const counted: Record<string, number> = {};
  const rates = new RateLimiter(clock);
  const takeMail: TakeMail = async (mail, content) => {
    taken.push({ ...mail, content: await readAll(content) });
    return { code: 250, text: '2.0.0 Ok: queued as 0' };
  };
  const listener = await startSubmissionListener({
    host: '127.0.0.1',
    port: 0,
    tlsPort: null,
    name: 'mail.postrider.test',
    graceMs: patience(10_000),
    limits: LIMITS,
    store: storeOver?.(api.store) ?? api.store,
    takeCall: (keyId) => rates.take(keyId, perMinute),
    keyUsed: (keyId) => void uses.push(keyId),
    refusal: () => null,
    takeMail,
    count: (step, outcome) => {
      const name = `${step} ${outcome}`;
      counted[name] = (counted[name] ?? 0) + 1;
    },
    clock,
    log: silentLogger,
    ...change,
  });
  t.teardown(() => listener.close());
  const { port, tlsPort, openConnections, close } = listener;
  return { port: port ?? 0, tlsPort, taken, uses, counted, openConnections, api, tenant: await api.addTenant(), close };
}

export async function readAll(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export function plain(password: string, user = 'apikey'): string {
  return `AUTH PLAIN ${Buffer.from(`\0${user}\0${password}`).toString('base64')}`;
}

/** After EHLO and AUTH. */
export async function signedIn({ port, tenant }: Pick<Door, 'port' | 'tenant'>, key = tenant.key): Promise<SmtpClient> {
  const client = await SmtpClient.hello(port);
  const reply = await client.ask(plain(key));
  if (!reply.startsWith('235')) throw new Error(`AUTH was answered: ${reply}`);
  return client;
}
