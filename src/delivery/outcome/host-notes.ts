// What couriers have learnt of mail servers: told to the operator, and remembered where others need it.
import { unreachable } from '../../base/errors.ts';
import type { HostNote } from '../courier/messages.ts';
import { rememberBrokenTls, type TlsMemoryKit } from './tls-memory.ts';

export function takeHostNote(note: HostNote, kit: TlsMemoryKit): void {
  const { host: mx, reason } = note;
  switch (note.kind) {
    case 'tls_broken':
      void rememberBrokenTls(note, kit);
      break;
    case 'announcement_lost':
      // The courier remembers it: forgotten at a restart, it costs one more connection.
      kit.log.info({ mx, reason }, 'a mail server lost the commands behind a message: it gets mail in turn for a day');
      break;
    default:
      unreachable(note);
  }
}
