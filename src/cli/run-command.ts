// Carries out a store command with the services at hand: in the daemon or beside none.
// Whatever is thrown becomes a failure with a message that an operator can use.
import { systemTrouble } from '../base/system-words.ts';
import { type Answer, failed } from '../operator/answer.ts';
import type { OperatorServices } from '../operator/operator-services.ts';
import type { StoreCommand } from './command.ts';
import { readValues } from './parse-arguments.ts';

export async function runStoreCommand(
  command: StoreCommand,
  raw: Record<string, unknown>,
  services: OperatorServices,
): Promise<Answer> {
  const read = readValues(command, raw);
  if (read.kind === 'wrong_usage') return read;
  try {
    return await command.run(services, read.values);
  } catch (error) {
    return failed(systemTrouble(error));
  }
}
