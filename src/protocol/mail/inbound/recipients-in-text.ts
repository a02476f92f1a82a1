// Finds the recipients in the text of a report, and the text about each. Servers without RFC 3464 write for people,
// each family in its own way; but there are few ways to write a recipient, and the text up to the next recipient is the
// reason.
import { ADDRESS, addressesIn, sameAddress, tidyAddress } from './addresses-in-text.ts';
import { withoutNames } from './names-in-text.ts';
import { isReplyLine, replyStart } from './reply-lines.ts';

export interface NamedRecipient {
  address: string;
  /** The text next to it; empty: none. */
  reason: string;
}

const MAX_RECIPIENTS = 200;
const MAX_REASON_LINES = 30;
const MAX_REASON_CHARACTERS = 2_000;

const COMMENT_ABOUT_HELP =
  /\b(?:contact|assistance|question|help ?desk|support|abuse|postmaster|forward (?:it|this)|further information|write to|reply to|visit|complain|generated from|mail from|sender|message-id|unsubscribe)\b|^\s*(?:from|cc|reply-to|subject|sent|date|to):/i;

/** By its words, since a recipient may be called `support`, and so may its host. */
function isAboutHelp(line: string): boolean {
  return COMMENT_ABOUT_HELP.test(withoutNames(line));
}

/** Markers of list entries: `*`, `>>>`, `2.`. */
const BULLET = String.raw`(?:[*>•-]{1,5}\s+|\d{1,3}[.)]\s+)?`;

/** A line that is or begins with a recipient: the first group is the address, the second what follows. */
const RECIPIENT_LINES: readonly RegExp[] = [
  // <ann@rcpt.test>: host mx said … (qmail, Postfix, Yahoo, sendmail); * ann@rcpt.test; > ann@rcpt.test (MDaemon)
  new RegExp(
    String.raw`^\s*${BULLET}(?:To:\s*)?["'<]{0,2}(${ADDRESS})["'>]{0,2}\s*(?:$|[:;,]\s*(.*)$|(\.{3}\s.*)$|(\(.*)$|(\[.*)$|<mailto:.*$)`,
  ),
  // ann@rcpt.test on Thu, 29 Apr 2010 10:00 (Exchange), in any language
  new RegExp(
    String.raw`^\s*["'<]{0,2}(${ADDRESS})["'>]{0,2}\s+(?:\S{1,10}\s){1,2}.{0,60}\d{1,2}[:.]\d\d\b.{0,20}$`,
    'i',
  ),
  // ann@rcpt.test on …; ann@rcpt.test Error, … (Zoho); <ann@rcpt.test> 550 …; >>> ann@rcpt.test <ann@rcpt.test>
  new RegExp(
    String.raw`^\s*${BULLET}["'<]{0,2}(${ADDRESS})["'>]{0,2}\s+(?:on\s.{0,80}$|((?:error|failed|unknown|user|mailbox|was|is|could|has|-|–|[45]\d\d[\s-]).*)$|<${ADDRESS}>\s*(.*)$)`,
    'i',
  ),
  // "Ann Example" <ann@rcpt.test>
  new RegExp(
    String.raw`^\s*(?:"[^"]{1,100}"|'[^']{1,100}')\s*[<(\[](?:mailto:|smtp:)?(${ADDRESS})[>)\]]\s*:?\s*(.*)$`,
    'i',
  ),
];

