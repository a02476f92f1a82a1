// Replies that are no samples of any rule, worded as receivers word them: what the rules make of
// wordings that their authors did not have before them. False hard bounces are the worst of all
// mistakes here, so everything that merely resembles an absent mailbox has a place in the table.
import t from 'tap';
import { classifyReply } from '../../src/classify/classify-reply.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { readReply } from '../../src/classify/read-reply.ts';

const rules = loadBounceRules(SHIPPED_RULES);

const HARD = [
  '550 5.1.1 mailbox deleted due to inactivity',
  '550 5.2.1 This mailbox has been permanently disabled due to inactivity',
  '550 5.1.1 Account closed due to inactivity',
  '550 Mailbox terminated due to inactivity',
  '550 5.1.3 Invalid address syntax',
  '550 5.1.1 <ann@rcpt.test>: Recipient address rejected: User unknown in virtual mailbox table',
  '550 5.1.1 The email account that you tried to reach does not exist. Please try 550-5.1.1 double-checking the recipient',
  '550-5.1.1 The email account that you tried to reach does 550-5.1.1 not exist. Please try double-checking - gsmtp',
  '550 5.1.1 <ann@rcpt.test> User doesn’t exist: ann@rcpt.test',
  '550 5.1.6 Recipient no longer on server',
  '550 5.1.0 Address rejected: unknown user ann@rcpt.test',
  '550 Requested action not taken: mailbox unavailable: no such user',
  '550 <ann@rcpt.test>: Recipient address rejected: User unknown in relay recipient table',
  '550 ann@rcpt.test: user does not exist',
  "550 Mailbox doesn't exist",
  '551 User not found; please try another path',
  '554 No such user here',
  '553 unknown user',
  '550 No Such User Here"',
  '550 #5.1.0 Address rejected ann@rcpt.test: no such user',
  '550 5.1.1 <ann@rcpt.test>... User unknown; rejecting',
  '550 5.1.1 unknown or illegal alias: ann@rcpt.test',
  '550 unknown local part "ann" in <ann@rcpt.test>',
  '550 Unknown local-part ann in domain rcpt.test',
  '550 "Unknown User"',
  '550 Account ann@rcpt.test does not exist',
  '550 That mailbox does not exist here',
  '550 5.1.1 Recipient not found. <ann@rcpt.test>',
  '550 The recipient cannot be verified. No such mailbox.',
  '554 5.1.1 <ann@rcpt.test>: unknown recipient',
  '550 user not known here',
  '550 Sorry, no mailbox here by that name. (#5.1.1)',
  '511 5.1.1 unknown address or alias: ann',
  "550 We don't have a user named ann here",
  '550 There is no user by that name at this address; mailbox not found',
  '550 5.1.1 ann@rcpt.test is not a valid mailbox',
  '550 This is not a valid recipient',
  "550 5.1.1 User's mailbox was deleted",
  '550 5.2.1 The mailbox of this user has been closed',
  '550 5.2.1 Account deactivated',
  "554 delivery error: dd This user doesn't have a aol.com account (ann@aol.com) [-5] - mta4433.mail.bf1.yahoo.com",
  '550 5.1.1 ... Utilisateur inconnu',
  '550 Empfänger existiert nicht / unknown recipient',
  '550 5.1.1 usuario desconocido',
  '550 5.1.1 Destinatario sconosciuto',
  '550 нет такого пользователя',
  '550 5.4.310 DNS domain there.test does not exist',
  '550 5.4.1 Recipient address rejected: Access denied. [AM5EUR02FT011.eop-EUR02.prod.protection.outlook.com]',
  '550 5.1.2 Domain there.test does not exist',
  '554 5.1.10 nullMX: there.test takes no mail',
  '550 Unknown recipient domain',
  '550 Recipient address rejected: unknown',
  '550 The message is not classified as spam. There is no such user',
  '550 5.1.1 recipient lookup failed: user unknown',
  '550 5.1.1 LDAP lookup failed, no such user here',
  '550 5.1.1 Service unavailable; user unknown',
  '550 5.1.1 <ann@rcpt.test>: user lookup success but no user record found',
];

