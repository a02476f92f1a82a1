// A database that takes nothing at the moment of a delivery, and a daemon that is killed then: the message was
// answered 250, so the next daemon knows that from the journal and sends it to nobody again.
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { RECEIVER, registerSender, send, startWorld, stateOf } from '../support/world.ts';

t.test('killed before a result could be stored: nothing is sent again', async (t) => {
  let other: Database.Database | null = null;
  const world = await startWorld(t, {
    sink: {
      // Somebody keeps the database locked from the moment of delivery on.
      onMail() {
        if (other === null) {
          other = new Database(world.postrider.databaseFile);
          other.exec('BEGIN IMMEDIATE');
        }
        return null;
      },
    },
  });
  t.teardown(() => other?.close());
  const { postrider, sink } = world;
  const first = await postrider.serve();
  const sender = await registerSender(world, first);
  const [id] = await send(first, sender, `ann@${RECEIVER}`);
  await first.until(() => first.lines.some(({ msg }) => msg.startsWith('results could not be stored')), 'tell of it');
  t.match(
    fs
      .readFileSync(path.join(postrider.folder, 'data', 'results.journal'))
      .subarray(0, 4000)
      .toString(),
    id!,
  );
  const { stdout } = await postrider.runHere('doctor', 'daemon', '--json');
  t.match(JSON.parse(stdout), { unstored_results: { messages: 1, reason: /locked|busy/i, is_alarm: false } });
  await first.kill();
  other!.exec('ROLLBACK');

  const second = await postrider.serve();
  t.equal(await stateOf(second, sender, id!), 'delivered');
  t.ok(second.lines.some(({ msg }) => msg.startsWith('stored results that an earlier run could not store')));
  const [beside] = await send(second, sender, `bob@${RECEIVER}`);
  await second.logged({ fact: 'delivered', message_id: beside! });
  t.equal(sink.mails.length, 2, 'one of each');
});
