// The architecture rules as pure functions: sources in, violations out, one line each.
import { builtinModules } from 'node:module';
import path from 'node:path';
import { lineAt, resolveImport, type Source } from './read-source.ts';
import {
  HEAVY_HOMES,
  HOMES,
  homeOf,
  houseOf,
  importProblem,
  PACKAGE_HOMES,
  PROCESS_EXCEPTIONS,
  PROCESS_HOMES,
} from './tiers.ts';

export const LONG_LINES = 300;
export const STOP_LINES = 400;

export type Rule = (sources: readonly Source[]) => string[];

const listedFolders: Rule = (sources) =>
  [...new Set(sources.map(({ file }) => homeOf(file)))]
    .filter((home) => !Object.hasOwn(HOMES, home))
    .map((home) => `src/${home}: not listed in test/architecture/tiers.ts; give it a tier`);

const importsRunDownhill: Rule = (sources) =>
  sources.flatMap(({ file, imports }) => {
    const from = homeOf(file);
    if (!HOMES[from]) return [];
    return imports.flatMap(({ specifier, line }) => {
      if (!specifier.startsWith('.')) return [];
      const target = resolveImport(file, specifier);
      const to = homeOf(target);
      if (!target.startsWith('src/')) return [`${file}:${line}: imports ${target}, outside of src/`];
      const problem = HOMES[to] ? importProblem(from, to) : null;
      return problem ? [`${file}:${line}: imports ${target}, but ${problem}`] : [];
    });
  });

const importsResolve: Rule = (sources) => {
  const files = new Set(sources.map(({ file }) => file));
  return sources.flatMap(({ file, imports }) =>
    imports
      .filter(({ specifier }) => specifier.startsWith('.'))
      .filter(({ specifier }) => resolveImport(file, specifier).startsWith('src/'))
      .filter(({ specifier }) => !files.has(resolveImport(file, specifier)))
      .map(({ specifier, line }) => `${file}:${line}: imports ${specifier}, which does not exist`),
  );
};

export function packagesAtHome(dependencies: readonly string[]): Rule {
  return (sources) =>
    sources.flatMap(({ file, imports }) =>
      imports.flatMap(({ specifier, line }) => {
        const problem = specifier.startsWith('.') ? null : packageProblem(homeOf(file), specifier, dependencies);
        return problem ? [`${file}:${line}: imports ${specifier}, ${problem}`] : [];
      }),
    );
}

function packageProblem(home: string, specifier: string, dependencies: readonly string[]): string | null {
  if (specifier.startsWith('node:')) return null;
  if (builtinModules.includes(specifier)) return `which is written node:${specifier}`;
  if (home === 'base') return 'but base needs nothing but Node';
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  if (!dependencies.includes(name)) return 'which is not in the dependencies of package.json';
  const homes = PACKAGE_HOMES[name];
  return homes && !homes.includes(home) && !homes.includes(houseOf(home))
    ? `which only ${homes.join(', ')} may know`
    : null;
}

const noCycles: Rule = (sources) => {
  const targets = new Map(
    sources.map(({ file, imports }) => {
      const own = imports.filter(({ specifier, byUrl }) => specifier.startsWith('.') && !byUrl);
      return [file, own.map(({ specifier }) => resolveImport(file, specifier))];
    }),
  );
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): void => {
    const start = trail.indexOf(file);
    if (start >= 0) cycles.push(`cycle: ${[...trail.slice(start), file].join(' -> ')}`);
    if (start >= 0 || done.has(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...trail, file]);
    done.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return cycles;
};

/** What the program loads before it knows what to do, and to read the arguments of a command: no package, no heavy folder. */
const lightStart: Rule = (sources) => {
  const byFile = new Map(sources.map((source) => [source.file, source]));
  const problems: string[] = [];
  const visit = (file: string, trail: readonly string[], seen: Set<string>): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const path = [...trail, file];
    const told = (what: string) => problems.push(`${path.join(' -> ')}: loads ${what}; import() it where it is used`);
    if (HEAVY_HOMES.includes(homeOf(file)) || HEAVY_HOMES.includes(houseOf(homeOf(file))))
      return void told(`all that ${homeOf(file)} needs`);
    for (const { specifier, atOnce } of byFile.get(file)?.imports ?? []) {
      if (!atOnce || specifier.startsWith('node:')) continue;
      if (specifier.startsWith('.')) visit(resolveImport(file, specifier), path, seen);
      else told(specifier);
    }
  };
  const starts = sources.filter(({ file }) => file === 'src/main.ts' || homeOf(file) === 'cli/commands');
  for (const { file } of starts) visit(file, [], new Set());
  return problems;
};

const noBarrels: Rule = (sources) =>
  sources
    .filter(({ withoutComments }) => {
      const rest = withoutComments.replace(/^export\s+(?:type\s+)?[\w$*{}\s,]+?\s+from\s+['"][^'"\n]+['"];?/gm, '');
      return rest.trim() === '' && rest !== withoutComments;
    })
    .map(({ file }) => `${file}: only exports again what others export; import from them`);

const noSideDoors: Rule = (sources) =>
  sources.flatMap(({ file, codeOnly }) => {
    const home = homeOf(file);
    const homes = [home, houseOf(home)];
    if (homes.some((name) => PROCESS_HOMES.includes(name))) return [];
    const allowed = PROCESS_EXCEPTIONS.filter((exception) => exception.home === home);
    return [...codeOnly.matchAll(/\bprocess\s*\.\s*(env|exit)\b(\s*\.\s*\w+)?/g)]
      .filter(([text]) => !allowed.some((exception) => exception.text === text.replace(/\s/g, '')))
      .map(
        (match) =>
          `${file}:${lineAt(codeOnly, match.index)}: process.${match[1]} outside ${PROCESS_HOMES.join(', ')}; take the value as a parameter`,
      );
  });

