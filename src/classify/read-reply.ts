// Parses a reply from one line of text, as in logs, reports and the rules' samples.
import type { ServerReply } from './classify-reply.ts';

const REPLY = /^\s*(?:[\w-]{1,40};\s*)?(?:([245]\d\d)(?:[ -]+|$))?(?:#?([245]\.\d{1,3}\.\d{1,3})(?![.\w])[\s:]*)?/i;

export function readReply(line: string): ServerReply {
  const [all, code, enhanced] = REPLY.exec(line)!;
  const agrees = code === undefined || enhanced === undefined || enhanced[0] === code[0];
  return {
    smtpCode: code === undefined ? null : Number(code),
    // RFC 2034 section 4: the class must agree with the reply code, or it is not an enhanced code.
    enhancedCode: agrees ? (enhanced ?? null) : null,
    response: line.slice(all.length),
  };
}
