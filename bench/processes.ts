// Sink and load generators run in processes of their own, so that they share no event loop and no
// garbage collector with the daemon or with each other. Both ends of the talk with them: one
// request, one answer, at a time.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

export interface BenchProcess<Request, Answer> {
  pid: number;
  ask(request: Request): Promise<Answer>;
  stop(): Promise<void>;
}

type Reply<Answer> = { answer: Answer } | { failed: string };

export function startProcess<Request, Answer>(
  file: URL,
  env: Record<string, string> = {},
): BenchProcess<Request, Answer> {
  // Options of Node for this process, such as a test runner's, are not meant for the child.
  const child = fork(file, { env: { ...process.env, ...env }, execArgv: [] });
  const exited = once(child, 'exit');
  return {
    pid: child.pid!,
    ask: (request) => ask(child, request as object),
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function ask<Answer>(child: ChildProcess, request: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      child.off('message', answered);
      child.off('exit', ended);
    };
    const answered = (message: unknown) => {
      settle();
      const reply = message as Reply<Answer>;
      if ('failed' in reply) reject(new Error(reply.failed));
      else resolve(reply.answer);
    };
    const ended = (code: number | null) => {
      settle();
      reject(new Error(`${child.spawnargs.at(-1)} ended with ${code}`));
    };
    child.on('message', answered);
    child.on('exit', ended);
    child.send(request);
  });
}

/** In the child: answers whoever started it, and ends with it. */
export function answerParent<Request, Answer>(handle: (request: Request) => Promise<Answer>): void {
  process.on('disconnect', () => process.exit());
  process.on('message', async (request) => {
    try {
      process.send!({ answer: await handle(request as Request) });
    } catch (error) {
      process.send!({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
}
