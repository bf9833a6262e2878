import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

/** A rejection by the service. Nothing was done (docs/reference/upstream.md, "Envelope and errors"). */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly httpStatus: 400 | 401 | 403 = 400,
  ) {
    super(message);
  }
}

/** A rejection by the telco, in its own error format (docs/reference/upstream.md, "Envelope and errors"). */
export class TransactionError extends Refusal {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * The data of a *success* for an unknown ID (docs/reference/upstream.md, trap 2). With the quirk
 * `errorWithinSuccess` off, answer-shape.ts turns it into an error.
 */
export const NOT_FOUND = { error: 'not found for that id' };

interface SuccessEnvelope {
  status: 'success';
  data: unknown;
}

export interface ErrorEnvelope {
  status: 'error';
  error: string;
}

/** See "Envelope and errors" in docs/reference/upstream.md. */
export interface TransactionErrorEnvelope {
  status: 'error';
  type: 'Transaction Error';
  code: string;
  message: string;
}

export function success(data: unknown): SuccessEnvelope {
  return { status: 'success', data };
}

export function answerFault(fault: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const { httpStatus, text } = describe(fault, request);
  void reply
    .status(httpStatus)
    .send(fault instanceof TransactionError ? transactionError(fault) : failure(text));
}

/** Answers POST /send, the only operation with 500 for rejections (docs/reference/upstream.md). */
export function answerSendFault(
  fault: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { httpStatus, text } = describe(fault, request);
  void reply.status(httpStatus === 400 || httpStatus === 413 ? 500 : httpStatus).send(failure(text));
}

export function answerUnknownOperation(request: FastifyRequest, reply: FastifyReply): void {
  const path = request.originalUrl.split('?', 1)[0];
  void reply.status(404).send(failure(`no operation ${request.method} ${path}`));
}

/** Answers bytes that are not HTTP, on the socket. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const body = JSON.stringify(failure('request is not valid HTTP'));
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function describe(
  fault: FastifyError | Error,
  request: FastifyRequest,
): { httpStatus: number; text: string } {
  if (fault instanceof Refusal) return { httpStatus: fault.httpStatus, text: fault.message };

  const statusCode = 'statusCode' in fault ? fault.statusCode : undefined;
  if (statusCode === 413) return { httpStatus: 413, text: 'request body is too large' };
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return { httpStatus: 400, text: 'request cannot be read' };

  // Not a 500: callers take a 500 envelope for "nothing was done", which is unknown after a failed commit.
  process.stderr.write(
    `sandbox: ${request.method} ${request.routeOptions.url ?? ''} failed: ${faultName(fault)}\n`,
  );
  return { httpStatus: 503, text: 'service is unavailable, the state of this request is unknown' };
}

/** Returns only the kind of an error: database errors quote values, which are personal data. */
function faultName(fault: Error): string {
  return 'code' in fault ? `${fault.name} ${String(fault.code)}` : fault.name;
}

export function failure(text: string): ErrorEnvelope {
  return { status: 'error', error: text };
}

function transactionError({ code, message }: TransactionError): TransactionErrorEnvelope {
  return { status: 'error', type: 'Transaction Error', code, message };
}
