// Reads one [[rule]] table and checks its keys and values. Problems are collected, so that the file
// can be repaired in one go.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/clock.ts';
import type { BounceType, SmtpStage } from '../base/outcome.ts';
import type { Action, BounceRule, SuspendScope, SuspensionRule } from './bounce-rule.ts';
import { isLabel, type Label } from './labels.ts';

interface Surroundings {
  /** The rule's position in the file, to name it if it has no id. */
  index: number;
  /** The named lists of [phrases]. */
  lists: ReadonlyMap<string, readonly string[]>;
  problems: string[];
}

const CLASSES: readonly BounceType[] = ['hard', 'soft', 'block'];
const ACTIONS: readonly Action[] = ['retry', 'give_up', 'suspend'];
const SCOPES: readonly SuspendScope[] = ['group', 'source', 'sender_domain'];
const STAGES: readonly SmtpStage[] = ['connect', 'greeting', 'ehlo', 'starttls', 'mail', 'rcpt', 'data', 'dot'];
const KEYS = ['id', 'codes', 'enhanced', 'text', 'unless', 'stage', 'mx', 'class', 'label', 'action'];
const ALL_KEYS = new Set([...KEYS, 'general', 'suspend_for', 'suspend_from', 'suspend_scope', 'samples']);

const ID = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const CODE = /^[45](?:xx|\d\d)$/;
const STATUS = /^[45*]\.(?:\d{1,3}|\*)\.(?:\d{1,3}|\d{1,2}x|\*)$/;
/** A domain, or the id of a provider (config/provider-limits.toml). */
const HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;
const DURATION = /^(\d{1,3})([mhd])$/;
const UNITS_MS = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const;

export function readRule(table: unknown, { index, lists, problems }: Surroundings): BounceRule {
  const fields = table as Record<string, unknown>;
  const id = typeof fields.id === 'string' && ID.test(fields.id) ? fields.id : `rule ${index + 1}`;
  const addProblem = (problem: string) => void problems.push(`${id}: ${problem}`);
  if (id !== fields.id) addProblem('id is missing or not in kebab-case');
  for (const key of Object.keys(fields)) if (!ALL_KEYS.has(key)) addProblem(`unknown key ${key}`);

  const texts = (key: string, isGood: (text: string) => boolean) => readTexts(fields[key], key, { isGood, addProblem });
  const phrases = (key: string) => readPhrases(fields[key], { key, lists, addProblem });
  const oneOf = <T extends string>(key: string, known: readonly T[]): T => {
    if (!known.includes(fields[key] as T)) addProblem(`${key} is none of ${known.join(', ')}`);
    return fields[key] as T;
  };
  if (!isLabel(fields.label)) addProblem(`label "${fields.label}" is not in the registry`);
  const samples = texts('samples', () => true);
  if (samples.length === 0) addProblem('there is no sample');
  return {
    id,
    codes: texts('codes', (text) => CODE.test(text)),
    enhanced: texts('enhanced', (text) => STATUS.test(text)).map((text) => text.split('.')),
    text: phrases('text'),
    unless: phrases('unless'),
    stages: texts('stage', (text) => STAGES.includes(text as SmtpStage)) as SmtpStage[],
    mx: texts('mx', (text) => HOST.test(text)),
    class: oneOf('class', CLASSES),
    label: fields.label as Label,
    isGeneral: readFlag(fields.general, addProblem),
    action: fields.action === undefined ? null : oneOf('action', ACTIONS),
    suspend: readSuspension(fields, addProblem),
    samples,
  };
}

function readFlag(value: unknown, addProblem: (problem: string) => void): boolean {
  if (value !== undefined && value !== true) addProblem('general is true or left out');
  return value === true;
}

interface TextsRules {
  isGood(text: string): boolean;
  addProblem(problem: string): void;
}

/** One text or a list of texts. */
function readTexts(value: unknown, key: string, { isGood, addProblem }: TextsRules): string[] {
  if (value === undefined) return [];
  const texts: unknown[] = Array.isArray(value) ? value : [value];
  const good = texts.filter((text): text is string => typeof text === 'string' && isGood(text));
  if (good.length < texts.length || good.length === 0) addProblem(`${key} is not what is expected there`);
  return good;
}

interface PhrasesRules {
  key: string;
  lists: ReadonlyMap<string, readonly string[]>;
  addProblem(problem: string): void;
}

/** `@name` includes the phrases of that list. */
export function readPhrases(value: unknown, { key, lists, addProblem }: PhrasesRules): string[] {
  return readTexts(value, key, { isGood: () => true, addProblem }).flatMap((text) => {
    if (!text.startsWith('@')) return [text];
    const list = lists.get(text.slice(1));
    if (!list) addProblem(`there is no list ${text} in [phrases] above`);
    return list ?? [];
  });
}

function readSuspension(fields: Record<string, unknown>, addProblem: (problem: string) => void): SuspensionRule | null {
  const { suspend_for: duration, suspend_from: first, suspend_scope: scope, action } = fields;
  if (duration === undefined && first === undefined && scope === undefined) {
    if (action === 'suspend') addProblem('action suspend needs suspend_for and suspend_scope');
    return null;
  }
  const forMs = readDuration(duration);
  const fromMs = readDuration(first);
  if (forMs === null) addProblem('suspend_for is no duration such as 30m or 4h');
  if (first !== undefined && fromMs === null) addProblem('suspend_from is no duration such as 30m or 4h');
  if (forMs !== null && fromMs !== null && fromMs > forMs) addProblem('suspend_from is longer than suspend_for');
  if (!SCOPES.includes(scope as SuspendScope)) addProblem(`suspend_scope is none of ${SCOPES.join(', ')}`);
  return { forMs: forMs ?? 0, fromMs, scope: scope as SuspendScope };
}

function readDuration(text: unknown): number | null {
  const match = typeof text === 'string' ? DURATION.exec(text) : null;
  return match && Number(match[1]) * UNITS_MS[match[2] as keyof typeof UNITS_MS];
}
