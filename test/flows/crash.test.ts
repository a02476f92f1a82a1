// kill -9 at random moments while clients send without a pause; `npm run chaos` does it a thousand times. What was
// answered 202, or 250 at the SMTP door, arrives, whatever happened; what arrives twice was on its way at a kill. The seed
// is printed; SEED=… repeats its choices, as far as a machine repeats itself.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { uuidToBytes } from '../../src/base/ids.ts';
import type { Installation } from '../support/daemon-process.ts';
import { lookInto, withDatabase } from '../support/database.ts';
import { findDoorAddress } from '../support/door-client.ts';
import { patience } from '../support/patience.ts';
import { until } from '../support/until.ts';
import { registerSender, startWorld } from '../support/world.ts';
import { Arrivals } from './arrivals.ts';
import { OrderingClient, type Scene } from './ordering-client.ts';

const KILLS = 12;
const CLIENTS = 8;
/** Of the first client: stored in three pieces. */
const LARGE_BYTES = 600_000;
const SMALL_BYTES = 1000;
/** On a quiet machine a kill comes at a random moment of so long after the daemon was ready … */
const LONGEST_LIFE_MS = 400;
/** … and every fourth one this soon after it was started, while it is still reading its queue. */
const LONGEST_START_MS = 700;

t.test('nothing that was promised is lost', async (t) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  const random = seededRandom(seed);
  const arrivals = new Arrivals();
  const address = await findDoorAddress();
  const { postrider, dns } = await startWorld(t, {
    sink: { onMail: (mail) => arrivals.take(mail) },
    settings: { ...address, delivery: { retry_steps: ['100ms'], connections_per_destination: 3 } },
  });
  const scene: Scene = { door: address.submission, daemon: await postrider.serve(), killed: new Set(), over: false };
  const sender = await registerSender({ dns, postrider }, scene.daemon);

  const clients = Array.from({ length: CLIENTS }, (_, index) => {
    const mailBytes = index === 0 ? LARGE_BYTES : SMALL_BYTES;
    return new OrderingClient(scene, sender, { name: `client-${index}`, mailBytes });
  });
  const working = Promise.all(clients.map((client) => client.work()));
  working.catch(() => {}); // is looked at below
  const cutOff = new Map<string, number>();
  for (let kill = 1; kill <= KILLS; kill++) {
    const early = kill % 4 === 0;
    if (!early) await scene.daemon.ready;
    await pause(random() * patience(early ? LONGEST_START_MS : LONGEST_LIFE_MS));
    scene.killed.add(scene.daemon);
    await scene.daemon.kill();
    for (const id of onTheirWay(t, postrider)) cutOff.set(id, (cutOff.get(id) ?? 0) + 1);
    scene.daemon = postrider.spawn();
  }
  await scene.daemon.ready;
  scene.over = true;
  await working;

  const queued = new Map(clients.flatMap((client) => [...client.queued]));
  const promised = new Set([...clients.flatMap((client) => client.promised), ...[...queued.values()].flat()]);
  const lost = await arrivals.missing(promised);
  t.same(lost, [], `note: SEED=${seed}: every message that was promised with a 202 or a 250 arrived`);
  const inAll = [...cutOff.values()].reduce((sum, times) => sum + times, 0);
  const replays = clients.reduce((sum, client) => sum + client.replays, 0);
  const facts = {
    promised: promised.size,
    queued: queued.size,
    replays,
    duplicates: arrivals.duplicates,
    onTheirWay: inAll,
  };
  const about = `after ${KILLS} kills: ${JSON.stringify(facts)}`;
  t.ok(promised.size > 2 * KILLS, `note: ${about}: the clients got something done between the kills`);
  t.ok(queued.size > 0, 'at the SMTP door, too');
  t.same(arrivals.altered, [], 'the pieces of a mail are its own, and all of them');
  t.ok(inAll > 0, 'the kills hit messages on their way');
  const unexplained = [...arrivals.times].filter(([id, times]) => times > 1 + (cutOff.get(id) ?? 0));
  t.same(unexplained, [], 'nothing arrived twice but what was on its way at a kill');
  const takenTwice = [...arrivals.idsByRecipient].filter(([, ids]) => ids.size > 1);
  t.same(takenTwice, [], 'a repeated call with its idempotency key is taken in once');

  // What was taken in without an answer may still be waiting: nobody has waited for it.
  const waiting = 'SELECT count(*) FROM messages WHERE finished_at IS NULL';
  const isDone = () => withDatabase(postrider.databaseFile, (db) => db.prepare(waiting).pluck().get() === 0);
  await until('all that was taken in has ended', isDone);
  t.same(await scene.daemon.stop(), { code: 0, signal: null });
  const { integrity, states } = lookInto(postrider.databaseFile);
  t.equal(integrity, 'ok');
  t.same(readSubmissions(postrider.databaseFile, [...queued.keys()]), queued, 'a reply names the submission');
  t.same(Object.keys(states), ['delivered'], 'what came in without an answer was delivered as well');
  t.equal(states.delivered, arrivals.times.size);
});

/** The recipients of these. */
function readSubmissions(file: string, ids: readonly string[]): Map<string, string[]> {
  return withDatabase(file, (db) => {
    const recipients = db.prepare('SELECT recipient FROM messages WHERE submission_id = ? ORDER BY id').pluck();
    return new Map(ids.map((id) => [id, recipients.all(uuidToBytes(id)) as string[]]));
  });
}

/** Messages that the killed daemon had in hand, seen in a copy: recovery is left to the next daemon. */
function onTheirWay(t: Test, { folder, databaseFile }: Installation): string[] {
  const copy = path.join(folder, 'copy.db');
  for (const suffix of ['', '-wal']) fs.copyFileSync(databaseFile + suffix, copy + suffix);
  const { integrity, sending } = lookInto(copy);
  if (integrity !== 'ok') t.fail(`after a kill the integrity check says: ${integrity}`);
  return sending;
}

/** Mulberry32: small, and the same everywhere. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
