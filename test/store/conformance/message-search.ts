// Conformance: finding messages. The same cases run with and without marks of recipients, which must
// make no difference to what is found.
import type { Test } from 'tap';
import type { MessageSearch } from '../../../src/store/reads.ts';
import { type Bench, countAll, LIFETIME_MS, T0 } from './harness.ts';

const PATIENT = { limit: 100, budgetMs: 60_000 };
/** As many as one stretch of marks has in the SQLite driver, and some. */
const MANY = 1100;

async function find(bench: Bench, tenantId: string, search: Partial<MessageSearch> = {}) {
  const outcome = await bench.reads().searchMessages(tenantId, { ...PATIENT, ...search });
  if (outcome.kind === 'refused') throw new Error(outcome.reason);
  return outcome.value;
}

async function recipients(bench: Bench, tenantId: string, search: Partial<MessageSearch> = {}) {
  return (await find(bench, tenantId, search)).messages.map(({ recipient }) => recipient);
}

export const messageSearchCases = {
  'newest first, with everything that a list shows': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    await bench.accept(domain, ['a@x.test']);
    await bench.accept(domain, ['B@x.test'], { subject: 'Second', acceptedAt: T0 + 1 });
    const page = await find(bench, tenant.id);
    t.match(page, { next: null, stoppedEarly: false });
    t.strictSame(
      page.messages.map(({ recipient, subject }) => [recipient, subject]),
      [
        ['B@x.test', 'Second'],
        ['a@x.test', 'Hello'],
      ],
    );
    t.match(page.messages[0], { state: 'queued', from: 'news@acme.test', attempts: 0, parked: false, bounce: null });
    t.match(page.messages[0], { recipientName: null, lastReason: null, complained: false, createdAt: T0 + 1 });
  },

  'a tenant finds its own messages alone': async (t: Test, bench: Bench) => {
    const one = await bench.sender('one.test');
    const other = await bench.sender('other.test');
    await bench.accept(one.domain, ['joe@x.test']);
    const joe = { recipient: 'joe@x.test', recipientDomain: 'x.test' };
    t.strictSame(await recipients(bench, other.tenant.id), []);
    t.strictSame(await recipients(bench, other.tenant.id, joe), []);
    t.strictSame(await recipients(bench, other.tenant.id, { senderDomain: 'one.test' }), []);
    t.strictSame(await recipients(bench, one.tenant.id, joe), ['joe@x.test']);
  },

  'each filter, and all together': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const second = await bench.verifiedDomain(tenant.id, 'second.test');
    const [key, otherKey] = [bench.id(), bench.id()];
    await bench.accept(domain, ['joe@x.test', 'ann@y.test'], { apiKeyId: key });
    await bench.accept(second, ['Joe@X.test'], { apiKeyId: otherKey });
    const message = await bench.sending(domain, 'gone@z.test');
    await bench.store.queue.record([bench.update(message, { to: 'failed', reason: 'too old' })]);
    const found = (search: Partial<MessageSearch>) => recipients(bench, tenant.id, search);
    t.strictSame(await found({ state: 'failed' }), ['gone@z.test']);
    t.strictSame(await found({ recipient: 'joe@x.test', recipientDomain: 'x.test' }), ['Joe@X.test', 'joe@x.test']);
    t.strictSame(await found({ recipientDomain: 'y.test' }), ['ann@y.test']);
    t.strictSame(await found({ recipientDomain: 'nowhere.test' }), []);
    t.strictSame(await found({ senderDomain: 'second.test' }), ['Joe@X.test']);
    t.strictSame(await found({ senderDomain: 'third.test' }), []);
    t.strictSame(await found({ apiKeyId: key }), ['ann@y.test', 'joe@x.test']);
    const all = { recipient: 'joe@x.test', recipientDomain: 'x.test', senderDomain: 'acme.test', apiKeyId: key };
    t.strictSame(await found({ ...all, state: 'queued', from: 0, until: Date.now() + 60_000 }), ['joe@x.test']);
    t.strictSame(await found({ ...all, state: 'delivered' }), []);
    t.strictSame(await found({ ...all, apiKeyId: otherKey }), []);
  },

  'by part of a subject, an address or an ID': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const other = await bench.sender('other.test');
    await bench.accept(domain, ['a@x.test', 'b@x.test'], { subject: 'Your Order 4711 – Grüße' });
    await bench.accept(domain, ['c@x.test'], { subject: '100 % off' });
    await bench.accept(other.domain, ['d@x.test'], { subject: 'Your order' });
    const found = (search: Partial<MessageSearch>) => recipients(bench, tenant.id, search);
    t.strictSame(await found({ textPart: 'oRDER 47' }), ['b@x.test', 'a@x.test']);
    t.strictSame(await found({ textPart: 'Grüße' }), ['b@x.test', 'a@x.test']);
    t.strictSame(await found({ textPart: '0 %' }), ['c@x.test'], 'no character is special');
    t.strictSame(await found({ textPart: '_' }), []);
    t.strictSame(await found({ textPart: 'C@X' }), ['c@x.test'], 'of the recipient');
    const [ofFirst] = (await find(bench, tenant.id, { recipient: 'a@x.test', recipientDomain: 'x.test' })).messages;
    const digits = (id: string) => id.replaceAll('-', '');
    t.strictSame(await found({ idPart: digits(ofFirst!.id) }), ['a@x.test']);
    t.strictSame(await found({ idPart: digits(ofFirst!.id).slice(14) }), ['a@x.test'], 'its end');
    t.strictSame(await found({ idPart: digits(ofFirst!.submissionId).slice(10) }), ['b@x.test', 'a@x.test']);
    t.strictSame(await found({ idPart: digits(bench.id()) }), []);
  },

  'letters beyond ASCII are found as they are written': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const from = { address: 'Ümit@acme.test', name: null };
    await bench.accept(domain, ['a@x.test'], { subject: 'Überweisung an ÄRZTE', from });
    await bench.accept(domain, ['Ünder@x.test'], { subject: 'Приказ' });
    const found = (search: Partial<MessageSearch>) => recipients(bench, tenant.id, search);
    for (const textPart of ['Überweisung', 'ÜBERweisung AN Ärz', 'n ÄRZTE']) {
      t.strictSame(await found({ textPart }), ['a@x.test'], textPart);
    }
    for (const textPart of ['Приказ', 'Ünder', 'ÜNDER@x'])
      t.strictSame(await found({ textPart }), ['Ünder@x.test'], textPart);
    t.strictSame(await found({ textPart: 'überweisung' }), [], 'case is ignored in ASCII alone');
    const under = (recipient: string) => found({ recipient, recipientDomain: 'x.test' });
    t.strictSame(await under('Ünder@x.test'), ['Ünder@x.test']);
    t.strictSame(await under('ÜNDER@X.test'), ['Ünder@x.test']);
    t.strictSame(await found({ sender: 'ÜMIT@acme.test', senderDomain: 'acme.test' }), ['a@x.test']);
  },

  'by tag, and by the exact sender': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const other = await bench.sender('other.test');
    const spring = { tags: { campaign: 'spring', kind: 'news' }, metadata: { campaign: 'autumn' } };
    await bench.accept(domain, ['a@x.test', 'b@x.test'], { labels: spring });
    await bench.accept(domain, ['c@x.test'], { labels: { tags: { campaign: 'autumn' }, metadata: null } });
    await bench.accept(domain, ['d@x.test'], { labels: { tags: null, metadata: { kind: 'news' } } });
    await bench.accept(domain, ['plain@x.test']);
    await bench.accept(other.domain, ['e@x.test'], { labels: spring });
    const found = (name: string, value: string, search: Partial<MessageSearch> = {}) =>
      recipients(bench, tenant.id, { tag: { name, value }, ...search });
    t.strictSame(await found('campaign', 'spring'), ['b@x.test', 'a@x.test']);
    t.strictSame(await found('campaign', 'autumn'), ['c@x.test']);
    t.strictSame(await found('campaign', 'Spring'), [], 'case counts');
    t.strictSame(await found('spring', 'campaign'), []);
    t.strictSame(await found('kind', 'news', { recipient: 'A@x.test', recipientDomain: 'x.test' }), ['a@x.test']);
    const labels = async (recipient: string) =>
      (await find(bench, tenant.id, { recipient, recipientDomain: 'x.test' })).messages[0]!.labels;
    t.strictSame(await labels('a@x.test'), spring);
    t.equal(await labels('plain@x.test'), null);
    const from = (sender: string) => recipients(bench, tenant.id, { senderDomain: 'acme.test', sender, limit: 1 });
    t.strictSame(await from('News@acme.test'), ['plain@x.test']);
    t.strictSame(await from('other@acme.test'), []);
  },

  'an address is found in all of its spellings': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const from = (address: string) => ({ from: { address, name: null } });
    await bench.accept(domain, ['Jo@b\u00fccher.test', 'j@b\u00fccher.test', 'jo@x.test'], from('News@ACME.test'));
    await bench.accept(domain, ['jo@B\u00dcCHER.test'], from('"news"@acme.test'));
    await bench.accept(domain, ['jo@xn--bcher-kva.test', '"a b"@x.test'], from('new@acme.test'));
    await bench.accept(
      domain,
      ['"jo"@x.test', '"jo@x.test"@x.test', 'jo.s@x.test', 'xjo@x.test'],
      from('xnews@acme.test'),
    );
    const books = ['jo@xn--bcher-kva.test', 'jo@B\u00dcCHER.test', 'Jo@b\u00fccher.test'];
    const check = async () => {
      for (const recipient of [...books, 'jo@XN--BCHER-KVA.test', 'JO@bu\u0308cher.test', '"jo"@b\u00fccher.test']) {
        const found = await recipients(bench, tenant.id, { recipient, recipientDomain: 'xn--bcher-kva.test' });
        t.strictSame(found, books, recipient);
      }
      const atX = (recipient: string) => recipients(bench, tenant.id, { recipient, recipientDomain: 'x.test' });
      t.strictSame(await atX('jo@X.test'), ['"jo"@x.test', 'jo@x.test']);
      t.strictSame(await atX('"JO"@x.test'), ['"jo"@x.test', 'jo@x.test']);
      t.strictSame(await atX('"A b"@x.test'), ['"a b"@x.test']);
      t.strictSame(await atX('"jo@x.test"@x.test'), ['"jo@x.test"@x.test']);
      const sent = await recipients(bench, tenant.id, { sender: 'news@acme.test', senderDomain: 'acme.test' });
      t.strictSame(sent, ['jo@B\u00dcCHER.test', 'jo@x.test', 'j@b\u00fccher.test', 'Jo@b\u00fccher.test']);
    };
    await check();
    await acceptMany(bench, (await bench.sender('other.test')).domain, MANY);
    t.equal(await bench.store.upkeep.markRecipients(Date.now() + 60_000), true);
    await check();
  },

  'a limit on what is scanned ends a page early, a full one has no such end': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    await bench.accept(domain, ['joe@y.test']);
    await acceptMany(bench, domain, MANY);
    const joe = { recipientDomain: 'y.test', maxScanned: 1 };
    const first = await find(bench, tenant.id, joe);
    t.match(first, { messages: [], stoppedEarly: true, next: String });
    t.ok(first.scanned < MANY, `${first.scanned} scanned`);
    const whole = await find(bench, tenant.id, { ...joe, maxScanned: 10 * MANY });
    t.match(whole, { messages: [{ recipient: 'joe@y.test' }], stoppedEarly: false, next: null });
    t.equal((await find(bench, tenant.id, { maxScanned: 1, limit: 5 })).stoppedEarly, false);
  },

  'time is that of acceptance: from is in, until is not': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    for (const minute of [0, 1, 2]) await acceptAt(bench, domain, `m${minute}@x.test`, { at: T0 + minute * 60_000 });
    const found = (search: Partial<MessageSearch>) => recipients(bench, tenant.id, search);
    t.strictSame(await found({ from: T0 + 60_000 }), ['m2@x.test', 'm1@x.test']);
    t.strictSame(await found({ until: T0 + 60_000 }), ['m0@x.test']);
    t.strictSame(await found({ from: T0, until: T0 + 60_001 }), ['m1@x.test', 'm0@x.test']);
  },

  'time is that of acceptance also where the ID was made a moment later': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const at = T0 + 60_000;
    await acceptAt(bench, domain, 'late@x.test', { at, idsAt: at + 900 });
    const found = (search: Partial<MessageSearch>) => recipients(bench, tenant.id, search);
    t.strictSame(await found({ until: at + 1 }), ['late@x.test']);
    t.strictSame(await found({ from: at, until: at + 1 }), ['late@x.test']);
    t.strictSame(await found({ from: at + 1 }), []);
    t.strictSame(await found({ until: at }), []);
  },

  'pages follow each other without a gap': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    for (let number = 0; number < 7; number++) await bench.accept(domain, [`m${number}@x.test`]);
    const seen: string[] = [];
    for (let olderThan: string | null | undefined; olderThan !== null; ) {
      const page = await find(bench, tenant.id, { limit: 3, ...(olderThan && { olderThan }) });
      seen.push(...page.messages.map(({ recipient }) => recipient));
      olderThan = page.next;
    }
    t.strictSame(
      seen,
      ['m6', 'm5', 'm4', 'm3', 'm2', 'm1', 'm0'].map((name) => `${name}@x.test`),
    );
  },

  'without time it says how far it came, and goes on from there': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    await bench.accept(domain, ['joe@y.test']);
    await acceptMany(bench, domain, MANY);
    let rounds = 0;
    const seen: string[] = [];
    for (let olderThan: string | null | undefined; olderThan !== null; rounds++) {
      const page = await find(bench, tenant.id, {
        recipientDomain: 'y.test',
        budgetMs: 0,
        ...(olderThan && { olderThan }),
      });
      seen.push(...page.messages.map(({ recipient }) => recipient));
      t.equal(page.stoppedEarly, page.next !== null);
      olderThan = page.next;
    }
    t.strictSame(seen, ['joe@y.test']);
    t.ok(rounds > 1, `in ${rounds} rounds`);
  },

  'marks change nothing about what is found': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const other = await bench.sender('other.test');
    const joe = { recipient: 'joe@x.test', recipientDomain: 'x.test' };
    await bench.accept(domain, ['Joe@x.test'], { subject: 'oldest' });
    await bench.accept(other.domain, ['joe@x.test']);
    await acceptMany(bench, domain, MANY);
    await bench.accept(domain, ['joe@x.test'], { subject: 'newest' });
    const subjects = async (search: Partial<MessageSearch> = {}) =>
      (await find(bench, tenant.id, { ...joe, ...search })).messages.map(({ subject }) => subject);
    t.strictSame(await subjects(), ['newest', 'oldest']);
    t.equal(await bench.store.upkeep.markRecipients(0), false, 'nothing is old enough');
    const settled = Date.now() + 60_000;
    t.equal(await bench.store.upkeep.markRecipients(settled), true);
    t.equal(await bench.store.upkeep.markRecipients(settled), false, 'the rest is no whole stretch');
    t.strictSame(await subjects(), ['newest', 'oldest']);
    t.strictSame(await subjects({ state: 'queued' }), ['newest', 'oldest']);
    t.strictSame(await subjects({ limit: 1 }), ['newest']);
    const [newest] = (await find(bench, tenant.id, joe)).messages;
    t.strictSame(await subjects({ olderThan: newest!.id }), ['oldest']);
    t.strictSame(await subjects({ recipient: 'jim@x.test' }), []);
    const first = await find(bench, tenant.id, { recipient: 'jim@x.test', recipientDomain: 'x.test', budgetMs: 0 });
    t.match(first, { stoppedEarly: true, messages: [] });
    t.equal(await bench.store.upkeep.forgetRecipientMarks(10), 0, 'their messages are there');
  },

  'marks of a clock that was ahead hide nothing when it is set back': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    await acceptMany(bench, domain, 1000);
    const ahead = Date.now() + 86_400_000;
    const early = Array.from({ length: 100 }, (_, index) => `early-${index}@x.test`);
    await acceptAt(bench, domain, early, { at: ahead });
    t.equal(await bench.store.upkeep.markRecipients(ahead + 60_000), true);
    await bench.accept(domain, ['zoe@x.test']);
    for (let more = true; more; ) more = await bench.store.upkeep.markRecipients(Date.now() + 60_000);
    const found = (recipient: string) => recipients(bench, tenant.id, { recipient, recipientDomain: 'x.test' });
    t.strictSame(await found('zoe@x.test'), ['zoe@x.test']);
    t.strictSame(await found('early-7@x.test'), ['early-7@x.test']);
    t.equal(await bench.store.upkeep.markRecipients(ahead + 60_000), true, 'they are marked when their time has come');
    t.strictSame(await found('zoe@x.test'), ['zoe@x.test']);
  },

  'marks go with their messages': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const lane = await acceptMany(bench, domain, MANY);
    t.equal(await bench.store.upkeep.markRecipients(Date.now() + 60_000), true);
    for (
      let claimed = await bench.claim(lane, T0, 200);
      claimed.length > 0;
      claimed = await bench.claim(lane, T0, 200)
    ) {
      await bench.store.queue.record(claimed.map((message) => bench.update(message, { to: 'failed', reason: 'gone' })));
    }
    await countAll(bench.store);
    for (let more = true; more; ) more = (await bench.store.upkeep.eraseRecords(T0 + LIFETIME_MS, 1000)).more;
    await bench.accept(domain, ['a@x.test']);
    t.equal(await bench.store.upkeep.forgetRecipientMarks(10), 1);
    t.equal(await bench.store.upkeep.forgetRecipientMarks(10), 0);
  },
};

type Domain = Parameters<Bench['accept']>[0];

/** Fifty to a submission, at x.test. */
async function acceptMany(bench: Bench, domain: Domain, messages: number): Promise<number> {
  let lane = 0;
  for (let done = 0; done < messages; done += 50) {
    const to = Array.from({ length: 50 }, (_, index) => `customer-${done + index}@x.test`);
    lane = (await bench.accept(domain, to)).lanes[0]!.lane;
  }
  return lane;
}

/** With IDs of that time, unless they are given another, as the daemon makes them. */
async function acceptAt(
  bench: Bench,
  domain: Domain,
  to: string | string[],
  { at, idsAt = at }: { at: number; idsAt?: number },
): Promise<void> {
  const hex = idsAt.toString(16).padStart(12, '0');
  const timed = (id: string) => `${hex.slice(0, 8)}-${hex.slice(8)}${id.slice(13)}`;
  const submission = bench.submission(domain, [to].flat(), { acceptedAt: at });
  const recipients = submission.recipients.map((each) => ({ ...each, messageId: timed(each.messageId) }));
  await bench.store.submissions.accept({ ...submission, recipients });
}