const FULL_OR_SIZE: [reply: string, label: string][] = [
  ['550 5.2.2 <ann@rcpt.test>: user is over quota', 'mailbox_full'],
  ['552 5.2.2 mailbox full; rejecting', 'mailbox_full'],
  ['552 sorry, mailbox ann@rcpt.test is over quota temporarily (#5.1.1)', 'mailbox_full'],
  ['452 4.1.1 ann@rcpt.test mailbox full', 'mailbox_full'],
  ['554 User account is disabled because its quota is exceeded', 'mailbox_full'],
  ['550 5.2.1 Mailbox disabled: over quota', 'mailbox_full'],
  ['550 User mailbox exceeds allowed size', 'mailbox_full'],
  ['550 5.1.1 Account over quota. Please try again later', 'mailbox_full'],
  ["552 5.2.2 The recipient's mailbox has exceeded its storage limit", 'mailbox_full'],
  ['422 The recipient mailbox has exceeded its quota', 'mailbox_full'],
  ['552 The message is larger than the maximum size allowed', 'too_large'],
  ['552 5.3.4 Your message file is too big', 'too_large'],
  ['523 5.2.3 the message length exceeds administrative limit', 'too_large'],
];

const SOFT = [
  // What did not answer has not said that the mailbox is absent, whatever the code beside it.
  '550 5.1.1 <ann@rcpt.test>: Recipient address rejected: LDAP lookup error',
  '550 5.1.1 LDAP server unavailable',
  '550 5.1.1 Directory lookup failed',
  '550 5.1.1 Database error',
  '550 5.1.1 Internal error looking up user',
  '550 5.1.1 Unable to verify recipient',
  '550 5.1.1 Recipient verification failed',
  '550 5.1.1 Mail server is down for maintenance',
  '550 5.1.1 Service unavailable',
  '550 5.1.0 Address rejected: database error',
  '550 The mailbox is not full',
  '550 The mailbox is not disabled',
  '550 Host domain mail.acme.test does not appear to be registered in DNS',
  '550 <hello@acme.test>: domain acme.test does not appear to be registered',
  '550 5.1.1 <ann@rcpt.test>: Recipient address rejected: undeliverable address: mail for x.test loops back to itself',
  '550 5.1.0 <ann@rcpt.test>: Recipient address rejected: unverified address: Address verification in progress',
  '550 5.1.1 <ann@rcpt.test>: Recipient address rejected: unverified address: Host not ready',
  '550 5.2.1 This mailbox has been blocked due to inactivity',
  '550 5.2.1 The user you are trying to contact is receiving mail too quickly. Please resend your message at a later time.',
  '550 5.2.1 Mailbox temporarily disabled: ann@rcpt.test',
  '550 This account has been temporarily suspended',
  '550 5.2.1 ann@rcpt.test account expired',
  '550 Mailbox unavailable',
  '550 Requested action not taken: mailbox unavailable',
  '554 Transaction failed',
  '554 5.4.6 hop count exceeded, mail loop',
  '550 4.4.7 message expired',
  '503 5.5.1 RCPT first',
  '451 4.7.1 Greylisting enabled, please wait 180 seconds',
  '450 4.2.0 Recipient address rejected: Greylisted for 300 seconds',
  '421 4.4.5 Server busy, too many connections',
  '421 Service unavailable, closing channel',
  '452 4.3.1 Out of memory',
  '451 4.3.5 Server configuration problem',
  '554 5.3.5 Local configuration error',
  '450 4.1.2 <ann@rcpt.test>: Recipient address rejected: Domain not found',
  '450 4.1.1 User unknown, try again',
  '421 4.2.1 Account temporarily inactive, no such user',
  '451 4.1.1 <ann@rcpt.test>: no such mailbox',
];

