// What has been sent for later: PATCH /submissions/{id} moves it, POST /submissions/{id}/cancel ends it.
import { toTimestamp } from '../../base/clock.ts';
import { isRefusal } from '../../base/refusals.ts';
import type { Scheduling } from '../../submission/schedule.ts';
import { ok } from '../answer.ts';
import { loadBodyShape } from '../body-shape.ts';
import type { Endpoint } from '../endpoint.ts';

export function scheduleEndpoints(scheduling: Scheduling): Endpoint[] {
  const shape = loadBodyShape<{ send_at: string }>('move-submission');

  return [
    {
      method: 'PATCH',
      pattern: '/submissions/:id',
      scope: 'emails:send',
      body: 'json',
      async answer({ key, id, read, audit }) {
        const body = await read(shape);
        if (isRefusal(body)) return body;
        const moved = await scheduling.move(key, id, body.send_at);
        if (isRefusal(moved)) return moved;
        const send_at = toTimestamp(moved.sendAt);
        await audit('submission.moved', { submission_id: id, send_at });
        return ok({ id, send_at });
      },
    },
    {
      method: 'POST',
      pattern: '/submissions/:id/cancel',
      scope: 'emails:send',
      body: 'none',
      async answer({ key, id, audit }) {
        const done = await scheduling.cancel(key, id);
        if (isRefusal(done)) return done;
        const { canceled, tooLate } = done;
        await audit('submission.canceled', { submission_id: id, canceled: canceled.length, too_late: tooLate.length });
        return ok({ canceled, too_late: tooLate });
      },
    },
  ];
}
