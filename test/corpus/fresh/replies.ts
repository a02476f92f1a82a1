// What remote servers answer, quoted by Postfix: the words decide here. Each stands for a family of
// servers or providers.
import { ANN, type FreshMail, postfix, postfixOwn } from './fresh-mail.ts';

type Quoted = [kinds: string, status: string, reply: string, host?: string];

const AT_RCPT: Quoted[] = [
  // The mailbox is not there.
  ['hard', '5.1.1', `550 5.1.1 <${ANN}> User doesn't exist: ${ANN}`],
  ['hard', '5.1.1', `550 5.1.1 ${ANN} does not exist here`],
  ['hard', '5.0.0', `550 Sorry, no mailbox here by that name. (#5.1.1)`],
  ['hard', '5.1.1', `551 5.1.1 Unknown or illegal alias: ${ANN}`],
  ['hard', '5.1.1', '550 5.1.1 unknown or illegal alias: ann@rcpt.test'],
  ['hard', '5.0.0', '550 Recipient not in address list'],
  ['hard', '5.1.1', `550 5.1.1 The recipient <${ANN}> is unknown at this domain`],
  ['hard', '5.0.0', '550 This user is not known here (mode: normal)'],
  ['hard', '5.0.0', '550 ann is not a registered gateway user'],
  ['hard', '5.0.0', `550 [SUSPEND] Mailbox does not exist or is no longer in use`],
  ['hard', '5.0.0', '550 unknown local-part "ann" in domain "rcpt.test"'],
  ['hard', '5.1.1', '550 5.1.1 sorry, no valid mailbox for that recipient'],
  ['hard', '5.0.0', '511 sorry, no mailbox here by that name (#5.1.1 - chkuser)'],
  ['hard', '5.0.0', `550 Mailbox not found: ${ANN}`, 'mx3.qq.com'],
  ['hard', '5.0.0', '550 RP:RCL http://mail.163.com/help User not found: ann@163.com', '163mx01.mxmail.netease.com'],
  ['hard', '5.1.1', `550 5.1.1 <${ANN}> : recipient unknown in relay domain`],
  [
    'hard',
    '5.1.1',
    `550-5.1.1 The email account that you tried to reach does not exist. Please try 550-5.1.1 double-checking the recipient's email address for typos or 550-5.1.1 unnecessary spaces. For more information, go to 550 5.1.1 https://support.google.com/mail/?p=NoSuchUser x12-20020a056a00188c00b0 - gsmtp`,
    'gmail-smtp-in.l.google.com',
  ],
  [
    'hard',
    '5.5.0',
    '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302). [DB5EUR03FT010.eop-EUR03.prod.protection.outlook.com]',
    'hotmail-com.olc.protection.outlook.com',
  ],
  [
    'hard',
    '5.1.10',
    '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient ann@rcpt.test not found by SMTP address lookup',
  ],
  [
    'hard',
    '5.4.1',
    '550 5.4.1 Recipient address rejected: Access denied. [VI1EUR04FT041.eop-eur04.prod.protection.outlook.com 2024-05-06T09:10:13.550Z 08DC6D7A]',
    'rcpt-test.mail.protection.outlook.com',
  ],
  [
    'hard',
    '5.0.0',
    '554 delivery error: dd Not a valid recipient - atlas-production.v2-mail-prod1-gq1.omega.yahoo.com',
    'mta7.am0.yahoodns.net',
  ],
  ['hard', '5.0.0', `550 ${ANN}... No such user`, 'mx1.naver.com'],
  ['hard', '5.1.1', `550 5.1.1 <${ANN}> Recipient not found. <https://www.mailinblack.com>`],
  ['hard', '5.1.1', `550 5.1.1 <${ANN}>: Email address could not be found, or was misspelled (G8)`],
  ['hard', '5.1.1', `550 5.1.1 <${ANN}> is not a valid mailbox`],
  ['hard', '5.7.1', `550 5.7.1 <${ANN}>: Recipient address rejected: user not found in directory`],
  ['hard', '5.0.0', `553 5.3.0 <${ANN}>... No such user here`],
  ['hard', '5.1.1', `550 5.1.1 Utente sconosciuto: ${ANN}`],
  ['hard', '5.1.1', '550 5.1.1 Destinatario inexistente. Recipient does not exist.'],
  ['hard', '5.1.1', '550 5.1.1 El usuario no existe'],
  ['hard', '5.1.1', '550 5.1.1 Usuario desconocido en este dominio'],
  ['hard', '5.0.0', '550 Caixa postal inexistente'],
  ['hard', '5.0.0', `550 Dieser Benutzer ist hier nicht bekannt`],
  ['hard', '5.0.0', `550 Cette adresse n'existe pas`],
  ['hard', '5.0.0', '550 Podany adres nie istnieje / No such mailbox'],
  ['hard', '5.7.1', '550 5.7.1 No such user!', 'mxs.mail.ru'],
  ['hard', '5.7.1', '554 5.7.1 No such user!', 'mx.yandex.ru'],
  ['hard', '5.1.1', `550 5.1.1 <${ANN}> account is not active here: no such account`],
  ['hard', '5.0.0', '550 5.1.1 User Unknown (rule imposed as ann@rcpt.test was left)'],
  ['hard', '5.0.0', `550 Unknown recipient ${ANN}`],
  ['hard', '5.0.0', '550 Not a valid recipient'],
  ['hard', '5.0.0', `550 no such address here`],
  ['hard', '5.0.0', `554 5.1.1 unknown email address`],
  ['hard', '5.1.1', `550 5.1.1 Bad destination email address 550 reject=user-unknown`],
  ['hard', '5.1.1', '511 5.1.1 Empfaengeradresse existiert nicht'],
  ['hard', '5.1.3', `501 5.1.3 Invalid address: no account by this name`],
  ['hard', '5.1.1', `550 5.1.1 Addressee unknown, relay=[192.0.2.7]`],
  ['hard', '5.0.0', '550 I cannot deliver mail for <ann@rcpt.test>: that mailbox does not exist'],
  ['hard', '5.0.0', '554 User ann not known at this server'],
  ['hard', '5.0.0', '550 "ann" is not a known user'],
  ['hard', '5.1.2', `550 5.1.2 <${ANN}>: no such domain here`],
  ['hard', '5.1.6', '551 5.1.6 The user has left the organisation and this mailbox is no longer in use'],
  ['hard|soft', '5.2.1', '550 5.2.1 The user account is no longer active'],
  ['hard', '5.2.1', '550 5.2.1 This mailbox has been closed by its owner'],
  [
    'hard',
    '5.0.0',
    '554 30 Sorry, your message to ann@yahoo.com cannot be delivered. This mailbox is disabled (554.30).',
    'mta6.am0.yahoodns.net',
  ],
  ['hard|soft', '5.2.1', `550 5.2.1 <${ANN}> Mailbox is inactive`, 'mx.rambler.ru'],
  [
    'hard',
    '5.1.1',
    '550 5.1.1 RCP-P1 Refused due to recipient preferences http://postmaster.facebook.com/response_codes',
  ],
  // It is full.
  ['soft', '5.2.2', `552 5.2.2 <${ANN}>: Message storage exceeded, user's quota is used up`],
  ['soft', '5.0.0', '552 5.1.1 Mailbox delivery failure policy error: over storage limit'],
  ['soft', '5.7.1', '550 5.7.1 Quota violation for the recipient'],
  ['soft', '4.2.2', '452 4.2.2 The email account that you tried to reach is over quota. - gsmtp'],
  [
    'soft',
    '5.2.2',
    "552-5.2.2 The recipient's inbox is out of storage space and inactive. Please direct 552 5.2.2 the recipient to https://support.google.com/mail/?p=OverQuotaPerm - gsmtp",
  ],
  ['soft', '5.0.0', '550 Postfach voll / mailbox is over its limit'],
  [
    'soft',
    '5.2.2',
    '554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException; Failed to process message',
  ],
  ['soft', '5.0.0', '550 Mailbox size limit exceeded'],
  ['soft', '5.2.2', '552 5.2.2 El buzon del destinatario esta lleno'],
  ['soft', '5.0.0', '550 A caixa postal do destinatario esta cheia'],
  ['soft', '5.1.1', '550 5.1.1 <ann@rcpt.test>: user has exceeded storage quota'],
  ['soft', '5.0.0', '550 MAILBOX_FULL user over allowed disk usage'],
  ['soft', '5.2.2', '552 5.2.2 Casella piena'],
  // We are the reason.
  [
    'block',
    '5.7.1',
    '550 5.7.1 Service unavailable, Client host [192.0.2.7] blocked using Spamhaus. To request removal from this list see https://www.spamhaus.org/query/ip/192.0.2.7 AS(1450)',
  ],
  [
    'block',
    '5.7.1',
    '554 5.7.1 Service unavailable; Client host [192.0.2.7] blocked using b.barracudacentral.org; http://www.barracudanetworks.com/reputation/?pr=1&ip=192.0.2.7',
  ],
  ['block', '5.0.0', '554 smtp.rcpt.test Your IP address is listed in our deny list. Contact postmaster'],
  [
    'block',
    '5.7.1',
    "553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.7, because the ip is in Spamhaus's list",
    'mta5.am0.yahoodns.net',
  ],
  ['block', '5.7.1', '554 5.7.1 Access to this mail system from 192.0.2.7 is denied because of our local blacklist'],
  ['block', '5.7.23', '550 5.7.23 Message rejected because SPF check failed for acme.test'],
  ['block', '5.7.1', '550 5.7.1 Sender ID (PRA) Not Permitted'],
  ['block', '5.0.0', '550 Blocked. Sender verify failed'],
  ['block', '5.7.1', '550 5.7.1 Mail from 192.0.2.7 refused, see http://rcpt.test/blocked'],
  ['block', '5.7.1', '550 5.7.1 <news@acme.test>: Sender address rejected: not logged in or listed'],
  ['block', '5.0.0', '550 Rejected: 192.0.2.7 sent spam to our traps'],
  [
    'block',
    '5.7.606',
    '550 5.7.606 Access denied, banned sending IP [192.0.2.7]. To request removal from this list please visit https://sender.office.com/',
  ],
  [
    'block',
    '5.7.511',
    '550 5.7.511 Access denied, banned sender[192.0.2.7]. To request removal forward this message to delist@messaging.microsoft.com',
  ],
  ['block', '5.0.0', '554 Denied [CS] [fd2e1a4.0.63011.00-2281.92011.p01c11m081.mxlogic.net] (Mode: normal)'],
  ['block', '5.7.0', '550 5.7.0 Local Policy Violation - 192.0.2.7'],
  [
    'block',
    '5.7.9',
    '554 5.7.9 Message not accepted for policy reasons. See https://senders.yahooinc.com/error-codes',
    'mta5.am0.yahoodns.net',
  ],
  [
    'block',
    '5.7.1',
    '554 5.7.1 [HM08] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137',
    'mx01.mail.icloud.com',
  ],
  ['block', '5.0.0', '550 Connection denied by policy: host 192.0.2.7 is a dynamic address'],
  ['block', '5.7.1', '550 5.7.1 You are not allowed to send mail from your current address: reverse lookup has failed'],
  [
    'block',
    '5.7.25',
    '550 5.7.25 [192.0.2.7] The IP address sending this message does not have a PTR record setup, or the corresponding forward DNS entry does not point to the sending IP. - gsmtp',
  ],
  ['block', '5.0.0', '550 HELO mail.acme.test is not your name, faking is not tolerated'],
  ['block', '5.0.0', '550 Bitte melden Sie sich bei unserem Postmaster: Ihre IP-Adresse ist gesperrt'],
  ['block', '5.0.0', '550 Mail appears to be unsolicited - send error reports to postmaster'],
  ['block', '5.7.1', '550 5.7.1 Sua mensagem foi bloqueada por suspeita de spam'],
  // Whether it is the recipient nobody says.
  ['soft|block', '5.7.1', `554 5.7.1 <${ANN}>: Relay access denied`],
  ['soft|block|hard', '5.0.0', '550 relaying to <ann@rcpt.test> prohibited by administrator'],
  [
    'soft|block|hard',
    '5.7.64',
    '550 5.7.64 TenantAttribution; Relay Access Denied [AM7EUR03FT061.eop-EUR03.prod.protection.outlook.com]',
  ],
  ['soft|block', '5.7.1', '550 5.7.1 The recipient accepts mail of his own organisation only'],
  ['soft|hard', '5.2.1', '550 5.2.1 Account temporarily disabled, ask its owner'],
  ['soft|hard', '5.0.0', '550 5.2.1 This account has been suspended for non-payment'],
  ['soft', '5.4.6', '554 5.4.6 Too many hops 27 (25 max): from <news@acme.test>'],
  [
    'soft',
    '5.4.14',
    '554 5.4.14 Hop count exceeded - possible mail loop ATTR1 [HE1EUR01FT055.eop-EUR01.prod.protection.outlook.com]',
  ],
  ['soft', '5.3.0', '554 5.3.0 Server error, mailstore not reachable'],
  ['soft', '5.0.0', '550 Internal server error: lookup of recipient failed, contact support'],
];

