// Reports of the large providers of mailboxes and of senders, in their languages and character sets.
import { ANN, type FreshMail, fieldsOf, ORIGINAL, plain, report } from './fresh-mail.ts';

const GOOGLE = 'Mail Delivery Subsystem <mailer-daemon@googlemail.com>';

/** Gmail of 2016 and later: a title between asterisks, what it means, and the reply. */
function gmail(title: string, meaning: string, reply: string, status: string): string {
  return report(
    `** ${title} **\n\n${meaning}\n\n${reply === '' ? '' : `The response from the remote server was:\n${reply}\n`}`,
    `Reporting-MTA: dns; googlemail.com\nArrival-Date: Mon, 06 May 2024 02:10:11 -0700 (PDT)\nX-Original-Message-ID: <4711@acme.test>\n\nFinal-Recipient: rfc822; ${ANN}\nAction: ${status.startsWith('4') && !/fail/i.test(title) ? 'delayed' : 'failed'}\nStatus: ${status}\nRemote-MTA: dns; mx.rcpt.test. (198.51.100.25, the server for the domain rcpt.test.)\nDiagnostic-Code: smtp; ${reply}\nLast-Attempt-Date: Mon, 06 May 2024 02:10:12 -0700 (PDT)\n`,
    {
      from: GOOGLE,
      subject: `Delivery Status Notification (${status.startsWith('4') ? 'Delay' : 'Failure'})`,
      fields: `X-Failed-Recipients: ${ANN}\nAuto-Submitted: auto-replied\n`,
      type: 'text/plain; charset="UTF-8"',
    },
  );
}

