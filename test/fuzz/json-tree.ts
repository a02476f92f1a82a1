// JSON as it can be written rather than as JavaScript holds it: names may repeat and come in any
// order, numbers and strings have many spellings, and nothing stops a tree from being wrong.
import type { SeededRandom } from './seeded-random.ts';

export type JsonTree =
  | { kind: 'object'; members: [name: string, value: JsonTree][] }
  | { kind: 'array'; items: JsonTree[] }
  | { kind: 'string'; text: string }
  /** Stands in the text as it is. */
  | { kind: 'raw'; text: string };

export function treeOf(value: unknown): JsonTree {
  if (typeof value === 'string') return { kind: 'string', text: value };
  if (Array.isArray(value)) return { kind: 'array', items: value.map(treeOf) };
  if (typeof value !== 'object' || value === null) return { kind: 'raw', text: JSON.stringify(value) };
  return { kind: 'object', members: Object.entries(value).map(([name, member]) => [name, treeOf(member)]) };
}

/** Every node of the tree, the root first. */
export function nodesOf(root: JsonTree): JsonTree[] {
  const nodes: JsonTree[] = [];
  const waiting = [root];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    nodes.push(node);
    if (node.kind === 'array') waiting.push(...node.items);
    if (node.kind === 'object') waiting.push(...node.members.map(([, value]) => value));
  }
  return nodes;
}

/** The tree as text, with the liberties that RFC 8259 leaves: white space and escapes. */
export function writeTree(tree: JsonTree, random: SeededRandom): string {
  const spaced = random.chance(0.1);
  const escaped = random.chance(0.1);
  const space = () => (spaced ? random.pick(['', ' ', '\n', '\r\n', '\t', '   ']) : '');
  const write = (node: JsonTree): string => {
    switch (node.kind) {
      case 'object':
        return `{${space()}${node.members.map(([name, value]) => `${quote(name, escaped)}${space()}:${space()}${write(value)}`).join(`${space()},${space()}`)}${space()}}`;
      case 'array':
        return `[${space()}${node.items.map(write).join(`${space()},${space()}`)}${space()}]`;
      case 'string':
        return quote(node.text, escaped);
      case 'raw':
        return node.text;
    }
  };
  return `${space()}${write(tree)}${space()}`;
}

/** `JSON.stringify` escapes halves of surrogate pairs, so that they survive the way through UTF-8. */
function quote(text: string, escaped: boolean): string {
  if (!escaped) return JSON.stringify(text);
  const units = text.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `"${units.join('')}"`;
}
