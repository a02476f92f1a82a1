// One key, many calls: at the same time, over a restart, and over a kill in the middle. However
// often it is repeated, there is one submission, and everybody is told of that one.
import t, { type Test } from 'tap';
import { withDatabase } from '../support/database.ts';
import { RECEIVER } from '../support/world.ts';
import { type Answer, ContractClient } from './contract-client.ts';
import { type ContractWorld, type Sender, startContractWorld } from './contract-world.ts';
import { goodMail } from './stage.ts';

const CALLS = 200;

function sendAtOnce(client: ContractClient, { key, domain }: Sender, idempotencyKey: string): Promise<Answer>[] {
  const body = { ...goodMail(domain), to: [`a@${RECEIVER}`, `b@${RECEIVER}`] };
  const headers = { 'Idempotency-Key': idempotencyKey };
  return Array.from({ length: CALLS }, () => client.call('POST /emails', { key, body, headers }));
}

/** What the answers have in common: all accepted, all of one submission. */
function oneSubmission(t: Test, answers: Answer[]): string {
  t.ok(answers.every(({ status }) => status === 202));
  const receipts = new Set(answers.map(({ body: { replayed: _, ...receipt } }) => JSON.stringify(receipt)));
  t.equal(receipts.size, 1, 'all have the same ids');
  return [...receipts][0]!;
}

function countReplayed(answers: Answer[]): number {
  return answers.filter(({ body }) => body.replayed === true).length;
}

function countStored({ postrider }: ContractWorld, idempotencyKey: string): { submissions: number; messages: number } {
  return withDatabase(postrider.databaseFile, (db) => {
    const messages = 'SELECT count(*) FROM messages m WHERE m.submission_id = s.id';
    const rows = db.prepare(`SELECT (${messages}) AS messages FROM submissions s WHERE idempotency_key = ?`);
    const found = rows.all(idempotencyKey) as { messages: number }[];
    return { submissions: found.length, messages: found.reduce((sum, row) => sum + row.messages, 0) };
  });
}

for (const engine of ['uws', 'node'] as const) {
  t.test(`200 calls at once, and 200 more after a restart (${engine})`, async (t) => {
    const world = await startContractWorld(t, { engine });
    const [acme, rival] = [await world.addSender('acme.test'), await world.addSender('rival.test')];
    const first = await Promise.all(sendAtOnce(world.client, acme, 'at once'));
    const receipt = oneSubmission(t, first);
    t.equal(countReplayed(first), CALLS - 1);
    const theirs = await Promise.all(sendAtOnce(world.client, rival, 'at once'));
    t.not(oneSubmission(t, theirs), receipt, 'an equal key of another tenant is another submission');
    t.equal(countReplayed(theirs), CALLS - 1);
    t.same(await world.daemon.stop(), { code: 0, signal: null });

    const next = new ContractClient({ port: (await world.postrider.serve()).httpPort });
    t.teardown(() => next.close());
    const again = await Promise.all(sendAtOnce(next, acme, 'at once'));
    t.equal(oneSubmission(t, again), receipt, 'of the first submission');
    t.equal(countReplayed(again), CALLS);
    t.same(countStored(world, 'at once'), { submissions: 2, messages: 4 }, 'one of each tenant');
  });
}

t.test('a kill in the middle of 200 calls', async (t) => {
  const world = await startContractWorld(t);
  const acme = await world.addSender('acme.test');
  let { daemon } = world;
  // What the kill waits for: that the calls are on their way, or that the first one is answered.
  const moments: Record<string, (calls: Promise<Answer>[]) => Promise<unknown>> = {
    'at once': () => new Promise((resolve) => setImmediate(resolve)),
    'with the first answer': (calls) => Promise.race(calls),
    'with the fiftieth answer': (calls) => settled(calls, 50),
  };
  for (const [moment, wait] of Object.entries(moments)) {
    const client = new ContractClient({ port: daemon.httpPort });
    const calls = sendAtOnce(client, acme, moment);
    const outcomes = Promise.allSettled(calls);
    await wait(calls);
    await daemon.kill();
    const answered = (await outcomes).flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    client.close();

    daemon = await world.postrider.serve();
    const next = new ContractClient({ port: daemon.httpPort });
    const again = await Promise.all(sendAtOnce(next, acme, moment));
    next.close();
    oneSubmission(t, [...answered, ...again]);
    const processed = [...answered, ...again].filter(({ body }) => body.replayed === false);
    t.ok(processed.length <= 1, `killed ${moment}: ${answered.length} had an answer`);
    t.same(countStored(world, moment), { submissions: 1, messages: 2 });
  }
});

/** Resolves when so many of them have. */
function settled(calls: Promise<unknown>[], count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count;
    for (const call of calls) call.then(() => --left === 0 && resolve()).catch(() => {});
  });
}
