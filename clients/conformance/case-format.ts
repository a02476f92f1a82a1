// The shapes of the cases (README.md here) and of the two lines that are exchanged with a runner.

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export interface Answer {
  status?: number;
  headers?: Record<string, string | null>;
  json?: Json;
  raw?: string;
  close?: boolean;
  silent?: boolean;
  stall?: boolean;
  cut?: boolean;
  trickle?: boolean;
}

export interface ExpectedRequest {
  method: string;
  path: string;
  headers?: Record<string, string | null>;
  body?: Json;
  after_ms?: [number, number];
}

export type ExpectedError = Partial<Omit<CaughtError, 'message' | 'base' | 'text'>> & { message_matches?: string };

export interface Expectation {
  requests: ExpectedRequest[];
  result?: Json;
  error?: ExpectedError;
}

export interface Call {
  method: string;
  args: JsonObject;
}

export interface Case {
  name: string;
  options?: JsonObject;
  env?: Record<string, string>;
  call: Call;
  answers: Answer[];
  expect: Expectation;
}

export interface WebhookCase {
  name: string;
  payload?: string;
  payload_base64?: string;
  give: 'string' | 'bytes' | 'parsed';
  signed?: { id: string; at?: number; timestamp?: number | string; secrets: string[]; payload?: string };
  headers?: Record<string, string | null>;
  secret: string;
  tolerance_seconds?: number;
  expect: { event: Json } | { error: ExpectedError };
}

/** What a runner reads. */
export interface Order {
  name: string;
  options: JsonObject;
  call: Call;
}

export interface CaughtError {
  class: string;
  base: boolean;
  status: number | null;
  code: string | null;
  message: string;
  request_id: string | null;
  timeout: boolean | null;
  retry_after: number | null;
  domain: string | null;
  check: Json;
  index: number | null;
  text: string;
}

/** What a runner prints. */
export interface Outcome {
  name: string;
  result?: Json;
  error?: CaughtError;
}
