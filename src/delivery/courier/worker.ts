// Entry of a courier thread: opens the database for reading, parses the keys once, and runs
// the sessions that the main thread hands over, many at a time.
import { platform, setPriority } from 'node:os';
import { createSecureContext } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../base/clock.ts';
import { Vault } from '../../base/vault.ts';
import { loadPrivateKey } from '../../protocol/mail/dkim-key.ts';
import { openSession } from '../../protocol/smtp/session.ts';
import { scaleTimeouts } from '../../protocol/smtp/timeouts.ts';
import { openContentReader } from '../../store/sqlite/contents.ts';
import { openTransportSecurityReader } from '../../store/sqlite/transport-security.ts';
import type { DoorKnocker } from './connect.ts';
import type {
  CourierGoodbye,
  CourierHeartbeat,
  CourierOrder,
  CourierProgress,
  CourierReceipt,
  CourierReport,
  CourierSettings,
  CourierTaskMessage,
  SessionSource,
} from './messages.ts';
import { OrderInbox } from './order-inbox.ts';
import { createPrepare } from './prepare.ts';
import { Pulse } from './pulse.ts';
import { runCourierSession } from './session.ts';
import type { TransportSecurity } from './tls-choice.ts';

// When processors are short, calls and commits go first: a 202 then takes half the time, mail hardly
// longer. Only Linux has priorities per thread: elsewhere this would slow down the whole daemon.
const NICENESS = 5;
if (platform() === 'linux') setPriority(NICENESS);

const settings = workerData as CourierSettings;
const { domain, selector, privateKeyDer } = settings.serviceSigner;

const prepare = createPrepare({
  contents: openContentReader(settings.databaseFile),
  // Buffers arrive from the other thread as plain byte arrays.
  vault: new Vault(settings.masterKeys.map((key) => Buffer.from(key))),
  tokenKey: { id: settings.tokenKey.id, key: Buffer.from(settings.tokenKey.key) },
  bouncesDomain: settings.bouncesDomain,
  links: { url: settings.links.url, key: { id: settings.links.key.id, key: Buffer.from(settings.links.key.key) } },
  serviceSigner: { domain, selector, key: loadPrivateKey(Buffer.from(privateKeyDer)) },
  now: systemClock.now,
});

const secureContext = createSecureContext(settings.trustedRoots ? { ca: settings.trustedRoots } : {});
const known = openTransportSecurityReader(settings.databaseFile);

const security: TransportSecurity = {
  policyOf: (domain) => (settings.mtaSts ? known.tlsPolicy(domain, systemClock.now()) : null),
  brokenTls(host) {
    try {
      return known.brokenTls(host, systemClock.now());
    } catch {
      return null; // only a shortcut
    }
  },
};

const timeouts = scaleTimeouts(settings.timeoutFactor);

const knockerFrom = (source: SessionSource | null, { dial }: Pulse): DoorKnocker => ({
  open: ({ mx, ip, tls }) =>
    openSession({
      mx,
      ip,
      port: settings.smtpPort,
      ...(source && { localAddress: source.ip }),
      ehloName: source?.ehloName ?? settings.ehloName,
      tls,
      secureContext,
      timeouts,
      dial,
    }),
});

/** Per session, what tells the main thread that it moves. */
const beats = new Set<() => void>();
setInterval(() => {
  parentPort!.postMessage({ kind: 'alive' } satisfies CourierHeartbeat);
  for (const beat of beats) beat();
}, settings.heartbeatMs).unref();

parentPort!.on('message', async ({ port, plan }: CourierTaskMessage) => {
  const inbox = new OrderInbox(() => port.postMessage({ kind: 'taken' } satisfies CourierReceipt));
  const pulse = new Pulse(inbox.signal);
  const beat = () => {
    if (pulse.moved()) port.postMessage({ kind: 'progress' } satisfies CourierProgress);
  };
  beats.add(beat);
  port.on('message', (order: CourierOrder) => inbox.take(order));
  const report = (message: CourierReport) => port.postMessage(message);
  const knocker = knockerFrom(plan.source, pulse);
  try {
    await runCourierSession({
      ...{ hosts: plan.hosts, inbox, report, prepare, knocker, security, now: systemClock.now },
      usualTls: settings.tls,
      onBrokenTls: (note) => parentPort!.postMessage(note),
    });
  } finally {
    beats.delete(beat);
    port.postMessage({ kind: 'over' } satisfies CourierGoodbye);
    port.close();
  }
});
