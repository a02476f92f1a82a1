// What the portal's pages are made of: who may see one, what it is told of its visit, what it can
// answer. The kernel (create-portal.ts) does everything between that and HTTP.
import type { Html } from '../http/html.ts';
import type { FormFile } from '../http/multipart.ts';
import type { Visitor } from '../store/accounts.ts';
import type { Tenant } from '../store/tenants.ts';
import type { Client } from '../tenants/accounts/account-kit.ts';
import type { BrowserToken } from '../tenants/accounts/known-browsers.ts';
import type { NoticeTone } from './notice.ts';

/** Of a tenant's people at least this role; `user` is everybody who is signed in, operators too. */
export type Access = 'everybody' | 'user' | 'viewer' | 'member' | 'owner' | 'operator';

export interface Visit<Who extends Pick<Visitor, 'user' | 'tenant'> | null = Visitor | null> {
  path: string;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** What a form has sent; empty on a page that is only looked at. */
  form: URLSearchParams;
  files: ReadonlyMap<string, FormFile>;
  now: number;
  client: Client;
  /** Stands in every form. */
  formField: Html;
  visitor: Who;
  /** Whether the visitor has at least this role in the tenant. */
  may(role: 'viewer' | 'member' | 'owner'): boolean;
  /** Writes down who did what: `domain.created`, with details that hold no secret. */
  audit(action: string, details?: Readonly<Record<string, string | number | boolean | null>>): Promise<void>;
}

export type TenantVisitor = Visitor & { tenant: Tenant };
export type VisitOf<A extends Access> = A extends 'everybody'
  ? Visit
  : A extends 'user' | 'operator'
    ? Visit<Visitor>
    : Visit<TenantVisitor>;

export type PageResult =
  | { kind: 'view'; status: number; title: string; body: Html; scripts: readonly string[] }
  | ({ kind: 'redirect'; to: string; notice: string | null; tone?: NoticeTone } & CookieChange)
  | { kind: 'document'; status: number; headers: Readonly<Record<string, string>>; body: Buffer | string }
  | { kind: 'missing'; message: string };

export interface CookieChange {
  session?: { token: string; maxAgeMs: number } | 'ended';
  /** By what the browser is known at the next sign-in. */
  browser?: BrowserToken;
}

export interface ViewOptions {
  title: string;
  body: Html;
  /** 200 when not given; 422 suits a form that is shown again. */
  status?: number;
  /** Names of files in src/portal/assets that this page needs beside portal.js. */
  scripts?: readonly string[];
}

export function view({ title, body, status = 200, scripts = [] }: ViewOptions): PageResult {
  return { kind: 'view', status, title, body, scripts };
}

/** After what was done; the notice is shown once, on the page that comes next. */
export function redirect(to: string, notice: string | null = null, tone: NoticeTone = 'good'): PageResult {
  return { kind: 'redirect', to, notice, tone };
}

export function missing(message = 'This page doesn’t exist, or you don’t have access to it.'): PageResult {
  return { kind: 'missing', message };
}

/** A download, or what a frame shows: without the portal's frame, with headers of its own. */
export function document(body: Buffer | string, headers: Readonly<Record<string, string>>): PageResult {
  return { kind: 'document', status: 200, headers, body };
}

/** Where a second step is set up, and where those are led who lack one that they have to have. */
export const SECOND_STEP_PATH = '/portal/account/second-step';

export interface PortalRoute {
  method: 'GET' | 'POST';
  path: string;
  access: Access;
  /** Also for somebody who has to set up a second step first. */
  withoutSecondStep: boolean;
  /** How much a form may send. */
  limitBytes: number;
  answer(visit: Visit): Promise<PageResult>;
}

const FORM_LIMIT_BYTES = 256 * 1024;

export function page<A extends Access>(spec: {
  path: string;
  access: A;
  withoutSecondStep?: boolean;
  show(visit: VisitOf<A>): Promise<PageResult> | PageResult;
}): PortalRoute {
  const { path, access, withoutSecondStep = false, show } = spec;
  // The kernel has looked at the access, so the visit is of this kind.
  const answer = async (visit: Visit) => show(visit as VisitOf<A>);
  return { method: 'GET', path, access, withoutSecondStep, limitBytes: 0, answer };
}

export function action<A extends Access>(spec: {
  path: string;
  access: A;
  withoutSecondStep?: boolean;
  limitBytes?: number;
  run(visit: VisitOf<A>): Promise<PageResult> | PageResult;
}): PortalRoute {
  const { path, access, withoutSecondStep = false, run, limitBytes = FORM_LIMIT_BYTES } = spec;
  const answer = async (visit: Visit) => run(visit as VisitOf<A>);
  return { method: 'POST', path, access, withoutSecondStep, limitBytes, answer };
}
