// From a message id to the bytes that are sent: read, compose, sign twice (the tenant's domain and the
// service's own). Keys are decrypted and parsed once per thread, not per message; whatever the recipients
// of a submission share is read, encoded and hashed once.

import type { KeyObject } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BoundedMap } from '../../base/bounded-map.ts';
import { describeError, Fault, Unavailable } from '../../base/errors.ts';
import type { Vault } from '../../base/vault.ts';
import { makeReturnPath } from '../../protocol/mail/addresses/return-path.ts';
import type { Composed } from '../../protocol/mail/compose/compose.ts';
import { signedHeader } from '../../protocol/mail/dkim/dkim.ts';
import { loadPrivateKey } from '../../protocol/mail/dkim/dkim-key.ts';
import type { MessagePieces } from '../../protocol/smtp/transaction.ts';
import type { Attachment, ContentReader, ContentResult, MessageContent } from '../../store/submissions.ts';
import type { WrittenContent } from '../../store/written-mails.ts';
import {
  type ComposeKit,
  composeMessage,
  composeWritten,
  hashedBody,
  leavingFor,
  SharedBodies,
  TrackedPages,
} from './compose-message.ts';
import type { Batch } from './messages.ts';
import { type LeavingMail, piecesOf } from './written-body.ts';

export type Prepared =
  | {
      kind: 'ready';
      mailFrom: string;
      rcptTo: string;
      message: Buffer;
      /** The rest of it, where it is large and the same for other recipients: it is not copied for each. */
      tail?: Buffer;
      /** The body of a large written mail, instead of a tail: read while it is sent. */
      pieces?: MessagePieces;
      needs: { smtputf8: boolean; eightBit: boolean };
      /** Where the mail can be re-encoded: the same for a server without 8BITMIME, as far as that is possible. */
      inSevenBits?: () => Promise<Ready>;
    }
  | { kind: 'unreadable'; reason: string }
  /** Later it can be prepared. */
  | { kind: 'unavailable'; reason: string };

export type Ready = Extract<Prepared, { kind: 'ready' }>;

interface PrepareKit extends ComposeKit {
  contents: ContentReader;
  vault: Vault;
  serviceSigner: { domain: string; selector: string; key: KeyObject };
  now: () => number;
  /** Called before each message, to send pending reports before the thread is blocked. */
  beforeWork?(): void;
}

/** Prepares the message at this index of a batch; the batch shows which ones come next. */
export type Prepare = (batch: Batch, index: number) => Promise<Prepared>;

/** A copy of so much costs less than another write to a socket. */
const MAX_COPIED_BYTES = 64 * 1024;
// A key object takes some 10 KB; tenants that sent recently matter.
const MAX_CACHED_KEYS = 2000;

export function createPrepare(kit: PrepareKit): Prepare {
  const state: ThreadState = {
    kit,
    keys: new SigningKeys(kit.vault),
    bodies: new SharedBodies(),
    pages: new TrackedPages(),
  };
  const ahead = new ReadAhead(kit.contents);
  return async (batch, index) => {
    // Two signatures block the thread for a millisecond: sessions send their reports before.
    await nextTurn();
    kit.beforeWork?.();
    const found = await ahead.read(batch, index);
    if (found.kind !== 'content') return found;
    try {
      return await prepare(found.content, state);
    } catch (error) {
      const kind = error instanceof Unavailable ? 'unavailable' : 'unreadable';
      return { kind, reason: `the message cannot be composed: ${describeError(error)}` };
    }
  };
}

/** What all messages of a thread share. */
interface ThreadState {
  kit: PrepareKit;
  keys: SigningKeys;
  bodies: SharedBodies;
  pages: TrackedPages;
}

async function prepare(content: MessageContent, state: ThreadState): Promise<Prepared> {
  if (content.written) return prepareWritten(content, content.written, state);
  const { kit, bodies, pages } = state;
  const html = pages.htmlFor(content, kit.links);
  const attachments = () => attachmentsOf(content, kit.contents);
  const body = await (html === null
    ? bodies.bodyOf(content, attachments)
    : hashedBody(content.submissionId, { text: content.text, html, attachments: await attachments() }));
  const composed = composeMessage(notAhead(content, kit.now()), body, kit);
  const header = sign(content, { header: composed.header, bodyHash: body.bodyHash }, state);
  const isLarge = composed.body.length > MAX_COPIED_BYTES;
  return {
    kind: 'ready',
    ...envelopeOf(content, composed, kit),
    ...(isLarge ? { message: header, tail: composed.body } : { message: Buffer.concat([header, composed.body]) }),
  };
}