const AT_DATA: Quoted[] = [
  ['block', '5.7.1', '554 5.7.1 Message contains spam or virus or sender is blocked: 5f1e (Mode: normal)'],
  ['block', '5.7.1', '550 5.7.1 Message rejected as spam by Content Filtering.'],
  [
    'block',
    '5.7.0',
    '552 5.7.0 This message was blocked because its content presents a potential 552 5.7.0 security issue. Please visit https://support.google.com/mail/?p=BlockedMessage - gsmtp',
  ],
  [
    'block',
    '5.7.1',
    '554 5.7.1 The message from (<news@acme.test>) with the subject of (Your order) matches a profile the Internet community may consider spam. Please revise your message before resending.',
  ],
  [
    'block',
    '5.7.26',
    '550-5.7.26 This mail has been blocked because the sender is unauthenticated. 550-5.7.26 Gmail requires all senders to authenticate with either SPF or DKIM. - gsmtp',
  ],
  [
    'block',
    '5.7.509',
    '550 5.7.509 Access denied, sending domain ACME.TEST does not pass DMARC verification and has a DMARC policy of reject.',
  ],
  ['block', '5.0.0', '550 spam message rejected. Please visit http://help.mail.ru/notspam-support/id?c=Wd'],
  ['block', '5.7.1', '554 5.7.1 Message rejected under suspicion of SPAM; https://ya.cc/1IrBc'],
  ['block', '5.0.0', '554 DT:SPM 163 mx14,UMCowAB 1714986613,please see http://mail.163.com/help/help_spam_16.htm'],
  [
    'block',
    '5.0.0',
    '550 Mail content denied [MQ1]. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000726',
  ],
  [
    'block',
    '5.0.0',
    '554 Transaction failed Reject due to policy restrictions. For explanation visit https://postmaster.gmx.net/de/error-messages?ip=192.0.2.7&c=hi',
  ],
  ['block', '5.6.0', '554 5.6.0 Message with invalid header rejected, id=2213-01 - BAD HEADER'],
  ['block', '5.7.0', '554 5.7.0 Reject, id=09161-16 - INFECTED: Eicar-Test-Signature'],
  ['block', '5.0.0', '550 Rule imposed mailbox access for ann: refused because of its attachment (.exe)'],
  ['block', '5.7.1', '550 5.7.1 URL in this message is listed by SURBL, see http://www.surbl.org'],
  ['block', '5.2.0', '550 5.2.0 Nachricht wegen Spamverdacht abgewiesen'],
  ['block|soft', '5.6.0', '550 5.6.0 Lone CR or LF in headers (see RFC2822 section 2.2)'],
  ['soft|block', '5.3.4', '552 5.3.4 Message size exceeds maximum value of 10485760'],
  ['soft|block', '5.2.3', '552 5.2.3 Message exceeds local size limit.'],
  [
    'soft|block',
    '5.3.4',
    "552-5.3.4 Your message exceeded Google's message size limits. Please visit 552 5.3.4 https://support.google.com/mail/?p=MaxSizeError - gsmtp",
  ],
  ['soft', '4.3.1', '452 4.3.1 Insufficient system storage, file system is full'],
  ['block', '5.7.1', '550 5.7.1 Email rejected per DMARC policy for acme.test'],
  ['block', '5.0.0', '550 Message score exceeded the threshold of this site'],
  ['block', '5.7.1', '550 5.7.1 Blocked by SpamAssassin'],
  ['block', '5.0.0', '554 Message refused: your e-mail was classified by our filter as advertisement'],
];

