// A whole life in a process of its own: starts the engine, delivers a message, closes, and must
// then end by itself, because nothing is open any more. `hang`: the server never answers the
// final dot. `broken`: the database fails from the moment of delivery on.
import type { StoreFaults } from '../../src/store/sqlite/engine/writing-connection.ts';
import { startDeliveryHarness } from '../support/delivery-harness.ts';
import { startMailSink } from '../support/mail-sink.ts';

const ending = process.argv[2];
const faults: StoreFaults = {};
const arrived = Promise.withResolvers<void>();
const sink = await startMailSink({
  onMail() {
    arrived.resolve();
    if (ending === 'broken') {
      faults.beforeCommit = () => {
        throw new Error('disk I/O error');
      };
    }
    return ending === 'hang' ? new Promise(() => {}) : null;
  },
});
const harness = await startDeliveryHarness({ port: sink.port, faults, limits: { lingerMs: 60_000 } });
harness.dns.set('rcpt.test', 'A', ['127.0.0.1']);
const [id] = await harness.send(['ann@rcpt.test']);
await arrived.promise;
if (ending === undefined) await harness.until(id!, ({ state }) => state === 'delivered');
await harness.stopDelivery(ending === undefined ? 5000 : 100);
await harness.close();
await sink.close();
process.stdout.write('closed\n');
