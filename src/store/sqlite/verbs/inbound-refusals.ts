// Mail that was refused whole, in SQLite: noted without its content, and never more of it than a bounded number.
import type { InboundStore, RefusedInboundMail } from '../../inbound.ts';
import type { Transaction, Work } from '../engine/connection.ts';
import { toId } from '../engine/values.ts';

/** Anybody can make them: the oldest go. */
const MAX_NOTED = 1000;

export function inboundRefusalVerbs(db: Transaction): Work<Pick<InboundStore, 'noteRefusedInbound'>> {
  return { noteRefusedInbound: (mail) => note(db, mail) };
}

function note(db: Transaction, mail: RefusedInboundMail): void {
  const { id, receivedAt, remoteIp, ehloName, tls, mailFrom, recipients, sizeOctets, reply } = mail;
  // Nobody has to act on it any more.
  db.sql(
    `INSERT INTO inbound_mails (id, received_at, remote_ip, ehlo_name, tls, mail_from, recipients, size_octets,
       processed_at, effect, reason, refused_with) VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?, 'none', +?, +?)`,
  ).run(
    ...[toId(id), receivedAt, remoteIp, ehloName, tls, mailFrom, JSON.stringify(recipients), sizeOctets, receivedAt],
    ...[`refused with ${reply}`, reply],
  );
  db.sql(
    `DELETE FROM inbound_mails WHERE refused_with IS NOT NULL AND seq <=
       (SELECT seq FROM inbound_mails WHERE refused_with IS NOT NULL ORDER BY seq DESC LIMIT 1 OFFSET +?)`,
  ).run(MAX_NOTED);
}
