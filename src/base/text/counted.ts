// A number with its word, in sentences for people. The portal groups digits separately.

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
