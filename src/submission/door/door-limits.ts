// Limits of the SMTP door that no configuration changes.
import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts';

/** RFC 5321 section 4.5.3.2.7. Applications keep connections in pools, so it is worth waiting. */
export const IDLE_MS = 5 * MINUTE_MS;
/** Where a connection begins with TLS: a peer that is slow on a bad line needs some seconds. */
export const HANDSHAKE_MS = 20 * SECOND_MS;
/** No session stays open for longer, busy or idle. */
export const SESSION_MS = 60 * MINUTE_MS;
/** When the daemon stops: for mail that is still arriving. */
export const CLOSE_MS = SECOND_MS;
/** RFC 5321 section 4.5.3.1.4 says 512; addresses beyond ASCII, parameters and AUTH need more. */
export const MAX_COMMAND_CHARACTERS = 2048;
/** Some applications connect anew for each mail. */
export const CONNECTIONS_PER_MINUTE = 6000;
/** All mails that are arriving, in mails of the largest size. */
export const MAX_MAILS_ARRIVING = 40;