/** Postfix itself says why. */
const OWN: [kinds: string, status: string, why: string, action?: string][] = [
  ['hard', '5.4.4', 'Host or domain name not found. Name service error for name=rcpt.test type=AAAA: Host not found'],
  [
    'soft',
    '4.4.3',
    'Host or domain name not found. Name service error for name=mx.rcpt.test type=MX: Host not found, try again',
  ],
  ['hard|soft', '5.4.4', 'unable to look up host mx.rcpt.test: No address associated with hostname'],
  ['soft', '4.4.1', 'connect to mx.rcpt.test[198.51.100.25]:25: Connection timed out'],
  ['soft', '4.4.1', 'connect to mx.rcpt.test[198.51.100.25]:25: Connection refused'],
  ['soft', '4.4.2', 'lost connection with mx.rcpt.test[198.51.100.25] while receiving the initial server greeting'],
  ['soft', '4.4.2', 'conversation with mx.rcpt.test[198.51.100.25] timed out while sending RCPT TO'],
  ['soft', '5.4.6', 'mail for rcpt.test loops back to myself'],
  ['soft', '4.2.2', 'maildir delivery failed: error writing message: Disk quota exceeded'],
  ['soft', '5.2.2', 'cannot update mailbox /var/mail/ann for user ann. error writing message: File too large'],
  ['hard', '5.1.1', 'unknown user: "ann"'],
  ['hard', '5.1.0', 'User unknown in virtual alias table'],
  ['hard', '5.1.0', 'Domain rcpt.test does not accept mail (nullMX)'],
  ['soft', '5.3.0', 'Command died with status 127: "/usr/lib/mailman/mail/mailman". Command output: sh: not found'],
  ['soft', '4.7.5', 'Server certificate not verified'],
  ['soft', '4.7.4', 'TLS is required, but was not offered by host mx.rcpt.test[198.51.100.25]'],
  ['soft', '4.4.1', 'connect to mx.rcpt.test[198.51.100.25]:25: No route to host', 'delayed'],
  [
    'soft',
    '4.1.1',
    'host mx.rcpt.test[198.51.100.25] said: 450 4.1.1 <ann@rcpt.test>: Recipient address rejected: unverified address: Address lookup failed (in reply to RCPT TO command)',
    'delayed',
  ],
  [
    'soft|block',
    '4.7.1',
    'host mx.rcpt.test[198.51.100.25] said: 451 4.7.1 Greylisting in action, please come back later (in reply to RCPT TO command)',
    'delayed',
  ],
  [
    'soft|block',
    '4.7.0',
    'host mta5.am0.yahoodns.net[198.51.100.25] refused to talk to me: 421 4.7.0 [TSS04] Messages from 192.0.2.7 temporarily deferred due to user complaints',
    'delayed',
  ],
  [
    'block',
    '5.7.1',
    "host mx.rcpt.test[198.51.100.25] refused to talk to me: 554-mx.rcpt.test 554 Your access to this mail system has been rejected due to the sending MTA's poor reputation.",
  ],
];

export const REPLIES: FreshMail[] = [
  ...AT_RCPT.map(([kinds, status, reply, host], number): FreshMail => {
    const mail = postfix(status, reply, host ? { host } : {});
    return [`reply at RCPT ${number + 1}: ${reply.slice(0, 60)}`, kinds, ANN, statusIn(status, reply), mail];
  }),
  ...AT_DATA.map(([kinds, status, reply], number): FreshMail => {
    const mail = postfix(status, reply, { command: 'end of DATA' });
    return [`reply at DATA ${number + 1}: ${reply.slice(0, 60)}`, kinds, ANN, statusIn(status, reply), mail];
  }),
  ...OWN.map(([kinds, status, why, action], number): FreshMail => {
    return [`Postfix itself ${number + 1}: ${why.slice(0, 60)}`, kinds, ANN, status, postfixOwn(status, why, action)];
  }),
];

/** Where two are in the mail, no one is expected. */
function statusIn(status: string, reply: string): string | null {
  const codes = new Set([status, ...(reply.match(/(?<![\d.])[45]\.\d{1,3}\.\d{1,3}(?![.\d])/g) ?? [])]);
  return codes.size === 1 ? status : null;
}
