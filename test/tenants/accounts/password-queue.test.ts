// Passwords in their line: not too many at once, not too many behind each other, and no hash is known to be nobody's.
import t from 'tap';
import { PasswordQueue } from '../../../src/tenants/accounts/password-queue.ts';
import { hashPassword } from '../../../src/tenants/accounts/passwords.ts';

t.test('a password is checked against its hash, and never holds without one', async (t) => {
  const line = new PasswordQueue();
  const stored = await line.hash('horse battery lake');
  t.equal(await line.verify('horse battery lake', stored), true);
  t.equal(await line.verify('horse battery', stored), false);
  t.equal(await line.verify('horse battery lake', null), false);
});

t.test('checking against nobody takes as long as against somebody', async (t) => {
  const line = new PasswordQueue();
  const stored = await hashPassword('horse battery lake');
  const timeOf = async (hash: string | null) => {
    const started = process.cpuUsage();
    await line.verify('wrong wrong wrong', hash);
    const { user, system } = process.cpuUsage(started);
    return user + system;
  };
  const [known, unknown] = [await timeOf(stored), await timeOf(null)];
  t.ok(unknown > known / 2 && unknown < known * 2, `${known} and ${unknown} µs of work`);
});

const CHEAP = '$scrypt$ln=1,r=1,p=1$c2FsdA==$c2FsdA==';

t.test('whoever comes when the line is long is turned away, and it moves on', async (t) => {
  const line = new PasswordQueue();
  const answers = await Promise.all(Array.from({ length: 100 }, () => line.verify('x', CHEAP)));
  t.equal(answers.filter((answer) => answer === 'busy').length, 58, 'two at work, forty behind them');
  t.equal(await line.verify('x', CHEAP), false, 'later it is open again');
});

t.test('a flood of strangers leaves places for known browsers, who go first', async (t) => {
  const line = new PasswordQueue();
  const order: string[] = [];
  const come = async (name: string, knownTo: string | null) => {
    const answer = await line.verify('x', CHEAP, knownTo);
    order.push(`${name} ${answer}`);
    return answer;
  };
  const strangers = Array.from({ length: 200 }, (_, n) => come(`stranger ${n}`, null));
  const known = Array.from({ length: 10 }, (_, n) => come('known', `account ${n}`));
  const [late, hashed] = [come('late', null), line.hash('horse battery lake')];
  t.same(await Promise.all(known), Array(10).fill(false), 'every one of them is checked');
  t.equal(await late, 'busy', 'for a stranger there is still no room');
  await Promise.all(strangers);
  t.match(await hashed, /^\$scrypt/);
  const checked = order.filter((line) => line.endsWith('false'));
  t.equal(checked.length, 2 + 40 + 10);
  const firstOfTheLine = checked.findIndex((line) => /^stranger (?:[2-9]|\d\d)/.test(line));
  const before = checked.slice(0, firstOfTheLine).filter((line) => line.startsWith('known'));
  t.ok(before.length >= 9, 'all were begun before it, and two are checked at once');
});

t.test('places that are kept are bounded, and one account has few of them', async (t) => {
  const line = new PasswordQueue();
  const crowd = Array.from({ length: 100 }, () => line.verify('x', CHEAP));
  const one = Array.from({ length: 5 }, () => line.verify('x', CHEAP, 'jo'));
  const others = Array.from({ length: 20 }, (_, n) => line.verify('x', CHEAP, `account ${n}`));
  const busy = async (all: Promise<unknown>[]) => (await Promise.all(all)).filter((answer) => answer === 'busy').length;
  t.equal(await busy(one), 2);
  t.equal(await busy(others), 13, 'ten places in all');
  await Promise.all(crowd);
  const alone = Array.from({ length: 42 }, () => line.verify('x', CHEAP, 'jo'));
  t.equal(await busy(alone), 0, 'with nobody else there, one account may wait in the others’ places');
});
