// Gateways, carriers and programs that few people see today, each in its own words: what they answer in the place of a
// server, and notices that are no bounces.
import { type Frame, type FreshMail, plain, report, SENDER } from './fresh-mail.ts';

const KIT = 'kit.tora@neko.test';
const ORIGINAL = `Received: from app.acme.test (app.acme.test [192.0.2.7]) by mail.acme.test; Mon, 6 May 2024 09:10:11 +0000\nFrom: Acme <${SENDER}>\nTo: ${KIT}\nSubject: Your order\nMessage-ID: <4711@acme.test>\nDate: Mon, 6 May 2024 09:10:11 +0000\n\nThank you.\n`;
const HEADER = ORIGINAL.replace(/^Received.*\n/, '');

function notice(text: string, from: string, subject: string, ...[fields = '', type]: string[]): string {
  return plain(text, { from, subject, fields, ...(type && { type }) }).replace('Return-Path: <>\n', '');
}

const fields = (st: string | null, diag: string | null, action = 'failed', more = '') =>
  `Reporting-MTA: dns; mx.acme.test\nArrival-Date: Mon, 6 May 2024 09:10:11 +0000\n\nFinal-Recipient: RFC822; ${KIT}\nAction: ${action}\n${st ? `Status: ${st}\n` : ''}${diag ? `Diagnostic-Code: ${diag}\n` : ''}${more}`;
const dsn = (text: string, status: string, frame: Frame & { original?: string } = {}) =>
  report(text, status, { original: `message/rfc822\n\n${ORIGINAL}`, ...frame });
const james = (err: string) =>
  notice(
    `Hi. This is the James mail server at mx.neko.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out. Below\nI include the list of recipients and the reason why I was unable to deliver\nyour message.\n\nFailed recipient(s):\n${KIT}\n\nError message:\n${err}\n\nMessage details:\n  Subject: Your order\n  Sent date: Mon May 06 09:10:11 UTC 2024\n  MAIL FROM: ${SENDER}\n  RCPT TO: ${KIT}\n  From: Acme <${SENDER}>\n  To: ${KIT}\n  Size (in bytes): 2048\n  Number of lines: 64\n`,
    'postmaster@mx.neko.test',
    '[BOUNCE] Your order',
  );
const surf = (err: string) =>
  notice(
    `Your message could not be sent.\nA transcript of the attempts to send the message follows.\nThe number of attempts made: 1\nAddressed To: ${KIT}\n\nMon 6 May 2024 09:12:00 +0000\nFailed to send to identified host,\n${KIT}: [198.51.100.25], ${err}\n--- Message non-deliverable.\n`,
    'Mail Delivery System <Mailer-Daemon@gw.acme.test>',
    'Message could not be delivered',
    'X-SEF-Processed: 6_0_1_222__2024\n',
  );
const mcafee = (err: string) =>
  dsn(
    `--- The following addresses had delivery problems ---\n\n<${KIT}>   (${err})\n\n`,
    fields('5.0.0', `smtp; ${err}`),
    { subject: 'Delivery Status' },
  );
const mfoundry = (err: string) =>
  notice(
    `This is a MIME encoded message.\n\nUnable to deliver message to: <${KIT}>\nDelivery failed for the following reason:\nServer mx.neko.test[198.51.100.25] failed with: ${err}\n\nThis has been a permanent failure.  No further delivery attempts will be made.\n`,
    '<MAILER-DAEMON@relay.acme.test>',
    'Message delivery has failed',
  );
const mmarshal = (err: string) =>
  notice(
    `Your message:\n   From:    ${SENDER}\n   Subject: Your order\n\nCould not be delivered because of\n\n${err}\n\nThe following recipients were affected: \n    ${KIT}\n\nAdditional Information\n======================\nOriginal Sender:    <${SENDER}>\nSender-MTA:         <192.0.2.7>\nRemote-MTA:         <198.51.100.25>\nReporting-MTA:      <relay.acme.test>\nMessageName:        <B0000000.00001.mml>\nLast-Attempt-Date:  <Mon, 6 May 2024 09:12:00 +0000>\n`,
    'MailMarshal <postmaster@relay.acme.test>',
    'Undeliverable Mail: "Your order"',
  );
const x6 = (err: string) =>
  notice(
    `We had trouble delivering your message. Full details follow:\n\nSubject: 'Your order'\nDate:    'Mon, 6 May 2024 09:10:11 +0000'\n\n1 error(s):\n\nSMTP Server <mx.neko.test> rejected recipient <${KIT}> (Error following RCPT command). It responded as follows: [${err}]\n\n-----\nContents of the message follow\n\n`,
    'postmaster@relay.acme.test',
    'There was an error sending your mail',
  );
const pmta = (st: string, diag: string, cat: string) =>
  dsn(
    `Hello, this is the mail server on relay.acme.test.\n\nI am sending you this message to inform you on the delivery status of a\nmessage you previously sent.  Immediately below you will find a list of\nthe affected recipients;  also attached is a Delivery Status Notification\n(DSN) report in standard format, as well as the headers of the original\nmessage.\n\n  <${KIT}>  delivery failed; will not continue trying\n\n`,
    `Reporting-MTA: dns;relay.acme.test\nX-PowerMTA-VirtualMTA: mta1\nReceived-From-MTA: dns;app.acme.test (192.0.2.7)\nArrival-Date: Mon, 6 May 2024 09:10:11 +0000\n\nFinal-Recipient: rfc822;${KIT}\nAction: failed\nStatus: ${st}\nRemote-MTA: dns;mx.neko.test (198.51.100.25)\nDiagnostic-Code: ${diag}\nX-PowerMTA-BounceCategory: ${cat}\n`,
    { subject: 'Delivery report', original: `text/rfc822-headers\n\n${HEADER}` },
  );
