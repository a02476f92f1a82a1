// The last step of set-up on the machine: once DNS has the names, the daemon is asked for its certificates, and their coming is
// waited for. Without them the first call would fail for a reason that has nothing to do with mail.
import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE_MS, SECOND_MS, systemClock } from '../../base/clock.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { Answer } from '../../operator/answer.ts';
import type { LocalContext } from '../command.ts';
import { runWhereTheWriterIs } from '../with-services.ts';
import { certificateList, certificateRenew, type ShownCertificate } from './certificate.ts';

export interface CertificatesAsk {
  loaded: LoadedConfig;
  /** Null: nobody waits; what is there is all that is said. */
  signal: AbortSignal | null;
}

/** A directory looks at the names from several places; most have decided after ten seconds. */
const PATIENCE_MS = 2 * MINUTE_MS;

/** Null: the daemon gets none. */
export async function firstCertificates(
  context: Pick<LocalContext, 'json' | 'print' | 'complain'>,
  { loaded: { config }, signal }: CertificatesAsk,
): Promise<ShownCertificate[] | null> {
  if (!config.tls.acme) return null;
  const run = { config, say: context.complain };
  const look = async () => certificatesOf(await runWhereTheWriterIs(certificateList, {}, run));
  let all = await look();
  if (signal === null || all.every(isValid)) return all;
  const startedAt = systemClock.now();
  const asked = await runWhereTheWriterIs(certificateRenew, { missing: true }, run);
  if (asked.kind !== 'done' || !(asked.result as { daemon_runs: boolean }).daemon_runs) return all;
  if (!context.json) context.print('\nGetting certificates …');
  const isOpen = (one: ShownCertificate) =>
    !isValid(one) && !(one.last_failure !== null && Date.parse(one.last_failure.at) >= startedAt);
  while (all.some(isOpen) && !signal.aborted && systemClock.now() - startedAt < PATIENCE_MS) {
    await sleep(SECOND_MS, null, { signal }).catch(() => {});
    all = await look();
  }
  return all;
}

function isValid({ state }: ShownCertificate): boolean {
  return state === 'valid';
}

export function certificateWords(certificates: readonly ShownCertificate[]): string {
  return certificates
    .map((one) => {
      const names = one.names.join(', ');
      if (isValid(one)) return `Certificate for ${names}: valid until ${one.not_after}.`;
      return `No certificate for ${names} yet: ${one.remark}. The daemon goes on by itself; postrider certificate list shows how far it is.`;
    })
    .join('\n');
}

function certificatesOf(answer: Answer): ShownCertificate[] {
  return answer.kind === 'done' ? (answer.result as { certificates: ShownCertificate[] }).certificates : [];
}
