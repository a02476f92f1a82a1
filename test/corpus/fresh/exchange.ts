// Exchange from 5.5 to Exchange Online, in the languages of its reports, with fields and without.
import { ANN, type FreshMail, ORIGINAL, plain, report } from './fresh-mail.ts';

/** "Undeliverable" in the languages, with what the text says before and behind the recipient. */
const LANGUAGES: [language: string, subject: string, opening: string, why: string][] = [
  [
    'English',
    'Undeliverable: Your order',
    'Delivery has failed to these recipients or groups:',
    "The email address you entered couldn't be found. Please check the recipient's email address and try to resend the message.",
  ],
  [
    'German',
    'Unzustellbar: Your order',
    'Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Gruppen:',
    'Die eingegebene E-Mail-Adresse konnte nicht gefunden werden. Überprüfen Sie die E-Mail-Adresse des Empfängers.',
  ],
  [
    'French',
    'Non remis : Your order',
    'Échec de la remise pour ces destinataires ou groupes :',
    "L'adresse de courrier que vous avez entrée est introuvable.",
  ],
  [
    'Spanish',
    'No se puede entregar: Your order',
    'No se pudo entregar el mensaje a estos destinatarios o grupos:',
    'No se encontró la dirección de correo electrónico que escribió.',
  ],
  [
    'Italian',
    'Non recapitabile: Your order',
    'Recapito non riuscito per i destinatari o gruppi seguenti:',
    "Impossibile trovare l'indirizzo di posta elettronica immesso.",
  ],
  [
    'Portuguese',
    'Não é possível entregar: Your order',
    'Falha na entrega para os seguintes destinatários ou grupos:',
    'O endereço de email inserido não foi encontrado.',
  ],
  [
    'Dutch',
    'Onbestelbaar: Your order',
    'Bezorging is mislukt bij de volgende geadresseerden of groepen:',
    'Het opgegeven e-mailadres kan niet worden gevonden.',
  ],
  [
    'Japanese',
    '配信不能: Your order',
    '次の受信者またはグループへのメッセージの配信に失敗しました:',
    '入力した電子メール アドレスが見つかりませんでした。',
  ],
  ['Chinese', '未送达: Your order', '未能向以下收件人或组传递邮件:', '找不到您输入的电子邮件地址。'],
  [
    'Russian',
    'Недоставленное: Your order',
    'Доставка следующим получателям или в следующие группы не выполнена:',
    'Не удается найти указанный адрес электронной почты.',
  ],
  [
    'Polish',
    'Niedostarczalne: Your order',
    'Nie można dostarczyć wiadomości do następujących adresatów lub grup:',
    'Nie można odnaleźć wprowadzonego adresu e-mail.',
  ],
  [
    'Swedish',
    'Kan inte levereras: Your order',
    'Det gick inte att leverera till följande mottagare eller grupper:',
    'Det gick inte att hitta e-postadressen.',
  ],
];

const encoded = (subject: string): string => `=?utf-8?B?${Buffer.from(subject).toString('base64')}?=`;

/** As the HTML of Exchange 2010 and later reads, made plain, with the part for administrators. */
function forPeople([, subject, opening, why]: (typeof LANGUAGES)[number], diagnostics: string): string {
  return plain(
    `${opening}\n\n${ANN}<mailto:${ANN}>\n${why}\n\n\n\n\n\n\nDiagnostic information for administrators:\n\nGenerating server: DB7PR01MB1234.eurprd01.prod.exchangelabs.com\n\n${ANN}\n${diagnostics}\n\nOriginal message headers:\n\n${ORIGINAL}`,
    {
      from: 'Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@acme.test>',
      subject: encoded(subject),
      type: 'text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit',
    },
  );
}

/** The way of Exchange 2013 and Exchange Online: a report with the fields. */
function withFields(text: string, status: string, said: string, subject = 'Undeliverable: Your order'): string {
  return report(
    `${text}\n\nDiagnostic information for administrators:\n\nGenerating server: AM0PR01MB1234.eurprd01.prod.exchangelabs.com\n\n${ANN}\nRemote Server returned '${said}'\n\nOriginal message headers:\n\n${ORIGINAL}`,
    `Reporting-MTA: dns;AM0PR01MB1234.eurprd01.prod.exchangelabs.com\nReceived-From-MTA: dns;AM0PR01MB5678.eurprd01.prod.exchangelabs.com\nArrival-Date: Mon, 6 May 2024 09:10:11 +0000\n\nFinal-Recipient: rfc822;${ANN}\nAction: failed\nStatus: ${status}\nDiagnostic-Code: smtp;${said}\n`,
    { from: 'postmaster@acme.test', subject, type: 'text/plain; charset=utf-8' },
  );
}

