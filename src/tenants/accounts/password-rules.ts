// Rules for a chosen password: long enough, not the address, and not a common one. No rules about kinds of characters:
// they make people choose "Password1!".
import { GUESSED_PASSWORDS } from './guessed-passwords.ts';

/** Long enough that guessing against scrypt is hopeless, short enough for four words. */
export const PASSWORD_MIN_CHARS = 12;
export const PASSWORD_MAX_CHARS = 1024;
/** `abcabcabcabc` repeats a pattern of three. */
const PATTERN_CHARS = 4;
const RUNS = ['abcdefghijklmnopqrstuvwxyz', '01234567890', 'qwertyuiopasdfghjklzxcvbnm', 'qwertzuiopasdfghjklyxcvbnm'];
const RUN_CHARS = 4;

/** What is wrong with it, as a sentence for the user, or null. */
export function passwordProblem(password: string, about: { email: string; name?: string }): string | null {
  const chars = [...password].length;
  if (chars < PASSWORD_MIN_CHARS) return `Use at least ${PASSWORD_MIN_CHARS} characters; four random words are good.`;
  if (chars > PASSWORD_MAX_CHARS) return `Use at most ${PASSWORD_MAX_CHARS} characters.`;
  const plain = password.normalize('NFKC').toLowerCase();
  const own = [about.email, about.email.split('@')[0]!, about.email.split('@')[1]!, about.name ?? ''];
  const resembles = own.some((text) => text.length > 3 && withoutEnds(plain) === withoutEnds(text.toLowerCase()));
  if (resembles) return 'Do not use your address or name; attackers try those first.';
  return isCommon(plain) ? 'This is a common password that attackers try first. Choose another one.' : null;
}

function isCommon(plain: string): boolean {
  const letters = withoutEnds(plain);
  if (GUESSED_PASSWORDS.has(plain) || GUESSED_PASSWORDS.has(letters) || GUESSED_PASSWORDS.has(unleet(letters)))
    return true;
  return repeats(plain) || isRuns(plain);
}

/** An attacker tries `hunter` for `Hunter2024!`, too. */
function withoutEnds(text: string): string {
  return text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '').replace(/[\s._-]+/g, '');
}

function unleet(text: string): string {
  const letters: Record<string, string> = {
    0: 'o',
    1: 'i',
    3: 'e',
    4: 'a',
    5: 's',
    7: 't',
    '@': 'a',
    $: 's',
    '!': 'i',
  };
  return text.replace(/[013457@$!]/g, (char) => letters[char]!);
}

function repeats(text: string): boolean {
  for (let length = 1; length <= PATTERN_CHARS; length++) {
    const pattern = text.slice(0, length);
    if (pattern.repeat(Math.ceil(text.length / length)).slice(0, text.length) === text) return true;
  }
  return false;
}

/** Whether it consists of pieces of the alphabet, the digits or the keyboard, forwards or backwards. */
function isRuns(text: string): boolean {
  const both = RUNS.flatMap((run) => [run, [...run].reverse().join('')]);
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at);
    const longest = Math.max(...both.map((run) => commonStart(rest, run)));
    if (longest < Math.min(RUN_CHARS, rest.length)) return false;
    at += longest;
  }
  return true;
}

/** How long a prefix of the text the run contains. */
function commonStart(text: string, run: string): number {
  let length = 0;
  while (length < text.length && run.includes(text.slice(0, length + 1))) length++;
  return length;
}
