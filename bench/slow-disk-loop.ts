// A process with the store as the daemon has it: accepts messages at a steady pace, erases the rows
// of all older ones as retention does, and watches its event loop.
import fs from 'node:fs';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { IdSource } from '../src/base/ids.ts';
import { openThreadedStore } from '../src/store/sqlite/threaded-store.ts';
import type { Store } from '../src/store/store.ts';
import { monotonicMs } from './monotonic.ts';
import { answerParent } from './processes.ts';
import { SAMPLE } from './sample-mail.ts';

export interface SlowDiskJob {
  file: string;
  atMostMs: number;
}

export interface SlowDiskReport {
  p999Ms: number;
  maxMs: number;
  erased: number;
  accepted: number;
  seconds: number;
  /** As slowed. */
  fsyncMs: number;
  /** How often the log has begun anew, which ends a checkpoint. */
  checkpoints: number;
}

// As src/upkeep has it.
const SLICE_MS = 8;
const ACCEPTED_AT_ONCE = 10;
const ACCEPT_EVERY_MS = 20;

async function run({ file, atMostMs }: SlowDiskJob): Promise<SlowDiskReport> {
  const fsyncMs = fsyncTime(path.dirname(file));
  const store = await openThreadedStore({ file, onCheckpointFault: raise, onLost: raise });
  const accept = await acceptor(store);
  const delays = monitorEventLoopDelay({ resolution: 1 });
  const startedAtMs = monotonicMs();
  const endsAtMs = startedAtMs + atMostMs;
  let accepted = 0;
  let over = false;
  const accepting = async () => {
    for (; !over; await pause(ACCEPT_EVERY_MS)) {
      await Promise.all(Array.from({ length: ACCEPTED_AT_ONCE }, accept));
      accepted += ACCEPTED_AT_ONCE;
    }
  };
  delays.enable();
  const working = accepting();
  let erased = 0;
  const salts = new Set<string>();
  for (let more = true; more && monotonicMs() < endsAtMs; ) {
    const slice = await store.upkeep.eraseRecords(Date.now(), SLICE_MS);
    erased += slice.erased;
    salts.add(saltOfLog(file));
    more = slice.more;
  }
  over = true;
  await working;
  delays.disable();
  const seconds = (monotonicMs() - startedAtMs) / 1000;
  await store.close();
  return {
    p999Ms: delays.percentile(99.9) / 1e6,
    maxMs: delays.max / 1e6,
    erased,
    accepted,
    seconds,
    fsyncMs,
    checkpoints: salts.size - 1,
  };
}

// In the header of SQLite's write-ahead log; it is another one each time the log begins anew.
const SALT = { at: 16, octets: 8 };

function saltOfLog(file: string): string {
  const log = fs.openSync(`${file}-wal`, 'r');
  const salt = Buffer.alloc(SALT.octets);
  fs.readSync(log, salt, 0, SALT.octets, SALT.at);
  fs.closeSync(log);
  return salt.toString('hex');
}

function raise(error: unknown): never {
  throw error;
}

async function acceptor(store: Store): Promise<() => Promise<unknown>> {
  const [tenant] = await store.tenants.listTenants();
  const [domain] = await store.domains.listDomains(tenant!.id);
  const ids = new IdSource();
  return () => {
    const now = Date.now();
    const messageId = ids.next();
    const address = `fresh-${messageId}@in1.test`;
    return store.submissions.accept({
      ...{ id: ids.next(), tenantId: tenant!.id, apiKeyId: ids.next(), domainId: domain!.id },
      ...{ idempotencyKey: messageId, from: { address: 'orders@sender.test', name: null } },
      ...{ subject: SAMPLE.subject, html: SAMPLE.html, text: SAMPLE.text, headers: [] },
      recipients: [{ messageId, address, name: null, domain: 'in1.test', suppressionKey: address }],
      ...{ acceptedAt: now, expiresAt: now + 1e9 },
    });
  };
}

function fsyncTime(folder: string): number {
  const file = fs.openSync(path.join(folder, 'fsync'), 'a');
  const startedAtMs = monotonicMs();
  for (let count = 0; count < 10; count++) {
    fs.writeSync(file, 'x');
    fs.fsyncSync(file);
  }
  fs.closeSync(file);
  return (monotonicMs() - startedAtMs) / 10;
}

answerParent<SlowDiskJob, SlowDiskReport>(run);
