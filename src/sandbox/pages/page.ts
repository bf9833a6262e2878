import { createHash } from 'node:crypto';
import Decimal from 'decimal.js';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../http/envelope';

const STYLE = `
:root{color-scheme:light dark;--line:color-mix(in srgb,currentColor 20%,transparent);--accent:#2456c7}
@media (prefers-color-scheme:dark){:root{--accent:#8fb0ff}}
*{box-sizing:border-box}
body{font:1.0625rem/1.5 system-ui,sans-serif;max-width:34rem;margin:0 auto;padding:2rem 1.25rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}
.amount{font-size:2rem;font-weight:600;margin:0 0 1rem;font-variant-numeric:tabular-nums}
.error{border-left:.25rem solid #c62828;padding:.5rem 1rem;margin:0 0 1rem}
table{width:100%;border-collapse:collapse;margin:0 0 1.5rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.5rem 0;border-bottom:1px solid var(--line)}
th:last-child,td:last-child{text-align:right}
details{border:1px solid var(--line);border-radius:.5rem;padding:0 1rem;margin:0 0 .75rem}
summary{cursor:pointer;padding:.75rem 0;font-weight:600}
label{display:block;margin:0 0 1rem}
input,select{display:block;width:100%;font:inherit;padding:.6rem;margin-top:.25rem}
input,select{border:1px solid currentColor;border-radius:.4rem}
button{font:inherit;font-weight:600;width:100%;padding:.75rem;margin:0 0 1rem;border:0;border-radius:.4rem}
button{background:var(--accent);color:Canvas;cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
footer{margin-top:2rem;padding-top:1rem;border-top:1px solid var(--line);font-size:.875rem}
`;

/** Allows only this style, and forms to this origin. No script runs, whatever texts callers sent. */
const HEADERS = {
  'Content-Security-Policy':
    `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
    `form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer', // The address of a page suffices to use it.
  'Cache-Control': 'no-store',
};

export function sendPage(
  reply: FastifyReply,
  httpStatus: number,
  title: string,
  content: Html,
): FastifyReply {
  return reply.status(httpStatus).type('text/html; charset=utf-8').headers(HEADERS).send(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html`${title}`.markup}</title>
<style>${STYLE}</style>
<main>
<h1>${html`${title}`.markup}</h1>
${content.markup}
</main>
<footer>This is a sandbox: no money exists here.</footer>
</html>
`);
}

/** Turns the routes of `server` into web pages: reads forms, and shows errors as a page. */
export function servePages(server: FastifyInstance): void {
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, text, done) => done(null, Object.fromEntries(new URLSearchParams(String(text)))),
  );
  server.setErrorHandler((fault: FastifyError | Error, request: FastifyRequest, reply) => {
    if (fault instanceof Refusal) return sendPage(reply, 400, 'That did not work', errorBox(fault.message));
    const httpStatus = 'statusCode' in fault ? (fault.statusCode ?? 500) : 500;
    if (httpStatus < 500)
      return sendPage(reply, httpStatus, 'That did not work', errorBox('The request cannot be read.'));
    // Only the kind: database errors quote values, which are personal data.
    process.stderr.write(
      `sandbox: ${request.method} ${request.routeOptions.url ?? ''} failed: ${fault.name}\n`,
    );
    return sendPage(reply, 503, 'That did not work', errorBox('Open the link again in a moment.'));
  });
}

export function errorBox(text: string): Html {
  return html`<p class="error" role="alert">${text}</p>`;
}

/** Returns, for example, "12.50 USD": all decimals, and at least two. */
export function usdText(usd: Decimal): string {
  return `${usd.toFixed(Math.max(2, usd.decimalPlaces()))} USD`;
}

/** Safe markup: texts of callers are escaped. */
export class Html {
  constructor(readonly markup: string) {}
}

type Part = Html | string | number | undefined | false | Part[];

/** Builds markup from a template. Escapes all values but markup, and omits `undefined` and `false`. */
export function html(texts: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(texts.map((text, index) => text + markupOf(parts[index])).join(''));
}

function markupOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.markup;
  if (Array.isArray(part)) return part.map(markupOf).join('\n');
  return String(part).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
