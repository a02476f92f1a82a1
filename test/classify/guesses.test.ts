// A guess never makes a hard bounce: what may be, what a list of causes names, what advice supposes. Statements
// beside a guess still do. None of these texts is a sample of a rule or a mail of the corpus.
import t from 'tap';
import { classifyReply } from '../../src/classify/classify-reply.ts';
import { explainMail } from '../../src/classify/explain-mail.ts';
import { withoutGuesses } from '../../src/classify/guesses.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { readReply } from '../../src/classify/read-reply.ts';
import { wordsOf } from '../../src/classify/words.ts';
import { ProcessorTime } from '../support/patience.ts';
import { sampleReport } from './sample-report.ts';

const rules = loadBounceRules(SHIPPED_RULES);

const GUESSED = [
  '550 Recipient rejected: the mailbox may not exist',
  '550 Mail refused: the recipient may be unknown, or the mailbox might not exist',
  '550 5.7.1 Refused; the user is possibly unknown',
  '550 Perhaps no such user',
  '550 Maybe, no such user',
  '550 Cannot say whether this user is unknown',
  '550 If this user does not exist, we will not say so',
  '550 Either the user does not exist or you may not write to it',
  '550 Delivery failed. This usually means that the account does not exist',
  '550 Could not deliver. The most likely reason is an unknown user',
  '550 Rejected, e.g. user unknown',
  '550 Failed for one of the following reasons: no such user, mailbox full, spam',
  '550 Recipient refused. Possible causes: the account has been deleted, mailbox full',
  '554 Delivery failed, the account might have been closed',
  '554 The domain may not exist or has no mail server',
  '550 Der Empfänger ist möglicherweise unbekannt',
  '550 Vermutlich existiert das Postfach nicht: Postfach unbekannt',
  '550 Le destinataire est peut-être inconnu',
  '550 Quizás el usuario no existe',
  '550 Возможно, пользователь не найден',
  '550 收件人可能不存在',
  // Conditions, which are guesses, too.
  '554 When the recipient address does not exist, check it',
  '554 Should the recipient be unknown, check the address',
  "554 Si l'adresse n'existe pas, vérifiez l'orthographe",
  '554 Cela se produit si le destinataire est inconnu',
  '554 Lorsque le destinataire est inconnu, vérifiez son adresse',
  '554 Si la dirección no existe, compruebe la ortografía',
  '554 Cuando el usuario no existe, revise la dirección',
  "554 Se l'indirizzo non esiste, controllare",
  '554 Se o usuário não existe, verifique o endereço',
  '554 Isso acontece quando o endereço não existe ou a caixa está cheia',
  '554 Sollte der Empfänger unbekannt sein, prüfen Sie die Adresse',
  '554 Bitte prüfen Sie, ob der Empfänger unbekannt ist',
  '554 Wenn der Empfänger unbekannt ist, prüfen Sie die Adresse',
  '554 Als de ontvanger onbekend is, controleer het adres',
  '554 Jeśli konto nie istnieje, sprawdź adres',
  '554 Om mottagaren finns inte, kontrollera adressen',
  '554 Hvis brugeren findes ikke, kontroller adressen',
  '554 Pokud adresa neexistuje, zkontrolujte ji',
  '554 Когда пользователь не найден, проверьте адрес',
  '554 Nếu địa chỉ không tồn tại',
  '554 如果收件人不存在，请检查地址。',
  '554 当收件人不存在时，请检查地址。',
  '554 宛先が存在しません場合があります。',
  '554 주소가 존재하지 않는 경우 확인하십시오',
];

