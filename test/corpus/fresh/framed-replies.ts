// Replies one to a line behind the kinds that are right for them, each in another of the frames: what is said in many
// words, and what only resembles an absent mailbox.
import { BOB, FRAMES } from './frames.ts';
import type { FreshMail } from './fresh-mail.ts';

const SAID = `
hard|550 #5.1.1 bad address bob.b@there.test
hard|550 Unknown user account
hard|553 5.0.0 Address not present in directory
hard|550 can't accept user
hard|550 Invalid mailbox: bob.b@there.test
hard|554 is not a known user
hard|550 <bob.b@there.test> is not a valid mailbox
hard|550 Mailbox invalid
hard|550 Mailbox not present
hard|550 no existe dicha persona
hard|550 no existe ese usuario
hard|550 No mail box available for this user
hard|550 no mailbox by that name is currently available
hard|550 No thank you rejected: Account Unavailable
hard|554 5.5.1 No valid recipients, bye
hard|550 not a valid user here
hard|550 bob.b@there.test does not have an email account here
hard|550 5.1.1 <bob.b@there.test>: Recipient address rejected: invalid-recipient
hard|550 Recipient not ok
hard|550 This email address is wrong or no longer valid
hard|550 sorry, this recipient is in my badrecipientto list (#5.7.1)
hard|550 sorry, this recipient is not in my validrcptto list (#5.7.1)
hard|550 Unknown local-part "ann" in <bob.b@there.test>
hard|550 5.1.1 unknown or illegal alias: bob.b@there.test
hard|550 user missing home directory
hard|550 vdeliver: Invalid or unknown virtual user 'ann'
hard|553 sorry, your envelope recipient is in my badrcptto list (#5.7.1)
hard|550 5.1.1 There is no one at this address
hard|550 user not active
hard|550 The address has been replaced by bob.b@elsewhere.test
hard|550 5.1.2 Mail domain mentioned in email address is unknown
hard|550 Recipient address rejected: Unknown domain name
hard|550 Recipient domain must exist
hard|550 5.1.1 <bob.b@there.test>: Recipient address rejected: User unknown in virtual mailbox table
hard|550 5.1.1 User Unknown - bob.b@there.test
hard|550 5.1.1 sorry, no mailbox here by that name (#5.1.1 - chkusr)
hard|550 No such recipient here
hard|550 5.1.1 This user doesn't have an account here
hard|550 Not our Customer
hard|550 5.1.1 <bob.b@there.test>: Email address could not be found, or was misspelled (G8)
hard|550-Mailbox unknown. Either there is no mailbox associated with this 550-name or you do not have authorization to see it. 550 5.1.1 User unknown
hard|551 not our customer
hard|550 5.7.1 <bob.b@there.test>: Recipient address rejected: User unknown in relay recipient table
hard|550 Account not available
hard|550 5.2.1 Mailbox unavailable for this recipient: no such recipient
hard|550 user doesn't exist
hard|550 5.1.1 The email account does not exist
hard|550 RCPT (bob.b@there.test) dosn't exist
hard|553 5.1.1 unknown address (#5.1.1)
hard|550 Account inactive as unread? No: the user is unknown
hard|550 address unknown
soft|550 account is exceeding their quota
soft|550 5.2.2 disc quota exceeded
soft|552 The mail file size exceeds the maximum size allowed for mail delivery
soft|550 recipient mailbox has exceeded storage limit
soft|552 Requested mailbox exceeds quota
soft|550 too much mail data
soft|550 User has exceeded quota, bouncing mail
soft|552 The user has exceeded his mailbox limit
soft|550 user over quota. (#5.1.1)
soft|550 account disabled temporarly for exceeding receiving limits
soft|550 Maildir delivery failed: Domaindisk quota exceeded
soft|550 5.7.1 mailbox exceeded the local limit
soft|554 Recipient reached disk quota
soft|550 does not have enough space
soft|552 5.2.2 the incoming mailbox for user ann is full
soft|452 4.2.2 Insufficient space for this user
soft|554 5.4.0 Could not connect and send the mail to mx.there.test
soft|550 DNS records for the destination computer could not be found
soft|554 Maximum forwarding loop count exceeded
soft|554 message looping
soft|554 Unable to resolve route bob.b@there.test
soft|550 5.4.0 host is unreachable
soft|550 could not find a gateway for there.test
soft|550 failed to deliver to domain there.test after 5 tries
soft|554 5.4.7 unable to deliver message after multiple retries, giving up
soft|550 5.4.317 Message expired, cannot connect to remote server
soft|550 Message timed out
soft|554 it has not been collected after 7 days
soft|554 5.4.7 Message expired after sitting in queue for 5 days
soft|451 Aliasing/forwarding loop broken
soft|451 4.3.0 Temporary system failure. Please try again later.
soft|451 4.3.2 Please try again later
soft|451 recipient deferred because there is no Mdb
soft|432 4.3.2 STOREDRV.Deliver; recipient thread limit exceeded
soft|450 4.4.318 Connection was closed abruptly (SuspiciousRemoteServerError)
soft|432 4.3.0 mailbox temporarily unavailable
soft,hard|550 cannot send e-mail to yourself
soft,hard|554 interrupted system call
soft,hard|550 mail system configuration error
soft,hard|550 remote server is misconfigured
soft,hard|550 it encountered an error while being processed
soft,hard|550 it would create a mail loop
block|550 <> invalid sender
block|550 BATV failed to verify
block|550 because the sender isn't on the recipient's list of senders to accept mail from
block|550 bogus mail from
block|550 Connections not accepted from servers without a valid sender domain
block|550 5.7.1 email address is on SenderFilterConfig list
block|550 5.1.0 Emetteur invalide. Invalid Sender
block|550 Empty envelope senders not allowed
block|550 From: domain is invalid. Please provide a valid From:
block|553 Mail from not owned by user news@acme.test
block|554 Message rejected: Email address is not verified. The following identities failed the check
block|553 5.5.4 <news@acme.test>... Domain name required for sender address news
block|553 MX records for acme.test violate section 3.3.9 of RFC 1035
block|550 Null Sender is not allowed
block|550 Sender not pre-approved
block|550 sender is spammer
block|554 mailfrom domain is listed in Spamhaus. To have it removed, see
block|550 the message has been rejected by BATV defense
block|550 Your access to submit messages to this e-mail system has been rejected
block|550 Your email address has been blacklisted
block|550 5.1.0 Address rejected news@acme.test: sender refused
block|554 You have no rights to send to this host
block|550 Client host rejected: Abus detecte GU_EIB_02
block|571 5.7.1 bob.b@there.test: currently blocked by there.test
block|550 Email blocked by SPAMCHECK
block|550 invalid ip for sending mail of domain
block|550 Mail from 192.0.2.7 refused: IP is in black list
block|550 5.7.1 No access from mail server
block|550 Please use the SMTP server of your ISP
block|550 Rejected because the sending MTA or the sender has not passed validation
block|550 sender ip address rejected
block|554 5.7.1 Your network is temporary blacklisted
block|550 We do not accept mail from dynamic ips
block|550 Access denied. IP name lookup failed
block|550 we do not accept mail from hosts with dynamic IP or generic dns PTR-records
block|550 There is bad reputation for your host
block|550 5.7.1 mail score (12 over 5) too high
block|550 an illegal attachment on your message
block|550 because the recipient is not accepting mail with attachments
block|550 message bounced due to organizational settings
block|550 the message was rejected by organization policy
block|550 we do not accept messages containing images or other attachments
block|550 you're using a mass mailer
block|550 You have exceeded the allowable number of posts without solving a captcha
block|550 Executable files are not allowed in compressed files
block|554 sorry, you don't authenticate or the domain isn't in my list of allowed rcpthosts
block|530 5.7.1 Client was not authenticated
block|550 Unauthenticated senders not allowed
block|550 5.7.1 verification failure
block|550 you are not authorized to send mail, authentication is required
block|550 Account not subscribed to SES
block|550 insecure mail relay
block|550 5.7.1 Our filters rate at and above 80 percent probability of being spam
block|554 5.7.1 rejecting banned content
block|550 The content of this message looked like spam.
block|550 This message scored 12 spam points
block|550 we think this message is spam
block|554 transaction failed: spam message not queued
block|550 Your email had spam-like header contents
block|550 your message has been temporarily blocked by our filter
block|550 Too many spam complaints
block|550 Message Refused by MailMarshal SpamProfiler
block|550 5.7.1 a poor email reputation score
block|550 5.7.1 temporarily rejected: IP/domain reputation problems
block|554 5.7.0 it has a potentially executable attachment
block|550 Your message was infected with a virus. You should clean your system.
block|550 5.7.1 bad SPF records for acme.test
block|550 5.7.1 please inspect your SPF settings
block|554 SPF (Sender Policy Framework) domain authentication fail
block|550 http://spf.pobox.com/why.html?sender=news
block|550 Mail rejected: no SPF record for acme.test
block|550 cannot resolve your address
block|550 fix reverse DNS for 192.0.2.7
block|550 reverse DNS required
block|550 Sender IP reverse lookup rejected
block|554 5.7.1 Unresolvable relay host name
block|550 this system will not accept messages from servers/devices with no reverse DNS
block|550 PTR lookup failed
block|521 sender has invalid reverse DNS entries
block|550 Spammer or forged: blocked by Spam Filter
block|554 5.7.1 Message scored too high on spam scale. For help, please quote incident ID 4711
block|550 5.7.1 Mail-Server 192.0.2.7 refused by rbl
block|550 Denied due to spam list
block|521 Go away: your ISP is hosting spammers
block|550 Service refused, veuillez essayer plus tard: OFR_519
block|554 Mail for bob.b@there.test rejected for policy reasons
block|550 5.7.1 message has been discarded due to the maximum score
block|550 5.7.364 Remote server returned invalid or missing PTR (reverse DNS) record for sending domain
block|550 5.7.350 Remote server returned message detected as spam
block|550 5.7.367 Remote server returned not permitted to relay
block|550 5.7.124 Sender not in allowed-senders list
block|550 5.7.513 Service unavailable, Client host [192.0.2.7] blocked by recipient domain using Customer Block list
soft,hard|550 5.7.508 no: Mailbox frozen; mail not taken
soft,hard|550 Account has been temporarily suspended
soft,hard|550 5.2.1 mailbox currently suspended - please contact your postmaster
soft,hard|550 Recipient suspend the service
soft,hard|550 sorry user account is expired
soft,hard|550 This mailbox is disabled
soft,hard|550 The account is not active; user locked
soft,hard|550 vdelivermail: account is locked email bounced
soft,hard|550 Sorry, the account is not being served: temporarily locked
soft,block|552 Message header size exceeds limit
soft,block|550 sorry, that message size exceeds my databytes limit (#5.3.4)
soft,block|554 Size exceeded: incoming max 5000000
soft,block|552 5.3.4 Message is too big for this system
soft,block|451 4.3.2 Too many sessions, too many concurrent deliveries
soft,block|452 4.2.1 message rate to this user is too high
soft,block|550 please try again slower
soft,block|452 Connection rate limit exceeded
soft,block|550 too many recipients specified
hard|550 5.1.1 <bob.b@there.test> is not a valid recipient
hard|550 5.1.1 User ann does not exist on this server
hard|550-5.1.1 The user you are trying to reach does not exist
hard|550 Invalid recipient <bob.b@there.test> (Mode: normal)
hard|550 5.1.1 Requested mail action aborted: no such mailbox
hard|554 5.1.1 Error: mailbox not found
hard|550 <bob.b@there.test>... No such user here
hard|550 bob.b@there.test User unknown
hard|553 sorry, this address does not exist on this system (#5.1.1)
hard|550 No such user (ann)
hard|550 recipient <bob.b@there.test> unknown
hard|550 Account unknown
hard|550 5.1.1 Email address does not exist
hard|550 5.1.1 account does not exist or has been disabled
hard|550 The email address you tried to reach doesn't exist
hard|550 #5.1.1 Unknown user
hard|550 5.1.1 Recipient address unknown
hard|550 5.1.1 mailbox does not exist
hard|550 Mailbox bob.b@there.test does not exist at this location
hard|550 unknown account
hard|550 User unknown or mailbox invalid
hard|550 ann is not a known recipient
hard|550 5.7.1 no such recipient
hard|550 This user does not exist, please remove it from your lists
hard|550 no valid recipient: user unknown
hard|550 Domain unknown
hard|550 5.1.2 Unrouteable domain
hard|550 5.4.4 Domain does not exist
hard|550 5.1.2 Domain name not found
hard|550 host unknown
soft|552 5.2.2 mailbox exceeds allowed size
soft|550 5.2.2 Mailbox is over quota
soft|552 mailbox is full (in reply to RCPT TO)
soft|452 4.2.2 user over quota
soft|550 5.2.2 Quota exceeded
soft|552 1 Requested mail action aborted, mailbox not found or storage exceeded
soft|550 storage quota exceeded
soft|552 user quota is full
soft|550 Over quota
soft|554 mailbox limit exceeded
soft|421 4.7.0 Temporary server error
soft|451 4.4.0 Primary target IP address responded with: 421 timeout
soft|554 5.4.6 Hops exceeded: too many hops
soft|450 4.4.1 host unreachable
soft|454 TLS not available due to temporary reason
soft|451 Temporary local problem - please try later
soft|421 4.3.2 Server not accepting network messages
soft|452 4.3.1 Insufficient system resources
soft|554 5.4.14 Hop count exceeded - possible mail loop ATTR1
soft|550 5.4.7 Delivery time expired
soft|450 4.4.7 Delivery time expired
soft|451 4.4.1 Connection timed out
block|550 5.7.1 Service unavailable; client [192.0.2.7] blocked using Spamhaus
block|554 5.7.1 Service unavailable; Helo command [acme.test] blocked using dbl.there.test
block|554 Refused. You have no reverse DNS entry. Contact the postmaster
block|550 5.7.1 Message rejected. It looks like spam (score 8.1)
block|550 message rejected: contains a link on a black list
block|550 5.7.1 Mail from your server is refused, fix your DNS
block|550 5.7.0 Email blocked by Local Recipient Policy
block|554 5.7.1 Spam detected by content analysis
block|554 This mail is rejected as unsolicited
block|550 rejected: sending host has bad reputation
block|550 #5.7.1 Sender's IP is on the block list of the recipient's provider
block|550 5.7.1 rejected by sender policy
block|550 mail from <news@acme.test> rejected: sender blocked
block|550 5.7.1 Unauthenticated mail is prohibited
block|550 5.7.26 DMARC check failed
block|550 5.7.1 [BL] your IP blocked
block|550 5.7.1 SPF permerror for acme.test
block|550 DKIM verification failed
block|550 5.7.1 virus detected: Eicar
block|552 5.7.1 attachment extension .exe is forbidden
block|550 Administrative prohibition - unable to validate recipient
block|550 Access denied - Invalid HELO name (See RFC2821 4.1.1.1)
block|550 Invalid sender domain
block|553 5.1.8 sender domain must exist
block|550 5.7.1 You do not have permission to send to this recipient
block|550 5.2.1 recipient only accepts authenticated mail
block|554 5.7.1 Your message was considered unsolicited bulk e-mail
block|550 Mail denied by policy of the receiving organisation
block|550 Email rejected per DMARC policy
block|571 Message refused by our policy
soft,hard|550 5.2.1 Mailbox inactive
soft,hard|550 This account has been suspended
soft,hard|550 User suspended
soft,hard|550 5.3.5 System incorrectly configured
soft,block|552 message size exceeds fixed maximum
soft,block|452 4.5.3 too many recipients
soft,block|421 4.7.0 Too many connections
soft,block|451 4.7.1 Greylisted, retry in 5 minutes
soft,block|550 5.7.1 Sender domain does not exist
soft,block|550 Your user account does not exist: authenticate first
soft,block|553 5.1.8 sender address unknown
soft,block|550 The URL in your message does not exist
soft,block|550 no such user in envelope sender
soft,block|550 your address is not listed in the SPF record
soft,block|550 No such host for HELO name
soft,block|550 mailbox could not be opened
soft,block|550 could not find mailbox server
soft,block|550 user database not found
soft,block|550 no user credentials
soft|450 recipient's server could not be found, try later
soft,block|550 message not found here
soft,block|550 No account credit: payment needed
soft,block|550 user is not a registered sender
soft,block|550 from address not found on this server
soft,block|550 IP not found in our whitelist
soft,block|550 sender not registered here
soft,block|550 you're not a member of this list
soft,block|550 not a member of the list
soft,block|550 mailbox is not in use at this time
soft,block|550 domain of your mail server not found
soft,block|550 DNS record for your host not found
soft,block|550 5.1.0 Sender address does not resolve
soft,block|550 the address you send from is not valid
soft,block|550 Your email address is invalid
soft,block|550 invalid email address in From
soft,block|550 5.7.1 user unknown to the spam filter: rejected
soft,block|550 Reverse DNS lookup: host not found
soft,block|550 unknown host tries to relay
soft,block|550 client host unknown
soft,block|550 Unknown client: no such host in our list
soft,block|550 5.7.1 Domain not found in DKIM record
soft,block|550 no mailbox store is online
soft,block|554 mailbox store does not exist any more on this node, moving
soft,block|550 account temporarily closed
soft,block|550 account closed until the bill is paid
soft,block|550 sending account has been disabled
soft,block|550 Your account has been closed by administrator
soft,block|550 your account is disabled for sending spam
soft,block|550 Sender account was removed
soft,block|550 user moved temporarily, try later
soft,block|550 recipient unknown state, try again
soft,block|550 mailbox quota: no such space
soft,block|550 No MX for your sender domain
soft,block|554 Message contains an unknown user agent
soft,block|550 attachment name unknown or not found
soft,block|550 Recipient server unknown error
soft,block|550 5.3.0 mailbox handler not found
soft,block|550 user script not found
soft,block|550 You do not exist in our list of partners
soft,block|550 Client is not known here
soft,block|550 We do not know your server
soft,block|550 We do not know any sender at acme.test
soft,block|550 5.4.4 unable to route: no route found
soft,block|550 5.4.4 Unable to route, server name not resolved, timed out
soft,block|554 5.4.0 DNS for there.test is down
soft,block|550 The domain there.test does not accept mail from you
soft,block|550 Domain does not accept mail from dynamic hosts
soft,block|521 mx.there.test does not accept mail from your network
soft,block|550 this host does not accept mail from acme.test
soft,block|550 Address rejected: acme.test is listed
soft,block|550 address not accepted at the moment
soft,block|550 user not found in cache, please retry
soft,block|550 LDAP: recipient lookup did not find a server
soft,block|550 Recipient verification: server does not exist or is down
soft,block|550 Envelope sender: user does not exist
soft,block|550 callout to sender said: no such user
soft,block|550 5.1.7 no such user at your domain
soft,block|550 Bounce of your domain not accepted: no such mail was sent
soft,block|550 SPF: no such domain acme.test
soft,block|554 could not find a valid signature
soft,block|550 no such message id known here
soft,block|550 invalid address in Reply-To
soft,block|550 header To does not exist
soft,block|550 5.1.3 sender address syntax is bad
soft,block|553 5.1.3 non-ascii character in local part needs SMTPUTF8
soft,block|550 recipient has not been activated yet
soft,block|550 customer of ours has not paid; mailbox disabled
soft,block|550 subscription unknown: you are not subscribed
`;

const frames = Object.entries(FRAMES);

export const FRAMED_REPLIES: FreshMail[] = SAID.trim()
  .split('\n')
  .map((line, number): FreshMail => {
    const at = line.indexOf('|');
    const [kinds, reply] = [line.slice(0, at).replaceAll(',', '|'), line.slice(at + 1)];
    const [name, frame] = frames[number % frames.length]!;
    return [`${name} ${number}: ${reply}`, kinds, BOB, null, frame(reply)];
  });
