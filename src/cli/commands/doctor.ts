// doctor: looks at everything that has to be right outside of the program, and at the daemon.
// doctor daemon: what only the running daemon knows, and whether that is in order.
import { toTimestamp } from '../../base/clock.ts';
import { counted } from '../../base/text/counted.ts';
import type { TimerFacts } from '../../doctor/doctor-settings.ts';
import { done, failed } from '../../operator/answer.ts';
import { dataFolder, isSandboxFolder } from '../../operator/data-folder.ts';
import { EXIT_SOMETHING_WRONG, localCommand, storeCommand } from '../command.ts';
import { linesOfFinding } from '../finding-lines.ts';
import { renderTable } from '../table.ts';

const NOT_OUTSIDE =
  'what it needs of the outside, it has itself. Its operators see the timers in the portal; postrider doctor daemon shows them here';

export const doctor = localCommand({
  name: 'doctor',
  summary:
    'Checks everything mail depends on: port 25, names, DNS records, certificates, blocklists, disk, clock, signing, database, daemon.',
  options: {},
  async run(context) {
    const { config, source } = await context.loadConfig();
    const folder = dataFolder(config);
    if (isSandboxFolder(folder)) return failed(`${folder.dir} is a sandbox's: ${NOT_OUTSIDE}`);
    const { shapingSettings } = await import('../../operator/shaping-settings.ts');
    shapingSettings(config); // A part of the configuration, and refused as that is.
    const { examine } = await import('../../doctor/examine.ts');
    const { worstOf } = await import('../../doctor/finding.ts');
    const { doctorKit } = await import('../../operator/doctor-kit.ts');
    const findings = await examine(doctorKit(config, source));
    const health = worstOf(findings);
    return { ...done({ health, findings }), ...(health === 'fail' && { exit: EXIT_SOMETHING_WRONG }) };
  },
  render({ health, findings }) {
    const wrong = findings.filter((finding) => finding.health === 'fail').length;
    const odd = findings.filter((finding) => finding.health === 'warn').length;
    const summary =
      health === 'ok' ? 'All checks passed.' : `${counted(wrong, 'failure')}, ${counted(odd, 'warning')}.`;
    return [...findings.flatMap(linesOfFinding), '', summary].join('\n');
  },
});

/** The result on record is that of the run before, while one is under way. */
function resultOf({ running, last_result: last }: Pick<TimerFacts, 'running' | 'last_result'>): string | null {
  if (!running) return last;
  return last === null ? 'running' : `running; before: ${last}`;
}

export const doctorDaemon = storeCommand({
  name: 'doctor daemon',
  summary:
    'Checks the running daemon: whether it accepts and sends mail, and its timers: period, next run, last result.',
  options: {},
  async run({ daemon, config, clock }) {
    if (!daemon) return failed(`no daemon is running: nothing listens at ${dataFolder(config).controlSocket}`);
    const { accepting, reason } = daemon.intake();
    const timers = daemon.timers().map(({ name, periodMs, nextRunAt, lastRunAt, lastResult, isRunning }) => ({
      name,
      period_ms: periodMs,
      next_run_at: toTimestamp(nextRunAt),
      last_run_at: lastRunAt === null ? null : toTimestamp(lastRunAt),
      last_result: lastResult,
      running: isRunning,
    }));
    const unstored = daemon.unstoredResults();
    const unstored_results = unstored && {
      messages: unstored.messages,
      since: toTimestamp(unstored.since),
      reason: unstored.reason,
      is_alarm: unstored.isAlarm,
    };
    const trouble = daemon.courierTrouble();
    const couriers = trouble && { reason: trouble.reason, since: toTimestamp(clock.now() - trouble.sinceMs) };
    const facts = {
      intake: { accepting, reason },
      unstored_results,
      couriers,
      timers,
      openssl_ia32cap: process.env.OPENSSL_ia32cap ?? null,
    };
    const { judgeDaemon } = await import('../../doctor/inside.ts');
    const failures = judgeDaemon({ kind: 'running', facts }, clock.now()).filter(({ health }) => health === 'fail');
    return { ...done({ ...facts, failures }), ...(failures.length > 0 && { exit: EXIT_SOMETHING_WRONG }) };
  },
  // A daemon of an earlier version says nothing of failures.
  render: ({ intake, unstored_results: unstored, couriers, timers, failures = [] }) =>
    [
      `intake: ${intake.accepting ? 'open' : `closed, ${intake.reason}`}`,
      ...(unstored ? [`results not stored: ${unstored.messages}, since ${unstored.since}: ${unstored.reason}`] : []),
      ...(couriers ? [`no mail is sent, couriers end at once since ${couriers.since}: ${couriers.reason}`] : []),
      '',
      renderTable(
        timers,
        [
          { title: 'TIMER', value: (timer) => timer.name },
          { title: 'PERIOD', value: (timer) => `${timer.period_ms / 1000} s` },
          { title: 'NEXT', value: (timer) => timer.next_run_at },
          { title: 'LAST', value: (timer) => timer.last_run_at },
          { title: 'RESULT', value: (timer) => resultOf(timer) },
        ],
        'No timers.',
      ),
      ...(failures.length > 0 ? ['', ...failures.flatMap(linesOfFinding)] : []),
    ].join('\n'),
});