const noModuleState: Rule = (sources) =>
  sources.flatMap(({ file, codeOnly }) =>
    [...codeOnly.matchAll(/^(?:export\s+)?(?:let|var)\s+([\w$]+)/gm)].map(
      (match) => `${file}:${lineAt(codeOnly, match.index)}: ${match[1]} is state of the module; put it into an object`,
    ),
  );

const SQL = /\b(?:SELECT\s[\s\S]{1,200}?\sFROM|INSERT\s+(?:OR\s+\w+\s+)?INTO|DELETE\s+FROM|UPDATE\s+\w+\s+SET)\s/g;

/** A bag holds more than a part needs; the daemon's holds what opens every secret. */
const partsByName: Rule = (sources) =>
  sources.flatMap(({ file, codeOnly }) =>
    [...codeOnly.matchAll(/\.\.\.((?:this\.)?#?(?:foundation|kit))\b(?!\.)/g)].map(
      ({ index, 1: bag }) =>
        `${file}:${lineAt(codeOnly, index)}: ...${bag} hands over a whole bag; name what the part uses`,
    ),
  );

/** An object that is spread where it is written is there for the formatter alone: it says nothing to a reader. */
const plainObjects: Rule = (sources) =>
  sources.flatMap(({ file, codeOnly }) =>
    [...codeOnly.matchAll(/\.\.\.\{ /g)].map(
      ({ index }) =>
        `${file}:${lineAt(codeOnly, index)}: ...{ is for the formatter alone; write the members one by one`,
    ),
  );

const SQL_HOUSES = new Set(['store/sql', 'store/sqlite', 'store/postgres']);

const sqlAtHome: Rule = (sources) =>
  sources
    .filter(({ file }) => !SQL_HOUSES.has(houseOf(homeOf(file))))
    .flatMap(({ file, withoutComments }) =>
      [...withoutComments.matchAll(SQL)].map(
        (match) => `${file}:${lineAt(withoutComments, match.index)}: SQL outside of the store's drivers`,
      ),
    );

/** A generator that nobody runs asks nothing, and for the compiler there is nothing wrong with that. */
const stepsAreRun: Rule = (sources) => {
  const inSql = sources.filter(({ file }) => houseOf(homeOf(file)) === 'store/sql');
  const generators = inSql.flatMap(({ codeOnly }) =>
    [...codeOnly.matchAll(/\bfunction\*\s*(\w+)/g)].map(([, name]) => name),
  );
  const asks = [
    String.raw`db\s*\.sql\(`,
    String.raw`\w+\.(?:get|all|run)\(`,
    ...generators.map((name) => `${name}\\(`),
  ];
  const atTheStart = new RegExp(
    String.raw`(?<=(?:[;{}]|\b(?:if|for|while) \(.*\)|\belse)\s+)(?:${asks.join('|')})(?!.*\): )`,
    'g',
  );
  return inSql.flatMap(({ file, codeOnly }) =>
    [...codeOnly.matchAll(atTheStart)].map(
      ({ index, 0: text }) =>
        `${file}:${lineAt(codeOnly, index)}: ${text.replace(/\s/g, '')} is never run: yield* is missing`,
    ),
  );
};

const openingComment: Rule = (sources) =>
  sources.flatMap(({ file, text }) => {
    const lines = text.split('\n');
    const end = lines.findIndex((line) => !line.startsWith('//'));
    const count = end < 0 ? lines.length : end;
    if (count === 0) return [`${file}: does not open with a comment that says what it is for`];
    return count > 5 ? [`${file}: opens with ${count} lines of comment; five are enough`] : [];
  });

const EMPTY_WORDS = new Set(['util', 'utils', 'common', 'helper', 'helpers', 'manager', 'index', 'misc']);

const tellingNames: Rule = (sources) =>
  sources.flatMap(({ file }) => {
    const problems: string[] = [];
    for (const part of file.replace(/\.ts$/, '').split('/')) {
      const empty = part.split(/[-.]/).find((word) => EMPTY_WORDS.has(word.toLowerCase()));
      if (empty) problems.push(`${file}: "${empty}" says nothing; name it after what it holds`);
    }
    if (!/^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(path.posix.basename(file))) problems.push(`${file}: not in kebab-case`);
    return problems;
  });

const boundedLength: Rule = (sources) =>
  sources
    .filter(({ text }) => countLines(text) > STOP_LINES)
    .map(({ file, text }) => `${file}: ${countLines(text)} lines; ${STOP_LINES} is the stop`);

/** Not violations: files on their way to one. */
export function longFiles(sources: readonly Source[]): string[] {
  return sources
    .filter(({ text }) => countLines(text) > LONG_LINES)
    .map(({ file, text }) => `${file}: ${countLines(text)} lines; aim for at most ${LONG_LINES}`);
}

function countLines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

export const RULES: Readonly<Record<string, Rule>> = {
  'every folder has its tier': listedFolders,
  'imports run downhill': importsRunDownhill,
  'imports exist': importsResolve,
  'no cycles': noCycles,
  'commands start light': lightStart,
  'no barrel files': noBarrels,
  'environment and exit only where the process is run': noSideDoors,
  'no module state': noModuleState,
  'parts get what they use by name': partsByName,
  'objects are written plainly': plainObjects,
  'SQL only in the drivers': sqlAtHome,
  'steps are run': stepsAreRun,
  'every file says what it is for': openingComment,
  'names say something': tellingNames,
  'files end before they are too long': boundedLength,
};
