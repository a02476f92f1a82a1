// Entry of a courier thread: opens the store for reading, parses the keys once, and runs the sessions
// that the main thread starts, many at a time.

import { platform } from 'node:os';
import { createSecureContext } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../base/clock.ts';
import { LeaseEnd, monotonicMs } from '../../base/lease-end.ts';
import { BatchPerTick } from '../../base/per-tick.ts';
import { Vault } from '../../base/vault.ts';
import { loadPrivateKey } from '../../protocol/mail/dkim/dkim-key.ts';
import { openSession } from '../../protocol/smtp/session.ts';
import { scaleTimeouts } from '../../protocol/smtp/timeouts.ts';
import { openCourierReads } from '../../store/opening/open-store.ts';
import { lowerPriority } from '../../threads/lower-priority.ts';
import type { Connector, TransportSecurity } from './connect.ts';
import { Announcements } from './mail-connection.ts';
import type {
  CourierHeartbeat,
  CourierRequest,
  CourierWorkerData,
  SessionMessage,
  SessionMessages,
  SessionPlan,
} from './messages.ts';
import { createPrepare } from './prepare.ts';
import { runCourierSession } from './session.ts';
import { Activity, OrderInbox, StageTimes } from './session-port.ts';

// Under full load API calls and commits get a little priority: a 202 then takes a sixth less, and as much mail is
// sent. Only a little: at 5, mail beside 10,000 clicks per second waited for up to hundreds of milliseconds. Only
// Linux has priorities per thread: elsewhere this would slow down the whole daemon.
const NICENESS = 2;
if (platform() === 'linux') lowerPriority(NICENESS);

// Eight times Node's default: a message takes 14 KB of small buffers, and each new piece of memory for them has to be
// allocated, and collected after it.
Buffer.poolSize = 64 * 1024;

const { port, ...settings } = workerData as CourierWorkerData;
// A separate post for each message would cost this thread, and wake the main thread, as much as the delivery itself.
const outbox = new BatchPerTick<SessionMessages[number]>((messages) => port.postMessage(messages));
// Results so far are reported even if this thread then crashes.
process.once('exit', () => outbox.flush());

const { domain, selector, privateKeyDer } = settings.serviceSigner;
const { contents, transportSecurity: known } = await openCourierReads(settings.store);

const prepare = createPrepare({
  contents,
  // Buffers arrive from the main thread as plain byte arrays.
  vault: new Vault(settings.masterKeys.map((key) => Buffer.from(key))),
  tokenKey: { id: settings.tokenKey.id, key: Buffer.from(settings.tokenKey.key) },
  bouncesDomain: settings.bouncesDomain,
  links: { url: settings.links.url, key: { id: settings.links.key.id, key: Buffer.from(settings.links.key.key) } },
  serviceSigner: { domain, selector, key: loadPrivateKey(Buffer.from(privateKeyDer)) },
  now: systemClock.now,
  beforeWork: () => outbox.flush(),
});

const secureContext = createSecureContext(settings.trustedRoots ? { ca: settings.trustedRoots } : {});

const security: TransportSecurity = {
  policyOf: async (domain) => (settings.mtaSts ? known.tlsPolicy(domain, systemClock.now()) : null),
  // Only a shortcut.
  brokenTls: (host) => known.brokenTls(host, systemClock.now()).catch(() => null),
};

const announcements = new Announcements(systemClock.now);
const timeouts = scaleTimeouts(settings.timeoutFactor);

const lease = settings.leaseEnd ? new LeaseEnd(monotonicMs, settings.leaseEnd) : null;

const connectorFrom = ({ source, skipped }: SessionPlan, { dial }: Activity, stages: StageTimes | null): Connector => ({
  port: settings.smtpPort,
  whySkipped: (ip) => (skipped?.ips.includes(ip) ? skipped.reason : null),
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
      ...(stages && { onStage: stages.note }),
    }),
});

/** Per session, the function that reports its progress. */
const beats = new Set<() => void>();
setInterval(() => {
  parentPort!.postMessage({ kind: 'alive' } satisfies CourierHeartbeat);
  for (const beat of beats) beat();
}, settings.heartbeatMs).unref();

const inboxes = new Map<number, OrderInbox>();
port.on('message', (request: CourierRequest) => {
  if ('plan' in request) void run(request.session, request.plan);
  else inboxes.get(request.session)?.receive(request.order);
});

async function run(session: number, plan: SessionPlan): Promise<void> {
  const report = (message: SessionMessage) => outbox.add([session, message]);
  const inbox = new OrderInbox({
    taken: () => report({ kind: 'taken' }),
    withdrawn: (messageIds) => report({ kind: 'withdrawn', messageIds }),
  });
  const activity = new Activity(inbox.signal);
  const beat = () => {
    if (activity.moved()) report({ kind: 'progress' });
  };
  inboxes.set(session, inbox);
  beats.add(beat);
  const stages = settings.tellsStages ? new StageTimes(systemClock.now) : null;
  const connector = connectorFrom(plan, activity, stages);
  try {
    await runCourierSession({
      ...{
        hosts: plan.hosts,
        inbox,
        report,
        prepare,
        connector,
        security,
        announcements,
        now: systemClock.now,
        stages,
        fence: () => lease?.begin(),
      },
      signal: inbox.signal,
      usualTls: settings.tls,
      onConnected: () => report({ kind: 'connected' }),
      onHostNote: (note) => parentPort!.postMessage(note),
    });
  } finally {
    beats.delete(beat);
    inboxes.delete(session);
    report({ kind: 'over' });
  }
}
