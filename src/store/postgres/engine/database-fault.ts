// What an error of PostgreSQL or of the connection to it means: whether a transaction may be tried again, whether the
// connection is gone, and what people read. Tenants only ever see that the database could not be used.
import { describeError, Fault, Unavailable } from '../../../base/errors.ts';

/** SQLSTATE codes, Appendix A of PostgreSQL's documentation: what happened, and what to do. */
const SENTENCES: Readonly<Record<string, string>> = {
  '28P01':
    'the server rejected the password of this user: correct it in store.url, or in the file that store.password_file names',
  '28000': 'the server does not let this user in: check store.url, and pg_hba.conf on the server',
  '3D000': 'the server has no database of this name: create it with CREATE DATABASE, or correct store.url',
  '42501': 'the database user lacks rights: make it the owner of the schema, postrider, and of all that is in it',
  '53100': "the database server's disk is full: free some space there",
  '53200': 'the database server is out of memory',
  '53300': 'the database server has no free connection: raise max_connections there, or close other programs',
  '25006': 'the server is a standby, or set to read-only: store.url must name the primary',
  '57P01': 'the database server was shut down, or an administrator ended the connection',
  '57P02': 'the database server crashed and is recovering',
  '57P03': 'the database server is starting up or shutting down: try again in a moment',
  '55P03':
    'another transaction held a lock for too long, at every try: postrider doctor names those that stay open, and a standby that is missing',
  '57014': 'a statement took too long and was stopped',
  '25P03': 'a transaction was idle for too long, so the server ended it',
  '40001': 'other transactions changed the same rows at every try',
  '40P01': 'a deadlock with other transactions occurred at every try',
};

const OF_THE_NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refused the connection: is PostgreSQL running there?',
  ENOTFOUND: "its host name can't be resolved: correct store.url",
  EAI_AGAIN: "its host name can't be resolved right now",
  ENOENT: 'there is no Unix socket of PostgreSQL: is it running there?',
  EACCES: 'its Unix socket is not accessible for this user',
  EHOSTUNREACH: "it can't be reached over the network",
  ENETUNREACH: "it can't be reached over the network",
  ETIMEDOUT: 'it did not answer in time',
  ECONNRESET: 'the connection was lost',
  EPIPE: 'the connection was lost',
};

/** The others are mended by people: a wrong name, a missing right. */
const WHEN_AWAY: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOENT',
]);
const OF_THE_CLIENT_WHEN_LOST = /^(?:timeout expired|Connection terminated)/;

/** Messages of `pg` for which it has no code. */
const OF_THE_CLIENT: readonly (readonly [RegExp, string])[] = [
  [/^timeout expired/, 'it did not answer in time'],
  [/does not support SSL/, 'it offers no TLS, which store.url asks for: turn on ssl there, or change sslmode'],
  [/^Connection terminated|not queryable/, 'the connection was lost'],
  [
    /client password must be/,
    'the server wants a password, and there is none: store.password_file names the file that holds it',
  ],
];

const CERTIFICATE = /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY))/;

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** What PostgreSQL itself says has a SQLSTATE of five characters. */
function isOfServer(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(codeOf(error)) && error instanceof Error && 'severity' in error;
}

/** Nothing more can be asked on this connection, and nobody knows whether a COMMIT in flight took effect. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isOfServer(error)) return /^(?:FATAL|PANIC)$/.test(String((error as { severity?: unknown }).severity));
  return codeOf(error) in OF_THE_NETWORK || OF_THE_CLIENT.some(([shape]) => shape.test(error.message));
}

/** It can be there in a while, without anybody mending the configuration: it restarts, or another one is promoted. */
export function isAway(error: unknown): boolean {
  if (error instanceof Unavailable) return true;
  if (!(error instanceof Error)) return false;
  if (isOfServer(error)) return /^(?:57P0[123]|53300)$/.test(codeOf(error));
  return WHEN_AWAY.has(codeOf(error)) || OF_THE_CLIENT_WHEN_LOST.test(error.message);
}

/** Of the server or the way to it: what comes next will fail as well. Classes of SQLSTATE, Appendix A. */
export function isOutage(error: unknown): boolean {
  return (
    isConnectionLost(error) || error instanceof Fault || /^(?:25006|(?:08|53|57|58|F0|XX)...)$/.test(codeOf(error))
  );
}

/** Another transaction was in the way, and the same work can succeed when it runs again. */
export function isConflict(error: unknown): boolean {
  return /^(?:40001|40P01|55P03)$/.test(codeOf(error));
}

/** Two transactions looked for the same key, found none and inserted it: the second one then finds it. */
export function isDuplicate(error: unknown): boolean {
  return codeOf(error) === '23505';
}

/** A newer Postrider has changed a table since this connection prepared a statement: a new connection prepares it anew. */
export function isOutdatedPlan(error: unknown): boolean {
  return codeOf(error) === '0A000' && (error as { routine?: unknown }).routine === 'RevalidateCachedQuery';
}

/** A statement took longer than its connection allows. */
export function wasStopped(error: unknown): boolean {
  return codeOf(error instanceof Fault ? error.cause : error) === '57014';
}

/** For the operator. */
export function sentenceOf(error: unknown): string {
  const code = codeOf(error);
  if (isOfServer(error)) return SENTENCES[code] ?? `PostgreSQL reports: ${describeError(error)} (${code})`;
  if (code in OF_THE_NETWORK) return OF_THE_NETWORK[code]!;
  const message = describeError(error);
  if (CERTIFICATE.test(code)) {
    return `its certificate is not trusted: ${message}. Name the authority that issued it with sslrootcert, or change sslmode`;
  }
  return OF_THE_CLIENT.find(([shape]) => shape.test(message))?.[1] ?? message;
}

/** What callers of verbs get. */
export function storeFault(error: unknown): Fault {
  return error instanceof Fault ? error : outageFault(error);
}

/** Why nothing can be written. Its message is for everyone; names of servers are in the detail. */
export function outageFault(error: unknown): Fault {
  return new Fault('the database could not be used', { detail: sentenceOf(error), cause: error });
}
