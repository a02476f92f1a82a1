// From a request to what goes over the wire: calls the handler, and turns whatever it throws
// into a report to the operator and a 500 that tells the client nothing.
import type { HttpHandler, HttpRequest } from './http.ts';
import { kernelReply, toWire, type WireReply } from './reply.ts';

export interface Responder {
  handler: HttpHandler;
  onError(error: unknown): void;
}

export async function respond(request: HttpRequest, responder: Responder): Promise<WireReply> {
  try {
    return toWire(await responder.handler(request), request.method);
  } catch (error) {
    responder.onError(error);
    return toWire(kernelReply('internal_error'), request.method);
  }
}
