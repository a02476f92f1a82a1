// What couriers have learnt about mail servers: logged for the operator, and stored where others need it.

import { type Clock, DAY_MS } from '../../base/clock.ts';
import { describeError, unreachable } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { BrokenTlsNote, HostNote } from '../courier/messages.ts';

export function handleHostNote(note: HostNote, kit: TlsMemoryKit): void {
  const { host: mx, reason } = note;
  switch (note.kind) {
    case 'tls_broken':
      void rememberBrokenTls(note, kit);
      break;
    case 'announcement_lost':
      // Only the courier remembers it: after a restart it costs one more connection.
      kit.log.info(
        { mx, reason },
        'a mail server drops commands sent after a message: it gets no pipelined commands there for a day',
      );
      break;
    default:
      unreachable(note);
  }
}

// Stores hosts whose TLS is broken, so that the next connections use clear text at once instead of waiting
// for the same handshake. Only for opportunistic TLS: an enforced policy ignores it. Couriers read it from
// the store.

// Long enough to cover a weekend, short enough that a repair is noticed within the week.
const REMEMBERED_MS = 3 * DAY_MS;
const MAX_HOSTS = 10_000;

interface TlsMemoryKit {
  store: StoreVerbs<{ transportSecurity: 'putBrokenTls' }>;
  clock: Clock;
  log: Logger;
}

async function rememberBrokenTls({ host, reason }: BrokenTlsNote, kit: TlsMemoryKit): Promise<void> {
  const since = kit.clock.now();
  kit.log.warn({ mx: host, reason }, "a mail server's TLS is broken: it gets mail in clear text for three days");
  try {
    await kit.store.transportSecurity.putBrokenTls(
      { host, reason, since, expiresAt: since + REMEMBERED_MS },
      MAX_HOSTS,
    );
  } catch (error) {
    // The next connection will find out again.
    kit.log.error({ error, mx: host }, `broken TLS could not be remembered: ${describeError(error)}`);
  }
}
