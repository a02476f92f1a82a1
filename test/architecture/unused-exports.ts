// Finds values that a file of src/ exports and nobody imports: dead, or meant for the file alone. Types are left out, since
// they name the parts of what is exported.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { resolveImport } from './read-source.ts';

export interface CheckedFile {
  /** From the root of the project. */
  file: string;
  text: string;
}

const EXPORTED = /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class)\s+([\w$]+)/gm;
const NAMED = /\b(?:import|export)\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?\{([^}]*)\}\s+from\s+'(\.[^']+)'/g;
const UNPACKED = /\{([^{}]*)\}\s*=\s*await import\(\s*'(\.[^']+)'/g;
const PICKED = /\(await import\('(\.[^']+)'\)\)\.([\w$]+)/g;
/** Whoever takes the whole module may use all of it. */
const WHOLE =
  /\bimport\s+(?:type\s+)?\*\s+as\s+[\w$]+\s+from\s+'(\.[^']+)'|(?:return|=>|(?<!\}\s*)=|:)\s*(?:await )?import\('(\.[^']+)'\)/g;
/** Modules that are loaded by their URL, for what they export. */
const BY_URL = /new URL\(\s*'(\.[^']+\.ts)'/g;

export function readAll(root: string): CheckedFile[] {
  const files = globSync('{src,test,bench,scripts,packaging}/**/*.ts', { cwd: root }).sort();
  return files.map((file) => ({
    file: file.split(path.sep).join('/'),
    text: readFileSync(path.join(root, file), 'utf8'),
  }));
}

export function unusedExports(files: readonly CheckedFile[]): string[] {
  const used = new Set<string>();
  const whole = new Set<string>();
  for (const { file, text } of files) {
    const use = (specifier: string, name: string) => used.add(`${resolveImport(file, specifier)} ${name}`);
    for (const pattern of [NAMED, UNPACKED]) {
      for (const [, names = '', specifier = ''] of text.matchAll(pattern)) {
        for (const name of names.split(',')) use(specifier, originalName(name));
      }
    }
    for (const [, specifier = '', name = ''] of text.matchAll(PICKED)) use(specifier, name);
    for (const [, ...found] of [...text.matchAll(WHOLE), ...text.matchAll(BY_URL)]) {
      whole.add(resolveImport(file, found.find((specifier) => specifier !== undefined)!));
    }
  }
  return files
    .filter(({ file }) => file.startsWith('src/') && !whole.has(file))
    .flatMap(({ file, text }) =>
      [...text.matchAll(EXPORTED)]
        .filter(([, name]) => !used.has(`${file} ${name}`))
        .map(([, name]) => `${file}: nobody imports ${name}; remove it, or only its "export"`),
    );
}

/** Of `type a as b` it is `a`. */
function originalName(written: string): string {
  return written
    .trim()
    .replace(/^type\s+/, '')
    .split(/\s+as\s+|\s*:\s*/)[0]!;
}

/** Tests see by these what other verbs wrote; the daemon asks for the same in another process or thread. */
const ASKED_BY_TESTS = new Set(['figures.providersOf', 'inbound.listDmarcDays', 'transportSecurity.findBrokenTls']);

/** Verbs of the store, such as `queue.claim`, that nothing in src/ calls. */
export function unusedVerbs(verbs: readonly string[], files: readonly CheckedFile[]): string[] {
  const callers = files.filter(({ file }) => file.startsWith('src/') && !file.startsWith('src/store/'));
  const text = callers.map((file) => file.text).join('\n');
  return verbs
    .filter((verb) => !ASKED_BY_TESTS.has(verb) && !new RegExp(`\\.${verb.split('.')[1]}\\b`).test(text))
    .map((verb) => `src/store/verbs.ts: nobody calls ${verb}; remove it with its work`);
}
