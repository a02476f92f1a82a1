// Clocks of two machines: what is known of their difference after an answer that took its time, and what the log says of it.
import t from 'tap';
import { ClockWatch, compareClocks } from '../../src/daemon/compared-clocks.ts';
import { silentLogger } from '../../src/observe/log.ts';

const NOW = 1_000_000_000;

async function compared(theirs: number, { tookMs = 0 } = {}): Promise<number> {
  let now = NOW;
  const readClock = async () => {
    now += tookMs;
    return theirs;
  };
  const { aheadMs, ...read } = await compareClocks({ store: { owners: { readClock } }, clock: { now: () => now } });
  t.strictSame(read, { theirs });
  return aheadMs;
}

t.test('a slow answer makes no difference', async (t) => {
  t.equal(await compared(NOW - 700), 700);
  t.equal(await compared(NOW + 700), -700);
  t.equal(await compared(NOW + 700, { tookMs: 1000 }), 0);
  t.equal(await compared(NOW + 1700, { tookMs: 1000 }), -700);
  t.equal(await compared(NOW - 700, { tookMs: 1000 }), 700);
});

t.test('a difference is told when it begins, grows and ends', async (t) => {
  const told: string[] = [];
  const tell = (level: string) => (_: object, text: string) => void told.push(`${level}: ${text}`);
  const watch = new ClockWatch({ ...silentLogger, info: tell('info'), warn: tell('warn'), error: tell('error') });
  for (const aheadMs of [0, 499, -499]) watch.see(aheadMs);
  t.strictSame(told, []);
  for (const aheadMs of [-500, 700, 61_000, 5000, 4999, 0, 0]) watch.see(aheadMs);
  const servers = 'let both follow the same time servers (chrony or systemd-timesyncd)';
  const effect = 'until then mail is tried again and expires too early or too late, and a daemon would not start';
  t.strictSame(told, [
    `warn: the clock of this machine is 0.5 s behind the database's: ${servers}`,
    `error: the clock of this machine is 61.0 s ahead of the database's: ${servers}; ${effect}`,
    `warn: the clock of this machine is 5.0 s ahead of the database's: ${servers}`,
    "info: the clock of this machine agrees with the database's again",
  ]);
});
