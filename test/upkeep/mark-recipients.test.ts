// Marks of recipients are made in slices, for messages that have settled, and the timer stops when told to.
import t from 'tap';
import { markRecipients } from '../../src/upkeep/mark-recipients.ts';

const MINUTE = 60_000;

function stage(stretches: number) {
  const asked: number[] = [];
  const state = { now: 100 * MINUTE, left: stretches, pauses: 0 };
  const upkeep = {
    markRecipients: async (settledBefore: number) => {
      asked.push(settledBefore);
      return state.left-- > 0;
    },
    forgetRecipientMarks: async () => 3,
  };
  const pause = async (ms: number) => {
    state.pauses++;
    state.now += ms;
  };
  return { kit: { store: { upkeep }, clock: { now: () => state.now }, pause }, asked, state };
}

t.test('it marks all that is ten minutes old, with a pause after each slice', async (t) => {
  const { kit, asked, state } = stage(3);
  t.equal(await markRecipients(kit, new AbortController().signal), '3 blocks of messages marked, 3 forgotten');
  t.strictSame(asked, Array(4).fill(90 * MINUTE));
  t.equal(state.pauses, 3);
});

t.test('with very much to do it ends by itself, and the next run goes on', async (t) => {
  const { kit, state } = stage(1_000_000);
  await markRecipients(kit, new AbortController().signal);
  t.ok(state.now <= 100 * MINUTE + 21_000, 'after 20 seconds');
  t.ok(state.pauses > 100);
});

t.test('it ends with the daemon', async (t) => {
  const { kit, asked } = stage(5);
  await markRecipients(kit, AbortSignal.abort());
  t.strictSame(asked, []);
});
