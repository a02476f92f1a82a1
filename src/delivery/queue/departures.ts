// From which of our own addresses a lane's next mail goes. Each message has its own; a lane stands
// in the line for the address of its first due message, and comes again for the others.
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../observe/log.ts';
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import type { SourceStore } from '../../store/source-addresses.ts';
import { chooseSource } from '../../store/source-choice.ts';
import type { SessionSource } from '../courier/messages.ts';
import { hostsFor, type SourceAddresses } from '../route/source-addresses.ts';
import type { Lane } from './lane.ts';

export interface DeparturesKit {
  store: Pick<SourceStore, 'peekDue'>;
  sources: SourceAddresses;
  clock: Clock;
  log: Pick<Logger, 'debug'>;
}

// Messages that must wait are put off by the hundred; this only has to find the first that need not.
const PEEKED = 50;

/** Null when everything that is looked at must wait: then it is to be put off. */
export async function findDeparture(
  kit: DeparturesKit,
  lane: Lane,
  { group, hosts }: { group: string; hosts: MailHost[] },
): Promise<SessionSource | null> {
  const { store, sources, clock, log } = kit;
  const now = clock.now();
  const { due, usages } = await store.peekDue(lane.id, { now, mxGroup: group, limit: PEEKED });
  const facts = sources.facts(group, hosts);
  for (const message of due) {
    const choice = chooseSource(message, usages, facts, now);
    if (choice.decision === 'wait') continue;
    const source = sources.source(choice.address);
    tellSkipped(log, source, hosts);
    return source;
  }
  return null;
}

function tellSkipped(log: DeparturesKit['log'], source: SessionSource, hosts: MailHost[]): void {
  const called = new Set(hostsFor(source, hosts).map(({ name }) => name));
  for (const { name: mx } of hosts) {
    if (called.has(mx)) continue;
    log.debug({ mx, source_address: source.ip }, `${mx} is skipped: it has no address of the kind of ${source.ip}`);
  }
}
