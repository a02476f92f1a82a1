// Finds a server's reply in the text of a report: its codes, and the command it answered. Reports quote
// replies in as many ways as there are servers; numbers that only look like codes (sizes, ports, days)
// must be ignored.
import type { SmtpStage } from '../base/outcome.ts';

export interface FoundReply {
  smtpCode: number | null;
  enhancedCode: string | null;
  stage: SmtpStage | null;
  /** Where the reply begins in the text; 0 if there is no code. */
  start: number;
}

const MAX_CHARACTERS = 4_000;

// `550 5.1.1 …`, `550-5.1.1 …`, `550 #5.1.1`, `501: 5.1.8`, `smtp;550-5.1.1`, `550, ERROR_CODE :5.1.1` (Zoho); such a
// pair is never a coincidence.
const BOTH_CODES =
  /(?<![\d.])([45]\d\d)(?:(?:, ERROR_CODE )?[\s:;-]+(?:[45]\d\d[\s-]+)?)['"#(]{0,2}([45]\.\d{1,3}\.\d{1,3})(?![.\d])/;
/** After words that introduce a server's reply, or at the beginning. */
const CODE_ALONE =
  /(?:^|said:?|says:?|replied:?|repl(?:y|ies)(?: was)?:?|respon(?:ded|se)(?: was| with)?:?(?: failure:?)?|returned:?|returned was:?|failed with:?|answer(?:ed)?:?|error:?|reason:?|code :?|status:?|failure:|message:?|<<<|>>>|[>)\]:;-]\s|\],\s|\bsmtp;\s?|\bhost: [\w.-]{3,255}\s|^[\w.-]+@\S+\s)\s*["'([<]{0,2}([45]\d\d)(?=[\s:;,)\]"'-]|$)/i;
const ENHANCED_ALONE = /(?:^|[\s#(:;[=])([45]\.\d{1,3}\.\d{1,3})(?![.\d])(?!\s*\()/;

const STAGES: readonly [SmtpStage, RegExp][] = [
  ['rcpt', /\bRCPT[_ ]?TO\b|\bRCPT command|does not like recipient|after RCPT/i],
  [
    'mail',
    /\b(?:in reply to|after|did not like our|response to|for) (?:the )?MAIL FROM\b|sender was rejected|\bMAIL FROM command/i,
  ],
  ['dot', /end of (?:DATA|message)|final DATA|after I sent the message|after end of data|\(DATA\)|TEXT command/i],
  ['data', /\b(?:in reply to|after|for) (?:the )?DATA\b|failed on DATA command/i],
  [
    'greeting',
    /initial (?:connection|server greeting)|while (?:performing|receiving) the initial server greeting|refused to talk to me|but greeting failed|after initial connection|conversation with .{0,200} greeting/i,
  ],
  ['ehlo', /\b(?:in reply to|after|did not like our) (?:the )?(?:HELO|EHLO)\b|but my name was rejected/i],
];

export function findReply(text: string): FoundReply {
  const searched = text.slice(0, MAX_CHARACTERS);
  const both = BOTH_CODES.exec(searched);
  const agree = both !== null && both[1]![0] === both[2]![0];
  const alone = agree ? null : CODE_ALONE.exec(searched);
  const bare = agree ? null : ENHANCED_ALONE.exec(searched);
  const code = agree ? both[1]! : (alone?.[1] ?? both?.[1] ?? null);
  const enhanced = agree ? both[2]! : (bare?.[1] ?? null);
  const starts = agree
    ? [both.index]
    : [alone, bare].flatMap((match) => (match ? [match.index + match[0].indexOf(match[1]!)] : []));
  return {
    smtpCode: code === null ? null : Number(code),
    enhancedCode: enhanced,
    stage: STAGES.find(([, pattern]) => pattern.test(searched))?.[0] ?? null,
    start: starts.length > 0 ? Math.min(...starts) : 0,
  };
}