export const PROVIDERS: FreshMail[] = [
  [
    'Gmail: address not found',
    'hard',
    ANN,
    '5.1.1',
    gmail(
      'Address not found',
      `Your message wasn't delivered to ${ANN} because the address couldn't be found, or is unable to receive mail.`,
      '550 5.1.1 The email account that you tried to reach does not exist.',
      '5.1.1',
    ),
  ],
  [
    'Gmail: no domain',
    'hard',
    ANN,
    null,
    gmail(
      'Address not found',
      `Your message wasn't delivered to ${ANN} because the domain rcpt.test couldn't be found. Check for typos or unnecessary spaces and try again.`,
      "DNS Error: DNS type 'mx' lookup of rcpt.test responded with code NXDOMAIN",
      '5.0.0',
    ),
  ],
  [
    'Gmail: blocked',
    'block',
    ANN,
    '5.7.1',
    gmail(
      'Message blocked',
      `Your message to ${ANN} has been blocked. See technical details below for more information.`,
      '550 5.7.1 [192.0.2.7] Our system has detected that this message is likely unsolicited mail.',
      '5.7.1',
    ),
  ],
  [
    'Gmail: full',
    'soft',
    ANN,
    '5.2.2',
    gmail(
      'Recipient inbox full',
      `Your message couldn't be delivered to ${ANN}. Their inbox is full, or it's getting too much mail right now.`,
      '552 5.2.2 The email account that you tried to reach is over quota.',
      '5.2.2',
    ),
  ],
  [
    'Gmail: incomplete',
    'soft',
    ANN,
    null,
    gmail(
      'Delivery incomplete',
      `There was a temporary problem delivering your message to ${ANN}. Gmail will retry for 46 more hours. You'll be notified if the delivery fails permanently.`,
      '451 4.4.1 Connection timed out',
      '4.4.1',
    ),
  ],
  [
    'Gmail: incomplete without a reply',
    'soft',
    ANN,
    null,
    gmail(
      'Delivery incomplete',
      `There was a temporary problem delivering your message to ${ANN}. Gmail will retry for 22 more hours.`,
      '',
      '4.0.0',
    ),
  ],
  [
    'Gmail: too large',
    'soft|block',
    ANN,
    '5.2.3',
    gmail(
      'Message too large',
      `Your message couldn't be delivered to ${ANN} because it exceeds the size limit. Try reducing the message size and resending.`,
      '552 5.2.3 Message size exceeds fixed maximum message size',
      '5.2.3',
    ),
  ],
  [
    'Gmail: not delivered',
    'soft',
    ANN,
    '4.4.1',
    gmail(
      'Message not delivered',
      `There was a problem delivering your message to ${ANN}. The recipient server did not accept our requests to connect.`,
      '441 4.4.1 No answer from host [mx.rcpt.test 198.51.100.25: timed out]',
      '4.4.1',
    )
      .replace('(Delay)', '(Failure)')
      .replace('Action: delayed', 'Action: failed'),
  ],
  [
    'Gmail: in German',
    'hard',
    ANN,
    null,
    plain(
      `** Adresse nicht gefunden **\n\nIhre Nachricht wurde nicht an ${ANN} zugestellt, weil die Adresse nicht gefunden wurde oder keine E-Mails empfangen kann.\n\nDie Antwort lautete:\n\n550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address.\n`,
      {
        from: GOOGLE,
        subject: 'Delivery Status Notification (Failure)',
        fields: `X-Failed-Recipients: ${ANN}\nAuto-Submitted: auto-replied\n`,
        type: 'text/plain; charset=utf-8',
      },
    ),
  ],
  [
    'Gmail: HTML alone',
    'hard',
    ANN,
    null,
    plain(
      `<html><body><table><tr><td><h2>Address not found</h2><p>Your message wasn't delivered to <a href="mailto:${ANN}"><b>${ANN}</b></a> because the address couldn't be found, or is unable to receive mail.</p><p>The response was:</p><p style="font-family:monospace">550 5.1.1 The email account that you tried to reach does not exist.</p></td></tr></table></body></html>`,
      {
        from: GOOGLE,
        subject: 'Delivery Status Notification (Failure)',
        fields: `X-Failed-Recipients: ${ANN}\n`,
        type: 'text/html; charset="UTF-8"',
      },
    ),
  ],
  [
    'Gmail of 2008',
    'hard',
    ANN,
    '5.1.1',
    plain(
      `This is an automatically generated Delivery Status Notification\n\nDelivery to the following recipient failed permanently:\n\n     ${ANN}\n\nTechnical details of permanent failure:\nPERM_FAILURE: SMTP Error (state 9): 550 5.1.1 <${ANN}>: user unknown\n\n   ----- Original message -----\n\n${ORIGINAL}`,
      { from: GOOGLE, subject: 'Delivery Status Notification (Failure)' },
    ),
  ],
  [
    'Gmail of 2008: delay',
    'soft',
    ANN,
    null,
    plain(
      `This is an automatically generated Delivery Status Notification\n\nTHIS IS A WARNING MESSAGE ONLY.\n\nYOU DO NOT NEED TO RESEND YOUR MESSAGE.\n\nDelivery to the following recipient has been delayed:\n\n     ${ANN}\n\nMessage will be retried for 2 more day(s)\n\nTechnical details of temporary failure:\nThe recipient server did not accept our requests to connect.\n\n   ----- Message header follows -----\n\n${ORIGINAL}`,
      { from: GOOGLE, subject: 'Delivery Status Notification (Delay)' },
    ),
  ],
  [
    'Gmail of 2008: DNS',
    'hard',
    ANN,
    null,
    plain(
      `Delivery to the following recipient failed permanently:\n\n     ${ANN}\n\nTechnical details of permanent failure:\nDNS Error: Domain name not found\n\n   ----- Original message -----\n\n${ORIGINAL}`,
      { from: GOOGLE, subject: 'Delivery Status Notification (Failure)' },
    ),
  ],
  [
    'Yahoo',
    'hard',
    ANN,
    null,
    plain(
      `Sorry, we were unable to deliver your message to the following address.\n\n<${ANN}>:\n554: delivery error: dd This user doesn't have a yahoo.com account (${ANN}) [-5] - mta1055.mail.ne1.yahoo.com\n\n--- Below this line is a copy of the message.\n\n${ORIGINAL}`,
      { from: 'MAILER-DAEMON@yahoo.com', subject: 'Failure Notice' },
    ),
  ],
  [
    'Yahoo: old with Message from',
    'hard',
    ANN,
    null,
    plain(
      `Message from  yahoo.com.\nUnable to deliver message to the following address(es).\n\n<${ANN}>:\nThis user doesn't have a yahoo.com account (${ANN}) [0]\n\n--- Original message follows.\n\nReturn-Path: <news@acme.test>\n${ORIGINAL}`,
      { from: 'MAILER-DAEMON@yahoo.com', subject: 'Delivery failure' },
    ),
  ],
  [
    'Yahoo: old, over quota',
    'soft',
    ANN,
    null,
    plain(
      `Message from yahoo.co.jp.\nUnable to deliver message to the following address(es).\n\n<${ANN}>:\nSorry, your message to ${ANN} cannot be delivered.  This account is over quota.\n\n--- Original message follows.\n\n${ORIGINAL}`,
      { from: 'MAILER-DAEMON@yahoo.co.jp', subject: 'Delivery failure' },
    ),
  ],
  [
    'AOL',
    'hard',
    ANN,
    '5.1.1',
    report(
      `Your mail to the following recipients could not be delivered because they are not accepting mail from ... or do not exist:\n\n   ann\n`,
      fieldsOf('failed', '5.1.1', '550 5.1.1 <ann>: Recipient address rejected: aol.com'),
      { from: 'Mail Delivery Subsystem <MAILER-DAEMON@aol.com>', subject: 'Returned mail: User unknown' },
    ),
  ],
  [
    'GMX',
    'hard',
    ANN,
    null,
    plain(
      `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of\nits recipients. This is a permanent error. The following address\nfailed:\n\n"${ANN}":\nSMTP error from remote server after RCPT command:\nhost: mx.rcpt.test\n5.1.1 <${ANN}>: Recipient address rejected: User unknown\n\n--- The header of the original message is following. ---\n\n${ORIGINAL}`,
      {
        from: '"GMX Mailer Daemon" <mailer-daemon@gmx.net>',
        subject: 'Mail delivery failed: returning message to sender',
      },
    ),
  ],
  [
    'web.de: delay',
    'soft',
    ANN,
    null,
    plain(
      `This message was created automatically by mail delivery software.\n\nA message that you sent has not yet been delivered to one or more of\nits recipients. The server will keep trying.\n\n"${ANN}":\ndelivery delayed: mx.rcpt.test does not answer\n\n--- The header of the original message is following. ---\n\n${ORIGINAL}`,
      { from: '"WEB.DE Mailer Daemon" <mailer-daemon@web.de>', subject: 'Warning: message delayed' },
    ),
  ],
  [
    '1&1: retry time',
    'soft',
    ANN,
    null,
    plain(
      `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of\nits recipients. This is a permanent error. The following address\nfailed:\n\n${ANN}:\nretry timeout expired\n\n--- The header of the original message is following. ---\n\n${ORIGINAL}`,
      {
        from: '"Mail Delivery System" <mailer-daemon@kundenserver.de>',
        subject: 'Mail delivery failed: returning message to sender',
      },
    ),
  ],
  [
    'T-Online',
    'hard',
    ANN,
    null,
    plain(
      `|------------------------- Message log follows: -------------------------|\n no valid recipients were found for this message\n|------------------------- Failed addresses follow: ---------------------|\n <${ANN}> ... unknown user\n|------------------------- Message text follows: ------------------------|\n${ORIGINAL}`,
      { from: 'Mailer-Daemon@t-online.de', subject: 'mail failed, returning to sender' },
    ),
  ],
  [
    'smail: unknown host',
    'hard',
    ANN,
    null,
    plain(
      `|------------------------- Message log follows: -------------------------|\n no valid recipients were found for this message\n|------------------------- Failed addresses follow: ---------------------|\n <${ANN}> ... unknown host\n|------------------------- Message text follows: ------------------------|\n${ORIGINAL}`,
      { from: 'Mailer-Daemon@relay.test', subject: 'mail failed, returning to sender' },
    ),
  ],
  [
    'iCloud',
    'soft',
    ANN,
    '5.2.2',
    report(
      `This report relates to a message you sent with the following header fields:\n\n  To: ${ANN}\n\nYour message cannot be delivered to the following recipients:\n\n  Recipient address: ${ANN}\n  Reason: Over quota\n`,
      `Reporting-MTA: dns;ms01.mac.test (tcp-daemon)\n\nOriginal-recipient: rfc822;${ANN}\nFinal-recipient: rfc822;${ANN}\nAction: failed\nStatus: 5.2.2 (Over quota)\n`,
      { from: 'postmaster@icloud.com', subject: 'Delivery Notification: Delivery has failed' },
    ),
  ],
  [
    'mail.ru',
    'hard',
    ANN,
    null,
    plain(
      `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  ${ANN}\n    SMTP error from remote mail server after RCPT TO:<${ANN}>:\n    host mxs.rcpt.test [198.51.100.25]: 550 Message was not accepted -- invalid mailbox.  Local mailbox ${ANN} is unavailable: user not found\n\n------ This is a copy of the message, including all the headers. ------\n\n${ORIGINAL}`,
      {
        from: 'Mail Delivery System <mailer-daemon@corp.mail.ru>',
        subject: 'Mail failure.',
        fields: `X-Mailer-Daemon-Recipients: ${ANN}\nX-Mailer-Daemon-Error: user_not_found\n`,
      },
    ),
  ],
  [
    'mail.ru in Russian, windows-1251',
    'soft',
    ANN,
    null,
    plain(
      `${Buffer.from([0xcf, 0xee, 0xf7, 0xf2, 0xee, 0xe2, 0xfb, 0xe9, 0x20, 0xff, 0xf9, 0xe8, 0xea, 0x20, 0xef, 0xe5, 0xf0, 0xe5, 0xef, 0xee, 0xeb, 0xed, 0xe5, 0xed, 0x3a, 0x0a, ...Buffer.from(`\n  ${ANN}\n`)]).toString('base64')}\n`,
      {
        from: 'Mail Delivery System <mailer-daemon@mail.ru>',
        subject: '=?windows-1251?B?zeXk7vHy4OLr5e3t7uUg8e7u4fnl7ejl?=',
        type: 'text/plain; charset=windows-1251\nContent-Transfer-Encoding: base64',
      },
    ),
  ],
  [
    'Yandex',
    'hard',
    ANN,
    '5.1.1',
    report(
      `This is the mail system at host forward500.mail.yandex.net.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\nPlease, do not reply to this message.\n\n<${ANN}>: host mx.rcpt.test[198.51.100.25] said: 550 5.1.1 No such user (in reply to RCPT TO command)`,
      `Reporting-MTA: dns; forward500.mail.yandex.net\nX-Yandex-Queue-ID: 4Tq1zC0\n\nFinal-Recipient: rfc822; ${ANN}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 No such user\n`,
      { from: 'mailer-daemon@yandex.ru' },
    ),
  ],
  [
    'Rambler in koi8-r',
    'hard',
    ANN,
    null,
    plain(
      `${Buffer.from([0xf0, 0xcf, 0xcc, 0xd8, 0xda, 0xcf, 0xd7, 0xc1, 0xd4, 0xc5, 0xcc, 0xd8, 0x20, 0xce, 0xc5, 0x20, 0xce, 0xc1, 0xca, 0xc4, 0xc5, 0xce, 0x3a, 0x20, ...Buffer.from(`${ANN}\n`)]).toString('base64')}\n`,
      {
        from: 'Mail Delivery System <MAILER-DAEMON@rambler.ru>',
        subject: 'Undelivered Mail',
        type: 'text/plain; charset=koi8-r\nContent-Transfer-Encoding: base64',
      },
    ),
  ],
  [
    'QQ in Chinese',
    'hard',
    ANN,
    null,
    plain(
      `退信原因：收件人邮件地址（${ANN}）不存在，邮件无法送达。\nhost mx3.qq.com[203.0.113.5] said: 550 Mailbox not found. http://service.mail.qq.com/cgi-bin/help?subtype=1\n`,
      {
        from: 'PostMaster <PostMaster@qq.com>',
        subject: `=?utf-8?B?${Buffer.from('系统退信/Systems bounce').toString('base64')}?=`,
        type: 'text/plain; charset=utf-8',
      },
    ),
  ],
  [
    '163 in Chinese',
    'soft',
    ANN,
    null,
    plain(`很抱歉，您的邮件被退回来了。\n收件人：${ANN}\n退信说明：收件人邮箱已满\n`, {
      from: 'Postmaster@163.com',
      subject: `=?utf-8?B?${Buffer.from('系统退信').toString('base64')}?=`,
      type: 'text/plain; charset=utf-8',
    }),
  ],
  [
    'Sina in gb2312',
    'hard',
    ANN,
    null,
    plain(
      `${Buffer.concat([
        Buffer.from([0xd3, 0xca, 0xcf, 0xe4, 0xb2, 0xbb, 0xb4, 0xe6, 0xd4, 0xda]),
        Buffer.from(`\n${ANN}\n550 User not found\n`),
      ]).toString('base64')}\n`,
      {
        from: 'Mail Delivery Subsystem <MAILER-DAEMON@sina.com>',
        subject: '=?gb2312?B?z7XNs83L0MU=?=',
        type: 'text/plain; charset=gb2312\nContent-Transfer-Encoding: base64',
      },
    ),
  ],
  [
    'Naver in Korean',
    'hard',
    ANN,
    null,
    plain(
      `메일 전송에 실패했습니다.\n\n받는사람 : ${ANN}\n원인 : 존재하지 않는 사용자입니다. (550 5.1.1 unknown user)\n`,
      {
        from: '"Mail Delivery System" <mailer-daemon@naver.com>',
        subject: `=?utf-8?B?${Buffer.from('[네이버 메일] 발송 실패 안내').toString('base64')}?=`,
        type: 'text/plain; charset=utf-8',
      },
    ),
  ],
  [
    'Daum',
    'soft',
    ANN,
    null,
    plain(`수신자의 메일박스 용량이 초과되었습니다.\n\n<${ANN}>: mailbox full\n`, {
      from: 'Mail Delivery Subsystem <MAILER-DAEMON@hanmail.net>',
      subject: 'Returned mail',
      type: 'text/plain; charset=utf-8',
    }),
  ],
  [
    'docomo',
    'hard',
    ANN,
    '5.1.1',
    report(
      '',
      `Reporting-MTA: dns; mfsmax.docomo.ne.jp\nArrival-Date: Mon, 6 May 2024 09:10:11 +0900 (JST)\n\nFinal-Recipient: rfc822; ${ANN}\nAction: failed\nStatus: 5.1.1\nRemote-MTA: dns; [198.51.100.25]\nDiagnostic-Code: smtp; 550 Unknown user ${ANN}\n`,
      { from: 'Mail Delivery Subsystem <MAILER-DAEMON@docomo.ne.jp>' },
    ),
  ],
  [
    'KDDI',
    'soft',
    ANN,
    null,
    plain(
      `  Your mail sent on: Mon, 06 May 2024 09:10:11 +0900\n  Could not be delivered to: <${ANN}>\n  As their mailbox is full.\n\n${ORIGINAL}`,
      { from: '<no-reply@app.auone-net.jp>', subject: 'Mail System Error - Returned Mail' },
    ),
  ],
  [
    'ezweb',
    'hard',
    ANN,
    null,
    plain(`The user(s) account is not active.\n\n<${ANN}>: 550 <${ANN}>: User unknown\n\n${ORIGINAL}`, {
      from: 'Postmaster@ezweb.ne.jp',
      subject: 'Mail System Error - Returned Mail',
    }),
  ],
  [
    'SoftBank in iso-2022-jp',
    'hard',
    ANN,
    null,
    plain(
      `\x1b$B08@h$,8+$D$+$j$^$;$s\x1b(B\n\n<${ANN}>: 550 Invalid recipient: <${ANN}>\n\n--- Below this line is a copy of the message.\n\n${ORIGINAL}`,
      { from: 'MAILER-DAEMON@softbank.ne.jp', subject: 'failure notice', type: 'text/plain; charset=iso-2022-jp' },
    ),
  ],
  [
    'biglobe',
    'soft',
    ANN,
    null,
    plain(
      `   ----- The following addresses had delivery problems -----\n${ANN}\n\n   ----- Non-delivered information -----\nThe number of messages in recipient's mailbox exceeded the local limit.\n\n`,
      { from: 'postmaster@biglobe.ne.jp', subject: 'Returned mail' },
    ),
  ],
  [
    'Orange in French',
    'hard',
    ANN,
    null,
    plain(
      `Bonjour,\n\nVotre message n'a pas pu être remis au destinataire suivant :\n\n<${ANN}> : destinataire inconnu\n`,
      {
        from: 'Mail Delivery System <MAILER-DAEMON@orange.fr>',
        subject: `=?utf-8?Q?Message_non_remis_=C3=A0_son_destinataire?=`,
        type: 'text/plain; charset=utf-8',
      },
    ),
  ],
  [
    'La Poste: full, in French',
    'soft',
    ANN,
    null,
    plain(
      `Le message que vous avez envoyé n'a pu être distribué.\n\nDestinataire : ${ANN}\nRaison : la boîte aux lettres du destinataire est pleine\n`,
      { from: 'postmaster@laposte.net', subject: 'Echec de la distribution', type: 'text/plain; charset=utf-8' },
    ),
  ],
  [
    'Libero in Italian',
    'soft',
    ANN,
    null,
    plain(`Spiacenti, il messaggio non può essere recapitato.\n\n<${ANN}>:\n552 casella di posta piena\n`, {
      from: 'Mail Delivery <mailer-daemon@libero.it>',
      subject: 'Mancata consegna del messaggio',
      type: 'text/plain; charset=utf-8',
    }),
  ],
  [
    'Aruba in Italian',
    'hard',
    ANN,
    null,
    plain(
      `Il messaggio non e' stato consegnato al seguente destinatario:\n\n<${ANN}>: Casella inesistente (550 5.1.1)\n`,
      { from: 'MAILER-DAEMON@aruba.it', subject: 'Avviso di mancata consegna' },
    ),
  ],
  [
    'Telefonica in Spanish',
    'hard',
    ANN,
    null,
    plain(`Su mensaje no ha podido ser entregado a los siguientes destinatarios:\n\n<${ANN}>: La cuenta no existe\n`, {
      from: 'Sistema de correo <postmaster@telefonica.test>',
      subject: 'Mensaje no entregado',
    }),
  ],
  [
    'UOL in Portuguese',
    'soft',
    ANN,
    null,
    plain(
      `Não foi possível entregar sua mensagem ao destinatário abaixo:\n\n${ANN}\nMotivo: a caixa postal do destinatário está cheia.\n`,
      {
        from: 'MAILER-DAEMON@uol.com.br',
        subject: `=?utf-8?Q?Mensagem_n=C3=A3o_entregue?=`,
        type: 'text/plain; charset=utf-8',
      },
    ),
  ],
  [
    'Terra in Portuguese',
    'hard',
    ANN,
    '5.1.1',
    plain(
      `Ola, este e o servidor de email do Terra.\nSua mensagem nao pode ser entregue.\n\n<${ANN}>:\n550 5.1.1 <${ANN}> Usuario inexistente\n`,
      { from: 'MAILER-DAEMON@terra.com.br', subject: 'Falha na entrega de mensagem' },
    ),
  ],
  [
    'Amazon SES',
    'hard',
    ANN,
    '5.1.1',
    report(
      `An error occurred while trying to deliver the mail to the following recipients:\n${ANN}`,
      `Reporting-MTA: dns; a8-50.smtp-out.amazonses.com\n\nAction: failed\nFinal-Recipient: rfc822; ${ANN}\nDiagnostic-Code: smtp; 550 5.1.1 user unknown\nStatus: 5.1.1\n`,
      { from: 'MAILER-DAEMON@amazonses.com', subject: 'Delivery Status Notification (Failure)' },
    ),
  ],
  [
    'Amazon SES: suppression list',
    'hard|block|soft',
    ANN,
    null,
    report(
      `An error occurred while trying to deliver the mail to the following recipients:\n${ANN}`,
      `Reporting-MTA: dns; amazonses.com\n\nAction: failed\nFinal-Recipient: rfc822; ${ANN}\nDiagnostic-Code: smtp; Amazon SES did not send the message to this address because it is on the suppression list for your account.\nStatus: 5.1.1\n`,
      { from: 'MAILER-DAEMON@amazonses.com', subject: 'Delivery Status Notification (Failure)' },
    ),
  ],
  [
    'Amazon SES by SNS',
    'soft',
    ANN,
    null,
    plain(
      JSON.stringify({
        notificationType: 'Bounce',
        bounce: {
          bounceType: 'Transient',
          bounceSubType: 'MailboxFull',
          bouncedRecipients: [
            {
              emailAddress: ANN,
              action: 'failed',
              status: '5.2.2',
              diagnosticCode: 'smtp; 552 5.2.2 mailbox is over its size',
            },
          ],
        },
      }),
      { from: 'AWS Notifications <no-reply@sns.amazonaws.com>', subject: 'AWS Notification Message' },
    ),
  ],
  [
    'Amazon WorkMail',
    'hard',
    ANN,
    '5.1.1',
    plain(
      `Your message couldn't be delivered to the following recipients:\n\n${ANN}\n\nTechnical report:\n\nGenerating server: amazonworkmail.test\n\nFinal-Recipient: rfc822;${ANN}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 Unable to deliver to the mailbox: no such recipient\n`,
      { from: 'postmaster@acme.test', subject: 'Undelivered mail: Your order' },
    ),
  ],
  [
    'SendGrid',
    'hard',
    ANN,
    null,
    report(
      `Hello, this is the mail server on o1.acme.test.\n\nI am sending you this message to inform you on the delivery status of a message you previously sent.`,
      `Reporting-MTA: dns; o1.acme.test\n\nFinal-Recipient: rfc822; ${ANN}\nOriginal-Recipient: rfc822; ${ANN}\nAction: failed\nStatus: 550\nDiagnostic-Code: 550 Unknown recipient ${ANN}\n`,
      { from: 'MAILER-DAEMON@sendgrid.net' },
    ),
  ],
  [
    'Mandrill',
    'soft',
    ANN,
    '4.4.7',
    report(
      `The following message could not be delivered.`,
      `Reporting-MTA: dns; mail1.mandrillapp.test\n\nFinal-Recipient: rfc822; ${ANN}\nAction: failed\nStatus: 4.4.7\nDiagnostic-Code: smtp; 554 5.4.7 [internal] exceeded max time without delivery\n`,
      { from: 'MAILER-DAEMON@mandrillapp.test' },
    ),
  ],
  [
    'Zoho',
    'hard',
    ANN,
    null,
    plain(
      `This message was created automatically by mail delivery software.\n A message that you sent could not be delivered to one or more of its recipients. This is a permanent error.\n\n${ANN} Invalid Address, ERROR_CODE :550, ERROR_CODE :5.1.1 <${ANN}>: Recipient address rejected: User unknown in virtual mailbox table\n\nReceived: from mail.zoho.test by mx.zoho.test\n`,
      { from: 'mailer-daemon@mail.zoho.com', subject: 'Undelivered Mail Returned to Sender' },
    ),
  ],
  [
    'Google Groups',
    'block|soft',
    'talk@rcpt.test',
    null,
    plain(
      `Hello news@acme.test,\n\nWe're writing to let you know that the group you tried to contact (talk) may not exist, or you may not have permission to post messages to the group. A few more details on why you weren't able to post:\n\n * You might have spelled or formatted the group name incorrectly.\n * The owner of the group may have removed this group.\n\nIf you have questions related to this or any other Google Group, visit the Help Center at https://groups.google.com/support/.\n\nThanks,\n\nGoogle Groups\n\n----- Original message -----\n\n${ORIGINAL.replace(ANN, 'talk@rcpt.test')}`,
      {
        from: GOOGLE,
        subject: 'Delivery Status Notification (Failure)',
        fields: 'X-Failed-Recipients: talk@rcpt.test\n',
      },
    ),
  ],
];
