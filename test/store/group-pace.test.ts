// The distance between groups of verbs: kept only while results of deliveries come in a stream.
import t from 'tap';
import { GroupPace } from '../../src/store/sqlite/engine/group-pace.ts';

interface Run {
  seconds: number;
  /** A group is ready so long after the last one was committed. */
  readyAfterMs: number;
  /** Verbs with results that come in each millisecond. */
  resultsPerMs: number;
}

/** How many groups are committed per second, and the longest wait. */
function run(pace: GroupPace, { seconds, readyAfterMs, resultsPerMs }: Run, from = 0) {
  let now = from;
  let resultsTo = from;
  let groups = 0;
  let longestMs = 0;
  while (now < from + seconds * 1000) {
    const readyAt = now + readyAfterMs;
    for (; resultsPerMs > 0 && resultsTo < readyAt; resultsTo += 1 / resultsPerMs) pace.resultsCame(resultsTo);
    const delayMs = pace.delayMs(readyAt);
    longestMs = Math.max(longestMs, delayMs);
    now += readyAfterMs + delayMs;
    pace.committed(now);
    groups++;
  }
  return { perSecond: groups / seconds, longestMs, now };
}

t.test('calls alone never wait, however many come', async (t) => {
  const { perSecond, longestMs } = run(new GroupPace(), { seconds: 2, readyAfterMs: 0.5, resultsPerMs: 0 });
  t.equal(longestMs, 0);
  t.equal(perSecond, 2000);
});

t.test('mail that comes singly never waits', async (t) => {
  const pace = new GroupPace();
  let now = 0;
  for (let message = 0; message < 200; message++, now += 15) {
    for (const verb of ['accepted', 'claimed', 'recorded']) {
      if (verb === 'recorded') pace.resultsCame(now);
      t.equal(pace.delayMs(now), 0);
      pace.committed(now);
      now += 1;
    }
  }
});

t.test('results in a stream keep groups apart, those of calls too', async (t) => {
  const pace = new GroupPace();
  const stream = { seconds: 1, readyAfterMs: 0.5, resultsPerMs: 0.15 };
  const begun = run(pace, stream).now;
  const { perSecond, longestMs, now } = run(pace, stream, begun);
  t.ok(perSecond > 150 && perSecond < 180, `one in six milliseconds: ${perSecond}`);
  t.ok(longestMs > 4 && longestMs <= 6, String(longestMs));

  const later = now + 1000;
  t.equal(pace.delayMs(later), 0, 'when the stream is over, nobody waits');
  t.equal(run(pace, { seconds: 1, readyAfterMs: 0.5, resultsPerMs: 0 }, later).longestMs, 0);
});
