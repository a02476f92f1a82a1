// Bodies that are the same for several recipients: encoded and hashed once for all messages of a
// submission, which are often prepared one after the other, or by sessions side by side.
import { composeBody } from '../../protocol/mail/compose.ts';
import { hashBody } from '../../protocol/mail/dkim.ts';
import type { MimeBody } from '../../protocol/mail/lean-body.ts';
import type { MessageContent } from '../../store/contents.ts';

export interface HashedBody extends MimeBody {
  bodyHash: string;
}

type BodyParts = Pick<MessageContent, 'text' | 'html'>;

/**
 * Per thread: a hundred of the common messages. The recipients of a submission come close together, and
 * whatever is kept for long makes garbage of the kind that is expensive to collect.
 */
const MOST_KEPT_OCTETS = 256 * 1024;

/** A body that nobody shares. */
export async function hashedBody(submissionId: string, parts: BodyParts): Promise<HashedBody> {
  const body = await composeBody({ ...parts, boundarySeed: submissionId });
  return { ...body, bodyHash: hashBody(body.content) };
}

export class SharedBodies {
  /** In the order in which they were made. */
  readonly #bodies = new Map<string, HashedBody>();
  readonly #beingMade = new Map<string, Promise<HashedBody>>();
  #octets = 0;

  /** Nothing but the submission decides about the body: text and HTML are those that were accepted. */
  bodyOf({ submissionId, text, html }: MessageContent): HashedBody | Promise<HashedBody> {
    const known = this.#bodies.get(submissionId) ?? this.#beingMade.get(submissionId);
    if (known) return known;
    const making = this.#make(submissionId, { text, html });
    this.#beingMade.set(submissionId, making);
    return making;
  }

  async #make(submissionId: string, parts: BodyParts): Promise<HashedBody> {
    try {
      const hashed = await hashedBody(submissionId, parts);
      this.#keep(submissionId, hashed);
      return hashed;
    } finally {
      this.#beingMade.delete(submissionId);
    }
  }

  /** The newest is kept whatever its size: it has been made, and the other recipients come next. */
  #keep(submissionId: string, body: HashedBody): void {
    this.#bodies.set(submissionId, body);
    this.#octets += body.content.length;
    for (const [oldestId, oldest] of this.#bodies) {
      if (this.#octets <= MOST_KEPT_OCTETS || oldestId === submissionId) return;
      this.#bodies.delete(oldestId);
      this.#octets -= oldest.content.length;
    }
  }
}