/** Exchange 2000 and 2003. */
function exchange2003(opening: string, why: string, subject = 'Undeliverable: Your order'): string {
  return plain(
    `Your message\n\n  To:      ${ANN}\n  Subject: Your order\n  Sent:    Mon, 6 May 2002 09:10:11 +0000\n\n${opening}\n\n${ANN} on Mon, 6 May 2002 09:10:13 +0000\n    ${why}\n`,
    {
      from: 'System Administrator <postmaster@rcpt.test>',
      subject,
      fields: 'X-Mailer: Internet Mail Service (5.5.2653.19)\n',
    },
  );
}

const NOT_REACHED = 'did not reach the following recipient(s):';

export const EXCHANGE: FreshMail[] = [
  ...LANGUAGES.map(
    (language): FreshMail => [
      `Exchange 2010 in ${language[0]}`,
      'hard',
      ANN,
      '5.1.1',
      forPeople(language, '#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##'),
    ],
  ),
  ...LANGUAGES.slice(0, 6).map(
    (language): FreshMail => [
      `Exchange with fields alone in ${language[0]}`,
      'hard',
      ANN,
      '5.1.10',
      report(
        `${language[2]}\n\n${ANN} (${ANN})\n${language[3]}`,
        `Reporting-MTA: dns;mail.acme.test\n\nFinal-Recipient: rfc822;${ANN}\nAction: failed\nStatus: 5.1.10\nDiagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient ${ANN} not found by SMTP address lookup\nX-Display-Name: ${ANN}\n`,
        { from: 'postmaster@acme.test', subject: encoded(language[1]), type: 'text/plain; charset=utf-8' },
      ),
    ],
  ),
  [
    'Exchange 5.5',
    'hard',
    ANN,
    null,
    exchange2003(
      NOT_REACHED,
      'The recipient name is not recognized\n\tThe MTS-ID of the original message is: c=us;a= ;p=acme;l=MAIL1-020506091011Z-1\n    MSEXCH:IMS:Acme:ACME:MAIL1 0 (000C05A6) Unknown Recipient',
    ),
  ],
  [
    'Exchange 2000',
    'hard',
    ANN,
    '5.1.1',
    exchange2003(
      NOT_REACHED,
      'The e-mail account does not exist at the organization this message was sent to.  Check the e-mail address, or contact the recipient directly to find out the correct address.\n    <mail.rcpt.test #5.1.1>',
    ),
  ],
  [
    'Exchange 2003: full',
    'soft',
    ANN,
    '5.2.2',
    exchange2003(NOT_REACHED, "The recipient's mailbox is full.\n    <mail.rcpt.test #5.2.2>"),
  ],
  [
    'Exchange 2003: too large',
    'soft|block',
    ANN,
    '5.2.3',
    exchange2003(
      NOT_REACHED,
      "This message is larger than the current system limit or the recipient's mailbox is full.  Create a shorter message body or remove attachments and try sending it again.\n            <mail.rcpt.test #5.2.3>",
    ),
  ],
  [
    'Exchange 2003: not permitted',
    'block|soft',
    ANN,
    '5.7.1',
    exchange2003(
      NOT_REACHED,
      'You do not have permission to send to this recipient.  For assistance, contact your system administrator.\n            <mail.rcpt.test #5.7.1 smtp;550 5.7.1 Unable to relay for ann@rcpt.test>',
    ),
  ],
  [
    'Exchange 2003: given up',
    'soft',
    ANN,
    '4.4.7',
    exchange2003(
      NOT_REACHED,
      'Could not deliver the message in the time limit specified.  Please retry or contact your administrator.\n            <mail.acme.test #4.4.7>',
    ),
  ],
  [
    'Exchange 2003: delay',
    'soft',
    ANN,
    null,
    plain(
      `This is an automatically generated Delivery Status Notification.\n\nTHIS IS A WARNING MESSAGE ONLY.\n\nYOU DO NOT NEED TO RESEND YOUR MESSAGE.\n\nDelivery to the following recipients has been delayed.\n\n       ${ANN}\n`,
      { from: 'postmaster@acme.test', subject: 'Delivery Status Notification (Delay)' },
    ),
  ],
  [
    'Exchange 2003: failure in short',
    'hard|soft',
    ANN,
    '5.1.1',
    report(
      `This is an automatically generated Delivery Status Notification.\n\nDelivery to the following recipients failed.\n\n       ${ANN}\n`,
      `Reporting-MTA: dns;mail.rcpt.test\nReceived-From-MTA: dns;mail.acme.test\nArrival-Date: Mon, 6 May 2002 09:10:11 +0000\n\nFinal-Recipient: rfc822;${ANN}\nAction: failed\nStatus: 5.1.1\n`,
      { from: 'postmaster@rcpt.test', subject: 'Delivery Status Notification (Failure)' },
    ),
  ],
  [
    'Exchange 2003 in German',
    'hard',
    ANN,
    '5.1.1',
    plain(
      `Ihre Nachricht\n\n  An:      ${ANN}\n  Betreff: Ihre Bestellung\n  Gesendet:    Mon, 6 May 2002 09:10:11 +0000\n\nhat folgende(n) Empfänger nicht erreicht:\n\n${ANN} am Mon, 6 May 2002 09:10:13 +0000\n    Das E-Mail-Konto ist in der Organisation, an die diese Nachricht gesendet wurde, nicht vorhanden.\n    <mail.rcpt.test #5.1.1>\n`,
      {
        from: 'Systemadministrator <postmaster@rcpt.test>',
        subject: encoded('Unzustellbar: Ihre Bestellung'),
        type: 'text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit',
      },
    ),
  ],
  [
    'Exchange 2007',
    'hard',
    ANN,
    '5.1.1',
    forPeople(
      [
        '',
        'Undeliverable: Your order',
        'Delivery has failed to these recipients or distribution lists:',
        "The recipient's e-mail address was not found in the recipient's e-mail system. Microsoft Exchange will not try to redeliver this message for you.",
      ],
      '#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##rfc822;ann@rcpt.test',
    ),
  ],
  [
    'Exchange 2007: full',
    'soft',
    ANN,
    '5.2.2',
    forPeople(
      [
        '',
        'Undeliverable: Your order',
        'Delivery has failed to these recipients or distribution lists:',
        "The recipient's mailbox is full and can't accept messages now.",
      ],
      '#554 5.2.2 mailbox full; STOREDRV.Deliver; mailbox full 04.14.04',
    ),
  ],
  [
    'Exchange 2010: restricted',
    'soft|block',
    ANN,
    '5.7.1',
    forPeople(
      [
        '',
        'Undeliverable: Your order',
        'Delivery has failed to these recipients or groups:',
        "Your message can't be delivered because delivery to this address is restricted.",
      ],
      '#550 5.7.1 RESOLVER.RST.AuthRequired; authentication required ##rfc822;ann@rcpt.test',
    ),
  ],
  [
    'Exchange 2010: too large',
    'soft|block',
    ANN,
    '5.2.3',
    forPeople(
      [
        '',
        'Undeliverable: Your order',
        'Delivery has failed to these recipients or groups:',
        'This message is too large to send to this recipient.',
      ],
      '#550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient ##',
    ),
  ],
  [
    'Exchange 2010: expired',
    'soft',
    ANN,
    '4.4.7',
    forPeople(
      [
        '',
        'Undeliverable: Your order',
        'Delivery has failed to these recipients or groups:',
        'Several attempts to deliver your message were unsuccessful and we stopped trying.',
      ],
      '#550 4.4.7 QUEUE.Expired; message expired ##',
    ),
  ],
  [
    'Exchange 2010: loop',
    'soft',
    ANN,
    '5.4.6',
    forPeople(
      [
        '',
        'Undeliverable: Your order',
        'Delivery has failed to these recipients or groups:',
        "There's a problem with the recipient's mailbox or a forwarding loop.",
      ],
      '#554 5.4.6 Hop count exceeded - possible mail loop ##',
    ),
  ],
  [
    'Exchange Online: restricted group',
    'soft|block',
    ANN,
    '5.7.133',
    withFields(
      'The group only accepts messages from people in its organization or on its allowed senders list.',
      '5.7.133',
      '550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required; Delivery restriction check failed because the sender was not authenticated when sending to this group',
    ),
  ],
  [
    'Exchange Online: mailbox restricted',
    'soft|block',
    ANN,
    '5.7.134',
    withFields(
      "Your message couldn't be delivered.",
      '5.7.134',
      '550 5.7.134 RESOLVER.RST.SenderNotAuthenticatedForMailbox; authentication required',
    ),
  ],
  [
    'Exchange Online: not in the directory',
    'hard',
    ANN,
    '5.4.1',
    withFields(
      "Your message to ann@rcpt.test couldn't be delivered.",
      '5.4.1',
      '550 5.4.1 Recipient address rejected: Access denied. [VE1EUR02FT077.eop-EUR02.prod.protection.outlook.com]',
    ),
  ],
  [
    'Exchange Online: no such domain',
    'hard',
    ANN,
    '5.4.310',
    withFields(
      "Your message to ann@rcpt.test couldn't be delivered. A DNS error occurred.",
      '5.4.310',
      '550 5.4.310 DNS domain rcpt.test does not exist [Message=InfoDomainNonexistent] [LastAttemptedServerName=rcpt.test]',
    ),
  ],
  [
    'Exchange Online: no server',
    'soft',
    ANN,
    '4.4.316',
    withFields(
      'Several attempts to deliver your message were unsuccessful.',
      '4.4.316',
      '550 4.4.316 Connection refused [Message=Socket error code 10061] [LastAttemptedServerName=mx.rcpt.test]',
    ),
  ],
  [
    'Exchange Online: expired',
    'soft',
    ANN,
    '5.4.300',
    withFields(
      'We stopped trying to send it.',
      '5.4.300',
      '550 5.4.300 Message expired -> 451 4.4.397 Error communicating with target host',
    ),
  ],
  [
    'Exchange Online: spam',
    'block',
    ANN,
    '5.7.501',
    withFields(
      'Your message was blocked.',
      '5.7.501',
      '550 5.7.501 Access denied, spam abuse detected. The sending account has been banned due to detected spam activity.',
    ),
  ],
  [
    'Exchange Online: rate of its tenants',
    'soft|block',
    ANN,
    '5.7.705',
    withFields('Your message was not sent.', '5.7.705', '550 5.7.705 Access denied, tenant has exceeded threshold'),
  ],
  [
    'Exchange Online: remote reply',
    'hard',
    ANN,
    '5.1.1',
    withFields(
      'mx.rcpt.test rejected your message to the following email addresses:',
      '5.1.1',
      `550 5.1.1 <${ANN}>: Recipient address rejected: User unknown in relay recipient table`,
    ),
  ],
  [
    'Exchange Online: quota thrown',
    'soft',
    ANN,
    '5.2.2',
    withFields(
      "ann@rcpt.test's mailbox is full.",
      '5.2.2',
      '554 5.2.2 mailbox full;STOREDRV.Deliver.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded; Failed to process message due to a permanent exception with message [BeginDiagnosticData]The mailbox has exceeded its quota',
    ),
  ],
  [
    'Exchange Online: transport rule',
    'block',
    ANN,
    '5.7.1',
    withFields(
      'Your message was blocked by a rule.',
      '5.7.1',
      '550 5.7.1 TRANSPORT.RULES.RejectMessage; the message was rejected by organization policy',
    ),
  ],
  [
    'Exchange Online: forwarding forbidden',
    'block',
    ANN,
    '5.7.520',
    withFields(
      'Your message was not forwarded.',
      '5.7.520',
      '550 5.7.520 Access denied, Your organization does not allow external forwarding. Please contact your administrator for further assistance. AS(7555)',
    ),
  ],
  [
    'Exchange: delay with fields',
    'soft',
    ANN,
    '4.4.7',
    report(
      `Delivery is delayed to these recipients or groups:\n\n${ANN}<mailto:${ANN}>\n\nSubject: Your order\n\nThis message hasn't been delivered yet. Delivery will continue to be attempted.\n\nThe server will keep trying to deliver this message for the next 1 days, 19 hours and 58 minutes. You'll be notified if the message can't be delivered by that time.`,
      `Reporting-MTA: dns;mail.acme.test\n\nFinal-recipient: RFC822; ${ANN}\nAction: delayed\nStatus: 4.4.7\nDiagnostic-Code: smtp;400 4.4.7 Message delayed\nWill-Retry-Until: Wed, 8 May 2024 09:10:11 +0000\n`,
      { from: 'postmaster@acme.test', subject: 'Delivery delayed:Your order' },
    ),
  ],
  [
    'Exchange: delivered',
    'delivered_notice',
    ANN,
    null,
    report(
      `Your message has been delivered to the following recipients:\n\n${ANN} (${ANN})\n\nSubject: Your order`,
      `Reporting-MTA: dns;mail.rcpt.test\n\nFinal-recipient: RFC822; ${ANN}\nAction: delivered\nStatus: 2.0.0\n`,
      { from: 'postmaster@rcpt.test', subject: 'Delivered: Your order' },
    ),
  ],
  [
    'Exchange: relayed',
    'delivered_notice',
    ANN,
    null,
    report(
      `Delivery to these recipients or groups is complete, but no delivery notification was sent by the destination server:\n\n${ANN} (${ANN})\n\nSubject: Your order`,
      `Reporting-MTA: dns;mail.acme.test\n\nFinal-recipient: RFC822; ${ANN}\nAction: relayed\nStatus: 2.0.0\n`,
      { from: 'postmaster@acme.test', subject: 'Relayed: Your order' },
    ),
  ],
  [
    'Exchange: HTML alone',
    'hard',
    ANN,
    null,
    plain(
      `<html><head><style>p{margin:0}</style></head><body><p><b>Your message to ${ANN} couldn't be delivered.</b></p><table><tr><td>ann wasn't found at rcpt.test.</td></tr></table><p>Status code: 550 5.1.1</p></body></html>`,
      {
        from: 'Microsoft Outlook <postmaster@acme.test>',
        subject: 'Undeliverable: Your order',
        type: 'text/html; charset=utf-8',
      },
    ),
  ],
];
