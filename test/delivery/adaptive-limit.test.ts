// How many connections a group bears: additive increase, halved by complaints, with patience.
import t from 'tap';
import {
  adapt,
  healthy,
  isHealthy,
  permittedConnections,
  type Sign,
} from '../../src/delivery/shaping/adaptive-limit.ts';
import type { GroupConcurrency } from '../../src/store/shaping.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** A group that lives through signs, on a clock of its own. */
class Life {
  state: GroupConcurrency;
  now = 1_000_000;
  open: number;
  readonly ceiling: number;
  tolerance = 1;
  retryStepsMs = [60 * MINUTE];

  constructor(ceiling: number, open = ceiling) {
    this.ceiling = ceiling;
    this.open = open;
    this.state = healthy(ceiling);
  }

  sign(sign: Sign, count = 1): this {
    const { now, open, ceiling, tolerance, retryStepsMs } = this;
    for (let each = 0; each < count; each++) {
      this.state = adapt(this.state, sign, { now, random: () => 0, open, ceiling, tolerance, retryStepsMs });
    }
    return this;
  }

  after(ms: number): this {
    this.now += ms;
    return this;
  }
}

const DELIVERED: Sign = { kind: 'delivered' };
const SLOW: Sign = { kind: 'slow_down', reason: '421 too many' };
const full = (working: number): Sign => ({ kind: 'full', reason: '421 too many connections', working });
const CLOSED: Sign = { kind: 'closed', reason: 'timeout' };

t.test('a group without trouble has all that it may have', async (t) => {
  const life = new Life(10).sign(DELIVERED, 1000);
  t.equal(life.state.limit, 10);
  t.ok(isHealthy(life.state, 10));
});

t.test('complaints halve it, a flock of them once, and one connection is always left', async (t) => {
  const life = new Life(10).sign(SLOW, 7);
  t.equal(life.state.limit, 5);
  t.equal(life.state.reason, '421 too many');
  t.equal(life.after(11 * SECOND).sign(SLOW).state.limit, 2);
  t.equal(life.after(11 * SECOND).sign(SLOW).state.limit, 1);
  t.equal(life.after(11 * SECOND).sign(SLOW).state.limit, 1);
});

t.test('of those that are open, when fewer are than may be', async (t) => {
  t.equal(new Life(10, 4).sign(SLOW).state.limit, 2);
  t.equal(new Life(10, 0).sign(SLOW).state.limit, 1);
});

t.test('it climbs by one at a time, after a while and with deliveries', async (t) => {
  const life = new Life(4).sign(SLOW);
  t.equal(life.state.limit, 2);
  t.equal(life.after(59 * SECOND).sign(DELIVERED, 100).state.limit, 2, 'not at once');
  t.equal(life.after(2 * SECOND).sign(DELIVERED).state.limit, 3);
  t.equal(life.sign(DELIVERED, 100).state.limit, 3, 'step by step');
  t.equal(life.after(15 * SECOND).sign(DELIVERED).state.limit, 4);
  t.ok(isHealthy(life.state, 4), 'nothing is left to remember');
  t.equal(life.after(MINUTE).sign(DELIVERED, 100).state.limit, 4, 'never above');
});

t.test('few deliveries raise nothing', async (t) => {
  const life = new Life(4).sign(SLOW).after(2 * MINUTE);
  t.equal(life.sign(DELIVERED, 9).state.limit, 2);
  t.equal(life.sign(DELIVERED).state.limit, 3);
});

t.test('a refusal beside connections that work: as many as those, at least one', async (t) => {
  t.equal(new Life(10).sign(full(3)).state.limit, 3);
  t.equal(new Life(10).sign(full(0)).state.limit, 1);
  t.equal(new Life(2).sign(full(5)).state.limit, 2, 'never above what it may have');
  const flock = new Life(10).sign(full(0)).sign(full(1));
  t.equal(flock.state.limit, 1);
  t.equal(flock.sign(full(4)).state.limit, 4, 'later refusals of a flock see more that were let in');
  t.equal(flock.sign({ kind: 'connected', working: 5 }).state.limit, 5, 'and so does the next that is let in');
  t.equal(flock.after(11 * SECOND).sign({ kind: 'connected', working: 6 }).state.limit, 5);
  t.equal(new Life(10, 4).sign(SLOW).sign({ kind: 'connected', working: 4 }).state.limit, 2);
});

t.test('one connection more is tried after a minute, then after two, at last every quarter of an hour', async (t) => {
  const life = new Life(10).sign(full(2));
  for (const minutes of [1, 2, 4, 8, 15, 15]) {
    t.equal(life.after(minutes * MINUTE - SECOND).sign(DELIVERED, 20).state.limit, 2, `${minutes} min: not before`);
    t.equal(life.after(2 * SECOND).sign(DELIVERED).state.limit, 3);
    t.equal(life.sign(full(2)).state.limit, 2);
  }
  for (let limit = 3; limit <= 10; limit++) {
    t.equal(life.after(16 * MINUTE).sign(DELIVERED, 20).state.limit, limit);
  }
  t.ok(isHealthy(life.state, 10));
  t.equal(
    life
      .sign(full(2))
      .after(61 * SECOND)
      .sign(DELIVERED, 20).state.limit,
    3,
    'all is forgotten',
  );
});

t.test('after a suspension one connection begins', async (t) => {
  const life = new Life(10);
  life.sign({ kind: 'suspended', reason: '450 slow down', until: life.now + 15 * MINUTE });
  t.equal(life.state.limit, 1);
  t.equal(life.after(14 * MINUTE).sign(DELIVERED, 50).state.limit, 1);
  t.equal(life.after(2 * MINUTE).sign(DELIVERED).state.limit, 2);
});

t.test('a closed door: one knock at a time, with growing pauses, until somebody opens', async (t) => {
  const life = new Life(10).sign(CLOSED, 5);
  const pauses: number[] = [];
  for (let knock = 0; knock < 9; knock++) {
    pauses.push((life.state.coolDownUntil - life.now) / SECOND);
    t.equal(permittedConnections(life.state), 1);
    life.now = life.state.coolDownUntil;
    life.sign(CLOSED);
  }
  t.same(pauses, [15, 30, 60, 120, 300, 600, 900, 900, 900]);
  life.sign({ kind: 'answered' });
  t.match(life.state, { failures: 0, coolDownUntil: 0 });
  t.ok(life.state.limit < 10, 'the limit still has to climb');
});

t.test('no longer than a message waits by itself', async (t) => {
  const life = new Life(10);
  life.retryStepsMs = [200, 400];
  life.sign(CLOSED);
  t.equal(life.state.coolDownUntil - life.now, 200);
  life.now = life.state.coolDownUntil;
  life.sign(CLOSED);
  t.equal(life.state.coolDownUntil - life.now, 400);
});

t.test("one customer's dead server is not the provider's", async (t) => {
  const life = new Life(10);
  life.tolerance = 3;
  life.sign(CLOSED, 2);
  t.equal(life.state.coolDownUntil, 0);
  t.equal(life.state.limit, 10);
  life.sign(DELIVERED).sign(CLOSED, 2);
  t.equal(life.state.coolDownUntil, 0, 'somebody answered in between');
  life.sign(CLOSED);
  t.ok(life.state.coolDownUntil > life.now);
});
