// Gets certificates from a directory and renews them. Each set of names has one certificate, and moves through: none or
// temporary (self-signed), wait for DNS, attempt, issued, attempt for renewal from two thirds of its life on, issued again.
// The timer moves it, one order at a time. An attempt is counted, with the time of the next one, before the directory
// is called, and its order is stored once the directory has accepted it: a daemon that dies again and again waits as
// long between attempts as one whose attempts fail, and asks for no certificate twice.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { type Clock, MINUTE_MS, toTimestamp } from '../base/clock.ts';
import { describeError, Fault } from '../base/errors.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { SealedSecret, Vault } from '../base/vault.ts';
import type { TlsPair } from '../http/tls-files.ts';
import type { Logger } from '../observe/log.ts';
import type { CertificateRecord, IssuedCertificate } from '../store/certificates.ts';
import type { Store } from '../store/store.ts';
import { loadAccountKey } from './account-key.ts';
import { type Challenge, type DirectoryAccount, type Issued, orderCertificate } from './acme-order.ts';
import type { ChallengeAnswers } from './challenge-answers.ts';
import { TooManyCalls } from './directory-calls.ts';
import { HeldPair } from './held-pair.ts';
import { isDue, pauseAfter, renewalAt } from './next-attempt.ts';
import { temporaryPair } from './temporary-pair.ts';

export interface CertificateKit {
  store: Pick<Store, 'certificates' | 'platformKeys'>;
  vault: Vault;
  clock: Clock;
  log: Logger;
  random(): number;
  account: DirectoryAccount;
  challenge: Challenge;
  answers: ChallengeAnswers;
  /** Opens the port for challenges unless it is open; why it can't be, or null. */
  portProblem(): Promise<string | null>;
  /** Those of the names for which DNS has no address. */
  namesWithoutAddress(names: readonly string[]): Promise<string[]>;
  /** Whether this daemon is the one that orders this set, named as in the store; asked when it is due. */
  lead(names: string): Promise<boolean>;
  /** Where private keys may be while an engine reads them. */
  keyFolder: string;
}

// A read of a few rows. A certificate that another daemon renews has a third of its life left, and the first one of all
// is wanted soon.
export const PERIOD_MS = MINUTE_MS;
const MAX_REASON_CHARACTERS = 500;

class WrongClock extends Fault {}

interface Held {
  names: readonly string[];
  key: string;
  pair: HeldPair;
  /** What is in use; null: the temporary one. */
  issued: Pick<IssuedCertificate, 'chain' | 'notAfter'> | null;
  /** Why what the store has can't be used; null: it can. */
  unusable: string | null;
  /** Why it is due and yet not attempted; null: nothing stands in its way. */
  waitsFor: string | null;
}

/**
 * Of several daemons on one store one orders each set, and all look for what others have got: a set may be that of all
 * (for HTTP) or of one (its own name in SMTP).
 */
export class CertificateKeeper {
  readonly #kit: CertificateKit;
  readonly #held = new Map<string, Held>();
  #portProblem: string | null = null;

  private constructor(kit: CertificateKit) {
    this.#kit = kit;
  }

