// Finds the handler for a method and a path. Patterns are literal segments and `:name`
// segments; a path has to match as a whole, so a trailing slash makes another path. Literal
// segments are compared as sent (one path, one spelling); parameters are percent-decoded.
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
  for (const place of placesOf(options.routes)) {
    if (!place.segments.some(isParam)) literal.set(place.segments.join('/'), place);
    else byLength.set(place.segments.length, [...(byLength.get(place.segments.length) ?? []), place]);
  }
  for (const places of byLength.values()) places.sort(bySpecificity);

  return (request) => {
    const exact = literal.get(request.path);
    const handler = exact && handlerFor(exact, request.method);
    if (handler) return handler(request, NO_PARAMS);
    const segments = request.path.split('/');
    const candidates = (byLength.get(segments.length) ?? []).filter((place) => matches(place.segments, segments));
    for (const place of candidates) {
      const found = handlerFor(place, request.method);
      if (found) return found(request, paramsOf(place.segments, segments));
    }
    const places = exact ? [exact, ...candidates] : candidates;
    return places.length === 0 ? options.notFound(request) : refuseMethod(request, places, options);
  };
}

function placesOf(routes: readonly Route[]): Iterable<Resource> {
  const places = new Map<string, Resource>();
  for (const { method, pattern, handler } of routes) {
    if (!pattern.startsWith('/')) throw new Fault(`a route has to start with a slash: ${pattern}`);
    const segments = pattern.split('/');
    // Two patterns that differ only in the names of their parameters are one place.
    const shape = segments.map((segment) => (isParam(segment) ? ':' : segment)).join('/');
    const place = places.get(shape) ?? { segments, methods: new Map() };
    if (place.segments.join('/') !== pattern) throw new Fault(`two names for one parameter: ${pattern}`);
    if (place.methods.has(method)) throw new Fault(`two handlers for one route: ${method} ${pattern}`);
    place.methods.set(method, handler);
    places.set(shape, place);
  }
  return places.values();
}

function isParam(segment: string): boolean {
  return segment.startsWith(':');
}

/** The first segment in which two places differ decides: a literal one goes first. */
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
function handlerFor(place: Resource, method: string): RouteHandler | undefined {
  return place.methods.get(method) ?? (method === 'HEAD' ? place.methods.get('GET') : undefined);
}

function paramsOf(pattern: string[], segments: string[]): PathParams {
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    if (isParam(part)) params[part.slice(1)] = decodeSegment(segments[at]!);
  }
  return params;
}

/** What is no percent-encoding of UTF-8 is handed on as it came: no such id exists. */
function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

async function refuseMethod(request: HttpRequest, places: Resource[], options: RouterOptions): Promise<HttpReply> {
  const methods = new Set(places.flatMap((place) => [...place.methods.keys()]));
  if (methods.has('GET')) methods.add('HEAD');
  const allow = [...methods].sort().join(', ');
  const reply = await options.methodNotAllowed(request, allow);
  return { ...reply, headers: { ...reply.headers, Allow: allow } };
}
