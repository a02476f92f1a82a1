// Opens and clicks on their way to the thread that writes them: small parcels, soon sent, never more than the other
// side can take; and through the real thread into the database.
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import type { Hit } from '../../src/links/hit-recorder.ts';
import { HitSender } from '../../src/links/hit-sender.ts';
import { HIT_VERBS, type HitVerbs } from '../../src/links/hit-verbs.ts';
import { hitText, readHits } from '../../src/links/sent-hits.ts';
import { type Facts, silentLogger } from '../../src/observe/log.ts';
import type { LogLine } from '../../src/store/sqlite/engine/writer-messages.ts';
import { openThreadedStore } from '../../src/store/sqlite/threaded-store.ts';
import { openContentReader } from '../../src/store/sqlite/verbs/contents.ts';
import { Bench, T0 } from '../store/conformance/harness.ts';
import { testFolder } from '../support/test-folder.ts';

const SAFARI = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 "é"\tVersion/26.0 Safari/605.1.15';

function someHit(change: Partial<Hit> = {}): Omit<Hit, 'at'> {
  const subject = { messageId: 'm', tenantId: 't' };
  return {
    subject,
    link: 2,
    linkCount: 3,
    url: 'https://x.test/?a=ü',
    ip: '2001:db8::1',
    userAgent: SAFARI,
    ...change,
  };
}

class Desk implements HitVerbs {
  readonly parcels: Hit[][] = [];
  readonly answers = Promise.withResolvers<void>();
  closed = false;
  #onParcel = () => {};

  took(parcels: number): Promise<void> {
    return new Promise((resolve) => {
      this.#onParcel = () => {
        if (this.parcels.length === parcels) resolve();
      };
    });
  }

  takeHits(sent: string): Promise<void> {
    this.parcels.push(readHits(sent));
    this.#onParcel();
    return this.answers.promise;
  }

  async closeHits(): Promise<void> {
    this.closed = true;
  }
}

function postTo(desk: HitVerbs) {
  const told: [level: string, facts: Facts, message: string][] = [];
  const log = {
    ...silentLogger,
    warn: (facts: Facts, message: string) => void told.push(['warn', facts, message]),
    error: (facts: Facts, message: string) => void told.push(['error', facts, message]),
  };
  return { told, post: new HitSender({ verbs: desk, clock: { now: () => T0 }, log }) };
}

t.test('they arrive as they were noted, in small parcels, and the rest a moment later', async (t) => {
  const desk = new Desk();
  const { post } = postTo(desk);
  const hits = Array.from({ length: 120 }, (_, at) => someHit({ link: at % 3 === 0 ? null : at, userAgent: null }));
  hits[7] = someHit();
  for (const hit of hits) post.note(hit);
  t.strictSame(
    desk.parcels.map(({ length }) => length),
    [50, 50],
  );
  await desk.took(3);
  t.strictSame(
    desk.parcels.flat(),
    hits.map((hit) => ({ ...hit, at: T0 })),
  );
  await post.close();
});

t.test('what is noted before the end is sent, what comes later is not', async (t) => {
  const desk = new Desk();
  const { post } = postTo(desk);
  post.note(someHit());
  await post.close();
  post.note(someHit());
  t.match(desk, { parcels: { length: 1 }, closed: true });
});

t.test('when nobody takes them, only so many wait; the operator is told of the rest', async (t) => {
  const desk = new Desk();
  const { post, told } = postTo(desk);
  const long = someHit({ userAgent: 'x'.repeat(16_000) });
  const each = hitText({ ...long, at: T0 }).length;
  const most = Math.ceil(8_000_000 / each);
  for (let n = 0; n < most + 7; n++) post.note(long);
  t.ok(desk.parcels.flat().length <= most);
  t.strictSame(told, []);
  desk.answers.resolve();
  await new Promise(setImmediate);
  post.note(long);
  await post.close();
  t.equal(desk.parcels.flat().length, most + 1, 'once some are taken there is room again');
  t.match(told, [['warn', { dropped: 7 }, /too many opens and clicks/]]);
  t.equal(told.length, 1);
});

t.test('what the other side cannot take is told of', async (t) => {
  const desk = new Desk();
  const { post, told } = postTo(desk);
  post.note(someHit());
  desk.answers.reject(new Error('the thread that writes has ended'));
  await post.close();
  await desk.answers.promise.catch(() => {});
  t.match(told, [['error', { hits: 1 }, 'opens and clicks are lost']]);
});

t.test("on the daemon's writing thread they become events, and its troubles reach the log", async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  const onTrouble = (error: unknown) => t.fail(String(error));
  const troubled = Promise.withResolvers<LogLine>();
  const store = await openThreadedStore<HitVerbs>({
    file,
    thread: { entry: new URL('../../src/daemon/writer-thread.ts', import.meta.url), verbs: HIT_VERBS },
    ...{ onCheckpointFault: onTrouble, onLost: onTrouble, onLogLine: troubled.resolve },
  });
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  const { domain } = await bench.sender('acme.test');
  const { lanes } = await bench.accept(domain, ['a@x.test']);
  const [message] = await bench.claim(lanes[0]!.lane, T0, 1);
  await store.queue.record([bench.attempted(message!, { to: 'delivered' })]);
  const subject = { messageId: message!.id, tenantId: message!.tenantId };
  const { post } = postTo(store);

  const other = new Database(file);
  other.exec('BEGIN IMMEDIATE');
  for (let n = 0; n < 60; n++) post.note(someHit({ subject }));
  const { level, message: told } = await troubled.promise;
  t.match(`${level}: ${told}`, /^error: opens and clicks could not be written, and are kept: .*locked/);
  other.close();
  post.note(someHit({ subject, link: null, linkCount: 0, url: '' }));
  await post.close();
  const events = await store.events.eventsOfMessage(subject.tenantId, subject.messageId);
  const clicked = events.find(({ type }) => type === 'email.clicked');
  t.match(clicked?.data.click, { url: 'https://x.test/?a=ü', link_index: 2, ip: '2001:db8::1', user_agent: SAFARI });
  t.ok(events.some(({ type }) => type === 'email.opened'));
  t.match(
    (await store.tracking.findTracked(subject.tenantId, subject.messageId))?.links.map(({ hits }) => hits).sort(),
    [1, 60],
  );
});
