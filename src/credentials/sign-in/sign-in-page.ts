import { randomBytes } from 'node:crypto';
import { FastifyReply } from 'fastify';

/** A page that a browser shows during a sign-in. */
export interface SignInPage {
  status: number;
  title: string;
  /** The event, and the remedy. */
  text: string;
  /** Facts for the operator, by name. */
  facts?: Record<string, string>;
  /** The link of the page. */
  link?: { to: string; label: string };
  /** Whether the page follows the link automatically. */
  isFollowed?: boolean;
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:0;display:grid;place-items:center;min-height:100vh;background:#f8f9fa;color:#212529}
main{max-width:26rem;margin:1rem;padding:2rem;background:#fff;border:1px solid #dee2e6;border-radius:8px}
h1{font-size:1.4rem;margin:0 0 .5rem}dt{font-weight:600}dd{margin:0 0 .5rem;overflow-wrap:anywhere}
a{color:#1864ab}@media(prefers-color-scheme:dark){body{background:#1a1b1e;color:#c9c9c9}main{background:#25262b;border-color:#424242}a{color:#74c0fc}}`;

/** Sends a page without scripts and without a referrer. */
export function sendPage(reply: FastifyReply, page: SignInPage): FastifyReply {
  const nonce = randomBytes(16).toString('base64');
  const policy =
    `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; form-action 'none'; ` +
    `frame-ancestors 'none'`;
  return reply
    .status(page.status)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', policy)
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cache-control', 'no-store')
    .send(htmlOf(page, nonce));
}

function htmlOf({ title, text, facts = {}, link, isFollowed = false }: SignInPage, nonce: string): string {
  const listed = Object.entries(facts).map(
    ([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`,
  );
  // The next request then comes from this site, with the session's cookie, which is SameSite=Strict.
  const refresh = isFollowed && link ? `<meta http-equiv="refresh" content="0;url=${escaped(link.to)}">` : '';
  const way = link ? `\n<p><a href="${escaped(link.to)}">${escaped(link.label)}</a></p>` : '';
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">${refresh}
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><title>${escaped(title)} · payout-proxy</title><style nonce="${nonce}">${STYLE}</style></head>
<body><main><h1>${escaped(title)}</h1><p>${escaped(text)}</p>${listed.length > 0 ? `<dl>${listed.join('')}</dl>` : ''}${way}</main></body></html>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
