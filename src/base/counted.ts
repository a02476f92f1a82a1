// A number with its word, in sentences for people. Where numbers are grouped, as in the portal, is not here.

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
