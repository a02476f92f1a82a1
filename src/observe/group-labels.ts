// Which MX groups have a label of their own: those with much mail, as long as there is room. Everybody
// can make up domains, and every label is a time series that Prometheus keeps for ever.

const MOST_LABELS = 30;
/** Attempts after which a group counts as large. */
const LARGE = 100;
/** So many small ones are counted at a time. */
const MOST_CANDIDATES = 1000;

const OTHER_GROUPS = 'other';

export class GroupLabels {
  readonly #labels = new Set<string>();
  readonly #candidates = new Map<string, number>();

  /** A group keeps the label that it has been given. */
  labelOf(group: string | null): string {
    if (group === null) return OTHER_GROUPS;
    if (this.#labels.has(group)) return group;
    if (this.#labels.size >= MOST_LABELS) return OTHER_GROUPS;
    const attempts = (this.#candidates.get(group) ?? 0) + 1;
    if (attempts < LARGE) {
      // Whoever is large comes back soon after everything was forgotten.
      if (this.#candidates.size >= MOST_CANDIDATES && !this.#candidates.has(group)) this.#candidates.clear();
      this.#candidates.set(group, attempts);
      return OTHER_GROUPS;
    }
    this.#candidates.delete(group);
    this.#labels.add(group);
    return group;
  }
}
