// The database file, the master key's file, and the running daemon with its intake and timers.
import { MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { counted } from '../base/text/counted.ts';
import type {
  ConfigFileFacts,
  DaemonAnswer,
  DaemonFacts,
  DatabaseFacts,
  KeyFileFacts,
  KeyTrouble,
  TimerFacts,
} from './doctor-settings.ts';
import { type Finding, fine, warning, wrong } from './finding.ts';

export function judgeDatabase(file: string, facts: DatabaseFacts): Finding {
  const about = { check: 'database', subject: file };
  const restore = { command: 'postrider restore BACKUP --force, with the daemon stopped' };
  switch (facts.kind) {
    case 'none':
      return warning(about, 'does not exist yet: the first start creates it');
    case 'closed':
      return warning(about, `couldn't be checked: ${facts.reason}`);
    case 'unreadable':
      return wrong(about, `cannot be read: ${facts.reason}`, restore);
    case 'unfinished':
      return warning(about, `couldn't be checked completely within ${facts.elapsedMs / SECOND_MS} s`, {
        command: 'postrider backup FILE, then: sqlite3 FILE "PRAGMA quick_check"',
      });
    case 'checked':
      if (facts.problems.length === 0) return fine(about, 'is intact');
      return wrong(about, `is damaged: ${facts.problems.slice(0, 3).join('; ')}`, restore);
  }
}

/** Messages that a restore has held: new mail flows, so nobody would miss them. */
export function judgeHeld(messages: number): Finding[] {
  if (messages === 0) return [];
  const what = `held since the restore of a backup: ${messages === 1 ? 'it' : 'they'} may have been sent before`;
  const about = { check: 'held mail', subject: counted(messages, 'message') };
  return [warning(about, what, { command: 'postrider queue list, then: postrider queue release' })];
}

/** The master key decrypts every private key in a backup. */
export function judgeKeyFile(facts: KeyFileFacts | null): Finding[] {
  if (facts === null) return [];
  const { file, openTo } = facts;
  const about = { check: 'master key', subject: file };
  if (openTo === null) return [fine(about, 'is readable only by its owner')];
  return [warning(about, `is readable by ${openTo}`, { command: `chmod 600 ${file}` })];
}

/** The daemon that runs has read the key at its start: only the next start would say so. */
export function judgeKeyTrouble(trouble: KeyTrouble | null): Finding[] {
  if (trouble === null) return [];
  const { place, refusesStart, reason } = trouble;
  return [(refusesStart ? wrong : warning)({ check: 'master key', subject: place }, reason)];
}

/** Its secrets decrypt the backups, or open the database. */
export function judgeConfigFile(facts: ConfigFileFacts | null): Finding[] {
  if (facts === null) return [];
  const { file, keys, openTo } = facts;
  const about = { check: 'configuration', subject: file };
  const what = `has ${keys.join(' and ')}`;
  if (openTo === null) return [fine(about, `${what}, and is readable only by its owner and the service`)];
  const remedy = { command: `chgrp postrider ${file} && chmod 640 ${file}` };
  return [warning(about, `${what}, and is readable by ${openTo}`, remedy)];
}

export function judgeDaemon(answer: DaemonAnswer, now: number): Finding[] {
  const about = { check: 'daemon', subject: 'postrider' };
  switch (answer.kind) {
    case 'none':
      return [warning(about, 'is not running', { command: 'systemctl start postrider' })];
    case 'closed':
      return [warning(about, `couldn't be asked: ${answer.reason}`)];
    case 'silent':
      return [wrong(about, `does not answer: ${answer.reason}`, { command: 'systemctl restart postrider' })];
    case 'running': {
      const { intake, timers, unstored_results: unstored, couriers } = answer.facts;
      const state = intake.accepting
        ? fine({ check: 'intake', subject: 'POST /emails' }, 'accepts new mail')
        : wrong({ check: 'intake', subject: 'POST /emails' }, `does not accept new mail: ${intake.reason}`);
      return [
        fine(about, 'is running'),
        state,
        judgeResults(unstored),
        judgeCouriers(couriers),
        ...timers.map((timer) => judgeTimer(timer, now)),
      ];
    }
  }
}

function judgeCouriers(trouble: DaemonFacts['couriers']): Finding {
  const about = { check: 'couriers', subject: 'courier threads' };
  // A daemon of an earlier version says nothing of it.
  if (!trouble) return fine(about, 'send mail');
  const { since, reason } = trouble;
  return wrong(about, `end as soon as they have started, so no mail is sent, since ${since}: ${reason}`, {
    advice: 'What is queued stays there. Mend what the reason names, then restart the daemon.',
  });
}

function judgeResults(unstored: DaemonFacts['unstored_results']): Finding {
  const about = { check: 'results', subject: 'delivery results' };
  if (unstored === null) return fine(about, 'are stored');
  const { messages, since, reason, is_alarm: isAlarm } = unstored;
  const what = `of ${counted(messages, 'message')} could not be stored since ${since}: ${reason}`;
  const remedy = {
    advice:
      'Free space or repair the disk; results are stored as soon as possible. They are kept in results.journal ' +
      'in the data folder, so a restart does not send any message again.',
  };
  return isAlarm ? wrong(about, what, remedy) : warning(about, what, remedy);
}

// A run may take a while; one that is later than this hangs.
const LATE_MS = 10 * MINUTE_MS;

export function judgeTimer(timer: TimerFacts, now: number): Finding {
  const about = { check: 'timer', subject: timer.name };
  const lateMs = now - Date.parse(timer.next_run_at);
  if (lateMs > Math.max(timer.period_ms, LATE_MS)) {
    return wrong(about, `should have run at ${timer.next_run_at} but did not`, {
      command: 'systemctl restart postrider',
    });
  }
  const next = `every ${durationOf(timer.period_ms)}, next ${timer.next_run_at}`;
  if (timer.last_result === null) {
    return fine(about, `${next}; ${timer.running ? 'first run in progress' : 'has not run yet'}`);
  }
  if (timer.last_result.startsWith('failed')) {
    return warning(about, `${next}; last: ${timer.last_result}`, {
      command: "journalctl --unit postrider --output cat | grep 'a timer failed'",
    });
  }
  return fine(about, `${next}; last: ${timer.last_result}`);
}

function durationOf(ms: number): string {
  const units = [
    ['d', 24 * 60 * MINUTE_MS],
    ['h', 60 * MINUTE_MS],
    ['min', MINUTE_MS],
  ] as const;
  const [name, size] = units.find(([, unit]) => ms >= unit && ms % unit === 0) ?? (['s', SECOND_MS] as const);
  return `${ms / size} ${name}`;
}
