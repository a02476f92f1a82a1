// What people are told to type.

/** An argument as a POSIX shell takes it: an ampersand between the parameters of a URL would end the command. */
export function asTyped(argument: string): string {
  return /^[\w:/@%.,+=-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}
