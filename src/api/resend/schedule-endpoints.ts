// PATCH /resend/emails/{id} and POST /resend/emails/{id}/cancel: as PATCH /submissions/{id} and its cancel.
import { type Clock, toTimestamp } from '../../base/clock.ts';
import { isRefusal, refuse } from '../../base/refusals.ts';
import type { Scheduling } from '../../submission/schedule.ts';
import { ok } from '../answer.ts';
import type { ApiCall, Endpoint } from '../endpoint.ts';
import { invalid } from '../query.ts';
import { loadResendUpdate } from './email-shape.ts';
import { readScheduledAt } from './scheduled-at.ts';

export interface ScheduleParts {
  scheduling: Scheduling;
  clock: Clock;
}

export function scheduleEndpoints({ scheduling, clock }: ScheduleParts): Endpoint[] {
  const shape = loadResendUpdate();

  async function move({ key, id, read, audit }: ApiCall) {
    const body = await read(shape);
    if (isRefusal(body)) return body;
    const schedule = readScheduledAt(body.scheduled_at, clock.now());
    if (!schedule.ok) return invalid('scheduled_at', schedule.problem);
    const moved = await scheduling.move(key, id, schedule.sendAt);
    if (isRefusal(moved)) return moved;
    await audit('submission.moved', { submission_id: id, send_at: toTimestamp(moved.sendAt) });
    return ok({ object: 'email', id });
  }

  async function cancel({ key, id, audit }: ApiCall) {
    const done = await scheduling.cancel(key, id);
    if (isRefusal(done)) return done;
    const { canceled, tooLate } = done;
    if (canceled.length === 0) {
      return refuse('not_scheduled', 'It is too late to cancel this email: nothing of it is waiting any more.');
    }
    await audit('submission.canceled', { submission_id: id, canceled: canceled.length, too_late: tooLate.length });
    return ok({ object: 'email', id });
  }

  const one = { scope: 'emails:send', pattern: '/resend/emails/:id' } as const;
  return [
    { ...one, method: 'PATCH', body: 'json', answer: move },
    { ...one, method: 'POST', pattern: '/resend/emails/:id/cancel', body: 'none', answer: cancel },
  ];
}
