// A profile of a real daemon under load: its parts add up to what the kernel says the process has used, little is left to
// Node alone, and the time for signatures is what signatures cost.
import { randomBytes, sign } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import t from 'tap';
import { type DaemonProfile, profileSection } from '../../../bench/profile/profile-section.ts';
import { buildSampler } from '../../../bench/profile/sampler.ts';
import { showProfile } from '../../../bench/profile/show.ts';
import type { PartTime } from '../../../bench/profile/split.ts';
import type { RunContext } from '../../../bench/run-context.ts';
import { drain, sendTraffic } from '../../../bench/traffic.ts';
import { withPostrider } from '../../../bench/with-postrider.ts';
import { createDkimKeyPair, loadPrivateKey } from '../../../src/protocol/mail/dkim/dkim-key.ts';
import { ProcessorTime, patience } from '../../support/patience.ts';

async function profileMail(folder: string): Promise<DaemonProfile> {
  const options = {
    ...{
      seconds: 1,
      connections: 20,
      inFlight: 100,
      domains: 4,
      sink: 'own' as const,
      dir: folder,
      backlog: 1,
      minutes: 1,
    },
    ...{ only: [], against: [], rounds: 1, profile: true, save: false },
  };
  const plainWatch = () => {
    throw new Error('nothing runs without a profile here');
  };
  const context: RunContext = { options, folder, limits: null, postfix: null, watch: plainWatch };
  const section = (run: RunContext) =>
    withPostrider(run, { section: 'mail' }, async ({ postrider, sink }) => {
      const plan = { postrider, sink, folder: run.folder, connections: 20, inFlight: 100, pauseMs: 0 };
      const traffic = await sendTraffic({ ...plan, warmUpMs: patience(2000), measuredMs: patience(4000) });
      await drain(sink, traffic.calls.length);
      return [];
    });
  const [profile] = await profileSection(section, context, { sampler: buildSampler(folder), plain: [] });
  return profile!;
}

function twoSignaturesUs(privateKeyDer: Buffer): number {
  const key = loadPrivateKey(privateKeyDer);
  const data = randomBytes(1000);
  const pairs = 500;
  const cpu = new ProcessorTime();
  for (let count = 0; count < 2 * pairs; count++) sign('sha256', data, key);
  return (cpu.usedMs * 1000) / pairs;
}

t.test('parts add up to what the process used, and signing is what it costs', async (t) => {
  // Shorter than a test's own: the path of a Unix socket has at most 107 bytes.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-test-'));
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }));
  const profile = await profileMail(folder);
  const { split, messages } = profile;
  t.comment(showProfile(profile));
  const isWithin = (what: string, value: number, [least, most]: [number, number]) =>
    t.ok(value >= least && value <= most, `${what}: ${value.toFixed(3)}, from ${least} to ${most}`);

  isWithin('sum of the parts to what was measured', split.us / split.measuredUs, [0.9, 1.1]);
  // By the clock, V8 would take several times as many: threads mostly wait.
  isWithin('processor time per sample, in ms', split.sampledUs / split.samples / 1000, [3, 20]);
  isWithin('share of threads that were never sampled', split.unsampledUs / split.us, [0, 0.01]);
  const parts = Object.fromEntries(split.parts.map((part) => [part.part, part])) as Record<string, PartTime>;
  for (const name of ['HTTP', 'check', 'accept', 'compose', 'sign', 'SMTP', 'record', 'commit', 'garbage']) {
    t.ok(parts[name]!.us > 0, name);
  }
  const needless = parts['other work']!.us + parts.webhooks!.us + parts.inbound!.us;
  isWithin('share of work that a plain message does not need', needless / split.us, [0, 0.03]);
  const node = [...parts['event loop']!.functions].filter(([name]) => name !== '(program)' && name !== '(idle)');
  const nodeUs = node.reduce((sum, [, us]) => sum + us, 0);
  isWithin('share of functions without a part', nodeUs / split.us, [0, 0.03]);

  const { privateKeyDer } = await createDkimKeyPair();
  const signingUs = parts.sign!.us / messages!;
  isWithin('signing to two signatures alone', signingUs / twoSignaturesUs(privateKeyDer), [0.6, 2]);
});
