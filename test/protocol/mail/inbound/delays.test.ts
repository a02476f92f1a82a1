// What is final in a text-only report, and what is a delay: words of a delay are not enough where a final reply is next
// to the recipient, and "not yet" is a delay in every language.
import t from 'tap';
import { explainMail } from '../../../../src/classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../../../src/classify/load-rules.ts';

const rules = loadBounceRules(SHIPPED_RULES);

function explain(subject: string, text: string) {
  const fields = `From: MAILER-DAEMON@mx.test\nTo: s@acme.test\nX-Failed-Recipients: ann@rcpt.test\nSubject: ${subject}\nContent-Type: text/plain; charset=utf-8`;
  const { recipients } = explainMail(Buffer.from(`${fields}\n\n${text}\n`), rules);
  return recipients;
}

t.test('a failure', async (t) => {
  for (const [subject, text] of [
    [
      'Undelivered',
      'Your message has not been delivered to the following recipient:\n\nann@rcpt.test\n550 5.1.1 User unknown',
    ],
    ['Undelivered', 'Your message has not been delivered because the recipient ann@rcpt.test does not exist.'],
    ['Undelivered', 'Your message was not delivered to ann@rcpt.test: user unknown'],
    ['Warning', 'This is a warning: your mail to ann@rcpt.test was rejected: 550 No such user here'],
    ['Message delayed', '<ann@rcpt.test>: 550 5.1.1 User unknown'],
    ['Verzögerte Zustellung', '<ann@rcpt.test>: 550 5.1.1 User unknown'],
  ] as const) {
    t.match(explain(subject, text), [{ recipient: 'ann@rcpt.test', action: 'failed', kind: 'hard' }], text);
  }
});

t.test('a delay', async (t) => {
  const name = '\n\nann@rcpt.test';
  for (const [subject, text] of [
    ['Undelivered', `Your message has not yet been delivered to the following recipient:${name}`],
    ['Undelivered', `Your message has not been delivered to the following recipient yet:${name}`],
    ['Undelivered', `Your message hasn't been delivered yet. Delivery will continue to be attempted.${name}`],
    ['Warning', `This is a warning.${name}\nConnection timed out`],
    ['Warning', `This is a warning.${name}\n550 No such user here\n\nIt will be retried for two more days.`],
    ['Message delayed', `<ann@rcpt.test>: 451 4.7.1 Greylisting`],
    ['Verzögerte Zustellung', `Ihre Nachricht konnte bisher nicht zugestellt werden.${name}`],
    ['Information', `Ihre Nachricht wurde noch nicht zugestellt.${name}`],
    ['Remise retardée', `<ann@rcpt.test>: 451 4.7.1 Greylisting`],
    ['Information', `Votre message n'a pas encore pu être remis.${name}`],
    ['Entrega retrasada', `Su mensaje todavía no se ha podido entregar.${name}`],
    ['Aviso', `Su mensaje no ha podido entregarse todavía.${name}`],
    ['Aviso', `A sua mensagem ainda não pôde ser entregue.${name}`],
    ['Avviso', `Il messaggio non è stato ancora consegnato.${name}`],
    ['Avviso', `Il messaggio non è ancora stato possibile consegnarlo.${name}`],
    ['Melding', `Uw bericht is nog niet bezorgd.${name}`],
    ['Meddelande', `Meddelandet har ännu inte kunnat levereras.${name}`],
    ['Informacja', `Wiadomość nie została jeszcze dostarczona.${name}`],
    ['Сообщение', `Сообщение пока не доставлено.${name}`],
    ['配信遅延', `メッセージはまだ配信されていません。${name}`],
    ['通知', `您的邮件尚未送达。${name}`],
    ['알림', `메시지가 아직 전송되지 않았습니다.${name}`],
  ] as const) {
    t.match(
      explain(subject, text),
      [{ recipient: 'ann@rcpt.test', action: 'delayed', kind: 'soft' }],
      `${subject}: ${text}`,
    );
  }
});

t.test('a failure in the same languages', async (t) => {
  for (const text of [
    'Ihre Nachricht konnte nicht zugestellt werden.',
    "Votre message n'a pas pu être remis.",
    'Su mensaje no se ha podido entregar.',
    'A sua mensagem não pôde ser entregue.',
    'Il messaggio non è stato consegnato.',
    'Uw bericht kon niet worden bezorgd.',
    'Сообщение не доставлено.',
    'メッセージは配信されませんでした。',
    '您的邮件无法送达。',
  ]) {
    t.match(explain('Information', `${text}\n\n<ann@rcpt.test>: 550 5.1.1`), [{ action: 'failed' }], text);
  }
});
