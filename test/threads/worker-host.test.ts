// Threads that die, that cannot start, and that hang, and what their host makes of each.
import { once } from 'node:events';
import t, { type Test } from 'tap';
import type { Fault } from '../../src/base/errors.ts';
import { HostedThread, type Life, type SilenceRule, WorkerHost } from '../../src/threads/worker-host.ts';

const LISTENER = "const { parentPort: port } = require('node:worker_threads');";

function threadOf(script: string, listener: { onMessage?(message: string): void; onEnd?(error: unknown): void }) {
  const entry = new URL(
    `data:text/javascript,${encodeURIComponent(`import { createRequire } from 'node:module';
    const require = createRequire('file:///');${LISTENER}${script}`)}`,
  );
  const [onMessage, onEnd] = [listener.onMessage ?? (() => {}), listener.onEnd ?? (() => {})];
  return new HostedThread<string>(entry, {}, { onMessage, onEnd });
}

const ECHO = "port.on('message', (text) => port.postMessage(text));";

t.test('a thread is heard, ended, and says once that it is over', async (t) => {
  const heard = Promise.withResolvers<string>();
  const ends: unknown[] = [];
  const thread = threadOf(ECHO, { onMessage: heard.resolve, onEnd: (error) => ends.push(error) });
  thread.post('hello');
  t.equal(await heard.promise, 'hello');
  await thread.end();
  await thread.exited;
  t.same(ends, [null]);
});

t.test('why a thread died', async (t) => {
  const ended = Promise.withResolvers<unknown>();
  threadOf("throw new Error('no disk')", { onEnd: ended.resolve });
  t.match(await ended.promise, { message: 'no disk' });
  const left = Promise.withResolvers<unknown>();
  threadOf('process.exit(3)', { onEnd: left.resolve });
  t.equal(await left.promise, null);
});

interface Lost {
  reason: string;
  pauseMs: number;
}

/** A host whose lives run these scripts in turn; the last one over and over. */
function hostOf(t: Test, scripts: string[], silence: SilenceRule<HostedThread<string>> | null = null) {
  const clock = { ms: 0 };
  const lives: Life[] = [];
  const losses: Lost[] = [];
  const [heard, told] = [new EventTarget(), new EventTarget()];
  const host = new WorkerHost<HostedThread<string>>({
    name: 'the test thread',
    elapsed: () => clock.ms,
    silence,
    start(life) {
      const script = scripts[Math.min(lives.push(life), scripts.length) - 1]!;
      return threadOf(script, {
        onMessage(text) {
          if (text === 'works') life.works();
          else life.alive();
          heard.dispatchEvent(new Event(text));
        },
        onEnd: (error) => life.lost(error),
      });
    },
    onLost(fault: Fault, lost, pauseMs) {
      void lost?.end();
      losses.push({ reason: fault.message, pauseMs });
      told.dispatchEvent(new Event('lost'));
    },
  });
  // A host keeps no process from ending.
  const running = setInterval(() => {}, 60_000);
  t.teardown(() => {
    clearInterval(running);
    return host.end();
  });
  return { host, clock, lives, losses, lost: () => once(told, 'lost'), hears: (text: string) => once(heard, text) };
}

const WORKS = `port.postMessage('works');${ECHO}`;
const WORKS_AND_DIES = "port.postMessage('works');port.on('message', () => { throw new Error('killed'); });";

t.test('a thread that worked is started again at once', async (t) => {
  const { host, losses, lost, hears } = hostOf(t, [WORKS_AND_DIES, WORKS]);
  await hears('works');
  const [dies, again] = [lost(), hears('works')];
  host.current!.post('die');
  await dies;
  t.same(losses, [{ reason: 'the test thread has ended: killed; it is started again in 0 s', pauseMs: 0 }]);
  t.equal(host.current, null, 'there is none in between');
  await again;
  t.ok(host.current);
  t.equal(host.losses, 1);
});

t.test('one that cannot start is started again after a pause', async (t) => {
  const { losses, lost, hears } = hostOf(t, ["throw new Error('no memory')", WORKS]);
  const works = hears('works');
  await lost();
  t.match(losses, [{ reason: /no memory; it is started again in 1 s/, pauseMs: 1000 }]);
  await works;
  t.equal(losses.length, 1);
});

t.test('what a lost life still says is too late', async (t) => {
  const { host, lives, losses, lost, hears } = hostOf(t, [WORKS_AND_DIES, WORKS]);
  await hears('works');
  const [dies, again] = [lost(), hears('works')];
  host.current!.post('die');
  await dies;
  await again;
  lives[0]!.lost(new Error('late'));
  t.equal(losses.length, 1);
});

t.test('one that hangs while it hasWork something is ended, and one without work may be silent', async (t) => {
  let hasWork = false;
  const looks = new EventTarget();
  const looked = () => once(looks, 'look');
  const rule = {
    limitMs: 80,
    hasWork() {
      looks.dispatchEvent(new Event('look'));
      return hasWork;
    },
  };
  const { clock, losses, lost, hears } = hostOf(t, [WORKS], rule);
  await hears('works');
  clock.ms += 1_000_000;
  await looked();
  await looked();
  t.equal(losses.length, 0, 'it has nothing to do');
  hasWork = true;
  const again = hears('works');
  clock.ms += 79;
  await looked();
  await looked();
  t.equal(losses.length, 0, 'not yet');
  const hangs = lost();
  clock.ms += 1;
  await hangs;
  t.match(losses, [{ reason: /no sign of life/ }]);
  await again;
});

t.test('an ended host starts nothing any more', async (t) => {
  const { host, lives, losses, lost } = hostOf(t, ["throw new Error('x')"]);
  await lost();
  await host.end();
  t.equal(losses.length, 1);
  t.equal(lives.length, 1);
});