const STATED = [
  '550 No such user here; if in doubt, call the postmaster',
  '550 User unknown, it may have been deleted',
  '550 The user you tried to reach does not exist. Perhaps you mistyped the address',
  '550 The usual cause is a typing mistake. No such user here',
  '550 User unknown. Possible reasons: typing mistake, old address book',
  '550 Your message was not delivered because user unknown. Usually a typing mistake',
  '550 mx.rcpt.test Thu, 1 May 2025 08:00:00 user unknown',
  '550 mx.rcpt.test May 12 08:00:00 no such user here',
  '550 5.1.1 The mailbox may not exist',
  '550 收件人不存在',
  // The same words are pronouns, or begin another clause.
  '550 Se ha producido un error: el usuario no existe',
  '550 No se encontró: el usuario no existe',
  '550 Si è verificato un errore: utente sconosciuto',
  '550 El usuario no existe. Si cree que es un error, avise',
  '550 Der Empfänger wurde als unbekannt gemeldet: Empfänger unbekannt',
  '550 Error when looking it up: no such user',
  '550 宛先が存在しません。この場合は管理者に連絡してください。',
];

t.test('a guess is never hard', async (t) => {
  for (const reply of GUESSED) {
    const { class: bounce, rule } = classifyReply({ ...readReply(reply), stage: 'rcpt' }, rules);
    t.not(bounce, 'hard', `${reply}: ${rule}`);
  }
});

t.test('a statement beside a guess, and a code of absence, are hard', async (t) => {
  for (const reply of STATED) {
    const { class: bounce, rule } = classifyReply({ ...readReply(reply), stage: 'rcpt' }, rules);
    t.equal(bounce, 'hard', `${reply}: ${rule}`);
  }
});

const ADVICE = [
  'The usual cause of this problem is invalid\nrecipient address or maintenance at the recipient side.',
  'The address may not exist, or the server may be refusing mail.',
  'Please find out whether the address is invalid or the user unknown.',
  'Typical reasons: user unknown, host not reachable.',
  'This can happen when the account has been closed or the mailbox is full.',
  'Mögliche Gründe: Der Empfänger existiert nicht, oder die Adresse ist falsch.',
  'Causes possibles : destinataire inconnu, boîte pleine.',
  'It was returned either because the mailbox does not exist or because a filter refused it.',
  "Si l'adresse n'existe pas, vérifiez l'orthographe.",
  'Si la dirección no existe, compruebe la ortografía.',
  "Se l'indirizzo non esiste, controllare l'ortografia.",
  'Isso acontece quando o endereço não existe ou a caixa está cheia.',
  'Sollte der Empfänger unbekannt sein, prüfen Sie bitte die Adresse.',
  '如果收件人不存在，请检查地址。',
  '宛先が存在しません場合があります。',
  'When the recipient address does not exist, check its spelling.',
];

function reportOf(advice: string, reply: string | null): Buffer {
  return sampleReport({
    text: `Your message to ann@rcpt.test could not be delivered.
${advice}`,
    reply,
  });
}

t.test('the advice in a report is no reason for a hard bounce', async (t) => {
  for (const text of ADVICE) {
    for (const reply of ['554 Transaction failed', null]) {
      const { kind, rule } = explainMail(reportOf(text, reply), rules);
      t.not(kind, 'hard', `${text}, ${reply}: ${rule}`);
    }
    const stated = explainMail(reportOf(text, '550 No such user here'), rules);
    t.equal(stated.kind, 'hard', `${text}: ${stated.rule}`);
  }
});

t.test("a server's own sentence for every failure says nothing about this one", async (t) => {
  const { label } = explainMail(reportOf(ADVICE[0]!, '554 Transaction failed'), rules);
  t.not(label, 'address_syntax');
});

t.test('what is left is the same text if it guesses nothing', async (t) => {
  const words = wordsOf('550 5.1.1 User unknown on 1 May 2025, and on May 2');
  t.equal(withoutGuesses(words), words);
  t.notMatch(withoutGuesses(wordsOf('The user may be unknown, it was here')), /unknown/);
  t.match(withoutGuesses(wordsOf('The user may be unknown, it was here')), /it was here/);
});

t.test('no text takes long', async (t) => {
  for (const text of [
    'possible reasons ',
    'may, ',
    'usual causes, ',
    'if ',
    'mögliche ',
    'x, ',
    '1 ',
    'si la ',
    '場',
  ]) {
    const words = wordsOf(text.repeat(1_000));
    const time = new ProcessorTime();
    withoutGuesses(words);
    t.ok(time.usedMs < 50, `${text}: ${time.usedMs} ms of processor time`);
  }
});
