// A courier thread that can read nothing: of each batch it gives the first message back with a reason, and the others with it.
import { workerData } from 'node:worker_threads';
import type { CourierRequest, CourierWorkerData, SessionMessages } from '../../src/delivery/courier/messages.ts';

const { port } = workerData as CourierWorkerData;

port.on('message', (request: CourierRequest) => {
  if (!('order' in request) || request.order.kind !== 'batch') return;
  const { session, order } = request;
  const [first, ...others] = order.messageIds;
  port.postMessage([
    [session, { kind: 'taken' }],
    [session, { kind: 'untried', messageIds: [first!], reason: 'disk I/O error' }],
    [session, { kind: 'untried', messageIds: others }],
    [session, { kind: 'over' }],
  ] satisfies SessionMessages);
});
