import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Negotiator } from '@fastify/accept-negotiator';
import { NestFastifyApplication } from '@nestjs/platform-fastify';
import { FastifyInstance } from 'fastify';
import { RunningConfig } from '../platform/config/config';
import { ApiDocuments, openApiDocuments } from './openapi';
import { AUDIENCES } from './openapi-audiences';

/** Files of Swagger UI, by their names in its package. */
const SWAGGER_UI = {
  'swagger-ui.css': 'text/css',
  'index.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'swagger-ui-standalone-preset.js': 'text/javascript',
};

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>payout-proxy</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/index.css">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/swagger-ui-standalone-preset.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** The document of apps comes first, and a switch on the page opens the others. */
const URLS = Object.values(AUDIENCES).map(({ file, title }) => ({ url: `/${file}`, name: title }));

const START = `SwaggerUIBundle({
  urls: ${JSON.stringify(URLS)},
  dom_id: '#swagger-ui',
  deepLinking: true,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
});
`;

/** Swagger UI writes styles into its elements. Nothing comes from, or goes to, other origins. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves `/docs` for people, and the documents for programs. */
export function serveDocs(
  app: NestFastifyApplication,
  server: FastifyInstance,
  settings: RunningConfig,
): void {
  let documents: ApiDocuments | undefined;
  for (const audience of ['apps', 'staff'] as const) {
    const read = () => JSON.stringify((documents ??= openApiDocuments(app, settings))[audience]);
    serveStaticBody(server, `/${AUDIENCES[audience].file}`, {
      type: 'application/json; charset=utf-8',
      read,
    });
  }
  const headers = { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' };
  serveStaticBody(server, '/docs', { type: 'text/html; charset=utf-8', read: () => PAGE, headers });
  serveStaticBody(server, '/docs/start.js', { type: 'text/javascript; charset=utf-8', read: () => START });
  for (const [file, type] of Object.entries(SWAGGER_UI)) {
    const read = () => readFileSync(require.resolve(`swagger-ui-dist/${file}`));
    serveStaticBody(server, `/docs/${file}`, { type: `${type}; charset=utf-8`, read });
  }
}

/** A body that is constant for the process. */
interface StaticBody {
  type: string;
  /** Returns the body. Called once, by the first request. */
  read: () => string | Buffer;
  headers?: Record<string, string>;
}

interface EncodedBody {
  bytes: Buffer;
  etag: string;
}

const ENCODINGS = new Negotiator({ supportedValues: ['gzip', 'identity'] });

/**
 * Serves a body to everyone, without a key. Each request gets the same buffer, which is compressed once, so
 * that a flood of requests for a long body takes no processor time from payments.
 */
function serveStaticBody(
  server: FastifyInstance,
  path: string,
  { type, read, headers = {} }: StaticBody,
): void {
  let encodings: Promise<{ identity: EncodedBody; gzip: EncodedBody }> | undefined;
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

async function encode(body: Buffer): Promise<{ identity: EncodedBody; gzip: EncodedBody }> {
  return { identity: tagged(body), gzip: tagged(await promisify<Buffer, Buffer>(gzip)(body)) };
}

function tagged(bytes: Buffer): EncodedBody {
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}

/** Returns whether `If-None-Match` contains this tag, which intermediaries may have weakened. */
function isKnown(etag: string, header = ''): boolean {
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
}
