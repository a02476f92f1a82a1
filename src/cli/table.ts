// Output for people: columns, no frames, so that it can be cut with the usual tools.

export interface Column<Row> {
  title: string;
  value(row: Row): string | number | null | undefined;
}

const GAP = '  ';

/** `empty` is what is said instead of a table without rows. */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], empty: string): string {
  if (rows.length === 0) return empty;
  const cells = [
    columns.map((column) => column.title),
    ...rows.map((row) => columns.map((column) => printable(String(column.value(row) ?? '-')))),
  ];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index]!.length)));
  return cells
    .map((line) =>
      line
        .map((cell, index) => cell.padEnd(widths[index]!))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

/** `name: value` lines with the values in one column. */
export function renderFacts(facts: readonly (readonly [name: string, value: string | number | null])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${`${name}:`.padEnd(width + 1)} ${printable(String(value ?? '-'))}`).join('\n');
}

/** Replies of foreign servers end up here: they must not steer the operator's terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '\u{fffd}');
}

/** The same for whole texts, which have lines; what is invisible but no command stays, for files are written from them. */
export function printableLines(text: string): string {
  return text.replace(/[^\P{Cc}\t\r\n]/gu, '\u{fffd}');
}