const notes = (err: string) =>
  notice(
    `------- Failure Reasons  --------\n\n${err}\n${KIT}\n\n------- Returned Message --------\n\n${ORIGINAL}`,
    'Postmaster@notes.neko.test',
    'DELIVERY FAILURE',
  );
const x3 = (err: string) =>
  notice(
    `============================================================================\nThis is an automatically generated Delivery Status Notification.\n\nDelivery to the following recipients failed permanently:\n\n  * ${KIT}\n\nReason: ${err}\n\n============================================================================\nThe original message headers:\n\n${ORIGINAL}`,
    'Mail Delivery System <MAILER-DAEMON@relay.acme.test>',
    'Delivery status notification',
  );
const ex2003 = (human: string, code: string, extra = '') =>
  notice(
    `Your message\n\n  To:      ${KIT}\n  Subject: Your order\n  Sent:    Mon, 6 May 2002 09:10:11 +0200\n\ndid not reach the following recipient(s):\n\n${KIT} on Mon, 6 May 2002 09:12:00 +0200\n    ${human}\n        MSEXCH:IMS:NEKO:HQ:MX ${code}${extra}\n`,
    'System Administrator <postmaster@neko.test>',
    'Undeliverable: Your order',
    'X-Mailer: Internet Mail Service (5.5.2653.13)\n',
  );
