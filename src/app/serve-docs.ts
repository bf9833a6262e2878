import { readFileSync } from 'node:fs';
import { NestFastifyApplication } from '@nestjs/platform-fastify';
import { FastifyInstance } from 'fastify';
import { serveKeptBody } from '../http/answers/kept-body';
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
const START = `SwaggerUIBundle({
  urls: ${JSON.stringify(Object.values(AUDIENCES).map(({ file, title }) => ({ url: `/${file}`, name: title })))},
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
    serveKeptBody(server, `/${AUDIENCES[audience].file}`, { type: 'application/json; charset=utf-8', read });
  }
  const headers = { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' };
  serveKeptBody(server, '/docs', { type: 'text/html; charset=utf-8', read: () => PAGE, headers });
  serveKeptBody(server, '/docs/start.js', { type: 'text/javascript; charset=utf-8', read: () => START });
  for (const [file, type] of Object.entries(SWAGGER_UI)) {
    const read = () => readFileSync(require.resolve(`swagger-ui-dist/${file}`));
    serveKeptBody(server, `/docs/${file}`, { type: `${type}; charset=utf-8`, read });
  }
}
