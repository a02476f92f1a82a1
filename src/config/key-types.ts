// The types of configuration keys, and the TypeScript type that its value has in the daemon.
// Durations are written as strings such as "72h" and are milliseconds in code.
// Knows nothing of files and environment: load.ts reads, values.ts checks.

/** The format of a string; shapes.ts says what each accepts. */
export type Shape =
  | 'text'
  | 'host'
  | 'domain'
  | 'selector'
  | 'origin'
  | 'mail-address'
  | 'master-key'
  | 'postgres-url'
  | 'node-name'
  | 'network'
  | 'dns-server'
  | 'source-address'
  | 'acme-directory'
  | 'otlp-endpoint';

interface Described {
  /** What the key does and why its default is what it is: lines of at most 100 characters. */
  doc: readonly string[];
}

export interface TextKey extends Described {
  type: 'text';
  shape: Shape;
  /** null: not set, or derived from other keys. */
  default: string | null;
  /** How an unset key is derived, in words; load.ts has the computation. */
  derived?: string;
  /** Shown in the documented file where there is no default to show. */
  example?: string;
  /** Never printed. */
  secret?: true;
}

export interface PathKey extends Described {
  type: 'path';
  default: string | null;
  example?: string;
  /** Must be a readable file when the daemon starts. */
  mustExist?: true;
}

export interface BoolKey extends Described {
  type: 'bool';
  default: boolean;
}

/** An integer (`int`) or any number. */
export interface NumberKey extends Described {
  type: 'int' | 'number';
  default: number;
  min: number;
  max: number;
}

export interface ChoiceKey extends Described {
  type: 'choice';
  default: string;
  values: readonly string[];
}

export interface DurationKey extends Described {
  type: 'duration';
  default: string;
  min: string;
  max: string;
}

/** A list of pauses, each at least as long as the one before it. */
export interface DurationListKey extends Described {
  type: 'duration-list';
  default: readonly string[];
  min: string;
  max: string;
}

export interface TextListKey extends Described {
  type: 'text-list';
  shape: Shape;
  default: readonly string[];
}

/** Exactly as many integers as the default has: one per tier. */
export interface IntListKey extends Described {
  type: 'int-list';
  default: readonly number[];
  min: number;
  max: number;
}

/** Integers, any number of them. */
export interface CountListKey extends Described {
  type: 'count-list';
  default: readonly number[];
  min: number;
  max: number;
}

/** false: no private network; true: all of them; a list: these networks. */
export interface NetworksKey extends Described {
  type: 'networks';
  default: boolean;
}

export type Key =
  | TextKey
  | PathKey
  | BoolKey
  | NumberKey
  | ChoiceKey
  | DurationKey
  | DurationListKey
  | TextListKey
  | IntListKey
  | CountListKey
  | NetworksKey;

export interface Section {
  /** The comment above the section in the documented file. */
  doc: readonly string[];
  keys: Readonly<Record<string, Key>>;
}

export type Table = Readonly<Record<string, Section>>;

type NumberPer<List> = { readonly [Index in keyof List]: number };

type TextOf<K extends Key> = K extends { default: string } | { derived: string } ? string : string | null;

export type ValueOf<K extends Key> = K extends TextKey | PathKey
  ? TextOf<K>
  : K extends BoolKey
    ? boolean
    : K extends NumberKey | DurationKey
      ? number
      : K extends ChoiceKey
        ? K['values'][number]
        : K extends DurationListKey
          ? readonly number[]
          : K extends TextListKey
            ? readonly string[]
            : K extends IntListKey
              ? NumberPer<K['default']>
              : K extends CountListKey
                ? readonly number[]
                : K extends NetworksKey
                  ? boolean | readonly string[]
                  : never;

export type ConfigOf<T extends Table> = {
  readonly [S in keyof T]: { readonly [K in keyof T[S]['keys']]: ValueOf<T[S]['keys'][K]> };
};
