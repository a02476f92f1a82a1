// From a message id to the bytes that go out: read, compose, sign twice (the tenant's domain
// and the service's own). Keys are opened and parsed once per thread, not once per message.
import type { KeyObject } from 'node:crypto';
import { describeError } from '../../base/errors.ts';
import type { Vault } from '../../base/vault.ts';
import { compose } from '../../protocol/mail/compose.ts';
import { signMessage } from '../../protocol/mail/dkim.ts';
import { loadPrivateKey } from '../../protocol/mail/dkim-key.ts';
import { makeFeedbackId } from '../../protocol/mail/feedback-id.ts';
import type { HmacKey } from '../../protocol/mail/message-token.ts';
import { makeReturnPath } from '../../protocol/mail/return-path.ts';
import type { ContentReader, MessageContent } from '../../store/contents.ts';

export type Prepared =
  | {
      kind: 'ready';
      mailFrom: string;
      rcptTo: string;
      message: Buffer;
      needs: { smtputf8: boolean; eightBit: boolean };
    }
  | { kind: 'unreadable'; reason: string };

export interface PrepareKit {
  contents: ContentReader;
  vault: Vault;
  tokenKey: HmacKey;
  bouncesDomain: string;
  serviceSigner: { domain: string; selector: string; key: KeyObject };
  now: () => number;
}

export type Prepare = (messageId: string) => Promise<Prepared>;

// A key object is some 10 KB; tenants that sent lately are what matters.
const MAX_CACHED_KEYS = 2000;

export function createPrepare(kit: PrepareKit): Prepare {
  const keys = new SigningKeys(kit.vault);
  return async (messageId) => {
    const found = kit.contents.read(messageId);
    if (found.kind === 'unreadable') return found;
    try {
      return await prepare(found.content, keys, kit);
    } catch (error) {
      return { kind: 'unreadable', reason: `the message cannot be composed: ${describeError(error)}` };
    }
  };
}

async function prepare(content: MessageContent, keys: SigningKeys, kit: PrepareKit): Promise<Prepared> {
  const { messageId, from, to, signing } = content;
  const bouncesDomain = content.bouncesDomain ?? kit.bouncesDomain;
  const composed = await compose({
    messageId,
    from: { address: from.address, name: from.name ?? '' },
    to: { address: to.address, name: to.name ?? '' },
    subject: content.subject,
    html: content.html,
    text: content.text,
    headers: content.headers,
    serviceHeaders: serviceHeaders(content, kit),
    date: new Date(content.createdAt),
  });
  const signers = [{ domain: signing.domain, selector: signing.selector, key: keys.get(content) }, kit.serviceSigner];
  return {
    kind: 'ready',
    mailFrom: `${makeReturnPath(messageId, kit.tokenKey)}@${bouncesDomain}`,
    rcptTo: composed.envelopeTo,
    message: signMessage(composed.raw, signers, Math.floor(kit.now() / 1000)),
    needs: composed.needs,
  };
}

/** RFC 9477 for complaint loops that mailbox providers run; Feedback-ID has no part per message, so that it can be counted. */
function serviceHeaders(content: MessageContent, kit: PrepareKit): [string, string][] {
  return [
    ['CFBL-Address', `fbl@${kit.bouncesDomain}; report=arf`],
    ['CFBL-Feedback-ID', makeFeedbackId(content.messageId, kit.tokenKey)],
    ['Feedback-ID', `${content.tenantId}:${content.signing.domain}:transactional:postrider`],
  ];
}

class SigningKeys {
  readonly #vault: Vault;
  readonly #keys = new Map<number, KeyObject>();

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  get({ signing }: MessageContent): KeyObject {
    const known = this.#keys.get(signing.signingKeyId);
    if (known) return known;
    const der = this.#vault.open(signing.privateKey, `domain-key:${signing.domainId}`);
    const key = loadPrivateKey(der);
    // The oldest entry goes: good enough where a miss costs a tenth of a signature.
    if (this.#keys.size >= MAX_CACHED_KEYS) this.#keys.delete(this.#keys.keys().next().value!);
    this.#keys.set(signing.signingKeyId, key);
    return key;
  }
}
