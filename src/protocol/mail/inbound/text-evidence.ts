// Texts of a report that may contain the reason, for one recipient: first those next to the recipient, then the
// server's replies in a transcript. classify decides which of them counts; here they are only ordered by value.
import { sameAddress } from './addresses-in-text.ts';
import type { NamedRecipient } from './recipients-in-text.ts';
import { COMMAND_LINE, isReplyLine, restOfReply } from './reply-lines.ts';

const MAX_EVIDENCE_CHARACTERS = 2_000;
const MAX_TRANSCRIPT_LINES = 40;

interface Named {
  named: readonly NamedRecipient[];
  /** There is no other recipient, so all texts are about this one. */
  only: boolean;
}

/** Sendmail's text for every failure of a mailer: it hides the real reason. */
const SAYS_NOTHING =
  /^\s*[45]\d\d (?:([45]\.\d\.\d) )?(?:<[^>]{0,300}>\.{3} )?(?:service unavailable|remote protocol error|unknown mailer error.*)$/i;

/** Sendmail's status for such a failure; the text next to it is worthless. */
export function statusOfMailer(lines: readonly string[]): string | null {
  return lines.map((line) => SAYS_NOTHING.exec(line)?.[1]).find((status) => status !== undefined) ?? null;
}

/** Collected once for all recipients: a report may have hundreds of both. */
export type Evidence = (address: string | null) => string[];

/** Non-empty texts, for each requested recipient. */
export function evidenceIn(lines: readonly string[], { named, only }: Named): Evidence {
  const replies = lines.flatMap((line, place) => {
    if (!isReplyLine(line) || SAYS_NOTHING.test(line)) return [];
    const whole = [line, ...restOfReply(lines, place)].join(' ');
    return [{ line: whole, lower: whole.toLowerCase() }];
  });
  const commands = lines.flatMap((line, place) =>
    COMMAND_LINE.test(line) ? [{ place, lower: line.toLowerCase() }] : [],
  );
  return (address) => {
    const wanted = address?.toLowerCase() ?? null;
    const own = named.find((one) => sameAddress(one.address, address));
    const command = commands.find(({ lower }) => wanted !== null && lower.includes(`<${wanted}>`));
    const ownReason = own?.reason.toLowerCase() ?? '';
    // The text next to the recipient continues on further lines, which a single line would lack.
    const further = replies.filter(({ lower }) => ownReason === '' || !ownReason.includes(behindAddress(lower)));
    const aboutIt = further.filter(({ lower }) => wanted !== null && lower.includes(wanted));
    const evidence = [
      own?.reason ?? '',
      command ? behindCommand(lines, command.place).join(' ') : '',
      aboutIt.map(({ line }) => line).join(' '),
      ...(only
        ? [announcedIn(lines), transcriptIn(lines), further.slice(0, MAX_TRANSCRIPT_LINES).map(({ line }) => line)]
        : []
      ).map((part) => part.join(' ')),
    ];
    const texts = evidence.map((text) => text.replace(/\s+/g, ' ').trim().slice(0, MAX_EVIDENCE_CHARACTERS));
    // A line from a text that is included already would add nothing.
    return texts.filter((text, place) => text !== '' && !texts.slice(0, place).some((other) => other.includes(text)));
  };
}

function behindAddress(line: string): string {
  return line.replace(/^\s*<?[^\s<>]{1,300}@[^\s<>]{1,255}[>:]{0,2}\s*/, '').trim();
}

/** `could not be delivered because of` and the like: the reason follows, wherever the recipient is. */
const ANNOUNCES_A_REASON =
  /(?:\bbecause(?: of)?|\b(?:the|following|this) (?:reason|error|problem|response|answer)s?(?: (?:was|is|given|for the problem)){0,2}|\breason given(?: was)?|\berror message)\s?[:.]?\s*$/i;
const MAX_LINES_OF_A_REASON = 8;

/** The paragraph after the last line that announces one: the first may announce an explanation. */
function announcedIn(lines: readonly string[]): string[] {
  const at = lines.findLastIndex((line) => ANNOUNCES_A_REASON.test(line));
  if (at < 0) return [];
  const start = lines.findIndex((line, place) => place > at && line.trim() !== '');
  if (start < 0) return [];
  const paragraph = lines.slice(start, start + MAX_LINES_OF_A_REASON);
  const end = paragraph.findIndex((line) => line.trim() === '');
  return end < 0 ? paragraph : paragraph.slice(0, end);
}

/** The text of a local mailer has no code (sendmail). */
function transcriptIn(lines: readonly string[]): string[] {
  const start = lines.findIndex((line) => /transcript of session/i.test(line));
  if (start < 0) return [];
  const behind = lines.slice(start + 1, start + 1 + MAX_TRANSCRIPT_LINES);
  const end = behind.findIndex((line, place) => place > 0 && line.trim() === '');
  return (end < 0 ? behind : behind.slice(0, end)).filter(
    (line) => !SAYS_NOTHING.test(line) && !COMMAND_LINE.test(line),
  );
}

/** The replies that follow `RCPT TO:<the recipient>` in a transcript, up to the next command. */
function behindCommand(lines: readonly string[], place: number): string[] {
  const behind = lines.slice(place + 1, place + 1 + MAX_TRANSCRIPT_LINES);
  const end = behind.findIndex((line) => COMMAND_LINE.test(line) || line.trim() === '');
  const section = behind.slice(0, end < 0 ? 5 : end);
  return section.flatMap((line, at) => (isReplyLine(line) ? [line, ...restOfReply(section, at)] : []));
}
