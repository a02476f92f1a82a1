// One order at an ACME directory (RFC 8555 section 7.4), from the account to the certificate. The order is
// kept before it goes on, so that one that was interrupted is resumed instead of made again: directories limit how
// many certificates a set of names gets. `acme-client` signs the calls and retries rejected nonces.
// Left out on purpose: DNS-01, which needs access to the zone.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Authorization, Client, Order } from 'acme-client';
import { SECOND_MS } from '../base/clock.ts';
import { Fault } from '../base/errors.ts';
import type { ChallengeAnswers } from './challenge-answers.ts';
import { DirectoryProblem, directoryCalls } from './directory-calls.ts';

export interface DirectoryAccount {
  /** The directory's URL. */
  url: string;
  /** PEM; trusted besides the usual roots when the directory is called. */
  root: string | null;
  email: string | null;
  /** External account binding (RFC 8555 section 7.3.4); the key is in base64url. */
  binding: { kid: string; hmacKey: string } | null;
}

/** The private key is PEM. */
export interface OpenOrder {
  url: string;
  key: string;
}

export type Challenge = 'http-01' | 'tls-alpn-01';

export interface OrderRequest {
  account: DirectoryAccount;
  /** PEM. */
  accountKey: string;
  names: readonly string[];
  challenge: Challenge;
  /** One of an earlier attempt. */
  open: OpenOrder | null;
  /** Stores a new order; null: the open one is over. */
  keep(order: OpenOrder | null): Promise<void>;
  answers: ChallengeAnswers;
  signal: AbortSignal;
}

export interface Issued {
  /** PEM. */
  chain: string;
  key: string;
  /** By the directory's clock; null: its answers have no time. */
  receivedAt: number | null;
}

// A directory needs seconds for a validation; Let's Encrypt's own check from several places takes up to a minute.
const POLLS_MS = [0.5, 1, 2, 3, 5, 5, 5, 10, 10, 10, 20, 30].map((seconds) => seconds * SECOND_MS);

type Library = typeof import('acme-client');

/** Throws what the directory says. */
export async function orderCertificate(request: OrderRequest): Promise<Issued> {
  // Loaded here, so that nobody else waits for it or has it in memory.
  const library = await import('acme-client');
  const { account, accountKey, signal } = request;
  let receivedAt: number | null = null;
  const onTime = (at: number) => {
    receivedAt = at;
  };
  library.axios.defaults.adapter = directoryCalls({ root: account.root, signal, onTime });
  const client = new library.Client({
    directoryUrl: account.url,
    accountKey,
    ...(account.binding && { externalAccountBinding: account.binding }),
  });
  await openAccount(client, account.email);
  const { order, key } = await openOrder(library, client, request);
  try {
    return { chain: await finish({ library, client }, { order, key }, request), key, receivedAt };
  } catch (error) {
    if (isGone(error)) await request.keep(null);
    throw error;
  }
}

/** The chain, from an order in any state. */
async function finish({ library, client }: Calls, { order, key }: Ordered, request: OrderRequest): Promise<string> {
  const { names, signal } = request;
  const ready = order.status === 'pending' ? await authorize({ library, client }, order, request) : order;
  let done = ready;
  if (ready.status === 'ready') {
    const [, csr] = await library.crypto.createCsr({ altNames: [...names] }, key);
    done = await client.finalizeOrder(ready, csr);
  }
  const valid = await poll(signal, done, {
    look: () => client.getOrder(done),
    isOver: ({ status }) => status !== 'processing' && status !== 'ready' && status !== 'pending',
  });
  if (valid.status !== 'valid') throw await refused(request, detailOf(valid.error) ?? `the order is ${valid.status}`);
  return client.getCertificate(valid);
}

async function openAccount(client: Client, email: string | null): Promise<void> {
  try {
    await client.createAccount({ termsOfServiceAgreed: true, ...(email !== null && { contact: [`mailto:${email}`] }) });
  } catch (error) {
    // If the account exists, the library then changes it, which directories reject when there is nothing to change.
    if (!hasAccount(client)) throw error;
  }
}

function hasAccount(client: Client): boolean {
  try {
    return client.getAccountUrl() !== '';
  } catch {
    return false;
  }
}