  /** Each set of names that a listener needs has a certificate afterwards, if need be a temporary one. */
  static async open(kit: CertificateKit, wanted: readonly (readonly string[])[]): Promise<CertificateKeeper> {
    const keeper = new CertificateKeeper(kit);
    const records = await keeper.#records();
    for (const names of wanted) {
      const key = nameOf(names);
      if (!keeper.#held.has(key)) keeper.#held.set(key, await keeper.#load(names, records.get(key)));
    }
    return keeper;
  }

  /** For the listener with these names. */
  source(names: readonly string[]): HeldPair {
    const held = this.#held.get(nameOf(names));
    if (!held) throw new Fault(`no certificate is kept for ${names.join(', ')}`);
    return held.pair;
  }

  /** When each certificate ends; null: it is a temporary one. */
  ends(): { names: string; notAfter: number | null }[] {
    return [...this.#held.values()].map(({ key, issued }) => ({ names: key, notAfter: issued?.notAfter ?? null }));
  }

  /** What keeps a set of names from being attempted at the moment; null: nothing. */
  waitsFor(names: readonly string[]): string | null {
    return this.#portProblem ?? this.#held.get(nameOf(names))?.waitsFor ?? null;
  }

  timer(): TimerSpec {
    const run = (stopped: AbortSignal) => this.run(stopped);
    return { name: 'certificates', periodMs: PERIOD_MS, firstMs: 0, run };
  }

  /** Takes what others have got, and attempts what is due. */
  async run(stopped: AbortSignal): Promise<string> {
    const records = await this.#look();
    const problem = await this.#kit.portProblem();
    this.#notePort(problem);
    // Without the port an attempt can only fail, and would count against the directory's limits.
    if (problem !== null) return problem;
    const results: string[] = [];
    for (const held of this.#held.values()) {
      if (stopped.aborted) break;
      const result = await this.#advance(held, records, stopped);
      if (result !== null) results.push(`${held.key}: ${result}`);
    }
    return results.join('; ') || 'nothing due';
  }

  /** Null: it is not due. */
  async #advance(
    held: Held,
    records: ReadonlyMap<string, CertificateRecord>,
    stopped: AbortSignal,
  ): Promise<string | null> {
    const { clock, lead } = this.#kit;
    if (!isDue(records.get(held.key), clock.now())) {
      held.waitsFor = null;
      return null;
    }
    if (await this.#mustWait(held)) return held.waitsFor;
    if (!(await lead(held.key))) return 'another daemon orders it';
    // The one that has led it may have attempted it since.
    const record = (await this.#look()).get(held.key);
    return isDue(record, clock.now()) ? this.#attempt(held, record ?? null, stopped) : null;
  }

  async #look(): Promise<Map<string, CertificateRecord>> {
    const records = await this.#records();
    for (const held of this.#held.values()) this.#take(held, records.get(held.key)?.issued ?? null);
    return records;
  }

  #take(held: Held, stored: IssuedCertificate | null): void {
    const { clock, log } = this.#kit;
    if (stored === null || stored.chain === held.issued?.chain || stored.notAfter <= clock.now()) return;
    const names = held.key;
    try {
      this.#use(held, this.#pairOf(stored, names), stored);
      log.info({ names, not_after: toTimestamp(stored.notAfter) }, 'a certificate from the store is in use');
    } catch (error) {
      const reason = wordsOf(error);
      if (reason !== held.unusable) log.error({ names, reason }, 'a certificate from the store cannot be used');
      held.unusable = reason;
    }
  }

  #use(held: Held, pair: TlsPair, issued: IssuedCertificate): void {
    held.pair.replace(pair);
    held.issued = issued;
    held.unusable = null;
  }

  #notePort(problem: string | null): void {
    if (problem !== null && problem !== this.#portProblem) {
      this.#kit.log.error({ reason: problem }, 'certificates wait: the port for challenges cannot be opened');
    }
    this.#portProblem = problem;
  }

