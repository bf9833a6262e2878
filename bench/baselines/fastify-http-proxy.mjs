/** @fastify/http-proxy: passes everything on and records nothing. */
import proxy from '@fastify/http-proxy';
import Fastify from 'fastify';
import { ready, settings } from './support/contestant.mjs';

const [upstream, upstreamKey] = settings('UPSTREAM_URL', 'UPSTREAM_API_KEY');

const server = Fastify();
server.register(proxy, {
  upstream,
  undici: { connections: 256 },
  replyOptions: { rewriteRequestHeaders: (_request, headers) => ({ ...headers, 'x-api-key': upstreamKey }) },
});
process.once('SIGTERM', () => process.exit(0));
ready(await server.listen({ port: 0, host: '127.0.0.1' }));