interface Calls {
  library: Library;
  client: Client;
}

interface Ordered {
  order: Order;
  key: string;
}

async function openOrder(library: Library, client: Client, request: OrderRequest): Promise<Ordered> {
  const { open, names, keep } = request;
  if (open) {
    const order = await findOrder(client, open.url);
    if (order && order.status !== 'invalid') return { order, key: open.key };
    await keep(null);
  }
  const order = await client.createOrder({ identifiers: names.map((value) => ({ type: 'dns', value })) });
  const key = (await library.crypto.createPrivateEcdsaKey()).toString();
  await keep({ url: order.url, key });
  return { order, key };
}

/** Null: the directory has forgotten it. One that just can't be asked for is asked for again by the next attempt. */
async function findOrder(client: Client, url: string): Promise<Order | null> {
  try {
    return await client.getOrder({ url } as Order);
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

// How directories say that there is no such order, or that it is another account's. With these a resumed order would
// fail for ever; unknown problems are temporary.
const GONE = ['malformed', 'unauthorized'];

function isGone(error: unknown): boolean {
  return error instanceof DirectoryProblem && (error.status === 404 || GONE.includes(error.type ?? ''));
}

/** Proves all names, and returns the order as it is then. */
async function authorize({ library, client }: Calls, order: Order, request: OrderRequest): Promise<Order> {
  const { answers, signal } = request;
  // Directories may reuse earlier proofs (RFC 8555 section 7.1.3).
  const unproven = (await client.getAuthorizations(order)).filter(({ status }) => status !== 'valid');
  const undo: (() => void)[] = [];
  try {
    for (const authorization of unproven) {
      const challenge = authorization.challenges.find(({ type }) => type === request.challenge);
      const name = authorization.identifier.value;
      if (!challenge) throw await refused(request, `${name}: the directory does not offer ${request.challenge}`);
      if (authorization.status !== 'pending') throw await refused(request, failureOf(authorization));
      const proof = await client.getChallengeKeyAuthorization(challenge);
      if (challenge.type === 'http-01') {
        answers.put(challenge.token, proof);
        undo.push(() => answers.drop(challenge.token));
      } else {
        const ownKey = await library.crypto.createPrivateEcdsaKey();
        const [key, cert] = await library.crypto.createAlpnCertificate(authorization, proof, ownKey);
        answers.putCertificate(name, { cert: Buffer.from(cert), key: Buffer.from(key) });
        undo.push(() => answers.dropCertificate(name));
      }
      if (challenge.status === 'pending') await client.completeChallenge(challenge);
    }
    const current = await poll(signal, unproven, {
      look: () => client.getAuthorizations(order),
      isOver: (all) => all.every(({ status }) => status === 'valid') || all.some(hasFailed),
    });
    const failed = current.filter(hasFailed);
    if (failed.length > 0) throw await refused(request, failed.map(failureOf).join('; '));
    return await client.getOrder(order);
  } finally {
    for (const forget of undo) forget();
  }
}

function hasFailed({ status }: Authorization): boolean {
  return status !== 'valid' && status !== 'pending';
}

function failureOf({ identifier, status, challenges }: Authorization): string {
  const details = challenges.map(({ error }) => detailOf(error)).filter((detail) => detail !== null);
  return `${identifier.value}: ${details[0] ?? `its authorization is ${status}`}`;
}

/** RFC 7807. */
function detailOf(problem: object | undefined): string | null {
  const { detail } = (problem ?? {}) as { detail?: unknown };
  return typeof detail === 'string' ? detail : null;
}

/** An order that was refused is never resumed. */
async function refused({ keep }: OrderRequest, reason: string): Promise<Fault> {
  await keep(null);
  return new Fault(reason);
}

interface Polled<T> {
  look(): Promise<T>;
  isOver(state: T): boolean;
}

async function poll<T>(signal: AbortSignal, first: T, { look, isOver }: Polled<T>): Promise<T> {
  let state = first;
  for (const pauseMs of POLLS_MS) {
    if (isOver(state)) return state;
    await sleep(pauseMs, undefined, { signal });
    state = await look();
  }
  if (isOver(state)) return state;
  throw new Fault('the directory has not decided in time');
}
