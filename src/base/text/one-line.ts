// What strangers have written, in a text of ours: line breaks in it must not fake a line of ours, and no program that reads
// it must stumble over control characters or half a character.
export function oneLine(text: string, maxCharacters = Number.POSITIVE_INFINITY): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, maxCharacters)
    .toWellFormed();
}