/** Its pieces are read again for each recipient: held for all of them, they would fill the memory. */
async function prepareWritten(
  content: MessageContent,
  written: WrittenContent,
  state: ThreadState,
  isForSevenBits = false,
): Promise<Ready> {
  const { kit } = state;
  const read = () => piecesOf(content, written, kit.contents);
  const mail = await leavingFor(content, { written, read, isForSevenBits }, state);
  const composed = composeWritten(content, mail, kit);
  const header = sign(content, { header: composed.header, bodyHash: mail.bodyHash }, state);
  const envelope = envelopeOf(content, composed, kit);
  const ready = { kind: 'ready', ...envelope, ...(await withBody(header, mail)) } as const;
  if (!envelope.needs.eightBit || isForSevenBits) return ready;
  return { ...ready, inSevenBits: () => prepareWritten(content, written, state, true) };
}

async function withBody(header: Buffer, { bytes, read }: LeavingMail): Promise<Pick<Ready, 'message' | 'pieces'>> {
  if (bytes > MAX_COPIED_BYTES) return { message: header, pieces: { sizeBytes: bytes, read } };
  const parts = [header];
  // Copied, since a piece is freed when others are read.
  for await (const piece of read()) parts.push(Buffer.from(piece));
  return { message: Buffer.concat(parts) };
}

function sign(
  content: MessageContent,
  unsigned: { header: Buffer; bodyHash: string },
  { kit, keys }: ThreadState,
): Buffer {
  const { domain, selector } = content.signing;
  const signers = [{ domain, selector, key: keys.get(content) }, kit.serviceSigner];
  return signedHeader(unsigned, signers, Math.floor(kit.now() / 1000));
}

function envelopeOf(
  { messageId, bouncesDomain }: MessageContent,
  { envelopeTo, needs }: Pick<Composed, 'envelopeTo' | 'needs'>,
  kit: PrepareKit,
): Pick<Ready, 'mailFrom' | 'rcptTo' | 'needs'> {
  const mailFrom = `${makeReturnPath(messageId, kit.tokenKey)}@${bouncesDomain ?? kit.bouncesDomain}`;
  return { mailFrom, rcptTo: envelopeTo, needs };
}

/** The last time that a Date can have: a later one is damage, and parks the message. */
const LAST_TIME = 8.64e15;

/** An operator may send scheduled mail before its time. */
function notAhead(content: MessageContent, now: number): MessageContent {
  return content.date > now && content.date <= LAST_TIME ? { ...content, date: now } : content;
}

async function attachmentsOf(content: MessageContent, contents: ContentReader): Promise<Attachment[]> {
  const { tenantId, submissionId, attachments: count } = content;
  const found = count === 0 ? [] : await contents.attachments(tenantId, submissionId);
  if (found.length !== count) throw new Fault('attachments of the message are missing', { permanence: 'permanent' });
  return found;
}

class SigningKeys {
  readonly #vault: Vault;
  /** The oldest is evicted: a miss costs a tenth of a signature. */
  readonly #keys = new BoundedMap<number, KeyObject>(MAX_CACHED_KEYS);

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  get({ signing }: MessageContent): KeyObject {
    const known = this.#keys.get(signing.signingKeyId);
    if (known) return known;
    const der = this.#vault.open(signing.privateKey, `domain-key:${signing.domainId}`);
    const key = loadPrivateKey(der);
    this.#keys.set(signing.signingKeyId, key);
    return key;
  }
}

// Reads the messages of a batch from the database, several at a time in one read transaction: when the
// session needs them, and never further ahead than the reader's budget.

interface Ahead {
  /** Index in the batch of the first of the results. */
  from: number;
  results: Promise<ContentResult[]>;
}

class ReadAhead {
  readonly #contents: ContentReader;
  /** Entries vanish with their batch, even if the session ends in the middle of it. */
  readonly #aheadOf = new WeakMap<Batch, Ahead>();

  constructor(contents: ContentReader) {
    this.#contents = contents;
  }

  async read(batch: Batch, index: number): Promise<ContentResult> {
    const handed = batch.contents?.[index];
    if (handed) return { kind: 'content', content: handed };
    let known = this.#aheadOf.get(batch);
    while (known) {
      const found = (await known.results)[index - known.from];
      if (found) return found;
      // A session prepares two messages at a time: the other one may have read on meanwhile.
      const latest = this.#aheadOf.get(batch);
      known = latest === known ? undefined : latest;
    }
    const results = this.#contents.readSome(batch.messageIds.slice(index));
    this.#aheadOf.set(batch, { from: index, results });
    return (await results)[0]!;
  }
}
