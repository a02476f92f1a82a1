// Walks through the portal as a curious visitor would: every link of every page, each kind of page a few
// times, and none of the forms; these are listed for whoever wants to try them.

import type { Page, PageForm } from '../support/page-reader.ts';
import type { PortalVisitor } from '../support/portal.ts';

export interface VisitedPage {
  /** With `:id` where an id stands, and without the query. */
  kind: string;
  page: Page;
  elapsedMs: number;
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Lists lead to thousands of pages of one kind. */
const OF_ONE_KIND = 3;

export function kindOf(path: string): string {
  return path.replace(/[?#].*/, '').replace(ID, ':id');
}

export async function crawl(visitor: PortalVisitor, start: readonly string[]): Promise<VisitedPage[]> {
  const visited: VisitedPage[] = [];
  const known = new Set(start);
  const counts = new Map<string, number>();
  const waiting = [...start];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const kind = kindOf(path);
    const count = counts.get(kind) ?? 0;
    if (count >= OF_ONE_KIND) continue;
    counts.set(kind, count + 1);
    const startedAt = performance.now();
    const page = await visitor.get(path);
    visited.push({ kind, page, elapsedMs: performance.now() - startedAt });
    const isPage = page.headers.get('content-type')?.startsWith('text/html');
    for (const { href } of isPage ? page.links : []) {
      const target = new URL(href, `http://portal.test${page.path}`);
      const next = target.pathname + target.search;
      if (target.host !== 'portal.test' || !next.startsWith('/portal') || known.has(next)) continue;
      known.add(next);
      waiting.push(next);
    }
  }
  return visited;
}

/** Every form that changes something, once for each kind of action. */
export function formsOf(visited: readonly VisitedPage[]): PageForm[] {
  const forms = visited.flatMap(({ page }) => page.forms).filter(({ method }) => method === 'post');
  return [...new Map(forms.map((form) => [kindOf(form.action), form])).values()];
}
