// The database server, where several daemons share one: whether it keeps what was answered, and what slows it down.
import { MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { CLOCK_REFUSES_MS, CLOCK_WARNS_MS, NODE_LEASE_MS } from '../store/owners.ts';
import type { ServerFacts, ServerStandby } from '../store/server-facts.ts';
import { type Finding, fine, warning, wrong } from './finding.ts';

export type ServerAnswer = { kind: 'answer'; facts: ServerFacts } | { kind: 'none'; reason: string };

/** Longer than any of Postrider's own. */
const LONG_TRANSACTION_MS = 5 * MINUTE_MS;
const CONNECTIONS_WARN = 0.8;
/** PostgreSQL begins to freeze at 200 million by itself, and stops to write shortly before 2,147 million. */
const UNFROZEN_WARNS = 1_000_000_000;
export const SILENT_MS = 1.5 * NODE_LEASE_MS;

export function judgeServer(name: string, answer: ServerAnswer): Finding[] {
  const about = { check: 'database', subject: name };
  if (answer.kind === 'none') return [wrong(about, `cannot be used: ${answer.reason}`)];
  const { facts } = answer;
  return [
    fine(about, `answers at ${facts.host}, PostgreSQL ${facts.version}`),
    ...facts.outdated.map((host) => judgeOutdated(host, facts)),
    ...judgeCommits(name, facts),
    ...judgeStandby(name, facts),
    judgeServerClock(name, facts),
    ...judgeLoad(name, facts),
    ...judgeNodes(facts),
  ];
}

function judgeOutdated(host: string, { host: primary }: ServerFacts): Finding {
  const what = `accepts writes, too, and knows nothing of what ${primary} has: it was the primary before that one was promoted`;
  return wrong({ check: 'old primary', subject: host }, what, {
    advice: 'stop it, and build it anew as a standby (docs/operate.md)',
  });
}

function judgeCommits(subject: string, { survivesCrash, synchronousCommit }: ServerFacts): Finding[] {
  const about = { check: 'commits', subject };
  if (!survivesCrash) {
    const remedy = { setting: 'fsync = on and full_page_writes = on in postgresql.conf' };
    return [wrong(about, 'a crash of its machine may ruin the database and lose mail that was answered 202', remedy)];
  }
  if (!['off', 'local'].includes(synchronousCommit)) return [];
  const what = `synchronous_commit is ${synchronousCommit}: mail that was answered 202 may be lost`;
  return [
    wrong(about, what, { setting: 'synchronous_commit = on in postgresql.conf, or for the user and the database' }),
  ];
}

function judgeStandby(subject: string, { standbyNames, standbys }: ServerFacts): Finding[] {
  const about = { check: 'standby', subject };
  if (standbyNames === null) {
    const what = 'has no synchronous standby: when its disk or machine is lost, so is mail that was answered 202';
    return [wrong(about, what, { setting: 'synchronous_standby_names in postgresql.conf (docs/operate.md)' })];
  }
  if (standbys === null) {
    const remedy = { command: 'GRANT pg_monitor TO the user of store.url;' };
    return [
      warning(
        about,
        "the user of store.url may not see whether the standby is connected, so it can't be judged",
        remedy,
      ),
    ];
  }
  const names = inStep(standbys);
  if (names.length > 0) return [fine(about, `${names.join(', ')} has every commit before it is answered`)];
  const known =
    standbys.length === 0 ? 'none is connected' : `connected: ${standbys.map((one) => one.name).join(', ')}`;
  return [wrong(about, `no standby of ${standbyNames} is in step, so commits wait; ${known}`)];
}

function inStep(standbys: readonly ServerStandby[]): string[] {
  return standbys.filter((one) => one.isSynchronous && one.isStreaming).map((one) => one.name);
}

function judgeServerClock(subject: string, { clockAheadMs }: ServerFacts): Finding {
  const about = { check: 'clock of the database', subject };
  const apartMs = Math.abs(clockAheadMs);
  if (apartMs < CLOCK_WARNS_MS) return fine(about, "agrees with this machine's");
  const seconds = (apartMs / SECOND_MS).toFixed(1);
  const what = `is ${seconds} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} this machine's`;
  const remedy = { command: 'timedatectl set-ntp true, on both machines' };
  return apartMs < CLOCK_REFUSES_MS
    ? warning(about, what, remedy)
    : wrong(about, `${what}: daemons don't start`, remedy);
}

function judgeLoad(subject: string, { oldestTransaction, connections, transactionsUnfrozen }: ServerFacts): Finding[] {
  const findings: Finding[] = [];
  if (oldestTransaction && oldestTransaction.ageMs >= LONG_TRANSACTION_MS) {
    const { ageMs, application, user } = oldestTransaction;
    const who = `${application || 'a program without a name'} (user ${user})`;
    const what = `${who} has had a transaction open for ${Math.round(ageMs / MINUTE_MS)} min: until it ends, deleted rows stay and everything becomes slower`;
    findings.push(
      warning({ check: 'long transaction', subject }, what, {
        advice: 'pg_stat_activity shows it, and pg_terminate_backend ends it',
      }),
    );
  }
  const { used, most } = connections;
  if (used >= most * CONNECTIONS_WARN) {
    const what = `${used} of ${most} connections are open; a daemon needs some ten, and one per courier`;
    findings.push(warning({ check: 'connections', subject }, what, { setting: 'max_connections in postgresql.conf' }));
  }
  if (transactionsUnfrozen >= UNFROZEN_WARNS) {
    const what = `has ${Math.round(transactionsUnfrozen / 1_000_000)} million transactions since its last freeze; it stops to write at 2,147`;
    findings.push(wrong({ check: 'vacuum', subject }, what, { command: 'VACUUM (FREEZE);' }));
  }
  return findings;
}

function judgeNodes({ nodes, standbyNames, standbys }: ServerFacts): Finding[] {
  const commitsWait = standbyNames !== null && standbys !== null && inStep(standbys).length === 0;
  const living = nodes.filter(({ seenMsAgo }) => seenMsAgo !== null);
  const versions = [...new Set(living.map(({ version }) => version))];
  const differ = { check: 'versions', subject: living.map(({ node, version }) => `${node} ${version}`).join(', ') };
  const silent = living.filter(({ seenMsAgo }) => seenMsAgo! > SILENT_MS);
  return [
    ...(versions.length > 1
      ? [warning(differ, 'daemons of several versions share the database: upgrade the others')]
      : []),
    ...silent.map(({ node, seenMsAgo }) => {
      const when = `was last heard of ${Math.round(seenMsAgo! / SECOND_MS)} s ago`;
      const about = { check: 'node', subject: node };
      if (commitsWait) return warning(about, `${when}: while commits wait, no daemon can say that it is alive`);
      const advice = `its journal says why; start it again, or, if it is gone for good: postrider nodes forget ${node}`;
      return warning(about, `${when}: it has crashed or does not reach the database`, { advice });
    }),
  ];
}
