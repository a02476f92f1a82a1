// A finding of the doctor, for people: one line, and below it what to do.
import type { Finding, Remedy } from '../doctor/finding.ts';
import { printable } from './table.ts';

export function linesOfFinding({ health, check, subject, message, remedy }: Finding): string[] {
  const line = `${health.padEnd(4)}  ${check}: ${subject} ${message}`;
  return [printable(line), ...(remedy === null ? [] : [printable(`      -> ${inWords(remedy)}`)])];
}

function inWords(remedy: Remedy): string {
  if ('record' in remedy) {
    const { name, type, value } = remedy.record;
    return `${remedy.beside ? 'add' : 'publish'}: ${name} ${type} ${value}`;
  }
  if ('command' in remedy) return `run: ${remedy.command}`;
  return 'setting' in remedy ? `configure: ${remedy.setting}` : remedy.advice;
}