const BLOCK: [reply: string, label: string | null][] = [
  ['550 Address rejected - your domain is unknown', 'sender_refused'],
  ['550 Recipient address rejected: Sender domain has null MX', 'sender_refused'],
  ['550 Message rejected: link domain shop.test does not appear to be registered', null],
  ['550 Relay access denied', 'relay_denied'],
  ['550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain', 'relay_denied'],
  ['550 5.7.1 Unauthorized. Message rejected due to content', 'content_rejected'],
  [
    '550 5.7.1 Service unavailable, Client host [192.0.2.1] blocked using Spamhaus; user does not exist',
    'ip_reputation',
  ],
  ['550 5.7.26 This mail has been blocked because the sender is unauthenticated.', 'auth_failed'],
  ['550 5.7.515 Access denied, sending domain does not meet the required authentication level.', 'auth_failed'],
  ['554 5.7.9 Message not accepted for policy reasons. See https://postmaster.yahooinc.com/error-codes', 'policy'],
  ['553 5.3.0 flpd599 DNSBL:RBL 521 blocked', 'ip_reputation'],
  ['450 4.7.1 Recipient address rejected: Policy restrictions, try later', 'policy'],
  ['550 Administrative prohibition, contact your provider', 'policy'],
  ['550 5.1.8 <b1@bounces.test>: Sender address rejected: Domain not found', 'sender_refused'],
  ['550 5.1.7 Invalid sender', 'sender_refused'],
  ['550 <b1@bounces.test>: Sender address rejected: User unknown in local recipient table', 'sender_refused'],
  ['550 Verification failed for <b1@bounces.test> No such user here Sender verify failed', 'sender_refused'],
  ['550 5.1.0 Sender domain does not exist', 'sender_refused'],
  [
    '550 5.1.0 <b1@bounces.test>: Sender address rejected: undeliverable address: host in.post.test[192.0.2.7] said: 550 No such user here',
    'sender_refused',
  ],
  ['550 5.1.8 <b1@bounces.test>: Sender address rejected: callback returned: 550 5.1.1 unknown user', 'sender_refused'],
  ['550 Sender verification failed: remote server said: 550 5.1.1 User unknown', 'sender_refused'],
  ['550 Could not verify sender <b1@bounces.test>: response was: 550 Unknown user', 'sender_refused'],
  ['550 Reverse DNS of your address not found', 'reverse_dns'],
  ['550 Your IP address not found in our list of known hosts', 'reverse_dns'],
  ['550 Client host rejected: your hostname does not exist', 'reverse_dns'],
  ['550 Domain of sender address b1@bounces.test does not exist', 'sender_refused'],
  ['550 Return-path address does not exist', 'sender_refused'],
  ['550 5.1.1 <ann@rcpt.test>: Recipient address rejected: rejected due to spam content', null],
  ['550 5.1.1 user rejected your mail: blacklisted', null],
  ['550 5.1.1 Message blocked by policy', null],
  ['554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using b.barracudacentral.org', 'ip_reputation'],
  ['550 5.7.1 [192.0.2.1] is listed at psbl.surriel.com', 'ip_reputation'],
  ['550 rejected because 192.0.2.1 is in a black list at cbl.abuseat.org', 'ip_reputation'],
  ['554 5.7.1 The sending IP has a poor reputation', 'ip_reputation'],
  ['550 5.7.1 Mail from your network is blocked', 'ip_reputation'],
  ["550 SC-001 (BAY004-MC1F30) Unfortunately, messages from 192.0.2.1 weren't sent", 'ip_reputation'],
  ['550 5.7.1 DMARC validation failed for acme.test', 'dmarc_policy'],
  ['550 5.7.1 SPF fail - acme.test does not designate 192.0.2.1 as permitted sender', 'auth_failed'],
  ['550 5.7.24 SPF validation error', 'auth_failed'],
  ['554 5.7.1 DKIM signature verification failed', 'auth_failed'],
  ['550 5.7.1 This message is classified as SPAM and may not be delivered', 'spam_content'],
  ['554 5.7.1 Message scored too high on spam scale', 'spam_content'],
  ['550 Your message looks like junk mail', 'spam_content'],
  ['554 Refused. Your message has been recognized as SPAM', 'spam_content'],
  ['554 5.6.0 Infected with Win.Test.EICAR_HDB-1', 'virus'],
  ['550 Virus Detected in message', 'virus'],
  ['552 5.7.0 Our system detected an illegal attachment on your message', 'content_rejected'],
  ['550 5.7.1 message contains a link to a blacklisted domain', 'domain_reputation'],
  [
    '421 4.7.0 [TSS05] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints',
    'ip_reputation',
  ],
  ['450 4.7.25 Client host rejected: cannot find your hostname, [192.0.2.1]', 'reverse_dns'],
  ['550 HELO argument does not match the name of the host', 'reverse_dns'],
];

t.test('hard: the mailbox or the domain is not there', async (t) => {
  for (const reply of HARD)
    t.match(classifyReply(readReply(reply), rules), { class: 'hard', action: 'give_up' }, reply);
});

t.test('full and too large', async (t) => {
  for (const [reply, label] of FULL_OR_SIZE) {
    t.match(classifyReply(readReply(reply), rules), { class: 'soft', label }, reply);
  }
});

t.test('soft: neither the recipient nor we are at fault for good', async (t) => {
  for (const reply of SOFT) t.match(classifyReply(readReply(reply), rules), { class: 'soft' }, reply);
});

t.test('block: about us, our address or the content', async (t) => {
  for (const [reply, label] of BLOCK) {
    t.match(classifyReply(readReply(reply), rules), { class: 'block', ...(label && { label }) }, reply);
  }
});

t.test('before RCPT, an account is that of the sender, and lists are about us', async (t) => {
  const atMail = (text: string) => classifyReply({ ...readReply(text), stage: 'mail' }, rules).label;
  t.equal(atMail('550 5.7.1 The user account is locked'), 'sender_refused');
  t.equal(atMail('554 Your domain is blocked, listed on dbl'), 'domain_reputation');
  t.equal(atMail('550 user blocked due to spam'), 'ip_reputation');
});
