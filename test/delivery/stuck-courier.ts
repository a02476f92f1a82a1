// A courier thread that is stuck in its first session, as the test that starts it wishes; without
// a wish it is the real one.
// asleep: the whole thread stands still before it has taken anything; deaf: it does so with the
// first batch in hand. mute: the thread lives, the session does nothing with what it has taken,
// and those after it are real.
import { once } from 'node:events';
import { getEnvironmentData, parentPort, workerData } from 'node:worker_threads';
import type { CourierReceipt, CourierSettings, CourierTaskMessage } from '../../src/delivery/courier/messages.ts';

const wish = getEnvironmentData('stuck-courier');
const standStill = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);

async function takeFirstBatch() {
  const [{ port }] = (await once(parentPort!, 'message')) as [CourierTaskMessage];
  await once(port, 'message');
  port.postMessage({ kind: 'taken' } satisfies CourierReceipt);
  port.on('message', () => {});
}

if (wish === 'asleep') parentPort!.once('message', standStill);
else if (wish === 'deaf') {
  await takeFirstBatch();
  standStill();
} else {
  if (wish === 'mute') {
    const { heartbeatMs } = workerData as CourierSettings;
    const beats = setInterval(() => parentPort!.postMessage({ kind: 'alive' }), heartbeatMs);
    await takeFirstBatch();
    clearInterval(beats);
  }
  await import('../../src/delivery/courier/worker.ts');
}
