// A prepared statement. `pg` has the columns of a result described at each execution; they are the same each time, so here they
// are described until they are known, and rows are read by that. Should they change, because of a migration, PostgreSQL refuses
// to execute the statement (`isOutdatedPlan`), and what is known ends with the connection.
import { Query } from 'pg';
import { parserOf } from './values.ts';

/** What `pg` hands to a query of its own connection. */
interface PreparedConnection {
  parsedStatements: Record<string, string | undefined>;
  submittedNamedStatements: Record<string, string | undefined>;
  parse(statement: { name: string; text: string }): void;
  bind(bound: { statement: string; values: readonly unknown[]; valueMapper: (value: unknown) => unknown }): void;
  describe(what: { type: 'P'; name: string }): void;
  execute(): void;
  sync(): void;
}

/** What the rows of a statement are made of. */
interface Shape {
  columns: readonly string[];
  parsers: readonly ((text: string) => unknown)[];
}

const NO_ROWS: Shape = { columns: [], parsers: [] };

export type Shapes = Map<string, Shape>;

export interface PreparedTerms {
  name: string;
  text: string;
  /** Bytes, strings, numbers and null. */
  values: readonly unknown[];
  rows: 'objects' | 'arrays';
}

export interface PreparedResult {
  command: string;
  rows: unknown[];
  columns: readonly string[];
  changes: number;
}

export class Prepared extends Query {
  readonly #terms: PreparedTerms;
  /** Those of the connection. */
  readonly #shapes: Shapes;
  #shape: Shape | null;
  readonly #result: PreparedResult = { command: '', rows: [], columns: [], changes: 0 };
  #fault: unknown = null;

  constructor(terms: PreparedTerms, shapes: Shapes) {
    super({ name: terms.name, text: terms.text, values: [] });
    this.#terms = terms;
    this.#shapes = shapes;
    this.#shape = shapes.get(terms.name) ?? null;
  }

  run(submit: (query: Prepared) => void): Promise<PreparedResult> {
    return new Promise((resolve, reject) => {
      const end = (error: unknown) => (error ? reject(error) : resolve(this.#result));
      Object.assign(this, { callback: end });
      submit(this);
    });
  }

  /** Called by `pg` when it is this one's turn. */
  prepare(connection: PreparedConnection): void {
    const { name, text, values } = this.#terms;
    if (connection.parsedStatements[name] === undefined && connection.submittedNamedStatements[name] === undefined) {
      connection.parse({ name, text });
      connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values, valueMapper: asParameter });
    if (!this.#shape) connection.describe({ type: 'P', name: '' });
    connection.execute();
    connection.sync();
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    this.#shape = {
      columns: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => parserOf(dataTypeID)),
    };
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    try {
      this.#result.rows.push(readRow(fields, this.#shape!, this.#terms.rows));
    } catch (error) {
      this.#fault = error;
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    // `INSERT 0 5`, `UPDATE 5`, `COMMIT`.
    const words = text.split(' ');
    this.#result.command = words[0]!;
    this.#result.changes = words.length > 1 ? Number(words.at(-1)) : 0;
    this.#shape ??= NO_ROWS;
    this.#result.columns = this.#shape.columns;
    this.#shapes.set(this.#terms.name, this.#shape);
  }

  handleReadyForQuery(): void {
    (this as unknown as { callback(error: unknown): void }).callback(this.#fault);
  }
}

function readRow(fields: readonly (string | null)[], { columns, parsers }: Shape, as: PreparedTerms['rows']): unknown {
  if (as === 'arrays') return fields.map((text, at) => (text === null ? null : parsers[at]!(text)));
  const row: Record<string, unknown> = {};
  for (let at = 0; at < fields.length; at++) {
    const text = fields[at]!;
    row[columns[at]!] = text === null ? null : parsers[at]!(text);
  }
  return row;
}

function asParameter(value: unknown): unknown {
  if (typeof value === 'string' || value === null || Buffer.isBuffer(value)) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return value === undefined ? null : String(value);
}
