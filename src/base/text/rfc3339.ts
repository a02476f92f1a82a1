// Times as RFC 3339 writes them, read strictly.

/** RFC 3339 section 5.6, with any offset; hours, minutes and offsets in their ranges. */
const MOMENT =
  /^(\d{4}-\d\d-\d\d)[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Milliseconds since 1970; null: it is no such time. A leap second is refused, since computers can't count it. */
export function parseMoment(text: string): number | null {
  const day = MOMENT.exec(text)?.[1];
  if (day === undefined || !isDayOfItsMonth(day)) return null;
  return Date.parse(text.toUpperCase());
}

const DAY = /^\d{4}-\d\d-\d\d$/;

/** A date alone is its beginning, in UTC. */
export function parseMomentOrDay(text: string): number | null {
  if (!DAY.test(text)) return parseMoment(text);
  return isDayOfItsMonth(text) ? Date.parse(text) : null;
}

/** JavaScript reads the 30th of February as the 2nd of March. */
function isDayOfItsMonth(day: string): boolean {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  const read = new Date(Date.UTC(year, month - 1, date));
  return read.getUTCMonth() === month - 1 && read.getUTCDate() === date;
}
