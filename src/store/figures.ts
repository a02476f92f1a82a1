// Contract: numbers about the whole store that cost little to know, for metrics.

export interface FiguresStore {
  /** Messages that are accepted and not finished, of all tenants. */
  countOpenMessages(): Promise<number>;
}
