// Finds what a text only guesses: `the mailbox may not exist`, `possible reasons: user unknown, mailbox full`. Reports
// write such advice around any failure, and some servers around any refusal, so a guess never makes a hard bounce.
import { CLAUSE_END, PAUSE, SIGNS } from './words.ts';

/** Words that mean something else within a clause: `no se encontró`, `als unbekannt gemeldet`. */
const AT_BEGINNING = `(?<=(?:^|[${CLAUSE_END}${PAUSE}${Object.values(SIGNS).join('')}])(?: \\d+){0,2} )`;
const ARTICLE =
  '(?:el|la|los|las|lo|il|i|gli|uno?|una|une|uma?|o|a|os|as|sus?|seu|sua|ce|cet|cette|cela|est[ea]|ess[ea]|quest[oaei]|votre|vous|você|voce|usted|no|non|não|nao|l[^ ]{3,})(?= )';
/** From such a word on, the rest of its clause is a guess. The month is not one. */
const DOUBTS: readonly string[] = [
  '(?<!\\d )may(?! \\d)|might|presumably|(?:most )?likely|could be|can be because',
  'if|whether|either|unless|in case|usually|normally|typically|often|sometimes|this happens|can (?:happen|occur)',
  `such as|(?:maybe|perhaps|possibly|probably|for (?:example|instance)|e g|возможно|вероятно)(?: ${CLAUSE_END})?`,
  'm(?:ö|o|oe)glicherweise|vielleicht|eventuell|vermutlich|wahrscheinlich|falls|mogelijk|misschien|wellicht',
  'peut (?:ê|e)tre|probablement|quiz(?:á|a)s?|posiblemente|probablemente|puede que|es posible que',
  'talvez|possivelmente|provavelmente|forse|probabilmente|может быть|если|być może|byc moze',
  'kanske|måske|kanskje|muligens|可 能(?= [不已没無无])',
  // Conditions.
  `${AT_BEGINNING}(?:when(?= (?:the|an?|this|that|your|its|their) )|should(?= (?:the|your|this|that) ))`,
  `wenn|sofern|sollten?|im falle|für den fall|${AT_BEGINNING}ob|indien|${AT_BEGINNING}(?:wanneer|als(?= (?:de|het|een|uw|dit) ))`,
  `si(?= (?:${ARTICLE}|les? ))|${AT_BEGINNING}se(?= ${ARTICLE})|${AT_BEGINNING}(?:lorsque|lorsqu[^ ]+|quand|cuando|quando|caso(?= [oa]s? ))`,
  'cela (?:arrive|se produit)|(?:en|no|nel) caso|(?:dans le|au) cas|qualora|est[eo] (?:ocurre|sucede)|(?:isso|isto) (?:acontece|ocorre)|questo (?:accade|succede)',
  `${AT_BEGINNING}(?:когда|gdy|om|när|når|αν|ha(?= az? ))|в случае|якщо|je(?:ś|s)li|je(?:ż|z)eli|hvis|dersom|jos|pokud|jestliže|amennyiben`,
  'e(?:ğ|g)er|dac(?:ă|a)|εάν|όταν|nếu|إذا|اذا|אם|(?:หาก|ถ้า)[^ ]*',
  `如 果|若(?! 干)|假 如|倘 若|是 否|${AT_BEGINNING}[当當]|も し|만 약`,
];
/** They come behind what they make a guess. */
const DOUBTS_BEHIND = '場 合|可 能 性|か も し れ|경 우|[않없] 을 수 있';
/** A list of what causes such failures: up to four clauses. One cause is one clause. */
const CAUSES: readonly string[] = [
  '(?:possible|usual|common|typical|likely|frequent|some|other|following) (?:causes|reasons)|(?:causes|reasons) (?:are|include|like)',
  '(?:m(?:ö|o|oe)gliche|h(?:ä|a|ae)ufige|typische) (?:ursachen|gr(?:ü|u|ue)nde)',
  '(?:causes|raisons) (?:possibles|fréquentes|frequentes|probables)',
  '(?:posibles|possíveis|possiveis|possibili) (?:causas|cause|razones|motivos|motivi)',
];
const ONE_CAUSE = '(?:possible|usual|common|commonest|typical|likely|frequent) (?:cause|reason)';

const TO_ITS_END = `(?: [^ ${CLAUSE_END}]+)*`;
const DOUBT = `(?:${DOUBTS.join('|')}|${ONE_CAUSE})`;
const GUESS = new RegExp(
  `(?<= )(?:(?:${CAUSES.join('|')})(?= )${TO_ITS_END}(?: ${CLAUSE_END}${TO_ITS_END}){0,3}|${DOUBT}(?= )${TO_ITS_END})`,
  'g',
);
const GUESS_BEFORE = new RegExp(`(?<=^|${CLAUSE_END})(?: [^ ${CLAUSE_END}]+)*? (?:${DOUBTS_BEHIND})(?= )`, 'g');
const GUESS_IN_PHRASE = new RegExp(`(?<![^ (|])${DOUBT}(?![^ )|?])`);

/** Words of wordsOf() without what they only guess; the same string if that is nothing. */
export function withoutGuesses(words: string): string {
  return words.replace(GUESS, CLAUSE_END).replace(GUESS_BEFORE, ` ${CLAUSE_END}`);
}

/** Whether a phrase asks for the guess itself: one server never says it more surely. */
export function isGuess(phrase: string): boolean {
  return GUESS_IN_PHRASE.test(phrase);
}