const MAILS: FreshMail[] = [
  ['James unknown', 'hard', KIT, null, james('550 - Requested action not taken: no such user here')],
  ['James size', 'soft|block', KIT, null, james('552 - Message size exceeds fixed maximum message size')],
  [
    'James timeouts',
    'soft',
    KIT,
    null,
    james(
      'Could not connect to SMTP host: mx.neko.test, port: 25;\n  nested exception is:\n        java.net.ConnectException: Connection timed out',
    ),
  ],
  [
    'James no dns',
    'hard',
    KIT,
    null,
    james('There are no DNS entries for the hostname neko.tset.  I cannot determine where to send this message.'),
  ],
  ['SurfControl unknown', 'hard', KIT, null, surf(`550 ${KIT}... No such user`)],
  ['SurfControl spam', 'block', KIT, null, surf('554 This message was classified as junk')],
  ['McAfee unknown', 'hard', KIT, null, mcafee('User unknown')],
  ['McAfee full', 'soft', KIT, null, mcafee('552 Mailbox is full')],
  ['MailFoundry unknown', 'hard', KIT, null, mfoundry(`550 <${KIT}> No such user here`)],
  ['MailFoundry rate', 'soft|block', KIT, null, mfoundry('451 too many messages')],
  ['MailMarshal unknown', 'hard', KIT, null, mmarshal('550 5.1.1 User unknown')],
  ['MailMarshal no host', 'hard', KIT, null, mmarshal('Domain neko.test does not exist (NXDOMAIN)')],
  ['MailMarshal expired', 'soft', KIT, null, mmarshal('The message could not be delivered within 3 days')],
  ['X6 unknown', 'hard', KIT, null, x6(`550 5.1.1 <${KIT}>... User unknown`)],
  ['X6 full', 'soft', KIT, null, x6(`552 5.2.2 <${KIT}>... Mailbox Full`)],
  ['X6 sender', 'block', KIT, null, x6('553 5.1.8 Sender domain does not resolve')],
  [
    'PMTA bad mailbox',
    'hard',
    KIT,
    '5.1.1',
    pmta(
      '5.1.1 (bad destination mailbox address)',
      "smtp;550 5.1.1 The account you mailed isn't one of ours",
      'bad-mailbox',
    ),
  ],
  ['PMTA quota', 'soft', KIT, '5.2.2', pmta('5.2.2 (mailbox full)', 'smtp;552 5.2.2 nope', 'quota-issues')],
  [
    'PMTA spam',
    'block',
    KIT,
    '5.7.1',
    pmta(
      '5.7.1 (delivery not authorized)',
      'smtp;550 5.7.1 Message refused: it was reported too often',
      'spam-related',
    ),
  ],
  [
    'PMTA bad domain',
    'hard',
    KIT,
    '5.1.2',
    pmta('5.1.2 (bad destination system: no such domain)', 'x-pmta;bad-domain (DNS: no such domain)', 'bad-domain'),
  ],
  [
    'PMTA no connection',
    'soft',
    KIT,
    '4.4.1',
    pmta('4.4.1 (no answer from host)', 'x-pmta;bounce-queue (no answer)', 'no-answer-from-host'),
  ],
  [
    'PMTA routing',
    'soft',
    KIT,
    '5.4.4',
    pmta('5.4.4 (delivery time expired)', 'x-pmta;delivery time expired', 'message-expired'),
  ],
  ['Notes unknown', 'hard', KIT, null, notes('User not listed in public Name & Address Book')],
  ['Notes host', 'soft', KIT, null, notes('Error delivering to server NEKO1/TORA: Remote system no longer responding')],
  ['X3 unknown', 'hard', KIT, null, x3(`SMTP:RCPT host 198.51.100.25: 553 5.3.0 <${KIT}>... No such user here`)],
  [
    'X3 blocked',
    'block',
    KIT,
    null,
    x3('SMTP:DATA-EOF host 198.51.100.25: 554 5.7.1 The message was refused by our reputation filter'),
  ],
  [
    'Exchange 5.5 host',
    'hard',
    KIT,
    null,
    ex2003(
      'The recipient could not be delivered to because the destination host was unknown',
      '0 (000C05A6) Host unknown',
    ),
  ],
  [
    'Exchange 5.5 relay',
    'block|soft|hard',
    KIT,
    null,
    ex2003('Relaying is prohibited', '0 (000C05A6) 550 5.7.1 Unable to relay'),
  ],
  [
    'Exchange 5.5 size',
    'soft|block',
    KIT,
    null,
    ex2003('This message exceeds the maximum size for this recipient', '0 (000C0595) Message too large'),
  ],
  [
    'Exchange 5.5 German',
    'hard',
    KIT,
    null,
    notice(
      `Ihre Nachricht\n\n  An:      ${KIT}\n  Betreff: Your order\n  Gesendet: Mon, 6 May 2002 09:10:11 +0200\n\nkonnte nicht an folgende Empfänger zugestellt werden:\n\n${KIT} am Mon, 6 May 2002 09:12:00 +0200\n    Der Name des Empfängers wurde nicht erkannt\n        MSEXCH:IMS:NEKO:HQ:MX 3550 (000B09B6) 550 user unknown\n`,
      'Systemadministrator <postmaster@neko.test>',
      'Nicht zustellbar: Your order',
      '',
      'text/plain; charset=utf-8',
    ),
  ],
  [
    'Exchange Japanese',
    'hard',
    KIT,
    '5.1.1',
    dsn(
      `次の受信者またはグループへの配信に失敗しました:\n\n${KIT}\n入力した電子メール アドレスが見つかりませんでした。受信者の電子メール アドレスを確認し、メッセージを再送信してください。\n\n管理者向けの診断情報:\n\n生成サーバー: mx.neko.test\n\n${KIT}\n#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##\n`,
      fields('5.1.1', 'smtp;550 5.1.1 RESOLVER.ADR.RecipNotFound; not found'),
      { type: 'text/plain; charset=utf-8', subject: '配信不能: Your order' },
    ),
  ],
  [
    'Exchange Chinese text only',
    'soft',
    KIT,
    null,
    notice(
      `您的邮件没有到达部分或全部预期的收件人。\n\n      主题: Your order\n\n无法到达下列收件人:\n\n      ${KIT} 于 2004-5-6 09:12\n            收件人的邮箱已满。\n            <mx.neko.test #5.2.2>\n`,
      '系统管理员 <postmaster@neko.test>',
      '未传递: Your order',
      '',
      'text/plain; charset=utf-8',
    ),
  ],
  [
    'Exchange Portuguese',
    'hard',
    KIT,
    '5.1.1',
    dsn(
      `Falha na entrega a estes destinatários ou grupos:\n\n${KIT}\nO endereço de email inserido não foi encontrado.\n`,
      fields('5.1.1', 'smtp;550 5.1.1 RESOLVER.ADR.RecipNotFound; not found'),
      { type: 'text/plain; charset=utf-8', subject: 'Não é possível entregar: Your order' },
    ),
  ],
  [
    'GroupWise unknown domain',
    'hard',
    KIT,
    null,
    notice(
      `The message that you sent was undeliverable to the following:\n\t${KIT} (550 Host unknown)\n`,
      'Mailer-Daemon@gw.acme.test',
      'Mail System Error - Returned Mail',
    ),
  ],
  [
    'GroupWise access',
    'block',
    KIT,
    null,
    notice(
      `The message that you sent was undeliverable to the following:\n\t${KIT} (554 5.7.1 blocked by content filter)\n`,
      'Mailer-Daemon@gw.acme.test',
      'Message status - undeliverable',
    ),
  ],
  [
    'hotpop',
    'soft|hard|block',
    KIT,
    null,
    notice(
      `The mail delivery system could not deliver your mail.\n\nUndeliverable Address: ${KIT}\nReason: The email account you wrote to is over its space.\n\nYour original mail:\n`,
      'MAILER-DAEMON@pop.neko.test',
      'Mail returned',
    ),
  ],
  [
    'sina',
    'hard|soft|block',
    KIT,
    null,
    notice(
      `<${KIT}>:\n该用户的信箱不存在\n\n----------- the attached file is the original mail -----------\n`,
      'mailer-daemon@sina.test',
      'failure notice',
      '',
      'text/plain; charset=utf-8',
    ),
  ],
  [
    'Netscape',
    'hard',
    KIT,
    null,
    notice(
      `This Message was undeliverable due to the following reason:\n\nYour message was not delivered because the return address you sent it to\nwas refused by the recipient's mail server.\n\nThe following addresses were refused:\n\n<${KIT}>   550 Unknown local part ${KIT}\n\nPlease reply to Postmaster@acme.test\nif you feel this message to be in error.\n`,
      'Mail Administrator <Postmaster@acme.test>',
      'Mail System Error - Returned Mail',
    ),
  ],
  [
    'InterMail dest unreachable',
    'soft',
    KIT,
    null,
    notice(
      `This Message was undeliverable due to the following reason:\n\nYour message was not delivered because the destination computer was\nnot reachable within the allowed queue period. The amount of time\na message is queued before it is returned depends on local configura-\ntion parameters.\n\nMost likely there is a network problem that prevented delivery, but\nit is also possible that the computer is turned off, or does not\nhave a mail system running right now.\n\nYour message was not delivered within 5 days.\nHost 198.51.100.25 is not responding.\n\nThe following recipients did not receive your message:\n\n<${KIT}>\n\nPlease reply to Postmaster@acme.test\nif you feel this message to be in error.\n`,
      'Mail Administrator <Postmaster@acme.test>',
      'Mail System Error - Returned Mail',
    ),
  ],
  [
    'InterMail no such host',
    'hard',
    KIT,
    null,
    notice(
      `This Message was undeliverable due to the following reason:\n\nYour message was not delivered because the destination computer was\nnot found.  Carefully check that it was spelled correctly and try\nsending it again if there were any mistakes.\n\nIt is also possible that a network problem caused this situation,\nso if you are sure the address is correct you might want to try to\nsend it again.\n\nHost neko.test not found\n\nThe following recipients did not receive your message:\n\n     <${KIT}>\n\nPlease reply to Postmaster@acme.test\nif you feel this message to be in error.\n`,
      'Mail Administrator <Postmaster@acme.test>',
      'Mail System Error - Returned Mail',
    ),
  ],
  [
    'InterMail quota',
    'soft',
    KIT,
    null,
    notice(
      `This Message was undeliverable due to the following reason:\n\nThe user(s) account is temporarily over quota.\n\n<${KIT}>\n\nPlease reply to Postmaster@neko.test\nif you feel this message to be in error.\n`,
      'Mail Administrator <Postmaster@neko.test>',
      'Mail System Error - Returned Mail',
    ),
  ],
  [
    'InterMail size',
    'soft|block',
    KIT,
    null,
    notice(
      `This Message was undeliverable due to the following reason:\n\nThe message is larger than the receiving system allows (10 MB).\n\n<${KIT}>\n`,
      'Mail Administrator <Postmaster@neko.test>',
      'Mail System Error - Returned Mail',
    ),
  ],
  [
    'MMS smtp: carrier',
    'hard',
    KIT,
    null,
    notice(
      `Error: "550 - Requested action not taken: no such user here"\nMessage details:\nRCPT TO: ${KIT}\nFrom: ${SENDER}\nCC: recipient list not shown: ;\nSize (in bytes): 222\nNumber of lines: 22\n`,
      'post_master@mms.neko.test',
      'Undeliverable Message',
    ),
  ],
  [
    'activehunter',
    'hard',
    KIT,
    null,
    notice(
      `  ----- The following addresses had permanent fatal errors -----\n\n>>> ${KIT} <${KIT}>\n\n  ----- Transcript of session follows -----\n550 5.1.1 sorry, no mailbox here by that name (#5.1.1)\n\n  ----- Original message follows -----\n${ORIGINAL}`,
      '"MAILER-DAEMON" <postmaster@neko.test>',
      'FAILURE NOTICE :',
      'X-AHMAILID: 4711\n',
    ),
  ],
  [
    'mFILTER',
    'block',
    KIT,
    null,
    notice(
      `Mail delivery failed.\n\n-------server message \n550 5.7.1 Refused: the policy of this site does not allow it\n\n-------SMTP command \nDATA\n\n-------original message \n${ORIGINAL}`,
      'postmaster@mf.neko.test',
      'failure notice',
      'X-Mailer: m-FILTER\n',
    ),
  ],
  [
    'KDDI',
    'soft',
    KIT,
    null,
    notice(
      `Your mail sent on: Mon, 6 May 2024 09:10:11 +0900\n\nCould not be delivered to: <${KIT}>\nAs their mailbox is full.\n`,
      'no-reply@app.auone-net.test',
      'Mail System Error - Returned Mail',
    ),
  ],
  [
    'KDDI domain',
    'hard',
    KIT,
    null,
    notice(
      `Your mail attempted to be delivered on Mon, 6 May 2024 09:10:11 +0900\nCould not be delivered to: <${KIT}>\nAs the remote domain doesnt exist.\n`,
      'no-reply@app.auone-net.test',
      'Undeliverable',
    ),
  ],
  [
    'ezweb filter',
    'hard|soft|block',
    KIT,
    null,
    notice(
      `The user(s) below could not be reached:\n\nEach of the following recipients was rejected by a remote\nmail server. The reasons given by the server are included to help you\ndetermine why each recipient was rejected.\n\n    Recipient: <${KIT}>\n    Reason:    <${KIT}>: user unknown or filtered\n\n`,
      'Postmaster@ezweb.test',
      'Mail System Error - Returned Mail',
    ),
  ],
  [
    'au suspend',
    'soft|hard',
    KIT,
    null,
    notice(
      `The user(s) account is disabled.\n\n<${KIT}>: 550 user unknown (in reply to RCPT TO command)\n\nReported-MTA: ezweb\n`,
      'Postmaster@ezweb.test',
      'Mail System Error - Returned Mail',
    ),
  ],
  [
    'Trend IMSS',
    'hard',
    KIT,
    null,
    notice(
      `Sent <<< RCPT TO:<${KIT}>\nReceived >>> 550 5.1.1 <${KIT}>... user unknown\n\nCould not deliver message to following recipients:\n\t<${KIT}>\n`,
      '"InterScan MSS" <imss@neko.test>',
      'Mail could not be delivered',
    ),
  ],
  [
    'WorkMail text',
    'hard',
    KIT,
    '5.1.1',
    notice(
      `Technical report:\n\nAction: failed\nFinal-Recipient: rfc822; ${KIT}\nDiagnostic-Code: smtp; 550 5.1.1 mailbox does not exist\nStatus: 5.1.1\nRemote-MTA: dns; mx.neko.test\n`,
      'MAILER-DAEMON@amazonses.test',
      'Delivery Failure Notification',
    ),
  ],
  [
    'SendGrid',
    'soft',
    KIT,
    null,
    dsn(
      `This is an automatically generated message from SendGrid.\n\nI'm sorry to have to tell you that your message was not able to be\ndelivered to one of its intended recipients.\n\nIf you require assistance with this, please contact SendGrid support.\n\nneko:000000:<${KIT}> : 192.0.2.250 : mx.neko.test:[198.51.100.25] :\n   550 unable to get mx info: failed to get IPs from PTR record: lookup <nil>: unrecognized address in RCPT TO\n`,
      `Reporting-MTA: dns; sendgrid.test\nX-SendGrid-QueueID: 959479146\nX-SendGrid-Sender: <b@acme.test>\nArrival-Date: 2024-05-06 09-10-11\n\nFinal-Recipient: rfc822; ${KIT}\nOriginal-Recipient: rfc822; ${KIT}\nAction: expired\nStatus: 4.4.7\nDiagnostic-Code: unable to deliver in time\n`,
      { subject: 'Undelivered Mail Returned to Sender' },
    ),
  ],
  [
    'Smail',
    'hard',
    KIT,
    null,
    notice(
      `|------------------------- Message log follows: -------------------------|\n no valid recipients were found for this message\n|------------------------- Failed addresses follow: ---------------------|\n <${KIT}> ... unknown host\n|------------------------- Message text follows: ------------------------|\n${ORIGINAL}`,
      '<MAILER-DAEMON@acme.test>',
      'mail failed, returning to sender',
    ),
  ],
  [
    'PMDF',
    'hard',
    KIT,
    null,
    notice(
      `This report relates to a message you sent with the following header fields:\n\n  Message-id: <4711@acme.test>\n  From: ${SENDER}\n  To: ${KIT}\n  Subject: Your order\n\nYour message cannot be delivered to the following recipients:\n\n  Recipient address: ${KIT}\n  Reason: unknown host or domain\n`,
      'PMDF Internet Messaging <postmaster@vax.acme.test>',
      'Delivery Notification: Delivery has failed',
    ),
  ],
  [
    'PMDF illegal',
    'hard',
    KIT,
    '5.1.1',
    dsn(
      `Your message cannot be delivered to the following recipients:\n\n  Recipient address: ${KIT}\n  Reason: Illegal host/domain name found\n`,
      fields('5.1.1 (Illegal host/domain name found)', null),
      { subject: 'Delivery Notification: Delivery has failed' },
    ),
  ],
  [
    'MMDF',
    'hard|soft|block',
    KIT,
    null,
    notice(
      `    Your message was not delivered to the following addresses:\n\n${KIT}\n\n    because the user is not known here.\n\n    Your message follows:\n\n${ORIGINAL}`,
      'Memo Service (MMDF) <mmdf@acme.test>',
      'Failed mail (msg.aa04711)',
    ),
  ],
  [
    'VMS',
    'hard|soft|block',
    KIT,
    null,
    notice(
      `Error in delivery to user ${KIT}\n%MAIL-E-NOSUCHUSR, no such user KIT at node NEKO\n\nReturned message:\n${ORIGINAL}`,
      'Postmaster@vms.neko.test',
      'Undeliverable mail',
    ),
  ],
  [
    'Lyris',
    'block',
    null,
    null,
    notice(
      `Your message to the list was not accepted.\n\nReason: you are not a member of the mailing list 'news'.\n`,
      'Lyris ListManager <lyris@lists.neko.test>',
      'Your message was rejected',
    ),
  ],
  [
    'LISTSERV',
    'block',
    null,
    null,
    notice(
      `You are not authorized to send mail to the NEKO-L list from your ${SENDER} account. You might be authorized to send to the list from another of your accounts, or perhaps when using another mail program which generates slightly different addresses.\n`,
      '"L-Soft list server at NEKO" <LISTSERV@neko.test>',
      'Rejected posting to NEKO-L@NEKO.TEST',
    ),
  ],
  [
    'ezmlm',
    'block',
    null,
    null,
    notice(
      `Hi! This is the ezmlm program. I'm managing the\nneko@lists.neko.test mailing list.\n\nI'm sorry, I was unable to post your message: posters must be subscribed.\n\n--- Enclosed is a copy of the posting.\n\n${ORIGINAL}`,
      'neko-help@lists.neko.test',
      'Returned post for neko@lists.neko.test',
    ),
  ],
  [
    'qmail long',
    'soft',
    KIT,
    null,
    notice(
      `Hi. This is the qmail-send program at acme.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n<${KIT}>:\n198.51.100.25 failed after I sent the message.\nRemote host said: 451 4.7.1 Unable to take it now\nI'm not going to try again; this message has been in the queue too long.\n\n--- Below this line is a copy of the message.\n\n${ORIGINAL}`,
      'MAILER-DAEMON@acme.test',
      'failure notice',
    ),
  ],
  [
    'qmail delay notice',
    'soft',
    KIT,
    null,
    notice(
      `Hi. This is the qmail-send program at acme.test.\nThis is just a notice that your message has been delayed:\n\n<${KIT}>:\nConnected to 198.51.100.25 but greeting failed.\nRemote host said: 421 too busy\n\nI will keep trying for another 5 days.\n`,
      'MAILER-DAEMON@acme.test',
      'delay notice',
    ),
  ],
  [
    'qmail ldap',
    'hard',
    KIT,
    '5.1.1',
    notice(
      `Hi. This is the qmail-send program at neko.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n<${KIT}>:\nSorry, no mailbox here by that name. (#5.1.1)\n\n--- Below this line is a copy of the message.\n\n${ORIGINAL}`,
      'MAILER-DAEMON@neko.test',
      'failure notice',
    ),
  ],
  [
    'qmail ldap disabled',
    'soft|hard',
    KIT,
    null,
    notice(
      `Hi. This is the qmail-send program at neko.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\n\n<${KIT}>:\nMailaddress is administrative disabled. (#5.2.1)\n\n--- Below this line is a copy of the message.\n\n${ORIGINAL}`,
      'MAILER-DAEMON@neko.test',
      'failure notice',
    ),
  ],
  [
    'qmail ldap quota',
    'soft',
    KIT,
    '5.2.2',
    notice(
      `Hi. This is the qmail-send program at neko.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\n\n<${KIT}>:\nThe users mailbox is over the allowed quota (size). (#5.2.2)\n\n--- Below this line is a copy of the message.\n\n${ORIGINAL}`,
      'MAILER-DAEMON@neko.test',
      'failure notice',
    ),
  ],
  [
    'sendmail old user unknown local',
    'hard',
    KIT,
    null,
    notice(
      `   ----- The following addresses had permanent fatal errors -----\n${KIT}\n    (expanded from: ${KIT})\n\n   ----- Transcript of session follows -----\nmail: cannot find user kit.tora\n550 ${KIT}... User unknown\n\n   ----- Original message follows -----\n\n${ORIGINAL}`,
      'Mail Delivery Subsystem <MAILER-DAEMON@neko.test>',
      'Returned mail: User unknown',
    ),
  ],
  [
    'sendmail service unavailable',
    'block',
    KIT,
    '5.7.1',
    dsn(
      `   ----- The following addresses had permanent fatal errors -----\n<${KIT}>\n    (reason: 554 5.7.1 Transaction denied by the site's mail rules)\n\n   ----- Transcript of session follows -----\n... while talking to mx.neko.test.:\n>>> DATA\n<<< 554 5.7.1 Transaction denied by the site's mail rules\n554 5.0.0 Service unavailable\n`,
      fields(
        '5.7.1',
        "SMTP; 554 5.7.1 Transaction denied by the site's mail rules",
        'failed',
        'Remote-MTA: DNS; mx.neko.test\n',
      ),
      { subject: 'Returned mail: see transcript for details' },
    ),
  ],
  [
    'sendmail data format',
    'block|soft',
    KIT,
    '5.6.0',
    dsn(
      `   ----- The following addresses had permanent fatal errors -----\n<${KIT}>\n    (reason: 550 5.6.0 Lone CR or LF in body)\n`,
      fields('5.6.0', 'SMTP; 550 5.6.0 Lone CR or LF in body'),
      { subject: 'Returned mail: Data format error' },
    ),
  ],
  [
    'sendmail mail loops',
    'soft',
    KIT,
    '5.4.6',
    dsn(
      `   ----- The following addresses had permanent fatal errors -----\n<${KIT}>\n\n   ----- Transcript of session follows -----\n554 5.4.6 Too many hops 26 (25 max): from <${SENDER}> via localhost, to <${KIT}>\n`,
      fields('5.4.6', null),
      { subject: 'Returned mail: Too many hops 26 (25 max): from <x>' },
    ),
  ],
  [
    'sendmail host config',
    'soft|hard',
    KIT,
    '5.3.5',
    dsn(
      `   ----- The following addresses had permanent fatal errors -----\n<${KIT}>\n\n   ----- Transcript of session follows -----\n553 5.3.5 mx.neko.test. config error: mail loops back to me (MX problem?)\n554 5.3.5 Local configuration error\n`,
      fields('5.3.5', null),
      { subject: 'Returned mail: Local configuration error' },
    ),
  ],
  [
    'Exim auth',
    'block',
    KIT,
    null,
    notice(
      `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  ${KIT}\n    SMTP error from remote mail server after MAIL FROM:<${SENDER}> SIZE=3000:\n    host mx.neko.test [198.51.100.25]: 530 5.7.0 Authentication required\n\n------ This is a copy of the message, including all the headers. ------\n\n${ORIGINAL}`,
      'Mail Delivery System <Mailer-Daemon@acme.test>',
      'Mail delivery failed: returning message to sender',
      `X-Failed-Recipients: ${KIT}\n`,
    ),
  ],
  [
    'Exim pipe',
    'soft|hard',
    KIT,
    null,
    notice(
      `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  pipe to |/usr/bin/filter-it\n    generated by ${KIT}\n    Child process of virtual_address_pipe transport returned 69 (could mean service or program unavailable) from command:\n    /usr/bin/filter-it\n\n------ This is a copy of the message, including all the headers. ------\n\n${ORIGINAL}`,
      'Mail Delivery System <Mailer-Daemon@neko.test>',
      'Mail delivery failed: returning message to sender',
      `X-Failed-Recipients: ${KIT}\n`,
    ),
  ],
  [
    'Exim quota local',
    'soft',
    KIT,
    null,
    notice(
      `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  ${KIT}\n    mailbox is full: retry timeout exceeded\n\n------ This is a copy of the message, including all the headers. ------\n\n${ORIGINAL}`,
      'Mail Delivery System <Mailer-Daemon@neko.test>',
      'Mail delivery failed: returning message to sender',
      `X-Failed-Recipients: ${KIT}\n`,
    ),
  ],
  [
    'Exim delay',
    'soft',
    KIT,
    null,
    notice(
      `This message was created automatically by mail delivery software.\nA message that you sent has not yet been delivered to one or more of its\nrecipients after more than 48 hours on the queue on mail.acme.test.\n\nThe message identifier is:     1s3Vab-0004aB-2x\nThe date of the message is:    Mon, 6 May 2024 09:10:11 +0000\nThe subject of the message is: Your order\n\nThe address to which the message has not yet been delivered is:\n\n  ${KIT}\n    host mx.neko.test [198.51.100.25]\n    Delay reason: SMTP timeout after connected: Connection timed out\n\nNo action is required on your part. Delivery attempts will continue for\nsome time, and this warning may be repeated at intervals if the message\nremains undelivered.\n`,
      'Mail Delivery System <Mailer-Daemon@acme.test>',
      'Warning: message 1s3Vab-0004aB-2x delayed 48 hours',
    ),
  ],
  [
    'Postfix delay',
    'soft',
    KIT,
    '4.4.1',
    dsn(
      `This is the mail system at host mail.acme.test.\n\n####################################################################\n# THIS IS A WARNING ONLY.  YOU DO NOT NEED TO RESEND YOUR MESSAGE. #\n####################################################################\n\nYour message could not be delivered for more than 4 hour(s).\nIt will be retried until it is 5 day(s) old.\n\n<${KIT}>: connect to mx.neko.test[198.51.100.25]:25: Connection timed out\n`,
      fields(
        '4.4.1',
        'X-Postfix; connect to mx.neko.test[198.51.100.25]:25: Connection timed out',
        'delayed',
        'Will-Retry-Until: Sat, 11 May 2024 09:10:11 +0000\n',
      ),
      { subject: 'Delayed Mail (still being retried)' },
    ),
  ],
  [
    'Postfix expired',
    'soft',
    KIT,
    '4.4.2',
    dsn(
      `This is the mail system at host mail.acme.test.\n\n<${KIT}>: conversation with mx.neko.test[198.51.100.25] timed out while receiving the initial server greeting\n`,
      fields(
        '4.4.2',
        'X-Postfix; conversation with mx.neko.test[198.51.100.25] timed out while receiving the initial server greeting',
      ),
      {},
    ),
  ],
  [
    'Postfix bounced bounced by filter',
    'block',
    KIT,
    '5.7.1',
    dsn(
      `<${KIT}>: host 127.0.0.1[127.0.0.1] said: 550 5.7.1 id=01234-01 - The mail did not pass our checks (in reply to end of DATA command)\n`,
      fields('5.7.1', 'smtp; 550 5.7.1 id=01234-01 - The mail did not pass our checks'),
      {},
    ),
  ],
  [
    'Postfix maildrop',
    'soft',
    KIT,
    '5.2.0',
    dsn(
      `<${KIT}>: can't create user output file. Command output: maildrop: maildir over quota.\n`,
      fields('5.2.0', "X-Postfix; can't create user output file. Command output: maildrop: maildir over quota."),
      {},
    ),
  ],
  [
    'Postfix local alias',
    'hard',
    KIT,
    '5.1.1',
    dsn(`<${KIT}>: unknown user: "kit.tora"\n`, fields('5.1.1', 'X-Postfix; unknown user: "kit.tora"'), {}),
  ],
  [
    'Postfix header checks',
    'block',
    KIT,
    '5.7.1',
    dsn(`<${KIT}>: message content rejected\n`, fields('5.7.1', 'X-Postfix; message content rejected'), {}),
  ],
  ['one line DSN', 'hard', KIT, '5.1.1', dsn('', fields('5.1.1', 'smtp; 550'), {})],
  ['DSN with nothing but 5.0.0', 'hard|soft|block', KIT, '5.0.0', dsn('Sorry.', fields('5.0.0', null), {})],
  [
    'DSN LF folded',
    'soft',
    KIT,
    '5.2.2',
    dsn('Failed.', fields('5.2.2', 'smtp; 552 5.2.2 Mailbox\n\tfor <kit.tora@neko.test> is\n\tfull'), {}),
  ],
  [
    'DSN quoted printable',
    'block',
    KIT,
    '5.7.1',
    report('Failed.', '', { original: '' }).replace(
      '--=_b1/acme--',
      `--=_b1/acme\nContent-Type: message/delivery-status\nContent-Transfer-Encoding: quoted-printable\n\nReporting-MTA: dns; mx.acme.test\n\nFinal-Recipient: rfc822; ${KIT}\nAction: failed\nStatus: 5.7.1\nDiagnostic-Code: smtp; 554 5.7.1 rejected =E2=80=93 spam is not =\nwelcome\n\n--=_b1/acme--`,
    ),
  ],
  [
    'DSN base64',
    'hard',
    KIT,
    '5.1.1',
    report('Failed.', '', { original: '' }).replace(
      '--=_b1/acme--',
      `--=_b1/acme\nContent-Type: message/delivery-status\nContent-Transfer-Encoding: base64\n\n${Buffer.from(`Reporting-MTA: dns; mx.acme.test\n\nFinal-Recipient: rfc822; ${KIT}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 gone away\n`).toString('base64')}\n\n--=_b1/acme--`,
    ),
  ],
  [
    'plain DSN in text part',
    'hard',
    KIT,
    '5.1.1',
    notice(
      `Delivery failed.\n\nReporting-MTA: dns; mx.acme.test\n\nFinal-Recipient: rfc822; ${KIT}\nAction: failed\nStatus: 5.1.1\n`,
      'MAILER-DAEMON@acme.test',
      'Delivery failure',
    ),
  ],
  [
    'three recipients',
    'soft',
    KIT,
    '5.2.2',
    dsn(
      'Failed for several.',
      `Reporting-MTA: dns; mx.acme.test\n\nFinal-Recipient: rfc822; ${KIT}\nAction: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp; 552 full\n\nFinal-Recipient: rfc822; bob@neko.test\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 unknown\n`,
      {},
    ),
  ],
  [
    'vacation Spanish text',
    'auto_reply',
    null,
    null,
    notice(
      `Hola,\n\nGracias por tu mensaje. Estoy de vacaciones hasta el 20 de mayo.\n`,
      `Kit <${KIT}>`,
      'Re: Your order',
      'Auto-Submitted: auto-replied\n',
    ),
  ],
  [
    'vacation Sieve',
    'auto_reply',
    null,
    null,
    notice(`Je suis en vacances.\n`, `Kit <${KIT}>`, 'Auto: Your order', 'Precedence: junk\nX-Sieve: CMU Sieve 2.3\n'),
  ],
  [
    'vacation Finnish no field',
    'auto_reply',
    null,
    null,
    notice(`Hei, olen lomalla 20.5. asti.\n`, `Kit <${KIT}>`, 'Re: Your order'),
  ],
  [
    'vacation Polish text',
    'auto_reply',
    null,
    null,
    notice(
      `Dzień dobry, jestem na urlopie do 20 maja.\n`,
      `Kit <${KIT}>`,
      'Re: Your order',
      '',
      'text/plain; charset=utf-8',
    ),
  ],
  [
    'vacation Japanese',
    'auto_reply',
    null,
    null,
    notice(
      `5月20日まで休暇をいただいております。\n`,
      `Kit <${KIT}>`,
      `=?utf-8?B?${Buffer.from('休暇のお知らせ').toString('base64')}?=`,
      '',
      'text/plain; charset=utf-8',
    ),
  ],
  [
    'vacation Portuguese',
    'auto_reply',
    null,
    null,
    notice(`Olá, estou de férias até 20 de maio.\n`, `Kit <${KIT}>`, 'Re: Your order', '', 'text/plain; charset=utf-8'),
  ],
  [
    'vacation AOL',
    'auto_reply',
    null,
    null,
    notice(
      `I'm away from my computer right now and will get back to you.\n`,
      `Kit <${KIT}>`,
      'Re: Your order',
      'X-Mailer: Unknown (No Version)\nX-Autoresponse: away\n',
    ),
  ],
  [
    'address changed reply',
    'auto_reply',
    null,
    null,
    notice(
      `This is an automatic reply. My address has changed. Please write to kit@new.test.\n`,
      `Kit <${KIT}>`,
      'New address',
      'Auto-Submitted: auto-generated\n',
    ),
  ],
  [
    'newsletter',
    'unknown',
    null,
    null,
    notice(
      `Hello, these are our offers of the week!\n`,
      `Shop <shop@neko.test>`,
      'Offers of the week',
      'List-Unsubscribe: <mailto:u@neko.test>\n',
    ),
  ],
  [
    'question on a bounce',
    'unknown',
    null,
    null,
    notice(
      `Hi team,\n\nyour mail to my colleague bounced with "550 5.1.1 User unknown", could you check?\n\nThanks\n`,
      `Kit <${KIT}>`,
      'Re: bounced mail',
      'In-Reply-To: <1@x.test>\n',
    ),
  ],
  [
    'fbl simple Comcast',
    'complaint',
    null,
    null,
    notice(
      `--x\nContent-Type: text/plain\n\nThis is a Comcast email abuse report for an email message received from IP 192.0.2.7.\n--x\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\nUser-Agent: Return Path, Inc. Feedback Loop Services\nVersion: 0.1\nOriginal-Mail-From: <b@acme.test>\nOriginal-Rcpt-To: ${KIT}\n\n--x\nContent-Type: message/rfc822\n\n${ORIGINAL}--x--\n`,
      'feedbackloop@feedback.neko.test',
      'FW:Your order',
      '',
      'multipart/report; report-type=feedback-report; boundary="x"',
    ),
  ],
  [
    'fbl fraud',
    'complaint',
    null,
    null,
    notice(
      `--x\nContent-Type: text/plain\n\nAbuse.\n--x\nContent-Type: message/feedback-report\n\nFeedback-Type: fraud\nUser-Agent: x/1\nVersion: 1\n\n--x\nContent-Type: text/rfc822-headers\n\n${HEADER}--x--\n`,
      'fbl@neko.test',
      'Report',
      '',
      'multipart/report; report-type=feedback-report; boundary="x"',
    ),
  ],
  [
    'fbl virus without report-type',
    'complaint',
    null,
    null,
    notice(
      `--x\nContent-Type: text/plain\n\nAbuse.\n--x\nContent-Type: message/feedback-report\n\nFeedback-Type: virus\nUser-Agent: x/1\nVersion: 1\n\n--x\nContent-Type: message/rfc822\n\n${ORIGINAL}--x--\n`,
      'fbl@neko.test',
      'Report',
      '',
      'multipart/mixed; boundary="x"',
    ),
  ],
  [
    'success DSN postfix',
    'delivered_notice',
    KIT,
    '2.0.0',
    dsn(
      `This is the mail system at host mail.acme.test.\n\nYour message was successfully delivered to the destination(s)\nlisted below.\n\n<${KIT}>: delivery via mx.neko.test: 250 2.0.0 OK\n`,
      fields('2.0.0', 'smtp; 250 2.0.0 OK', 'delivered'),
      { subject: 'Successful Mail Delivery Report' },
    ),
  ],
  ['success DSN expanded', 'delivered_notice', KIT, '2.0.0', dsn('Expanded.', fields('2.0.0', null, 'expanded'), {})],
];

export const GATEWAYS: FreshMail[] = MAILS.map(([name, ...rest]) => [`gateway: ${name}`, ...rest]);
