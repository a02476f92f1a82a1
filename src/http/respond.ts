// From a request to what is sent: calls the handler, and turns any error into a report to the operator and a 500
// without details.
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
