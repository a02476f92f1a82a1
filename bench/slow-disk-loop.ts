// A process with the store's one writer and its checkpoint thread, as the daemon has them: accepts
// messages at a steady pace, erases the rows of all older ones in slices, and watches its event loop.
import fs from 'node:fs';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { IdSource } from '../src/base/ids.ts';
import { CHECKPOINT_LIMITS } from '../src/store/sqlite/checkpoint-plan.ts';
import { startCheckpointer } from '../src/store/sqlite/checkpointer.ts';
import { Connection } from '../src/store/sqlite/connection.ts';
import { checkpointInCommits, openForWriting } from '../src/store/sqlite/database-file.ts';
import { domainVerbs } from '../src/store/sqlite/domains.ts';
import { submissionVerbs } from '../src/store/sqlite/submissions.ts';
import { tenantVerbs } from '../src/store/sqlite/tenants.ts';
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
  /** How often the log has begun anew. */
  checkpoints: number;
}

// Rows whose erasing takes the writer some 5 ms, in which nobody else is served.
const SLICE_ROWS = 150;
const ACCEPTED_AT_ONCE = 10;
const ACCEPT_EVERY_MS = 20;

class Loop {
  readonly #connection: Connection;
  readonly #close: () => Promise<void>;
  checkpoints = 0;

  constructor(file: string) {
    const db = openForWriting(file);
    const connection = new Connection(db, { onGroup: () => checkpointer.committed() });
    const checkpointer = startCheckpointer({
      ...{ file, limits: CHECKPOINT_LIMITS },
      checkpointInCommits: (on) => checkpointInCommits(db, on),
      pauseWriter: (over) => {
        this.checkpoints++;
        connection.pause(over);
      },
      onFault(error) {
        throw error;
      },
    });
    this.#connection = connection;
    this.#close = async () => {
      await checkpointer.close();
      await connection.close();
    };
  }

  async run({ file, atMostMs }: SlowDiskJob): Promise<SlowDiskReport> {
    const fsyncMs = fsyncTime(path.dirname(file));
    const accept = await this.#acceptor();
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
    for (let after: Buffer | null = Buffer.alloc(16); after && monotonicMs() < endsAtMs; await turn()) {
      const from: Buffer = after;
      after = await this.#connection.writeMail(() => eraseSlice(this.#connection, from));
      if (after) erased += SLICE_ROWS;
    }
    over = true;
    await working;
    delays.disable();
    const seconds = (monotonicMs() - startedAtMs) / 1000;
    await this.#close();
    const [p999Ms, maxMs] = [delays.percentile(99.9) / 1e6, delays.max / 1e6];
    return { p999Ms, maxMs, erased, accepted, seconds, fsyncMs, checkpoints: this.checkpoints };
  }

  async #acceptor(): Promise<() => Promise<unknown>> {
    const db = this.#connection;
    const [tenant] = await tenantVerbs(db).listTenants();
    const [domain] = await domainVerbs(db).listDomains(tenant!.id);
    const { accept } = submissionVerbs(db);
    const ids = new IdSource();
    return () => {
      const now = Date.now();
      const messageId = ids.next();
      const address = `fresh-${messageId}@in1.test`;
      return accept({
        ...{ id: ids.next(), tenantId: tenant!.id, apiKeyId: ids.next(), domainId: domain!.id },
        ...{ idempotencyKey: messageId, from: { address: 'orders@sender.test', name: null } },
        ...{ subject: SAMPLE.subject, html: SAMPLE.html, text: SAMPLE.text, headers: [] },
        recipients: [{ messageId, address, name: null, domain: 'in1.test', suppressionKey: address }],
        ...{ acceptedAt: now, expiresAt: now + 1e9 },
      });
    };
  }
}

/** As old records are swept: a slice of ids by index, each with its rows in all indexes. The last id, or null. */
function eraseSlice(db: Connection, after: Buffer): Buffer | null {
  const oldest = db.sql(`SELECT id FROM messages WHERE id > ? AND state = 'deferred' ORDER BY id LIMIT ?`).pluck();
  const ids = oldest.all(after, SLICE_ROWS) as Buffer[];
  const erase = db.sql('DELETE FROM messages WHERE id = ?');
  for (const id of ids) erase.run(id);
  return ids.at(-1) ?? null;
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

answerParent<SlowDiskJob, SlowDiskReport>((job) => new Loop(job.file).run(job));
