import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import fastifyStatic from '@fastify/static';
import { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sessionTokenIn } from '../access/sessions/cookies';
import { RunningConfig } from '../platform/config/config';
import { SignInConfig } from '../platform/config/sign-in-config';

/** The directory of the built page (console/vite.config.mts). The path is the same from src and from dist. */
const PAGE = join(__dirname, '..', '..', 'dist', 'console', 'page');

/** The names of files in /assets contain the hash of their content. */
const ASSETS_MAX_AGE = '365d';

/** A placeholder in the built page. Each answer replaces it. */
const NONCE = /CSP_NONCE/g;
const SESSION_HINT = 'SESSION_HINT';

/** A placeholder in the built page for a value that stays the same while the proxy runs. */
const SANDBOX_HINT = 'SANDBOX_HINT';
const KEYS_HINT = 'KEYS_HINT';
const SIGN_IN_HINT = 'SIGN_IN_HINT';

/**
 * Loads nothing from other origins, allows no inline scripts, and forbids framing. The nonce is for styles
 * that the component library adds to the page at runtime.
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
  { embeddedSandbox, openIdProvider, keySignIn }: Pick<RunningConfig, 'embeddedSandbox' | keyof SignInConfig>,
): Promise<void> {
  const page = readFileSync(join(PAGE, 'index.html'), 'utf8')
    .replace(SANDBOX_HINT, embeddedSandbox ? 'yes' : 'no')
    .replace(SIGN_IN_HINT, [openIdProvider && 'provider', keySignIn && 'key'].filter(Boolean).join(' '))
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
    // saves the page a request with a known answer
    const hint = sessionTokenIn(request) === undefined ? 'none' : 'perhaps';
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', policy(nonce))
      .header('referrer-policy', 'no-referrer')
      .header('cross-origin-opener-policy', 'same-origin')
      .send(page.replace(NONCE, nonce).replace(SESSION_HINT, hint));
  };
  // Newcomers open the address that the start printed. In production, / stays unused.
  if (embeddedSandbox) server.get('/', (_request, reply) => reply.redirect('/console', 302));
  server.get('/console', show);
  server.get('/console/*', show);
}

/**
 * Returns the path for `require` in the working directory. Returns the name alone if the file is elsewhere,
 * or if a command or a page would have to escape the path.
 */
function asRequired(file: string): string {
  const path = relative(process.cwd(), file).replaceAll(sep, '/');
  return /^(?!\.\.\/)[\w.-]+(\/[\w.-]+)*$/.test(path) ? `./${path}` : basename(file);
}
