import fastifyStatic from '@fastify/static';
import { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { sessionTokenIn } from '../access/auth/session-cookie';
import { RunningConfig } from '../platform/config/config';

/** Where the build puts the page (console/vite.config.mts); the same seen from src and from dist. */
const PAGE = join(__dirname, '..', '..', 'dist', 'console', 'page');

/** Files that are built into /assets have their content's hash in their names. */
const ASSETS_MAX_AGE = '365d';

/** Stand in the built page for what each answer says anew. */
const NONCE = /CSP_NONCE/g;
const SESSION_HINT = 'SESSION_HINT';

/** Stand in the built page for what stays the same as long as the proxy runs. */
const SANDBOX_HINT = 'SANDBOX_HINT';
const KEYS_HINT = 'KEYS_HINT';

/**
 * Nothing is loaded from elsewhere, no script stands in the page, nobody frames it. The nonce is for the styles that the
 * component library writes into the page while it runs.
 */
const policy = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Serves the console: its files, and its page at every address of the console. */
export async function serveConsole(
  server: FastifyInstance,
  { embeddedSandbox }: Pick<RunningConfig, 'embeddedSandbox'>,
): Promise<void> {
  const page = readFileSync(join(PAGE, 'index.html'), 'utf8')
    .replace(SANDBOX_HINT, embeddedSandbox ? 'yes' : 'no')
    .replace(KEYS_HINT, embeddedSandbox?.demoKeysFile ? asRequired(embeddedSandbox.demoKeysFile) : '');
  await server.register(fastifyStatic, {
    root: join(PAGE, 'assets'),
    prefix: '/console/assets/',
    preCompressed: true,
    decorateReply: false,
    index: false,
    immutable: true,
    maxAge: ASSETS_MAX_AGE,
  });
  const show = (request: FastifyRequest, reply: FastifyReply) => {
    const nonce = randomBytes(16).toString('base64');
    const hint = sessionTokenIn(request) === undefined ? 'none' : 'perhaps'; // spares a question whose answer is known
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', policy(nonce))
      .header('referrer-policy', 'no-referrer')
      .header('cross-origin-opener-policy', 'same-origin')
      .send(page.replace(NONCE, nonce).replace(SESSION_HINT, hint));
  };
  // Whoever tries the proxy out opens the address it printed. In production, / stays what it is: nothing.
  if (embeddedSandbox) server.get('/', (_request, reply) => reply.redirect('/console', 302));
  server.get('/console', show);
  server.get('/console/*', show);
}

/**
 * As `require` takes it in the folder in which the proxy was started; its name alone where it is elsewhere, or has in its
 * path what a command or a page would have to escape.
 */
function asRequired(file: string): string {
  const path = relative(process.cwd(), file).replaceAll(sep, '/');
  return /^(?!\.\.\/)[\w.-]+(\/[\w.-]+)*$/.test(path) ? `./${path}` : basename(file);
}
