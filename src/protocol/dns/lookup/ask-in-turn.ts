// Sends one question to several servers: one after the other, the next one without waiting for the end of a slow one,
// so that a dead server costs only a short pause. The first good answer wins, the other queries are aborted.

export type TurnResult<T> = { kind: 'good'; value: T } | { kind: 'bad'; reason: string };
export type TurnsResult<T> = { kind: 'good'; value: T } | { kind: 'all_bad'; reasons: string[] };

export interface TurnsOptions<S, T> {
  servers: readonly S[];
  /** How long to wait for one server before the next is asked as well. */
  staggerMs: number;
  signal: AbortSignal;
  ask(server: S, signal: AbortSignal): Promise<TurnResult<T>>;
}

export function askInTurn<S, T>({ servers, staggerMs, signal, ask }: TurnsOptions<S, T>): Promise<TurnsResult<T>> {
  return new Promise((resolve) => {
    const losers = new AbortController();
    const stop = AbortSignal.any([signal, losers.signal]);
    const reasons: string[] = [];
    let started = 0;
    let timer: NodeJS.Timeout | undefined;

    const finish = (result: TurnsResult<T>) => {
      clearTimeout(timer);
      losers.abort();
      resolve(result);
    };
    const startNext = () => {
      clearTimeout(timer);
      const server = servers[started];
      if (server === undefined) return;
      started++;
      timer = setTimeout(startNext, staggerMs);
      ask(server, stop).then(take, (thrown) => take({ kind: 'bad', reason: String(thrown) }));
    };
    const take = (result: TurnResult<T>) => {
      if (losers.signal.aborted) return;
      if (result.kind === 'good') return finish(result);
      reasons.push(result.reason);
      if (reasons.length === servers.length) return finish({ kind: 'all_bad', reasons });
      startNext();
    };

    if (servers.length === 0) finish({ kind: 'all_bad', reasons });
    else startNext();
  });
}
