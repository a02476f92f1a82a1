// What strangers have written, in a text of ours: line breaks in it must not fake a line of ours.
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}
