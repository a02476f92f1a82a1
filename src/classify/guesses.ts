// Finds what a text only guesses: `the mailbox may not exist`, `possible reasons: user unknown, mailbox full`. Reports
// write such advice around any failure, and some servers around any refusal, so a guess never makes a hard bounce.
import { CLAUSE_END } from './words.ts';

/** From such a word on, the rest of its clause is a guess. The month is not one. */
const DOUBTS: readonly string[] = [
  '(?<!\\d )may(?! \\d)|might|presumably|(?:most )?likely|could be|can be because',
  'if|whether|either|unless|in case|usually|normally|typically|often|sometimes|this happens|can (?:happen|occur)',
  `such as|(?:maybe|perhaps|possibly|probably|for (?:example|instance)|e g|возможно|вероятно)(?: ${CLAUSE_END})?`,
  'm(?:ö|o|oe)glicherweise|vielleicht|eventuell|vermutlich|wahrscheinlich|falls|mogelijk|misschien|wellicht',
  'peut (?:ê|e)tre|probablement|quiz(?:á|a)s?|posiblemente|probablemente|puede que|es posible que',
  'talvez|possivelmente|provavelmente|forse|probabilmente|может быть|если|być może|byc moze',
  'kanske|måske|kanskje|muligens|可 能(?= [不已没無无])',
];
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
const GUESS_IN_PHRASE = new RegExp(`(?<![^ (|])${DOUBT}(?![^ )|?])`);

/** Words of wordsOf() without what they only guess; the same string if that is nothing. */
export function withoutGuesses(words: string): string {
  return words.replace(GUESS, CLAUSE_END);
}

/** Whether a phrase asks for the guess itself: one server never says it more surely. */
export function isGuess(phrase: string): boolean {
  return GUESS_IN_PHRASE.test(phrase);
}