  /** What can only fail is not attempted, and each minute looked at again. */
  async #mustWait(held: Held): Promise<boolean> {
    const missing = await this.#kit.namesWithoutAddress(held.names);
    const reason = missing.length === 0 ? null : `waits, because DNS has no address for ${missing.join(', ')}`;
    if (reason !== null && reason !== held.waitsFor) {
      this.#kit.log.warn({ names: held.key, reason }, 'a certificate waits for DNS');
    }
    held.waitsFor = reason;
    return reason !== null;
  }

  async #attempt(held: Held, record: CertificateRecord | null, stopped: AbortSignal): Promise<string> {
    const { clock, log, random, store } = this.#kit;
    const { key: names } = held;
    const id = { directory: this.#kit.account.url, names };
    const failures = (record?.failures ?? 0) + 1;
    const nextAttemptAt = clock.now() + pauseAfter(failures, random);
    await store.certificates.beginCertificateAttempt(id, nextAttemptAt);
    log.info({ names, directory: id.directory, attempt: failures }, 'getting a certificate');
    try {
      const { pair, issued } = await this.#obtain(held, record, stopped);
      await store.certificates.keepCertificate(id, issued, renewalAt(issued, clock.now()));
      this.#use(held, pair, issued);
      log.info({ names, not_after: toTimestamp(issued.notAfter) }, 'certificate issued');
      return 'issued';
    } catch (error) {
      const reason = stopped.aborted ? 'the daemon was stopped during the attempt' : wordsOf(error);
      const earliest = error instanceof TooManyCalls ? clock.now() + error.retryAfterMs : 0;
      const next_attempt_at = toTimestamp(Math.max(nextAttemptAt, earliest));
      await store.certificates.failCertificateAttempt(id, { reason, at: clock.now() }, earliest);
      if (!stopped.aborted) log.error({ names, reason, attempt: failures, next_attempt_at }, 'no certificate issued');
      return `failed: ${reason}`;
    }
  }

  async #obtain({ names, key }: Held, record: CertificateRecord | null, signal: AbortSignal) {
    const { store, vault, clock, account, challenge, answers } = this.#kit;
    const id = { directory: account.url, names: key };
    const open = record?.order ?? null;
    const result = await orderCertificate({
      account,
      accountKey: await loadAccountKey({ store, vault, clock }, account.url),
      names,
      challenge,
      open: open && { url: open.url, key: this.#unseal(open.key, id.names) },
      keep: (order) =>
        store.certificates.keepCertificateOrder(id, order && { url: order.url, key: this.#seal(order.key, id.names) }),
      answers,
      signal,
    });
    try {
      return this.#check(result, names);
    } catch (error) {
      // The same order would bring the same certificate again. With a wrong clock it is kept: it is the clock that has
      // to change, and directories issue only a few certificates for the same names per week.
      if (!(error instanceof WrongClock)) await store.certificates.keepCertificateOrder(id, null);
      throw error;
    }
  }

  /** What a directory says is not believed: a chain that listeners can't use would end them at the next start. */
  #check({ chain, key, receivedAt }: Issued, names: readonly string[]): { pair: TlsPair; issued: IssuedCertificate } {
    const certificate = new X509Certificate(chain);
    const missing = names.filter((name) => certificate.checkHost(name) === undefined);
    if (missing.length > 0) throw new Fault(`the certificate is not valid for ${missing.join(', ')}`);
    if (!certificate.checkPrivateKey(createPrivateKey(key))) throw new Fault('the certificate is for another key');
    const pair = { cert: Buffer.from(chain), key: Buffer.from(key) };
    createSecureContext(pair);
    const [notBefore, notAfter] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    if (!(notAfter > this.#kit.clock.now())) {
      const ended = `the certificate ended at ${certificate.validTo}`;
      if (receivedAt === null || receivedAt >= notAfter) throw new Fault(ended);
      throw new WrongClock(`${ended} by this machine's clock, but the directory's says ${toTimestamp(receivedAt)}`);
    }
    return { pair, issued: { chain, key: this.#seal(key, nameOf(names)), notBefore, notAfter } };
  }

  async #load(names: readonly string[], record: CertificateRecord | undefined): Promise<Held> {
    const { clock, keyFolder, log } = this.#kit;
    const key = nameOf(names);
    const known = { names, key, unusable: null, waitsFor: null };
    const stored = record?.issued ?? null;
    if (stored && stored.notAfter > clock.now()) {
      return { ...known, pair: new HeldPair(this.#pairOf(stored, key), keyFolder), issued: stored };
    }
    log.warn({ names: key }, 'a self-signed certificate is in use until the directory has issued one');
    return { ...known, pair: new HeldPair(await temporaryPair(names, clock.now()), keyFolder), issued: null };
  }

  /** Throws if it is none that listeners can use. */
  #pairOf({ chain, key }: IssuedCertificate, names: string): TlsPair {
    const pair = { cert: Buffer.from(chain), key: Buffer.from(this.#unseal(key, names)) };
    createSecureContext(pair);
    return pair;
  }

  async #records(): Promise<Map<string, CertificateRecord>> {
    const { store, account } = this.#kit;
    const records = await store.certificates.listCertificates();
    return new Map(records.filter(({ directory }) => directory === account.url).map((one) => [one.names, one]));
  }

  #seal(key: string, names: string): SealedSecret {
    return this.#kit.vault.seal(Buffer.from(key), certificateKeyContext(names));
  }

  #unseal(secret: SealedSecret, names: string): string {
    return this.#kit.vault.open(secret, certificateKeyContext(names)).toString();
  }
}

/** As the store names a set. */
function nameOf(names: readonly string[]): string {
  return [...names].sort().join(' ');
}

/** Binds a sealed key to its row. */
export function certificateKeyContext(names: string): string {
  return `certificate:${names}`;
}

function wordsOf(error: unknown): string {
  return describeError(error)
    .replace(/[\x00-\x1f\x7f]+/g, ' ')
    .slice(0, MAX_REASON_CHARACTERS);
}
