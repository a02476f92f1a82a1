// Reads config/bounce-rules.toml. Collects every problem and names its rule; a file with a problem
// stops the start, because an incomplete set of rules would judge wrongly.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'smol-toml';
import { describeError } from '../base/errors.ts';
import type { BounceRule } from './bounce-rule.ts';
import { type BounceRules, compileRules } from './classify-reply.ts';
import { readPhrases, readRule } from './read-rule.ts';

export const SHIPPED_RULES = fileURLToPath(new URL('../../config/bounce-rules.toml', import.meta.url));

export function loadBounceRules(file: string): BounceRules {
  return parseBounceRules(readFileSync(file, 'utf8'), file);
}

/** Throws an Error that names every problem. */
export function parseBounceRules(toml: string, file: string): BounceRules {
  const problems: string[] = [];
  const rules = readDocument(toml, problems);
  const compiled = compileRules(rules, (problem) => void problems.push(problem));
  if (problems.length > 0)
    throw new Error(`${file} cannot be used:\n${problems.map((text) => `  ${text}`).join('\n')}`);
  return compiled;
}

function readDocument(toml: string, problems: string[]): BounceRule[] {
  let document: Record<string, unknown>;
  try {
    document = parse(toml);
  } catch (error) {
    problems.push(describeError(error).split('\n')[0]!);
    return [];
  }
  const { rule: tables, phrases: lists = {}, ...others } = document;
  for (const name of Object.keys(others)) problems.push(`${name}: only [phrases] and [[rule]] stand here`);
  if (!Array.isArray(tables) || tables.length === 0) {
    problems.push('there is no [[rule]]');
    return [];
  }
  const read = readLists(lists, problems);
  const rules = tables.map((table, index) => readRule(table, { index, lists: read, problems }));
  checkTogether(rules, problems);
  return rules;
}

/** A list may include lists that are defined above it. */
function readLists(lists: unknown, problems: string[]): Map<string, readonly string[]> {
  const read = new Map<string, readonly string[]>();
  for (const [name, phrases] of Object.entries(lists as Record<string, unknown>)) {
    const addProblem = (problem: string) => void problems.push(`phrases.${name}: ${problem}`);
    read.set(name, readPhrases(phrases, { key: 'the list', lists: read, addProblem }));
  }
  return read;
}

function checkTogether(rules: BounceRule[], problems: string[]): void {
  const ids = new Set<string>();
  for (const { id } of rules) {
    if (ids.has(id)) problems.push(`${id}: there are two rules of this id`);
    ids.add(id);
  }
  const last = rules.at(-1)!;
  const conditions = [last.codes, last.enhanced, last.text, last.unless, last.stages, last.mx];
  if (conditions.some((list) => list.length > 0) || last.class === 'hard') {
    problems.push(`${last.id}: the last rule must fit every reply, and not be hard`);
  }
}
