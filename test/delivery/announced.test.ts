// A server that loses what is said behind a message, as tenants and operators see it: everything is
// delivered at the first attempt, and the log says why mail goes there in turn.
import t from 'tap';
import type { Logger } from '../../src/observe/log.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { startPeer } from '../support/smtp-peer.ts';
import { isFinished, setOneMx, setUpFor } from './set-up.ts';

t.test('a server that takes announced commands for nonsense', async (t) => {
  const told: unknown[] = [];
  const log: Logger = { ...silentLogger, info: (facts, message) => void told.push({ ...(facts as object), message }) };
  const peer = await startPeer([
    async (c) => {
      await c.hearFirstAndCommands();
      c.say('250 took it', '500 5.5.2 what?', '500 5.5.2 what?', '500 5.5.2 what?');
      await c.closed();
    },
    async (c) => {
      await c.welcome('PIPELINING');
      for (let messages = 0; messages < 3; messages++) {
        await c.takeMessage();
        c.assertQuiet();
        c.say('250 took it');
      }
      await c.closed();
    },
  ]);
  t.teardown(() => peer.close());
  const harness = await setUpFor(t, peer.port, { log, limits: { sessionsPerGroup: 1 } });
  setOneMx(harness);
  const ids = await harness.send(['a', 'b', 'c', 'd'].map((name) => `${name}@rcpt.test`));
  const messages = await harness.untilAll(ids, isFinished);
  t.ok(messages.every(({ state, attempts }) => state === 'delivered' && attempts === 1));
  t.equal(peer.connections, 2);
  t.equal(peer.bodies.length, 4, 'each arrived once');
  const notes = told.filter((line) => /drops commands/.test(JSON.stringify(line)));
  t.match(notes, [{ mx: 'mx.rcpt.test', reason: '500 5.5.2 what?' }]);
});
