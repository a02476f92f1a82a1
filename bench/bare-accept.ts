// A process that is an accept path with nothing in it: hyper-express, JSON.parse, the three rows of
// an accepted message in the product's own tables, one commit for whatever came in one turn of the
// event loop, and 202 after it; checkpoints on a thread of their own, as the daemon's. No authentication, validation, look-up or log: what is between its
// rate and the daemon's is what all of those cost.
import HyperExpress from 'hyper-express';
import { CHECKPOINT_LIMITS } from '../src/store/sqlite/engine/checkpoint-plan.ts';
import { startCheckpointer } from '../src/store/sqlite/engine/checkpointer.ts';
import { checkpointInCommits, openForWriting } from '../src/store/sqlite/engine/database-file.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import { acceptedRows, type BareMessage } from './bare-inserts.ts';
import { answerParent } from './processes.ts';

export interface BareAcceptJob {
  /** Of the database; must not exist yet. */
  file: string;
}

export interface BareAcceptAnswer {
  httpPort: number;
}

interface Waiting {
  message: BareMessage;
  answer(messageId: string): void;
}

async function serve({ file }: BareAcceptJob): Promise<BareAcceptAnswer> {
  await (await openSqliteStore({ file })).close(); // makes the tables
  const db = openForWriting(file);
  const insert = acceptedRows(db);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  let waiting: Waiting[] = [];
  let paused = false;
  const checkpointer = startCheckpointer({
    ...{ file, limits: CHECKPOINT_LIMITS },
    checkpointInCommits: (on) => checkpointInCommits(db, on),
    pauseWriter(over) {
      paused = true;
      over.then(() => {
        paused = false;
        if (waiting.length > 0) commitGroup();
      });
    },
    onFault(error) {
      throw error;
    },
  });
  const commitGroup = () => {
    if (paused) return;
    const group = waiting;
    waiting = [];
    begin.run();
    const ids = group.map(({ message }) => insert(message));
    commit.run();
    checkpointer.committed();
    for (const [index, { answer }] of group.entries()) answer(ids[index]!);
  };
  const server = new HyperExpress.Server({ max_body_length: 5 * 1024 * 1024 });
  server.post('/emails', async (request, response) => {
    const body = await request.json();
    const message = { ...body, idempotencyKey: request.headers['idempotency-key'] ?? null } as BareMessage;
    waiting.push({
      message,
      answer: (id) => response.status(202).json({ id, message_ids: [id], rejected: [], replayed: false }),
    });
    if (waiting.length === 1) setImmediate(commitGroup);
  });
  await server.listen(0, '127.0.0.1');
  return { httpPort: server.port };
}

answerParent<BareAcceptJob, BareAcceptAnswer>(serve);
