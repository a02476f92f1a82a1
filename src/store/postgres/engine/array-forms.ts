// A statement for one item, rewritten as one for many: its parameters become arrays, and it answers for each item apart.
// Only plain statements have such a form; every other one is sent once for each item, without waiting in between.
import type { ElementType } from './array-values.ts';
import type { Statement } from './statements.ts';

/** How the answer tells items apart. */
export type Told =
  /** The first column is the item's place, from 1; the others are the row's. */
  | 'by place'
  /** The rows that were inserted are named by their first column, which each item has a value of its own for. */
  | 'by first column'
  /** Each item changes one row, or the statement fails. */
  | 'all';

export interface ArrayForm {
  statement: Statement;
  types: readonly ElementType[];
  told: Told;
  /** Numbers, from 0, of parameters that together must differ from item to item; otherwise this form can't be used. */
  distinct: readonly number[];
}

type Rewritten = Pick<ArrayForm, 'told' | 'distinct'> & { text: string };

const SELECT = /^\s*SELECT\b/;
const UPDATE = /^\s*UPDATE (\w+) SET ([\s\S]+?)\s+WHERE ([\s\S]+?)(?:\s+RETURNING ([\s\S]+))?$/;
const DELETE = /^\s*DELETE FROM (\w+) WHERE ([\s\S]+)$/;
const INSERT =
  /^\s*INSERT INTO (\w+) \(([^)]+)\)\s+VALUES \(([\s\S]+?)\)(?:\s+ON CONFLICT([\s\S]+?))?(?:\s+RETURNING (\w+))?\s*$/;
const DO_NOTHING = /\bDO NOTHING$/;
const DO_UPDATE = /^\s*\(([^)]+)\)\s+DO UPDATE SET (?![\s\S]*\bWHERE\b)/;

/** Whether it is worth asking for the types of its parameters. */
export function mayHaveArrayForm({ text }: Statement): boolean {
  return /\$\d/.test(text) && rewrite(text, 'unnest()') !== null;
}

export function arrayFormOf({ name, text }: Statement, types: readonly ElementType[]): ArrayForm | null {
  const arrays = types.map((type, at) => `$${at + 1}::${type}[]`).join(', ');
  const columns = types.map((_, at) => `p${at + 1}, `).join('');
  const rewritten = rewrite(text, `unnest(${arrays}) WITH ORDINALITY AS item (${columns}place)`);
  if (!rewritten) return null;
  const { told, distinct } = rewritten;
  return { statement: { name: `${name}_array`, text: rewritten.text, names: [] }, types, told, distinct };
}

/*
 * What becomes of them, where items is `unnest($1::bytea[], …) WITH ORDINALITY AS item (p1, …, place)`:
 *   SELECT a FROM t WHERE id = $1      SELECT item.place, found.* FROM items CROSS JOIN LATERAL
 *                                        (SELECT a FROM t WHERE id = item.p1 OFFSET 0) found
 *   UPDATE t SET a = $1 WHERE id = $2  UPDATE t SET a = item.p1 FROM items CROSS JOIN LATERAL
 *                                        (SELECT ctid FROM t WHERE id = item.p2 OFFSET 0) found
 *                                        WHERE t.ctid = found.ctid RETURNING item.place
 *   DELETE FROM t WHERE id = $1        as UPDATE
 *   INSERT INTO t (a) VALUES ($1)      INSERT INTO t (a) SELECT item.p1 FROM items
 * OFFSET 0 keeps the planner from joining items and table in another way than one item after the other, each looked up as by
 * the statement itself: from a misjudged partial index it went through all pairs of rows and items. A row's ctid stays the
 * same between look-up and change: at SERIALIZABLE, a row that another transaction has changed fails the statement.
 * All items see the tables as they were before. What runs side by side may not depend on each other's rows anyway.
 */
