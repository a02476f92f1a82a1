// A process of its own for durability.test.ts: accepts submissions without end and prints each
// one's message id once it is answered. Arguments: database file, tenant id, domain id.
import { IdSource } from '../../src/base/ids.ts';
import { openThreadedStore } from '../../src/store/sqlite/threaded-store.ts';

const [file, tenantId, domainId] = process.argv.slice(2) as [string, string, string];
const PARALLEL = 16;
const ids = new IdSource();
// Small limits: within the life of one process the log is copied and begun anew many times.
const checkpointLimits = { copyFromPages: 50, restartFromPages: 200, shrinkFromBytes: 1_000_000 };
const raise = (error: unknown) => {
  throw error;
};
const store = await openThreadedStore({ file, checkpointLimits, onCheckpointFault: raise, onLost: raise });

async function acceptForever(): Promise<never> {
  for (;;) {
    const messageId = ids.next();
    const address = 'a@x.test';
    const now = Date.now();
    const result = await store.submissions.accept({
      id: ids.next(),
      tenantId,
      apiKeyId: ids.next(),
      domainId,
      idempotencyKey: messageId,
      from: { address: 'news@acme.test', name: null },
      subject: 'Hello',
      html: null,
      text: 'x'.repeat(2000),
      headers: [],
      recipients: [{ messageId, address, name: null, domain: 'x.test', suppressionKey: address }],
      acceptedAt: now,
      expiresAt: now + 1000,
    });
    if (result.kind !== 'accepted') throw new Error(result.kind);
    process.stdout.write(`${messageId}\n`);
  }
}

await Promise.all(Array.from({ length: PARALLEL }, acceptForever));
