// A courier thread that is stuck in its first session, as the test that starts it wishes; without
// a wish it is the real one.
// asleep: the whole thread stands still before it has taken anything; deaf: it does so with the
// first batch in hand. mute: the thread lives, the session does nothing with what it has taken,
// and those after it are real.
import { once } from 'node:events';
import { getEnvironmentData, parentPort, workerData } from 'node:worker_threads';
import type { CourierRequest, CourierWorkerData, SessionMessages } from '../../src/delivery/courier/messages.ts';

const wish = getEnvironmentData('stuck-courier');
const standStill = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);

const { port, heartbeatMs } = workerData as CourierWorkerData;

async function takeFirstBatch() {
  const [{ session }] = (await once(port, 'message')) as [CourierRequest];
  await once(port, 'message');
  port.postMessage([[session, { kind: 'taken' }]] satisfies SessionMessages);
}

if (wish === 'asleep') port.once('message', standStill);
else if (wish === 'deaf') {
  await takeFirstBatch();
  standStill();
} else {
  if (wish === 'mute') {
    const beats = setInterval(() => parentPort!.postMessage({ kind: 'alive' }), heartbeatMs);
    await takeFirstBatch();
    clearInterval(beats);
  }
  await import('../../src/delivery/courier/worker.ts');
}
