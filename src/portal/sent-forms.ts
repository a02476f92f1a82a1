// Forms that make something new, and may show a secret in their answer: sent twice, by a second click or by reloading the page
// with the secret, they act once. Whoever sends one again gets the first answer again, for some minutes. Each node for itself:
// a browser stays with one of them.
import { createHash, randomUUID } from 'node:crypto';
import { BoundedMap } from '../base/bounded-map.ts';
import { MINUTE_MS } from '../base/clock.ts';
import { type Html, html } from '../http/html.ts';
import type { FormBody } from '../http/multipart.ts';
import { type PageResult, view } from './page.ts';

const FIELD = 'form_id';
/** Of all visitors; pages of some kilobytes. */
const MAX_FORMS = 1000;
/** Not longer than it must: it may hold a secret. */
const ANSWER_KEPT_MS = 5 * MINUTE_MS;

/** For each form that is shown, another one. */
export function formIdField(): Html {
  return html`<input type="hidden" name="${FIELD}" value="${randomUUID()}">`;
}

export class SentForms {
  /** Null once the answer is forgotten. */
  readonly #answers = new BoundedMap<string, Promise<PageResult> | null>(MAX_FORMS);
  readonly #keptMs: number;

  constructor(keptMs = ANSWER_KEPT_MS) {
    this.#keptMs = keptMs;
  }

  /** `whose`: of the visitor and the route. Forms without an ID act each time, and so do those that were changed. */
  async once(whose: string, form: FormBody, act: () => PageResult | Promise<PageResult>): Promise<PageResult> {
    const id = form.fields.get(FIELD);
    if (id === null) return act();
    const key = `${whose} ${createHash('sha256').update(form.fields.toString()).digest('base64')}`;
    const known = this.#answers.get(key);
    if (known !== undefined) return known ?? SENT_BEFORE;
    const answer = (async () => act())();
    this.#answers.set(key, answer);
    // Where nothing was made, it may be sent again.
    const result = await answer.catch((error: unknown) => {
      this.#answers.delete(key);
      throw error;
    });
    if (hasFailed(result)) this.#answers.delete(key);
    else setTimeout(() => this.#answers.has(key) && this.#answers.set(key, null), this.#keptMs).unref();
    return result;
  }
}

function hasFailed(result: PageResult): boolean {
  return result.kind === 'missing' || (result.kind === 'view' && (result.status ?? 200) >= 400);
}

const SENT_BEFORE = view({
  title: 'This form was sent before',
  status: 409,
  body: html`<h1>This form was sent before</h1><p>Nothing was done again. Open the form anew for another one.</p>`,
});
