// queue release: sends what a restore has held.
import { counted } from '../../base/text/counted.ts';
import { done } from '../../operator/answer.ts';
import { storeCommand } from '../command.ts';
import { tenantName } from '../option.ts';
import { recordAct } from '../record-act.ts';

// For a sentence: the exact number of what is left matters only when it is small.
const MOST_COUNTED = 100_000;

export const queueRelease = storeCommand({
  name: 'queue release',
  summary: 'Sends the messages that a restore has held, each at its own time. Some may have been sent before.',
  options: { tenant: tenantName("only this tenant's") },
  async run(services, { tenant }) {
    const { store, queue } = services;
    const { messages, complete } = await queue.release(tenant ?? null);
    if (messages > 0) await recordAct(services, tenant ?? null, 'queue.release', { messages });
    return done({ messages, complete, held: await store.queue.countHeld(MOST_COUNTED) });
  },
  render({ messages, complete, held }) {
    if (messages === 0) return held === 0 ? 'No message is held.' : `No such message is held. ${othersHeld(held)}`;
    const released = `${counted(messages, 'message')} released.`;
    if (!complete) return `${released} More remain: run the command again.`;
    return held === 0 ? released : `${released} ${othersHeld(held)}`;
  },
});

function othersHeld(held: number): string {
  return `${counted(held, 'message')} of other tenants ${held === 1 ? 'is' : 'are'} still held.`;
}
