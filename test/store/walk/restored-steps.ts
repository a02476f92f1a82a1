// Steps of the walk: a restore, which holds what is unfinished, and the operator who releases all of it.
import { HOUR_MS } from '../../../src/base/clock.ts';
import type { ModelMessage } from './model.ts';
import type { Step, Walk } from './walk.ts';

async function restore(walk: Walk): Promise<void> {
  const { model, store, now } = walk;
  const open = [...model.messages.values()].filter(({ finishedAt, parked }) => finishedAt === null && !parked);
  const count = (state: ModelMessage['state']) => open.filter((message) => message.state === state).length;
  const [scheduled, queued, sending, deferred] = [
    count('scheduled'),
    count('queued'),
    count('sending'),
    count('deferred'),
  ];
  const notBefore = now + HOUR_MS;
  walk.same(
    await store.queue.holdUnfinished({ now, notBefore }),
    { scheduled, queued, sending, deferred },
    'holdUnfinished',
  );
  walk.same(await store.queue.countHeld(1000), open.length, 'countHeld');
  const waits = [...model.messages.values()].some((message) => model.waiting(message) && !open.includes(message));
  walk.same((await store.queue.dueLanes([1])).length > 0, waits, 'dueLanes of what is held');
  const tenantId = walk.pick(open)?.tenantId ?? walk.id();
  const own = open.filter((message) => message.tenantId === tenantId);
  walk.same((await store.queue.releaseHeld({ now, limit: 1000, tenantId })).messages, own.length, 'of one tenant');
  const rest = open.length - own.length;
  walk.same((await store.queue.releaseHeld({ now, limit: 1000 })).messages, rest, 'releaseHeld');
  for (const message of open) {
    if (message.state === 'sending') Object.assign(message, { state: 'deferred', ambiguous: true });
    message.expiresAt = Math.max(message.expiresAt, notBefore);
    const submission = await store.queue.findSubmission(message.tenantId, message.submissionId);
    if (message.attempts === 0 && submission?.sendAt) message.state = 'scheduled';
  }
}

export const restoredSteps: readonly Step[] = [{ name: 'restore', weight: 0.2, run: restore }];
