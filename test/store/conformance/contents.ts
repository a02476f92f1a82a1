// Conformance: what couriers read of a batch at once.
import type { Test } from 'tap';
import { type Bench, T0 } from './harness.ts';

export const contentCases = {
  'a batch is read in its order, up to a limit of memory': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const text = 'x'.repeat(20_000);
    const accepted = [];
    for (let index = 0; index < 10; index++) accepted.push(await bench.accept(domain, [`a${index}@x.test`], { text }));
    const batch = accepted.map(({ receipt }) => receipt.messageIds[0]!).reverse();
    const reader = bench.openContents();
    const some = await reader.readSome(batch);
    t.ok(some.length > 1 && some.length < batch.length, `${some.length} of ${batch.length}`);
    t.strictSame(some, await Promise.all(batch.slice(0, some.length).map(reader.read)), 'the same as one by one');
    t.equal((await reader.readSome(batch.slice(9))).length, 1);
    t.strictSame(await reader.readSome([]), []);
    reader.close();
    t.match(await reader.readSome(batch), [{ kind: 'unreadable', reason: /cannot be read/ }], 'never an exception');
  },

  'a batch of many small submissions is read in portions, and none is left out': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const batch: string[] = [];
    for (let index = 0; index < 40; index++) {
      const { receipt } = await bench.accept(domain, [`a${index}@x.test`]);
      batch.push(...receipt.messageIds);
    }
    const reader = bench.openContents();
    const read: unknown[] = [];
    while (read.length < batch.length) {
      const some = await reader.readSome(batch.slice(read.length));
      t.ok(some.length > 0 && some.length < batch.length, `${some.length} of ${batch.length}`);
      read.push(...some.map((result) => result.kind === 'content' && result.content.messageId));
    }
    t.strictSame(read, batch);
    reader.close();
  },

  'the recipients of a submission share what they have in common, however much it is': async (
    t: Test,
    bench: Bench,
  ) => {
    const { domain } = await bench.sender('acme.test');
    const to = Array.from({ length: 50 }, (_, index) => `a${index}@x.test`);
    const { receipt } = await bench.accept(domain, to, { html: 'x'.repeat(60_000), acceptedAt: T0 });
    const reader = bench.openContents();
    const some = await reader.readSome(receipt.messageIds);
    t.strictSame(
      some.map((result) => result.kind === 'content' && [result.content.messageId, result.content.to.address]),
      receipt.messageIds.map((messageId, index) => [messageId, to[index]]),
    );
    reader.close();
  },

  'what cannot be read stands at its place and stops nobody': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { receipt } = await bench.accept(domain, ['a@x.test', 'b@x.test']);
    const [first, last] = receipt.messageIds as [string, string];
    const reader = bench.openContents();
    const kinds = (await reader.readSome([first, bench.id(), last, 'no id'])).map(({ kind }) => kind);
    t.strictSame(kinds, ['content', 'unreadable', 'content', 'unreadable']);
    t.strictSame(await reader.readSome([bench.id()]), [
      { kind: 'unreadable', reason: 'the content of the message is missing' },
    ]);
    reader.close();
  },
};
