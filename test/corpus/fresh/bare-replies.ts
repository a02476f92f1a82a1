// Replies by themselves, one to a line behind the kinds that are right for them, each in one of five frames: from
// what every postmaster sees each day to what only one server says, in many languages.
import { ANN, exim, type FreshMail, fieldsOf, postfix, qmail, report, sendmail } from './fresh-mail.ts';

const SAID = `
hard|550 5.1.1 <ann@rcpt.test>: Recipient address rejected: User unknown in local recipient table
block|550 5.7.1 Message rejected due to content restrictions
block|550 5.7.1 Unfortunately, messages from [192.0.2.7] weren't sent
soft,block|552 5.3.4 Message size exceeds fixed limit
soft,block|451 4.7.1 <ann@rcpt.test>: Recipient address rejected: Service is unavailable (try later)
block|554 5.7.1 <mail.acme.test[192.0.2.7]>: Client host rejected: Mail server is blacklisted
block|554 5.7.1 <unknown[192.0.2.7]>: Client host rejected: cannot find your hostname, [192.0.2.7]
block|450 4.7.25 Client host rejected: cannot find your hostname, [192.0.2.7]
block|553 5.1.8 <news@acme.test>... Domain of sender address news@acme.test does not exist
block|550 5.7.1 <news@acme.test>: Sender address rejected: Domain not found
block|450 4.1.8 <news@acme.test>: Sender address rejected: Domain not found
hard|550 5.1.2 <ann@rcpt.test>: Recipient address rejected: Domain not found
soft,block|450 4.2.0 <ann@rcpt.test>: Recipient address rejected: Greylisted for 300 seconds
block|554 5.7.1 <ann@rcpt.test>: Recipient address rejected: Access denied
block|550 5.7.1 <ann@rcpt.test>: Recipient address rejected: Message rejected due to: SPF fail - not authorized
block|550 5.7.1 <ann@rcpt.test>: Recipient address rejected: Please see http://www.openspf.org/Why?s=helo;id=x
block|550 5.7.1 Message rejected due to: domain owner discourages use of this host
block|550 SPF: 192.0.2.7 is not allowed to send mail from acme.test: Please see http://www.openspf.org/
block|550 5.7.0 Email rejected per SPF policy
block|550 5.7.1 SPF unauthorized mail is prohibited.
block|550 5.1.0 SPF - Fail
block|554 5.7.7 Email not accepted for policy reasons
block|550 5.7.1 sender rejected; SPF hardfail
block|550 5.7.1 The sender domain has DMARC policy reject
block|550 5.7.1 rejected by DMARC policy for acme.test
block|554 5.7.5 Permanent Error Evaluating DMARC policy
block|550 5.7.1 Unauthenticated email is not accepted due to domain's DMARC policy
soft|421 4.7.0 Try again later, closing connection. (EHLO)
soft,block|421 4.4.2 Connection dropped due to SocketError
soft|554 5.4.0 Error: too many hops
soft|554 Too many hops (#5.4.6)
soft|554 5.4.14 Hop count exceeded - possible mail loop
soft|550 5.4.6 Routing loop detected
soft|553 5.3.0 <ann@rcpt.test>... mailbox is full
soft|552 5.2.2 Mailbox over quota
soft|552 RCPT TO:<ann@rcpt.test> Mailbox disk quota exceeded
soft|550 5.2.2 <ann@rcpt.test>... Mailbox Full
soft|552 Requested mail action aborted: exceeded storage allocation
soft|552 5.2.2 This message is larger than the current system limit or the recipient's mailbox is full. Create a shorter message body or remove attachments and try sending it again.
soft|554 Benutzer hat zuviele Mails auf dem Server
soft|452 4.1.1 <ann@rcpt.test> user is over quota
soft|550 Account storage limit
soft|550 mailbox ann@rcpt.test is full
soft|552 Maildir delivery failed: quota exceeded
soft|550 temporary failure: too many messages in the mailbox of the user
soft|422 The recipient's mailbox is over its storage limit
hard|550 5.1.1 No such user - gsmtp
hard|550-5.1.1 Recipient ann@rcpt.test does not exist
hard|550 5.1.1 Mailbox "a" does not exist
hard|550 5.1.1 <ann@rcpt.test> User Unknown ; please see http://x
hard|550 5.1.6 recipient no longer on server: ann@rcpt.test
hard|550 5.7.1 ann@rcpt.test... Access denied. No such user
hard|554 delivery error: dd Sorry your message to ann@rcpt.test cannot be delivered. This account has been disabled or discontinued [#102]. - mta123
hard|554 delivery error: dd This user doesn't have a yahoo.co.jp account
hard|550 5.1.1 Address does not exist
hard|550 ann@rcpt.test: user not known
hard|550 Recipient ann@rcpt.test is not known here
hard|550 This address doesn't exist on this server
hard|550 5.0.0 <ann@rcpt.test>... no such mailbox
hard|550 cuda_nsu rcpt.test: no such user
hard|550 [a]: Recipient unknown
hard|553 Invalid recipient ann@rcpt.test (Mode: normal)
hard|550 No such recipient here
hard|553 5.1.1 unknown user or mailbox name
hard|554 rejected: no such address
hard|550 Mailbox name not found
hard|550 5.1.1 ann@rcpt.test: unknown recipient: User unknown
hard|551 not our user
hard|551 User not local; please try another address
hard|550 unknown mailbox
hard|511 5.1.1 unknown address or alias: ann@rcpt.test
hard|554 5.0.0 MX for rcpt.test says: user not found
hard|550 Email address not found in the database
hard|550 We have no mailbox under that name
hard|554 no user by that name is here
hard|550 recipient does not exist
hard,soft|550 Recipient address rejected: unverified address: host mx said: 550 User unknown
hard|550 5.1.1 Bad recipient address (ann@rcpt.test)
hard|550 Domain rcpt.test has no mailbox a
hard|550 5.1.1 unrouteable address
hard|550 Address unknown
hard|550 Account does not exist
hard|553 not known as a user of this system
hard|550 cannot deliver to unknown user
hard|550 user has been deleted
hard|550 this mailbox is no longer valid
hard|550 employee no longer with company
hard|550 5.1.1 No mailbox by that name is currently available
hard|550 this user is disabled permanently
hard|550 mailbox is abandoned
hard,soft|550 Mailbox expired
hard,soft|550 5.2.1 Mailbox disabled for this recipient
hard,soft|550 User is suspended
hard,soft|550 the account is locked
hard,soft|554 5.7.1 The account or domain has been disabled
hard,soft|550 5.2.1 The email account that you tried to reach is inactive
hard,soft|525 5.7.13 Disabled recipient address
hard,soft|550 sorry, mailbox currently suspended
hard,soft|550 Account inactive for 6 months
hard,soft|550 domain is suspended, contact billing
block|550 5.7.1 Connections not accepted from servers without a valid sender domain.flph829 Fix reverse DNS for 192.0.2.7
block|550 Fix reverse DNS for 192.0.2.7
block|554 IP=192.0.2.7 - Dialup/transient IP not allowed. Use a mailgateway/smarthost or contact tosa@rx.t-online.de
block|554 IP=192.0.2.7 - A problem occurred. (Ask your postmaster for help or to contact tosa@rx.t-online.de to clarify.)
block|550 5.7.1 Client does not have permissions to send as this sender
block|550 Blocked - see http://www.spamcop.net/bl.shtml?192.0.2.7
block|521 5.7.1 Service unavailable; client [192.0.2.7] blocked using sbl-xbl.spamhaus.org
block|553 5.3.0 blocked: see http://rbl.foo.test/
block|550 5.3.0 Access denied, see mail-abuse.com
block|550 Mail refused: rejected by SORBS
block|421 4.7.1 Intrusion prevention active for [192.0.2.7][S]
block|550 5.7.1 Mail from IP 192.0.2.7 was rejected due to listing in Spamhaus PBL
block|554 ESMTP - Your IP has a bad reputation
block|554 mx.foo.test No SMTP service for you
block|554 SMTP synchronization error
soft,block|503 5.5.1 Bad sequence of commands
block|550 5.7.1 Your message was rejected as possible spam
block|550 Message contains a link to a known spam site
block|550 5.7.1 Our system thinks this message is spam
block|554 5.7.1 [P4] Message blocked due to spam content in the message.
block|553 5.7.1 <news@acme.test>: Sender address rejected: not owned by user
block|554 Message rejected because of its bad subject
block|550 Message was identified as bulk mail (dcc)
block|550 HTML-only mail is not accepted
block|552 5.7.0 Our system detected an illegal attachment on your message
block|554 5.7.1 Dangerous attachment: macro in a document
block|554 Virus found: Worm.Mydoom
block|550 message contains Trojan.Agent
block|550 5.7.1 Message rejected: Mail loop? no: policy 7
block|554 5.6.0 corrupt message
block,soft|554 5.6.1 Eight bit data not allowed
block|550 5.7.1 The message violates the email policy of this company
block|550 message refused by the recipient's organization
block|550 The recipient has blocked you
block|550 5.7.1 You are not permitted to send mail to this address
block,soft|550 5.7.1 This group only takes mail from its members
block|550 rejected by rule
block|554 5.1.0 Sender denied
block|550 5.1.0 <news@acme.test> sender rejected
block|550 Verification failed for <news@acme.test>
block|550 sender is not a valid user of acme.test
block|550 invalid sender
block|501 5.1.7 Invalid address of sender
block|550 The sender's domain does not accept replies
block|550 backscatter protection: unsigned
block|554 Not allowed: empty envelope
block|550 Cannot verify sender
soft,block,hard|550 5.7.1 Unable to relay
soft,block,hard|554 5.7.1 <ann@rcpt.test>: Relay access denied
soft,block,hard|550 we do not relay
soft,block,hard|553 5.7.1 sorry, we do not accept mail for that domain
soft,block,hard|550 Relaying mail to rcpt.test is not allowed
soft,block,hard|551 we are not a relay
soft,block,hard|550 that domain is not handled here
soft,block,hard|454 4.7.1 Relay access denied
soft|454 4.7.1 TLS not available
soft,block|530 5.7.0 Must issue a STARTTLS command first
soft|403 4.7.0 TLS handshake failed
soft|550 5.7.10 STARTTLS is required for this domain
soft|421 4.4.1 No route to host
soft|451 4.4.1 reply: read error from mx.rcpt.test.
soft|451 4.4.3 Temporary server error. Please try again later
soft|451 4.3.0 Mail server temporarily rejected message. See http://support.google.com
soft|452 4.3.1 Insufficient system resources
soft|452 4.3.1 Out of memory
soft|550 5.3.5 Cannot start the local mailer
soft|554 5.3.0 unknown mailer error 1
soft|554 5.3.0 unknown mailer error 2
soft|550 5.3.0 Service currently unavailable
soft|451 Internal error: the mailbox server did not answer
soft|550 4.4.7 QUEUE.Expired; message expired
soft|554 5.4.7 exceeded max time without delivery
soft|550 Message expired, tried for 5 days
soft|554 5.4.7 message could not be delivered for 72 hours
soft|550 5.4.300 Message expired
soft|450 4.4.316 Connection refused
soft,block|450 4.7.1 Server busy, too many connections
soft,block|421 Too many concurrent SMTP connections
soft,block|452 4.5.3 Too many recipients
soft,block|550 5.5.3 Too many recipients in this message
soft,block|421 4.7.28 our system has detected an unusual rate of mail
soft,block|450 4.7.1 Excessive userunknown recipients
soft,block|552 Message too large
soft,block|552 5.2.3 Message exceeds maximum fixed size
soft,block|550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient
soft,block|554 message size violation
soft,block|500 Message is too big
hard,soft|556 5.1.10 Recipient address has null MX
hard|550 5.1.2 <ann@rcpt.test>... Host unknown (Name server: rcpt.test: no data known)
hard|553 5.1.2 <ann@rcpt.test>... Invalid domain name
hard|550 Domain does not exist; please check your spelling
hard|550 5.1.2 unknown host rcpt.test
hard|554 5.4.4 rcpt.test: Host not found
soft,hard|550 5.4.4 No MX record for rcpt.test
soft,hard|553 Requested action not taken: mailbox name not allowed
soft,hard,block|550 Requested action not taken: mailbox unavailable
soft,hard,block|554 Transaction failed
soft,hard,block|550 5.1.0 Rejected
soft,hard|501 5.1.3 Bad recipient address syntax
soft,hard|553 5.1.3 malformed address
soft,hard|501 Invalid Address
hard|550 ann@rcpt.test is unknown to this system
hard|550 Sorry, ann@rcpt.test is not on our books
soft|552 maildrop: maildir over quota
soft|550 Delivery failed: Over quota
soft|550 user a has 100% of his quota
soft|552 The mailbox has reached its maximum number of messages
soft|554 Unable to open mailbox file /mail/a.nsf: database is full
soft|550 cannot open mailbox /var/mail/a: permission denied
soft|550 5.3.0 can't create output: a.lock
soft|554 unable to deliver to mailbox: timeout at the message store
soft|550 5.5.0 ann@rcpt.test: local delivery failed
hard|550 unknown or illegal user: ann@rcpt.test
hard|550 #5.1.0 Address rejected ann@rcpt.test
hard|550 5.1.1 ADRESSE INCONNUE
soft,hard|550 5.1.0 Address rejected
hard|550 Utilisateur inconnu
hard|550 Destinataire inconnu dans la table locale
hard|550 Onbekende gebruiker
hard|550 Mottagaren finns inte
hard|550 Ugyldig mottaker: brukeren finnes ikke
hard|550 Nieznany uzytkownik
hard|550 Uživatel neexistuje
hard|550 A felhasználó nem létezik
hard|550 Kullanıcı bulunamadı
hard|550 用户不存在
hard|550 该用户不存在
hard|550 收件人地址不存在
hard|550 該当するユーザーは存在しません
hard|550 Нет такого пользователя
hard|550 Такой почтовый ящик не существует
soft|552 Почтовый ящик переполнен
soft|552 用户邮箱已满
soft|552 收件人邮箱空间已满
soft|552 Skrzynka odbiorcy jest pełna
soft|552 Schránka příjemce je plná
soft|552 Postvak is vol
soft|552 Brevlådan är full
soft|552 Postkassen er full
soft|552 Posta kutusu dolu
soft|552 mailbox du destinataire pleine
soft|552 メールボックスの容量を超えています
soft|552 受信者のメールボックスがいっぱいです
block|550 邮件内容包含垃圾信息
block|550 您的IP被拒绝
block|550 Ваш IP находится в черном списке
block|550 Nachricht abgelehnt, da sie Viren enthält
block|550 Message refusé: spam
block|550 Mensaje rechazado por contener spam
block|550 Mensagem recusada por conter virus
block|550 Your mail has been blocked by the anti-spam gateway
block|554 5.7.1 Rejected - The message was flagged by Cloudmark Authority
block|550 5.7.1 Message rejected by content scanner: keywords
block|554 5.7.1 Service unavailable; Helo command [x] blocked using dbl.spamhaus.org
block|550 5.7.1 http://www.mxlogic.com rejected your IP
block|550 permanent failure: the sender domain is on a list of spammers
block|550 5.7.1 TRANSPORT.RULES.RejectMessage; the message was rejected by organization policy
block|550 5.7.1 This message has been blocked because it contains FortiGuard - AntiSpam blocking URL(s).
block|554 5.7.1 Message rejected by Bitdefender
block|550 Blocked by Vade Secure
block|550 5.7.1 Forged sender
block|550 You must fix your MX records before we take your mail
block|554 5.7.1 Spoofed: mail of acme.test must come from its own servers
block|550 5.7.1 Your address is not on the list of approved senders
block|550 not on the whitelist of this mailbox
block|550 mail from this country is not accepted
block|550 attachments with the extension .zip are banned
block|550 5.7.1 Encrypted archives are forbidden
block|550 Empty messages are not accepted
block,soft|550 5.6.0 Message contains an invalid header
block,soft|554 5.6.3 Conversion required but not supported
soft,block|554 5.4.5 Daily sending quota exceeded
soft,block|550 5.4.5 Your account has exceeded its daily limit
soft,block|450 Requested action not taken, slow down
soft,block|550 Too many messages from you in the last hour
soft,block|421 4.3.2 all server ports are busy
soft|451 4.3.5 Server configuration error
soft|554 5.3.5 Remote server is misconfigured
soft|550 5.4.1 No answer from host
soft|554 5.4.4 unable to route: no mail hosts for domain
soft|550 Connection to the mail server of the recipient was refused
soft|554 Gateway timeout
soft|451 4.3.0 <ann@rcpt.test>: Temporary lookup failure
soft|550 Temporary problem, please try again later
soft|550 backend is down for maintenance
soft|550 message has been in the queue for 4 days
soft|550 delivery period expired
soft|550 too old: could not be sent for 3 days
hard|550 No such domain: rcpt.test
hard|550 5.1.2 Domain unknown
hard|512 5.1.2 Bad destination system address
hard|550 rcpt.test does not exist in DNS
hard|550 The domain of the recipient has expired and does not exist any more
soft,hard|550 The mail domain rcpt.test has been suspended
soft,hard|550 User mailbox is temporarily disabled
soft,hard|550 Mailbox blocked for non payment
soft,hard|550 this customer is in arrears
hard|550 account terminated
hard|550 This account is not allowed... it has been closed
hard|550 The person left, mailbox closed
hard|551 5.1.6 a has moved to c@d.test
hard|550 This address is obsolete; the new one is c@d.test
hard|550 5.1.1 mailbox cancelled
hard|550 5.1.1 <ann@rcpt.test>... User unknown
hard|550 5.1.1 unknown user <ann@rcpt.test>
hard|550 <ann@rcpt.test>: User unknown in virtual mailbox table
hard|550 sorry, no mailbox here by that name (#5.1.1)
hard|550 5.1.1 RESOLVER.ADR.RecipNotFound; not found
hard|550 Invalid recipient <ann@rcpt.test>
hard|550 5.1.1 User unknown; rejecting
hard|550 Unknown user ann@rcpt.test
hard|550 No such user (ann@rcpt.test) here
hard|550 Not our Customer
hard|550 5.1.1 <ann@rcpt.test> Invalid mailbox
hard|550 ann@rcpt.test user unknown
hard|550 5.7.1 <ann@rcpt.test>: Recipient address rejected: User unknown
hard|550 unknown recipient
hard|554 5.7.1 <ann@rcpt.test>: Recipient address rejected: user ann@rcpt.test does not exist
hard|550 Requested action not taken: mailbox not found
hard|553 sorry, this recipient is not in my validrcptto list (#5.7.1)
hard|550 5.2.1 mailbox unavailable, no such user
hard|551 <ann@rcpt.test> no such user here
hard|550 cannot find user in directory
hard|550 5.4.1 [ann@rcpt.test]: Recipient address rejected: Access denied
hard|554 5.1.1 <ann@rcpt.test>: Recipient address rejected: Undeliverable address
block|550 5.7.1 Message content rejected due to spam
block|554 5.7.1 This email was rejected because it is spam
block|550 5.7.1 Spam URL in content
block|550 Your message is spam
block|550 5.2.1 Content filter: spam probability 98%
block|550 5.7.1 rejected as spam by sa-exim
block|554 This message scored 8.2 spam points
block|550 mail rejected by DSPAM
block|571 5.7.1 Message contains prohibited content
block|550 5.7.1 Blocked by policy: No spam please
block|554 Mail from your IP has been blocked due to abuse
block|554 5.7.1 Your mail has been rejected because your IP is in our local RBL
block|550 5.7.1 Access denied, sending domain acme.test does not pass DMARC verification
block|550 5.7.1 Rejected: mail from 192.0.2.7 matches blocklist
block|550 Access denied - Invalid HELO name (See RFC2821 4.1.1.1)
block|550 REPLY: 550_5.7.1_Service_unavailable;_client_[192.0.2.7]_blocked
block|550 5.7.1 Recipient not authorized, your IP has been found on a block list
block|550 5.7.1 ETP103.1 Blocked - see https://support.proofpoint.com
block|550 Rejected by header based Anti-Spoofing policy
block|554 Email rejected due to security policies
block|550 csi.mimecast.org Poor Reputation Sender
block|550 Envelope blocked - User Entry
block|550 5.7.1 Anti-Spoofing policy - Inbound not allowed
soft|552 4.2.2 user over quota
soft|552 sorry, the recipient's mailbox is over quota
soft|554 mailbox over quota: a
soft|550 Mailbox quota exceeded
soft|552 5.2.2 The email account that you tried to reach is over quota
soft|550 Mailbox has exceeded the limit
soft|552 account is over quota (try again later)
soft|450 mailbox is full, try again later
soft|552 5.2.2 message would exceed quota
soft|452 4.2.2 <ann@rcpt.test> Mailbox has exceeded its quota
soft|550 5.2.2 Storage quota reached for this user
soft|451 4.4.0 DNS resolution of rcpt.test failed
soft|450 4.4.1 connect to mx.rcpt.test: operation timed out
soft|421 4.4.1 unable to connect to the remote server
soft|554 5.4.7 delivery timed out
soft|451 unable to verify user, try later
soft|451 4.3.0 Message held for human verification before permitting delivery
soft,block|451 4.7.1 Please try again later
soft,block|450 4.7.1 <ann@rcpt.test>: Recipient address rejected: try again, see http://www.greylisting.org
soft,block|421 too many errors from your IP
soft,block|552 5.3.4 max message size exceeded
soft,block|552 5.2.3 Message too big for this mailbox
soft,block|550 size exceeds the limit
hard,soft|550 5.2.1 User account disabled
hard,soft|550 Account is disabled
hard,soft|554 Account is suspended for abuse
hard,soft|550 User account is overdue
hard,soft|550 email account is deactivated
hard,soft|550 5.2.1 Mailbox frozen
hard|550 Domain rcpt.test does not exist
hard|550 5.1.2 Bad destination mailbox system address
hard|550 Host or domain name not found
block|550 5.1.7 Invalid sender
block|553 sorry, your envelope sender domain must exist
block|550 Invalid sender domain acme.test
block|553 5.1.8 Sender domain not found in DNS
block|550 your domain has no MX record
block|550 sender verify failed
block|550 Sender verification failed
block|554 Sender address rejected: access denied
block|550 rejected because acme.test is in a black list
block|552 executable attachments are not allowed here
block|554 contains a virus
block|550 5.7.1 message contains malicious attachment
block|550 发件人地址不存在
block,soft|550 IP地址不存在于DNS
block|550 Absenderadresse unbekannt
block|550 Die Adresse des Absenders existiert nicht
block|550 Adresse de l'expediteur inconnue
block|550 El remitente no existe: usuario desconocido
block,soft|550 adresse IP inconnue
soft,block|550 There is no mailbox server available
soft,block|550 could not find the mailbox database
soft,block|550 RCPT parameter unknown to this server
block,soft|550 El correo no se encuentra autorizado
soft,block|550 This mail server is no longer in use
soft,block|554 mail server is not a valid address for this network
block|550 your hostname was not found in DNS
block,soft|550 The host name that you gave does not exist in DNS
block,soft|550 5.7.1 SPF record of the domain could not be found
soft|550 Unable to locate the mailbox store, try later
block|550 Sender address <news@acme.test> does not exist here
block|550 Sender <news@acme.test> is not a known user
block|550 5.7.1 user authentication of the sender not found
soft,block|550 We could not find a route to the recipient's server
block,soft|550 recipient not found in the list of people who may receive external mail: policy
block|550 Отправитель не существует
soft,block|554 The service that you asked for does not exist here
`;

