// What an engine is started with: the caller's options, with all defaults filled in.
import type { HttpLimits, HttpOptions } from '../http.ts';
import type { StallWatch } from '../stall-watch.ts';
import type { RequestContext } from './incoming-request.ts';

export interface EngineOptions extends HttpOptions {
  limits: HttpLimits;
  context: RequestContext;
  stalls: StallWatch;
}
