import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Negotiator } from '@fastify/accept-negotiator';
import { FastifyInstance } from 'fastify';

/** A body that is constant for the process. */
export interface KeptBody {
  type: string;
  /** Returns the body. Called once, by the first request. */
  read: () => string | Buffer;
  headers?: Record<string, string>;
}

interface Encoded {
  bytes: Buffer;
  etag: string;
}

const ENCODINGS = new Negotiator({ supportedValues: ['gzip', 'identity'] });

/**
 * Serves a body to everyone, without a key. Each request gets the same buffer, which is compressed once, so
 * that a flood of requests for a long body takes no processor time from payments.
 */
export function serveKeptBody(
  server: FastifyInstance,
  path: string,
  { type, read, headers = {} }: KeptBody,
): void {
  let encodings: Promise<{ identity: Encoded; gzip: Encoded }> | undefined;
  server.get(path, async (request, reply) => {
    const { 'accept-encoding': accepted, 'if-none-match': known } = request.headers;
    const kept = await (encodings ??= encode(Buffer.from(read())));
    const isZipped = ENCODINGS.negotiate(String(accepted ?? '')) === 'gzip';
    const { bytes, etag } = isZipped ? kept.gzip : kept.identity;
    void reply.headers({ ...headers, etag, vary: 'accept-encoding', 'cache-control': 'no-cache' });
    if (isKnown(etag, known)) return reply.code(304).send();
    if (isZipped) void reply.header('content-encoding', 'gzip');
    return reply.type(type).send(bytes);
  });
}

async function encode(body: Buffer): Promise<{ identity: Encoded; gzip: Encoded }> {
  return { identity: tagged(body), gzip: tagged(await promisify<Buffer, Buffer>(gzip)(body)) };
}

function tagged(bytes: Buffer): Encoded {
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}

/** Returns whether `If-None-Match` contains this tag, which intermediaries may have weakened. */
function isKnown(etag: string, header = ''): boolean {
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
}
