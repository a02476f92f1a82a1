// Finds the handler for a method and a path. Patterns have literal and `:name` segments; a path must match as a whole,
// so a trailing slash makes it another path. Literal segments are compared as sent (one path, one spelling); parameters
// are percent-decoded.
import { Fault } from '../base/errors.ts';
import type { HttpHandler, HttpReply, HttpRequest } from './http.ts';

export type PathParams = Readonly<Record<string, string>>;
export type RouteHandler = (request: HttpRequest, params: PathParams) => HttpReply | Promise<HttpReply>;

export interface Route {
  method: string;
  /** For example `/domains/:id/verify`. */
  pattern: string;
  handler: RouteHandler;
}

export interface RouterOptions {
  routes: readonly Route[];
  notFound: HttpHandler;
  /** `allow` is the value of the Allow header, which the router adds itself. */
  methodNotAllowed(request: HttpRequest, allow: string): HttpReply | Promise<HttpReply>;
}

interface Resource {
  segments: string[];
  methods: Map<string, RouteHandler>;
}

const NO_PARAMS: PathParams = {};

export function createRouter(options: RouterOptions): HttpHandler {
  const literal = new Map<string, Resource>();
  const byLength = new Map<number, Resource[]>();
  for (const resource of resourcesOf(options.routes)) {
    if (!resource.segments.some(isParam)) literal.set(resource.segments.join('/'), resource);
    else byLength.set(resource.segments.length, [...(byLength.get(resource.segments.length) ?? []), resource]);
  }
  for (const resources of byLength.values()) resources.sort(bySpecificity);

  return (request) => {
    const exact = literal.get(request.path);
    const handler = exact && handlerFor(exact, request.method);
    if (handler) return handler(request, NO_PARAMS);
    const segments = request.path.split('/');
    const candidates = (byLength.get(segments.length) ?? []).filter((resource) => matches(resource.segments, segments));
    for (const resource of candidates) {
      const found = handlerFor(resource, request.method);
      if (found) return found(request, paramsOf(resource.segments, segments));
    }
    const resources = exact ? [exact, ...candidates] : candidates;
    return resources.length === 0 ? options.notFound(request) : refuseMethod(request, resources, options);
  };
}

function resourcesOf(routes: readonly Route[]): Iterable<Resource> {
  const resources = new Map<string, Resource>();
  for (const { method, pattern, handler } of routes) {
    if (!pattern.startsWith('/')) throw new Fault(`a route has to start with a slash: ${pattern}`);
    const segments = pattern.split('/');
    // Two patterns that differ only in parameter names are one resource.
    const shape = segments.map((segment) => (isParam(segment) ? ':' : segment)).join('/');
    const resource = resources.get(shape) ?? { segments, methods: new Map() };
    if (resource.segments.join('/') !== pattern) throw new Fault(`two names for one parameter: ${pattern}`);
    if (resource.methods.has(method)) throw new Fault(`two handlers for one route: ${method} ${pattern}`);
    resource.methods.set(method, handler);
    resources.set(shape, resource);
  }
  return resources.values();
}

function isParam(segment: string): boolean {
  return segment.startsWith(':');
}

/** The first segment that differs decides: a literal one goes first. */
function bySpecificity(one: Resource, other: Resource): number {
  for (const [at, segment] of one.segments.entries()) {
    const difference = Number(isParam(segment)) - Number(isParam(other.segments[at]!));
    if (difference !== 0) return difference;
  }
  return 0;
}

function matches(pattern: string[], segments: string[]): boolean {
  return pattern.every((part, at) => (isParam(part) ? segments[at] !== '' : part === segments[at]));
}

/** RFC 9110 section 9.3.2: HEAD is GET without the body, which the kernel leaves out. */
function handlerFor(resource: Resource, method: string): RouteHandler | undefined {
  return resource.methods.get(method) ?? (method === 'HEAD' ? resource.methods.get('GET') : undefined);
}

function paramsOf(pattern: string[], segments: string[]): PathParams {
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    if (isParam(part)) params[part.slice(1)] = decodeSegment(segments[at]!);
  }
  return params;
}

/** Invalid percent-encoding is passed on as it is: no ID matches it. */
function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

async function refuseMethod(request: HttpRequest, resources: Resource[], options: RouterOptions): Promise<HttpReply> {
  const methods = new Set(resources.flatMap((resource) => [...resource.methods.keys()]));
  if (methods.has('GET')) methods.add('HEAD');
  const allow = [...methods].sort().join(', ');
  const reply = await options.methodNotAllowed(request, allow);
  return { ...reply, headers: { ...reply.headers, Allow: allow } };
}
