// Remembers hosts whose TLS is broken, so that the next connections go in clear text at once
// instead of waiting for the same handshake. Only where TLS is opportunistic: a policy that
// enforces it looks at none of this. Couriers read it from the store.
import { type Clock, DAY_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { TransportSecurityStore } from '../../store/transport-security.ts';
import type { BrokenTlsNote } from '../courier/messages.ts';

// Long enough to save the waits of a weekend, short enough that a repair shows within the week.
const REMEMBERED_MS = 3 * DAY_MS;
const MAX_HOSTS = 10_000;

export interface TlsMemoryKit {
  store: Pick<TransportSecurityStore, 'putBrokenTls'>;
  clock: Clock;
  log: Logger;
}

export async function rememberBrokenTls({ host, reason }: BrokenTlsNote, kit: TlsMemoryKit): Promise<void> {
  const since = kit.clock.now();
  kit.log.warn({ mx: host, reason }, 'TLS of a mail server is broken: clear text for three days');
  try {
    await kit.store.putBrokenTls({ host, reason, since, expiresAt: since + REMEMBERED_MS }, MAX_HOSTS);
  } catch (error) {
    // The next connection will find out anew.
    kit.log.error({ error, mx: host }, `broken TLS could not be remembered: ${describeError(error)}`);
  }
}
