// The registry of labels: what a receiving server's reply can be about, in one sentence each. The
// sentences are shown in log, API and portal, so they are written for those readers.

export const LABELS = {
  no_mailbox: 'the mailbox does not exist',
  no_domain: 'the domain does not exist or takes no mail',
  mailbox_disabled: 'the mailbox has been closed or disabled',
  mailbox_moved: 'the mailbox has moved and is no longer served there',
  mailbox_suspended: 'the mailbox is suspended or inactive and may come back',
  mailbox_full: 'the mailbox is full',
  mailbox_unavailable: 'the mailbox cannot take mail, and the server does not say why',
  recipient_refused: 'the recipient does not want mail from this sender, or the server takes no mail for the address',
  too_large: 'the message is larger than the recipient accepts',
  too_many_recipients: 'the server takes no more recipients now',
  rate_limited: 'the server takes mail only more slowly',
  greylisted: 'the server asks every new sender to come back later',
  ip_reputation: 'the sending IP address has a bad reputation or is on a block list',
  domain_reputation: 'the sending domain or a link in the message has a bad reputation or is on a block list',
  reverse_dns: "the sending IP address has no fitting name in DNS, or the server's greeting name is wrong",
  auth_failed: 'SPF or DKIM did not pass',
  dmarc_policy: "the message fails the DMARC policy of the sender's domain",
  sender_refused: "the sender's address or domain is refused",
  spam_content: 'the message looks like spam to the server',
  virus: 'the message looks infected to the server',
  content_rejected: 'the server does not accept something in the content',
  message_format: 'the server cannot read the form of the message',
  policy: 'a rule of the receiving side forbids the message',
  relay_denied: 'the server does not feel responsible for the domain of the recipient',
  address_syntax: 'the server cannot read the address',
  protocol_error: 'the server did not accept a command',
  routing: 'the receiving side found no way to the mailbox',
  loop: 'the receiving side passes the message round in a circle',
  expired: 'the receiving side could not pass the message on in time',
  network: 'the receiving side has trouble with its network or DNS',
  timeout: 'the server waited too long',
  tls_required: 'the server insists on TLS, or on a better one',
  system_full: 'the receiving system has no room left',
  system_trouble: 'the receiving system has trouble of its own',
  temporary_failure: 'the server cannot take the message now',
  refused: 'the server refuses the message without a reason that is known here',
} as const;

export type Label = keyof typeof LABELS;

export function isLabel(text: unknown): text is Label {
  return typeof text === 'string' && Object.hasOwn(LABELS, text);
}
