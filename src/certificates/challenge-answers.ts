// What is answered at the moment to a directory that looks: a text for each token on the port for challenges (RFC 8555
// section 8.3), or a certificate for each name where HTTPS is served (RFC 8737).
import { createSecureContext, type SecureContext } from 'node:tls';
import type { TlsPair } from '../http/tls-files.ts';

/** An order has at most a few names; directories allow 100. */
const MAX_ANSWERS = 100;

export class ChallengeAnswers {
  readonly #ofOthers: (token: string) => Promise<string | null>;
  readonly #byToken = new Map<string, string>();
  readonly #byName = new Map<string, SecureContext>();

  /** `ofOthers` answers for orders of other daemons. */
  constructor(ofOthers: (token: string) => Promise<string | null> = async () => null) {
    this.#ofOthers = ofOthers;
  }

  put(token: string, keyAuthorization: string): void {
    const oldest = this.#byToken.keys().next().value;
    if (this.#byToken.size >= MAX_ANSWERS && oldest !== undefined) this.#byToken.delete(oldest);
    this.#byToken.set(token, keyAuthorization);
  }

  drop(token: string): void {
    this.#byToken.delete(token);
  }

  async find(token: string): Promise<string | null> {
    return this.#byToken.get(token) ?? this.#ofOthers(token);
  }

  /** As many as an order has names, and dropped with it. */
  putCertificate(name: string, pair: TlsPair): void {
    this.#byName.set(name, createSecureContext(pair));
  }

  dropCertificate(name: string): void {
    this.#byName.delete(name);
  }

  findCertificate(name: string): SecureContext | null {
    return this.#byName.get(name.toLowerCase()) ?? null;
  }
}
