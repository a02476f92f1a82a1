// Reads source files as far as the architecture rules need it: imports, code without comments,
// code without texts. A few regular expressions instead of a parser, so that the test runs in no
// time; nested template literals may be taken for code, which no rule minds.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Import {
  specifier: string;
  line: number;
  /** A worker file named by URL: it runs, but in another thread. */
  byUrl: boolean;
  /** Loaded along with the file that imports: no type, which is nothing at run time, and no `import()`, which is later. */
  atOnce: boolean;
}

export interface Source {
  /** From the root of the project: `src/base/ids.ts`. */
  file: string;
  text: string;
  /** Comments are blanks; lines and columns stay. */
  withoutComments: string;
  /** Comments, texts and regular expressions are blanks. */
  codeOnly: string;
  imports: Import[];
}

const TOKENS =
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|(?<=(?:[=(,:;!&|?{}[>]|^|return)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/g;

const STATIC_IMPORT = /\b(?:import|export)\s+(?:type\s+)?(?:[\w$*{}\s,]+?\s+from\s+)?(['"])([^'"\n]+)\1/g;
const TYPE_IMPORT = /^(?:import|export)\s+type\b/;
const DYNAMIC_IMPORT = /\bimport\s*\(\s*(['"])([^'"\n]+)\1/g;
const IMPORT_BY_URL = /\bnew\s+URL\(\s*(['"])(\.{1,2}\/[^'"\n]+\.ts)\1\s*,\s*import\.meta\.url/g;

export function readSources(root: string): Source[] {
  const files = globSync('src/**/*.ts', { cwd: root }).sort();
  return files.map((file) => parseSource(file.split(path.sep).join('/'), readFileSync(path.join(root, file), 'utf8')));
}

export function parseSource(file: string, text: string): Source {
  const withoutComments = text.replace(TOKENS, (token, ...rest) => (rest.at(-1).comment ? blank(token) : token));
  const codeOnly = text.replace(TOKENS, blank);
  return { file, text, withoutComments, codeOnly, imports: findImports(withoutComments) };
}

/** What the specifier means, seen from the file: `src/base/ids.ts`. */
export function resolveImport(file: string, specifier: string): string {
  return path.posix.join(path.posix.dirname(file), specifier);
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

function findImports(code: string): Import[] {
  const found = (pattern: RegExp, kind: Partial<Import>) =>
    [...code.matchAll(pattern)].map((match) => {
      const atOnce = pattern === STATIC_IMPORT && !TYPE_IMPORT.test(match[0]);
      return { specifier: match[2]!, line: lineAt(code, match.index), byUrl: false, atOnce, ...kind };
    });
  return [...found(STATIC_IMPORT, {}), ...found(DYNAMIC_IMPORT, {}), ...found(IMPORT_BY_URL, { byUrl: true })];
}

function blank(token: string): string {
  return token.replace(/[^\n]/g, ' ');
}
