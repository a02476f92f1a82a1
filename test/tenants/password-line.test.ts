// Passwords in their line: not too many at once, not too many behind each other, and no hash is known to be nobody's.
import t from 'tap';
import { PasswordLine } from '../../src/tenants/password-line.ts';
import { hashPassword } from '../../src/tenants/passwords.ts';

t.test('a password is checked against its hash, and never holds without one', async (t) => {
  const line = new PasswordLine();
  const stored = await line.hash('horse battery lake');
  t.equal(await line.verify('horse battery lake', stored), true);
  t.equal(await line.verify('horse battery', stored), false);
  t.equal(await line.verify('horse battery lake', null), false);
});

t.test('checking against nobody takes as long as against somebody', async (t) => {
  const line = new PasswordLine();
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

t.test('whoever comes when the line is long is turned away, and it moves on', async (t) => {
  const line = new PasswordLine();
  const cheap = '$scrypt$ln=1,r=1,p=1$c2FsdA==$c2FsdA==';
  const answers = await Promise.all(Array.from({ length: 100 }, () => line.verify('x', cheap)));
  t.equal(answers.filter((answer) => answer === 'busy').length, 48, 'two at work, fifty behind them');
  t.equal(await line.verify('x', cheap), false, 'later it is open again');
});
