// queue move: another time for what is still scheduled.
import { toTimestamp } from '../../base/clock.ts';
import { isRefusal } from '../../base/refusals.ts';
import { done, failed } from '../../operator/answer.ts';
import { storeCommand } from '../command.ts';
import { moment, positional, required, uuid } from '../option.ts';
import { recordAct } from '../record-act.ts';
import { noMessage } from './queued-message.ts';

export const queueMove = storeCommand({
  name: 'queue move',
  summary: 'Gives a scheduled message, and all of its submission that is still scheduled, another time.',
  options: {
    id: required(positional(uuid('ID', 'the message'))),
    to: required(moment('TIME', 'the time, at most 30 days ahead')),
  },
  async run(services, { id, to }) {
    const message = await services.store.queue.getMessage(id);
    if (!message) return failed(noMessage(id));
    const { tenantId, submissionId } = message;
    const moved = await services.scheduling.move({ tenantId, boundDomain: null }, submissionId, toTimestamp(to));
    if (isRefusal(moved)) return failed(moved.message.replace(/^send_at: /, '--to: '));
    const send_at = toTimestamp(moved.sendAt);
    await recordAct(services, tenantId, 'queue.move', { submission_id: submissionId, send_at });
    return done({ id, submission_id: submissionId, send_at });
  },
  render: ({ submission_id, send_at }) => `What is scheduled of the submission ${submission_id} goes at ${send_at}.`,
});
