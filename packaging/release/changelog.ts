// Reads the section of one version from a changelog: `## 1.2.3 (2026-11-26)` and what follows up to the next one.
import fs from 'node:fs';
import path from 'node:path';

/** Of the service. Only this one has dates, and becomes part of the release's page. */
export const CHANGELOG = 'docs/changelog.md';

export interface Section {
  /** What the heading has in brackets: a date, or `unreleased`. */
  remark: string;
  body: string;
}

export function readSection(changelog: string, version: string): Section | null {
  for (const part of changelog.split(/^## /m).slice(1)) {
    const [heading = '', ...lines] = part.split('\n');
    const [, named, remark = ''] = /^(\S+)(?: \((.+)\))?$/.exec(heading) ?? [];
    if (named === version) return { remark, body: lines.join('\n').trim() };
  }
  return null;
}

/** What is missing in the changelogs of the service and of the client libraries. */
export function changelogProblems(root: string, version: string): string[] {
  const read = (file: string) => readSection(fs.readFileSync(path.join(root, file), 'utf8'), version);
  const libraries = fs.globSync('clients/*/CHANGELOG.md', { cwd: root }).sort();
  const missing = [CHANGELOG, ...libraries].flatMap((file) => {
    const section = read(file);
    if (section !== null && section.body !== '') return [];
    return [`${file} says nothing about ${version}: write a section "## ${version}", or "- No changes." in it.`];
  });
  const { remark } = read(CHANGELOG) ?? { remark: null };
  if (remark === null || /^\d{4}-\d\d-\d\d$/.test(remark)) return missing;
  const wanted = `## ${version} (YYYY-MM-DD)`;
  return [...missing, `${CHANGELOG}: the heading of ${version} must have the day of the release: "${wanted}".`];
}
