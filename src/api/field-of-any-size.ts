// The fields of a body that may be of any size: what templates are filled with. In a large body they stay text, a JsonText
// each, so that nothing is built of them where everybody would wait.
import type { MemberPath } from '../base/text/json-scan.ts';
import { JsonText } from '../base/text/json-text.ts';

/** Replaces what is at the path, where something is. */
export function replaceAt(holder: unknown, path: MemberPath, replacement: (value: unknown) => unknown): void {
  const [step, ...further] = path;
  if (step === undefined || typeof holder !== 'object' || holder === null) return;
  if (step === null) {
    if (Array.isArray(holder)) for (const entry of holder) replaceAt(entry, further, replacement);
    return;
  }
  const members = holder as Record<string, unknown>;
  if (!Object.hasOwn(members, step)) return;
  if (further.length === 0) members[step] = replacement(members[step]);
  else replaceAt(members[step], further, replacement);
}

/** Takes the texts out, because a class does not cross over to another thread. In order; null for what is no text. */
export function takeTexts(body: unknown, path: MemberPath): (string | null)[] {
  const texts: (string | null)[] = [];
  replaceAt(body, path, (value) => {
    const text = value instanceof JsonText ? value.text : null;
    texts.push(text);
    return text === null ? value : null;
  });
  return texts;
}

export function putTextsBack(body: unknown, path: MemberPath, texts: readonly (string | null)[]): void {
  let next = 0;
  replaceAt(body, path, (value) => {
    const text = texts[next++] ?? null;
    return text === null ? value : new JsonText(text);
  });
}

/** As messages name it: `emails[].data`. */
export function pathInWords(path: MemberPath): string {
  return path
    .map((step) => (step === null ? '[]' : `.${step}`))
    .join('')
    .replace(/^\./, '');
}
