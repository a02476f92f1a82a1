// Boilerplate that servers write around every reply they pass on: its words say nothing about the cause.

const MAX_TEXT_CHARACTERS = 4_000;

/** The placeholder for a host name. */
const HOST = '\ue002';
const BOILERPLATE: readonly string[] = [
  String.raw`SMTP error from remote (?:mail ?server|mailer|server) (?:after|for) (?:RCPT TO|end of data|DATA|RCPT|TEXT|MAIL FROM|initial connection)(?: command)?\b`,
  String.raw`\b(?:remote )?(?:host|server) (?:${HOST} ?\[[^\]]{0,60}\]|[\w.-]{1,255} ?\[[\da-f.:]{3,45}\])(?: said)?:?|\b(?:remote )?(?:host|server) ${HOST}(?: said)?:|\b(?:remote )?(?:host|server) ${HOST} said\b|\bhost: ${HOST}(?: \([\d.]{1,20}\))?`,
  String.raw`\bfailed, id=\S{1,80}, from MTA ?\(\S{1,80}\):?`,
  String.raw`\bdns; ?[\w.\ue002-]{1,255}(?: \(TCP\|[^)]{1,200}\))?`,
  String.raw`does not like recipient\.?|remote host said|giving up on \S{1,100}`,
  String.raw`\(in reply to [\w ]{1,40} command\)|\(error following [\w ]{1,40} command\)\.?`,
  String.raw`\b55[04] (?:5\.0\.0 )?service unavailable$`,
  'a message that you sent could not be delivered to (?:one or more of its recipients|all of its recipients)',
  String.raw`the following address(?:es|\(es\))? (?:failed|had [\w ]{1,40}(?:errors|problems))`,
  'google tried to deliver your message, but it was rejected by (?:the server for )?the recipient domain',
  'we recommend contacting the other email provider[^.]{0,100}|the error that the other server returned was|\\berror message:',
  String.raw`technical details of (?:permanent|temporary) failure|(?:PERM|TEMP)_FAILURE:|SMTP error \(state \d{1,3}\)`,
  'your message was not delivered because the destination computer refused to accept it[^)]{0,80}',
  'this type of error is usually due to a mis-?configured account[^.]{0,400}too large',
  String.raw`remote server \([\w.:]{1,60}\) issued an error|error type: smtp\b|\w{1,40} sent: RCPT TO:<[^>]{0,300}>|remote (?:smtp )?server (?:replied|returned)`,
  'SMTP server <[^>]{1,255}> rejected recipient <[^>]{1,300}>|it responded as follows',
  'reason: remote SMTP server has rejected address|- other mail system problem',
  // Maddy writes it in every report.
  'the usual cause of this problem is [^.]{1,120}',
  'the number and frequency of delivery attempts are determined by local configuration parameters',
  String.raw`\bthis is the [\w-]{1,40} (?:mail (?:server|system|agent)|program)(?: v[\w.]{1,20})? at (?:host )?\S{1,255}`,
  String.raw`\[(?:RCPT_TO|MAIL_FROM|DATA|CONNECT)\]|this is a permanent error; i.?ve given up`,
  '(?:please )?(?:check|correct|verify) [^.]{0,80} (?:try|send)[^.]{0,20} again',
  'the following data may contain sections which represent BASE64[^]{0,200}?(?:RFC822 format message|without MIME aware tools)[^]{0,120}?(?:RFC822 format message|$)',
  // Boilerplate in the delay notices of Exim and OpenSMTPD.
  'no action is required on your part[^]{0,120}?delivery attempts will continue[^]{0,300}?returned to you',
  'please note that this is only a temporary failure report[^]{0,160}?(?:to these recipients|for up to [^.]{1,40})',
  'a message is delayed for more than [^.]{1,60} list of recipients:',
  String.raw`a message that you sent has not yet been delivered[^.]{0,120} on the queue on \S{1,255}`,
];
const BOILERPLATE_PATTERN = new RegExp(BOILERPLATE.join('|'), 'gi');

/** Of the text's beginning: more is not read. */
export function withoutBoilerplate(text: string): string {
  return text.slice(0, MAX_TEXT_CHARACTERS).replace(BOILERPLATE_PATTERN, ' ');
}
