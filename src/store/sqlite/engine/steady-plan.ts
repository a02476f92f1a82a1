// SQLite plans a statement anew whenever a bound value changes that it has compared with the
// condition of a partial index: 40 µs instead of 4 for our hot look-ups, at every call. Behind
// a unary plus, which changes nothing, it does not look at the value.

/** The statement with every parameter (`?`, `@name`) behind a plus. Our SQL has no such characters in literals. */
export function steadyPlan(sql: string): string {
  return sql.replace(/\?|@[a-zA-Z]+/g, '+$&');
}