/** Whatever words follow, the line is about the address at its beginning. */
const REASON_BEHIND =
  /^\s*[<"']?[^\s]{1,200}@[^\s:]{1,255}[>"']?(?::|\s+\(?(?:error|fail(?:ed|ure)?|invalid|unknown|reason|[45]\d\d|(?:ultimately )?generated from)\b)/i;

/** A label followed by an address, all on one line. */
const LABELS = [
  String.raw`(?:final-|original-|failed |intended |bad |invalid )?recipient(?:'s)?(?: address(?:es)?| e?-?mail| of (?:the|your|this) (?:message|e?-?mail))?(?:\(s\))?`,
  String.raw`destination (?:mailbox|address|user)(?:es|s|\(es\)|\(s\))?`,
  'addressed to',
  'undeliverable (?:address|to)',
  '(?:unknown|no such|invalid|bad|illegal) (?:local )?(?:user|host|domain|recipient|receiver|address|mailbox|account)(?: address)?',
  'delivery userid',
  String.raw`delivery failed \d{1,5} attempts`,
  'exceeds allowed size',
  '(?:user|mailbox|account|address) (?:not found|unknown|does not exist|disabled|full|is full|over quota)',
  'rcpt to',
  '(?:e-?mail|mail) (?:address|to)',
  'failed address(?:es)?',
  String.raw`(?:un)?deliver(?:y|ed|able|ing)?(?: (?:of )?(?:the |your |this )?(?:following )?(?:e?-?mail|message|mail))? to(?: (?:the )?(?:following )?(?:recipients?|address(?:es)?|users?)(?:\(s\))?)?`,
  '(?:message|mail|e-?mail)(?: was| is)? (?:un|not )(?:able to be )?(?:delivered|sent|deliverable) to',
  'permanent errors',
  '(?:message|mail|e-?mail)(?: that)? you sent to',
  '(?:your|following|this|the) (?:message|mail|e-?mail)(?: sent)? to',
  'mailing list',
  'could not be (?:sent|reached|delivered)(?: to)?',
  String.raw`(?:destinat[aá]ri[oa]s?|destinataires?|empf(?:ä|ae)nger(?:adresse)?|ontvangers?|geadresseerden?|odbiorc\S{1,2}|adresat\S{0,2}|mottagar\S{1,3}|modtager\S{0,2}|mottaker\S{0,2}|vastaanottaja|p[řr][íi]jemce|c[íi]mzett|al[ıi]c[ıi]|παραλήπτης|получател[ьюяи]{1,2}|адресат\S{0,2}|宛先|受信者|受取人|送信先|收件人|收信人|받는 ?사람|수신[자인])[^\x20-\x7e]{0,10}`,
];
const LABELLED = new RegExp(
  String.raw`(?:${LABELS.join('|')})(?:(?<![\w])|(?![\w.+-]))\s{0,5}[:=：]?\s{0,20}[<"'(\[（「【]{0,2}(?:smtp:|mailto:|rfc822;)?\s?(${ADDRESS})[>"')\]]{0,2}[.:,]?\s*(.*)$`,
  'i',
);

/** `Sent <<< RCPT TO:<…>`, `>>> RCPT To:<…>` and the like: commands to the server. */
const COMMAND = new RegExp(String.raw`\bRCPT\s{0,3}TO\s?:\s?<(${ADDRESS})>`, 'i');

export interface NamedRecipients {
  /** Each once. */
  named: readonly NamedRecipient[];
  /** Addresses that are only mentioned need not be recipients. */
  areOnlyMentioned: boolean;
}

export function recipientsIn(lines: readonly string[]): NamedRecipients {
  for (const find of [byMailingList, byLine, byLabel, byLabelInReply, byCommand, byToLine]) {
    const named = merged(find(lines));
    if (named.length > 0) return { named, areOnlyMentioned: false };
  }
  return { named: merged(byMention(lines)), areOnlyMentioned: true };
}

const MAX_LINES_OF_A_REPLY = 10;
/** An address alone, in brackets or before a colon is always a recipient. */
const STANDS_ALONE = /^\s*(?:[<"'*>•-]|\S{1,300}[:;,]?\s*$|\S{1,300}:\s)/;

/** A line of a wrapped reply may begin with an address by chance. */
function isWithinReply(lines: readonly string[], place: number): boolean {
  if (STANDS_ALONE.test(lines[place]!)) return false;
  for (let at = place - 1; at >= Math.max(0, place - MAX_LINES_OF_A_REPLY); at--) {
    if (lines[at]!.trim() === '') return false;
    if (isReplyLine(lines[at]!)) return true;
  }
  return false;
}

const MAILING_LIST = new RegExp(String.raw`^.{0,60}\bmailing list <(${ADDRESS})>`, 'i');

/** A list that rejects a post mentions other addresses, too: for joining and questions (fml). */
function byMailingList(lines: readonly string[]): NamedRecipient[] {
  const line = lines.find((text) => MAILING_LIST.test(text));
  return line ? [{ address: tidyAddress(MAILING_LIST.exec(line)![1]!), reason: line.trim() }] : [];
}

function byLine(lines: readonly string[]): NamedRecipient[] {
  return collect(lines, (line, place) => {
    if (isAboutHelp(line) && !REASON_BEHIND.test(line)) return null;
    if (isWithinReply(lines, place)) return null;
    for (const form of RECIPIENT_LINES) {
      const match = form.exec(line);
      const address = match ? tidyAddress(match[1]!) : '';
      if (address !== '') return { address, reason: match!.slice(2).find((text) => text !== undefined) ?? '' };
    }
    return null;
  });
}

/** The report's writer names the recipient; a server's reply may name others. */
function byLabel(lines: readonly string[]): NamedRecipient[] {
  return collect(lines, (line) => labelled(line, replyStart(line)));
}

function byLabelInReply(lines: readonly string[]): NamedRecipient[] {
  return collect(lines, (line) => labelled(line, line.length));
}

/** A labelled recipient before the offset `end`. */
function labelled(line: string, end: number): NamedRecipient | null {
  const match = LABELLED.exec(line);
  const at = match === null ? -1 : line.indexOf(match[1]!, match.index);
  if (match === null || at > end) return null;
  // A server's reply after the address may name a postmaster.
  const before = line.slice(0, at);
  if (/\b(?:contact|postmaster|assistance|questions?)\b/i.test(withoutNames(before))) return null;
  const address = tidyAddress(match[1]!);
  // `Unknown user: ann@rcpt.test` is also the reason.
  return address === '' ? null : { address, reason: `${line.slice(0, match.index)} ${match[0]}`.trim() };
}

function byCommand(lines: readonly string[]): NamedRecipient[] {
  return collect(lines, (line) => {
    const address = tidyAddress(COMMAND.exec(line)?.[1] ?? '');
    return address === '' ? null : { address, reason: '' };
  });
}

/** Field names of a message header, in the languages of mail servers. */
const TO_LINE =
  /^\s*(?:to|an|à|a|al|para|aan|till|til|do|komu|kime|vastaanottaja|кому|宛先|收件人|받는 ?사람)\s{0,10}[:：]/i;

/** `To: ann@rcpt.test` in a description of the message. */
function byToLine(lines: readonly string[]): NamedRecipient[] {
  return collect(lines, (line) => {
    const address = TO_LINE.test(line) ? addressesIn(line)[0] : undefined;
    return address === undefined ? null : { address, reason: '' };
  });
}

/** RFC 5321 section 3.4: a mailbox that has moved, and its new address; only the former is a recipient. */
const MOVED_TO = /\bplease try\s+<.*$/i;

function byMention(lines: readonly string[]): NamedRecipient[] {
  const telling = lines.filter((line) => !isAboutHelp(line)).map((line) => line.replace(MOVED_TO, ''));
  return telling.flatMap((line) => addressesIn(line).map((address) => ({ address, reason: line.trim() })));
}

function collect(
  lines: readonly string[],
  read: (line: string, place: number) => NamedRecipient | null,
): NamedRecipient[] {
  const found: { place: number; named: NamedRecipient }[] = [];
  for (const [place, line] of lines.entries()) {
    const named = line.includes('@') ? read(line, place) : null;
    if (named && found.length < MAX_RECIPIENTS) found.push({ place, named });
  }
  return found.map(({ place, named }, number) => {
    const next = found[number + 1]?.place ?? lines.length;
    const behind = lines.slice(place + 1, Math.min(next, place + 1 + MAX_REASON_LINES));
    const reason = [named.reason, ...reasonBehind(behind, saysSomething(named.reason))];
    return {
      address: named.address,
      reason: reason.join(' ').replace(/\s+/g, ' ').trim().slice(0, MAX_REASON_CHARACTERS),
    };
  });
}

const RULE_LINE = /^\s*(?:[-=_*#+|~]{3,}|-{2,}\s*\w)/;

/** Salutations. */
const HELP_LINE =
  /^\s*(?:please (?:reply|contact|send|do not reply)|for (?:further )?(?:assistance|help|information)|if you (?:feel|believe|think|do so|have (?:any )?questions?))\b/i;

/** Boilerplate of delay notices, independent of the reason (Exim, OpenSMTPD, sendmail and others). */
const OF_DELAYS =
  /^\s*(?:no action is required|delivery attempts will|please note that this is only|(?:the|your) (?:message|mail|e-?mail) (?:is|will be) (?:kept|retried|held)|you do not need to|(?:the (?:mail )?(?:server|system)|we) will (?:keep|continue|try)|below is a copy|this (?:warning|message) (?:may|will) be repeated|eventually the)/i;

function saysSomething(reason: string): boolean {
  return /[\p{L}]{2,}\P{L}+[\p{L}]{2,}/u.test(reason);
}

/** Up to the end of the first paragraph with text, or a ruled line. */
function reasonBehind(lines: readonly string[], hasBegun: boolean): string[] {
  const reason: string[] = [];
  for (const line of lines) {
    if (RULE_LINE.test(line) || HELP_LINE.test(line) || OF_DELAYS.test(line)) break;
    if (line.trim() === '') {
      if (reason.length > 0 || hasBegun) break;
      continue;
    }
    reason.push(line.trim());
  }
  return reason;
}

function merged(named: readonly NamedRecipient[]): NamedRecipient[] {
  const found: NamedRecipient[] = [];
  for (const one of named) {
    const known = found.findIndex(({ address }) => sameAddress(address, one.address));
    if (known < 0) found.push(one);
    else if (found[known]!.reason === '') found[known] = one;
  }
  return found;
}