const FRAMES = [
  (reply: string) => postfix(statusOf(reply), reply),
  (reply: string) =>
    exim(`SMTP error from remote mail server after RCPT TO:<${ANN}>:\n    host mx.rcpt.test [198.51.100.25]: ${reply}`),
  (reply: string) =>
    qmail(
      `<${ANN}>:\n198.51.100.25 does not like recipient.\nRemote host said: ${reply}\nGiving up on 198.51.100.25.\n`,
    ),
  (reply: string) =>
    sendmail({
      failed: `<${ANN}>\n    (reason: ${reply})`,
      transcript: `... while talking to mx.rcpt.test.:\n>>> DATA\n<<< ${reply}\n554 5.0.0 Service unavailable`,
      status: statusOf(reply),
      said: reply,
    }),
  (reply: string) => report('', fieldsOf('failed', statusOf(reply), reply)),
];

function statusOf(reply: string): string {
  return /[45]\.\d{1,3}\.\d{1,3}/.exec(reply)?.[0] ?? `${reply[0]}.0.0`;
}

export const BARE_REPLIES: FreshMail[] = SAID.trim()
  .split('\n')
  .map((line, number): FreshMail => {
    const [kinds, reply] = [line.slice(0, line.indexOf('|')), line.slice(line.indexOf('|') + 1)];
    const mail = FRAMES[number % FRAMES.length]!(reply);
    return [`bare: ${reply}`, kinds.replaceAll(',', '|'), ANN, null, mail];
  });
