// Lines of a report that quote a server's reply or a command: where a reply begins, and how far it continues where the
// writer wraps its lines.

/** A reply of a server in a transcript, or in words: `<<< 550 …`, `said: 550 …`, `550 5.1.1 …`. */
const REPLY_LINE =
  /(?:^|[\s<>:'"([=,#;-])[45]\d\d(?:[\s:-]+#?\(?[45]\.\d{1,3}\.\d{1,3}\b|-\S|[\s:]+(?:\d{1,3}\s+)?[^\s\d])|\(#[45]\.\d{1,3}\.\d{1,3}\)|^\s*[45]\.\d{1,3}\.\d{1,3} - |^\s*\(?reason:/i;
export const COMMAND_LINE = /^\s*(?:>>>|sent\b|c:)|\bRCPT\s{0,3}TO\s?:/i;
/** `250`, sizes and dates look like replies, too, and so do sentences about the writer itself. */
const NOT_A_REPLY = /^\s*(?:received|date|message-id|x-\S+|size|arrival-date|from|to|subject)\s*:/i;

export function isReplyLine(line: string): boolean {
  return REPLY_LINE.test(line) && !NOT_A_REPLY.test(line);
}

const FINAL_REPLY = /(?:^|[\s<>:'"([=,;])5\d\d[ -](?:#?\(?5\.\d{1,3}\.\d{1,3}\b|[^\d\s])/;

/** Whether a text quotes a reply that is final (5xx). */
export function hasFinalReply(text: string): boolean {
  return FINAL_REPLY.test(text);
}

/** Where a reply begins in the line; the end of the line if there is none. */
export function replyStart(line: string): number {
  return isReplyLine(line) ? REPLY_LINE.exec(line)!.index : line.length;
}

const MAX_LINES_OF_A_REPLY = 10;
/** Lines after a reply that cannot continue it. */
const NOT_ITS_REST =
  /^\s*(?:$|[-=_*#+|~]{3,}|>>>|<<<|<?[^\s<>]{1,128}@[^\s<>]{1,255}>?[:\s]*$|[A-Z][\w-]{1,40}:\s|\.{3}\s)/;

/** A writer that wraps its lines continues a reply in the next ones. */
export function restOfReply(lines: readonly string[], place: number): string[] {
  const behind = lines.slice(place + 1, place + 1 + MAX_LINES_OF_A_REPLY);
  const end = behind.findIndex((line) => NOT_ITS_REST.test(line) || isReplyLine(line) || COMMAND_LINE.test(line));
  return end < 0 ? behind : behind.slice(0, end);
}
