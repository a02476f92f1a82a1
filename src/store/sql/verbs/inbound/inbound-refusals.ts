// Refused inbound mail: noted without its content, up to a limit.

import type { InboundStore, RefusedInboundMail } from '../../../inbound.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { toId } from '../../values.ts';

/** Anyone can cause them, so the oldest are erased. */
const MAX_NOTED = 1000;

export function inboundRefusalVerbs(db: Transaction): Work<Pick<InboundStore, 'noteRefusedInbound'>> {
  return { noteRefusedInbound: (mail) => note(db, mail) };
}

function* note(db: Transaction, mail: RefusedInboundMail): Steps<void> {
  const { id, receivedAt, remoteIp, ehloName, tls, mailFrom, recipients, sizeBytes, reply } = mail;
  // It counts as processed: there is nothing to do.
  yield* db
    .sql(
      `INSERT INTO inbound_mails (id, received_at, remote_ip, ehlo_name, tls, mail_from, recipients, size_octets,
       processed_at, effect, reason, refused_with) VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?, 'none', +?, +?)`,
    )
    .run(
      ...[toId(id), receivedAt, remoteIp, ehloName, tls, mailFrom, JSON.stringify(recipients), sizeBytes, receivedAt],
      ...[`refused with ${reply}`, reply],
    );
  yield* db
    .sql(
      `DELETE FROM inbound_mails WHERE refused_with IS NOT NULL AND seq <=
       (SELECT seq FROM inbound_mails WHERE refused_with IS NOT NULL ORDER BY seq DESC LIMIT 1 OFFSET +?)`,
    )
    .run(MAX_NOTED);
}
