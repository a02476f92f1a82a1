// What couriers read while the database is away: they wait for it, and if that takes too long, they say that it was away.
import t, { type Test } from 'tap';
import { Unavailable } from '../../../../src/base/errors.ts';
import { openPostgresStore } from '../../../../src/store/postgres/open.ts';
import { openPostgresCourierReads } from '../../../../src/store/postgres/reads.ts';
import type { ContentReader } from '../../../../src/store/submissions.ts';
import { Bench } from '../../../store/conformance/harness.ts';
import { postgresMissing, startPostgres } from '../../../support/postgres-server.ts';
import { startTcpProxy } from '../../../support/tcp-proxy.ts';

const ATTACHMENT = { filename: 'a.txt', contentType: 'text/plain', contentId: null, content: Buffer.from('a') };

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t);
  const direct = server.url(await server.createDatabase());
  const proxy = await startTcpProxy(t, server);
  const store = await openPostgresStore({ url: direct });
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: () => open(t) });
  const { domain, tenant } = await bench.sender('acme.test');
  const { receipt } = await bench.accept(domain, ['a@x.test', 'b@x.test'], { attachments: [ATTACHMENT] });
  const [first] = receipt.messageIds as [string, string];

  function open(t: Test, readForMs?: number): ContentReader {
    const url = direct.replace(`:${server.port}/`, `:${proxy.port}/`);
    const { contents, transportSecurity } = openPostgresCourierReads(url, readForMs === undefined ? {} : { readForMs });
    t.teardown(() => {
      contents.close();
      transportSecurity.close();
    });
    return contents;
  }

  t.test('they wait until it is there again', async (t) => {
    const reader = open(t);
    await reader.read(first);
    proxy.refuse(true);
    proxy.cut();
    const asked = Promise.all([
      reader.read(first),
      reader.readSome(receipt.messageIds),
      reader.attachments(tenant.id, receipt.id),
    ]);
    // By then each has been refused.
    await t.rejects(open(t, 0).attachments(tenant.id, receipt.id));
    proxy.refuse(false);
    const [one, both, attachments] = await asked;
    t.match([one, ...both], [{ kind: 'content' }, { kind: 'content' }, { kind: 'content' }]);
    t.match(attachments, [{ filename: 'a.txt' }]);
  });

  t.test('when it is away for too long, they say so, and of what is not there something else', async (t) => {
    const reader = open(t, 0);
    const piece = { tenantId: tenant.id, submissionId: receipt.id, position: 0 };
    t.strictSame(await kindOf(reader.piece(piece)), 'Fault');
    t.match(await reader.read(bench.id()), { kind: 'unreadable', reason: /is missing/ });
    proxy.refuse(true);
    proxy.cut();
    t.match(await reader.readSome(receipt.messageIds), [{ kind: 'unavailable' }, { kind: 'unavailable' }]);
    t.strictSame(await kindOf(reader.attachments(tenant.id, receipt.id)), 'Unavailable');
    t.strictSame(await kindOf(reader.piece(piece)), 'Unavailable');
    proxy.refuse(false);
  });
});

async function kindOf(asked: Promise<unknown>): Promise<string> {
  const error = await asked.catch((error: unknown) => error);
  return error instanceof Unavailable ? 'Unavailable' : error instanceof Error ? error.constructor.name : 'answered';
}