function rewrite(text: string, items: string): Rewritten | null {
  const ofItem = withItems(text);
  if (SELECT.test(text)) {
    if (/\bOFFSET\b/.test(text)) return null;
    return byPlace(`SELECT item.place, found.* FROM ${items} CROSS JOIN LATERAL (${ofItem} OFFSET 0) found`);
  }
  const rowsOf = (table: string, where: string) =>
    `${items} CROSS JOIN LATERAL (SELECT ctid FROM ${table} WHERE ${where} OFFSET 0) found WHERE ${table}.ctid = found.ctid`;
  const [, updated, set, where, columns] = UPDATE.exec(ofItem) ?? [];
  // A subquery may have a WHERE of its own before that of the statement.
  if (updated && set && !/\b(?:SELECT|FROM)\b/.test(set)) {
    const returned = columns ? `item.place, ${columns}` : 'item.place';
    return byPlace(`UPDATE ${updated} SET ${set} FROM ${rowsOf(updated, where!)} RETURNING ${returned}`);
  }
  const [, emptied, which] = DELETE.exec(ofItem) ?? [];
  if (emptied && !/\bRETURNING\b/.test(which!)) {
    return byPlace(`DELETE FROM ${emptied} USING ${rowsOf(emptied, which!)} RETURNING item.place`);
  }
  const [, table, list, values, conflict, returned] = INSERT.exec(text) ?? [];
  if (!table || /\),?\s*\(/.test(values!)) return null;
  return rewriteInsert({ table, columns: list!.split(/,\s*/), values: values!, conflict, returned }, items);
}

interface Insert {
  table: string;
  columns: string[];
  values: string;
  conflict: string | undefined;
  returned: string | undefined;
}

function rewriteInsert({ table, columns, values, conflict, returned }: Insert, items: string): Rewritten | null {
  const into = `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${withItems(values)} FROM ${items}`;
  const each = values.split(/,\s*/);
  const parameterOf = (column: string | undefined) => {
    const value = each.length === columns.length ? each[columns.indexOf(column ?? '')] : undefined;
    return /^\$\d+$/.test(value ?? '') ? Number(value!.slice(1)) - 1 : null;
  };
  if (conflict === undefined) {
    if (!returned) return { text: into, told: 'all', distinct: [] };
    return columns.includes(returned) ? null : byPlace(numbered({ table, columns, values, returned }, items));
  }
  if (returned) return null;
  if (DO_NOTHING.test(conflict)) {
    const first = parameterOf(columns[0]);
    const text = `${into} ON CONFLICT${conflict} RETURNING ${columns[0]}`;
    return first === null ? null : { text, told: 'by first column', distinct: [first] };
  }
  const key = DO_UPDATE.exec(conflict)?.[1]?.split(/,\s*/).map(parameterOf);
  // Values that are the same for all items do not tell them apart.
  const distinct = key?.filter((parameter) => parameter !== null) ?? [];
  const text = `${into} ON CONFLICT${withItems(conflict)}`;
  return distinct.length === 0 ? null : { text, told: 'all', distinct };
}

/**
 * An insert that returns the number that the table assigns. It is drawn before, item by item: nothing promises that RETURNING
 * answers in the order of what was inserted.
 */
function numbered(of: Pick<Insert, 'table' | 'columns' | 'values'> & { returned: string }, items: string): string {
  const { table, columns, values, returned } = of;
  return `WITH item AS MATERIALIZED (
      SELECT nextval((SELECT pg_get_serial_sequence('${table}', '${returned}'))::regclass) AS assigned, item.* FROM ${items}),
    added AS (
      INSERT INTO ${table} (${returned}, ${columns.join(', ')}) SELECT item.assigned, ${withItems(values)} FROM item)
    SELECT item.place, item.assigned AS ${returned} FROM item`;
}

/** Outside of strings and quoted names. */
function withItems(text: string): string {
  return text.replace(/'(?:[^']|'')*'|"[^"]*"|\$(\d+)/g, (token, number: string | undefined) =>
    number === undefined ? token : `item.p${number}`,
  );
}

function byPlace(text: string): Rewritten {
  return { text, told: 'by place', distinct: [] };
}
