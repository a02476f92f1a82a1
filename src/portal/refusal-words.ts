// What a service refuses, as a sentence for a page: services name the field first, as the API and the command line do.

/** `domain: must be …` becomes `Domain must be ….` */
export function refusalSentence(message: string): string {
  const [, at, rest] = /^([a-z]+): (.*)$/s.exec(message) ?? [];
  const text = at === undefined || rest === undefined ? message : `${at} ${rest}`;
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
