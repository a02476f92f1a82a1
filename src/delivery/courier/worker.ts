// Entry of a courier thread: opens the database for reading, parses the keys once, and runs
// the sessions that the main thread hands over, many at a time.
import { createSecureContext } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../base/clock.ts';
import { Vault } from '../../base/vault.ts';
import { loadPrivateKey } from '../../protocol/mail/dkim-key.ts';
import { openSession } from '../../protocol/smtp/session.ts';
import { scaleTimeouts } from '../../protocol/smtp/timeouts.ts';
import { openContentReader } from '../../store/sqlite/contents.ts';
import type { DoorKnocker } from './connect.ts';
import type { CourierGoodbye, CourierOrder, CourierReport, CourierSettings, CourierTaskMessage } from './messages.ts';
import { OrderInbox } from './order-inbox.ts';
import { createPrepare } from './prepare.ts';
import { runCourierSession } from './session.ts';

const settings = workerData as CourierSettings;
const { domain, selector, privateKeyDer } = settings.serviceSigner;

const prepare = createPrepare({
  contents: openContentReader(settings.databaseFile),
  // Buffers arrive from the other thread as plain byte arrays.
  vault: new Vault(settings.masterKeys.map((key) => Buffer.from(key))),
  tokenKey: { id: settings.tokenKey.id, key: Buffer.from(settings.tokenKey.key) },
  bouncesDomain: settings.bouncesDomain,
  serviceSigner: { domain, selector, key: loadPrivateKey(Buffer.from(privateKeyDer)) },
  now: systemClock.now,
});

const secureContext = createSecureContext();
const timeouts = scaleTimeouts(settings.timeoutFactor);

const knocker: DoorKnocker = {
  open: ({ mx, ip }) =>
    openSession({
      mx,
      ip,
      port: settings.smtpPort,
      ehloName: settings.ehloName,
      tls: settings.tls,
      secureContext,
      timeouts,
    }),
};

parentPort!.on('message', async ({ port, plan }: CourierTaskMessage) => {
  const inbox = new OrderInbox();
  port.on('message', (order: CourierOrder) => inbox.take(order));
  const report = (message: CourierReport) => port.postMessage(message);
  try {
    await runCourierSession({ hosts: plan.hosts, inbox, report, prepare, knocker, now: systemClock.now });
  } finally {
    port.postMessage({ kind: 'over' } satisfies CourierGoodbye);
    port.close();
  }
});
