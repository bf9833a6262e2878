import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { codeOf } from '../platform/errors/error-code';

/** Options of the commands that call the running proxy. */
export interface ProxyOptions {
  url?: string;
  keyFile?: string;
  json?: boolean;
}

type DemoKey = NonNullable<ProxyRequest['demoKey']>;

export interface ProxyRequest {
  /** Path with query, such as `/v1/approvals?status=pending`. */
  path: string;
  /** JSON body. */
  body?: object;
  /** Defaults to POST with a body, else GET. */
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** CSV body instead of JSON. A stream is sent while it is read. */
  csv?: Buffer | Readable;
  /** Person on whose behalf the request is made, if the key has no owner. */
  actor?: string;
  /** Fallback key in demo-keys.json. Undefined sends no key. */
  demoKey?: 'admin' | 'app' | 'approver' | 'auditor' | 'reconciler';
  /** Media type, if the operation offers several. */
  accept?: string;
  /** Advice after a failed connection. The proxy may have carried out the request. */
  afterFailure: string;
}

/** A problem document of the proxy (RFC 9457). */
interface ProblemDetails {
  detail: string;
  errors: { pointer: string; detail: string }[];
  call_id: string;
}

/** The proxy cannot be reached, or the connection to it was lost. */
export class ProxyUnreachable extends ClientError {}

/** Keys that fit in a header. Others would look like a failed connection. */
const ONE_WORD = /^[\x21-\x7e]+$/;

export function withProxyOptions(command: Command, scope: string): Command {
  return command
    .option('--url <url>', 'URL of the proxy (default: PORT on this machine)')
    .option('--key-file <file>', `file that contains only an API key with the scope ${scope}`);
}

/** Returns a line of help with the sources of a command's key. */
export function keyHelp(demoKey: DemoKey): string {
  const file = 'DATA_DIR/demo-keys.json';
  return `The key comes from --key-file, else PAYOUT_PROXY_KEY, else "${demoKey}" of ${file}.`;
}

/** Calls the proxy and returns its JSON response. @throws ClientError with the reason of a failure. */
export async function callProxy(options: ProxyOptions, question: ProxyRequest): Promise<object> {
  const { response, base } = await streamFromProxy(options, question);
  const answer = await jsonOf(response);
  if (!answer) throw notTheProxy(base, response);
  return answer;
}

/** Requests a change of clients or the lift of a stop from the running proxy. */
export function callClientApi(
  options: ProxyOptions,
  question: Pick<ProxyRequest, 'path' | 'body' | 'method'>,
): Promise<object> {
  return callProxy(options, {
    ...question,
    demoKey: 'admin',
    afterFailure: 'The change may have been made. Check clients list and changes list before you continue.',
  });
}

/** Calls the proxy and returns the response unread, for streams. */
export async function streamFromProxy(
  { url, keyFile }: ProxyOptions,
  { path, body, method = body ? 'POST' : 'GET', csv, actor, demoKey, accept, afterFailure }: ProxyRequest,
): Promise<{ response: Response; base: string }> {
  const { loadConfigOf } = await import('../platform/config/config.js');
  const { port, dataDir, publicUrls } = loadConfigOf('client');
  const base = (url ?? `http://127.0.0.1:${port}`).replace(/\/+$/, '');
  if (!URL.canParse(base)) throw new ClientError('--url must be a URL, such as http://127.0.0.1:3000.');
  const key = demoKey && (await readKey(keyFile, dataDir, demoKey));
  const response = await fetch(`${base}${path}`, {
    headers: {
      // A proxy serves only the hosts of PUBLIC_URL, also at its local port.
      ...(url === undefined && publicUrls[0] !== undefined && { Host: new URL(publicUrls[0]).host }),
      ...(key !== undefined && { 'X-API-Key': key }),
      ...((csv ?? body) && { 'Content-Type': csv ? 'text/csv' : 'application/json' }),
      ...(accept !== undefined && { Accept: accept }),
      ...(actor !== undefined && { 'X-Actor': actor }),
    },
    redirect: 'error', // a redirect would send the key to its target
    method,
    ...(body && { body: JSON.stringify(body) }),
    ...(csv && { method: 'POST', body: bodyOf(csv), duplex: 'half' }), // response after the whole body
  }).catch((error: unknown) => {
    throw new ProxyUnreachable(unreachable(base, error, afterFailure));
  });
  if (response.ok) return { response, base };
  const problem = ((await jsonOf(response)) ?? {}) as Partial<ProblemDetails>;
  const { detail, errors = [], call_id: callId } = problem;
  if (detail === undefined) throw notTheProxy(base, response);
  const lines = [detail, ...errors.map((fault) => `${fault.pointer} ${fault.detail}`)];
  if (response.status >= 500 && callId !== undefined)
    lines.push(`The log of the proxy has the details of call ${callId}.`);
  throw new ClientError(lines.join('\n'));
}

function bodyOf(csv: Buffer | Readable): NonNullable<RequestInit['body']> {
  return csv instanceof Readable ? (Readable.toWeb(csv) as ReadableStream) : new Uint8Array(csv);
}

async function jsonOf(response: Response): Promise<object | undefined> {
  return (await response.json().catch(() => undefined)) as object | undefined;
}

function notTheProxy(base: string, { status }: Response): ClientError {
  return new ClientError(`The server at ${base} returned ${status}, but it is not the proxy. Check --url.`);
}

function unreachable(base: string, error: unknown, afterFailure: string): string {
  const code = codeOf((error as Error).cause);
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') {
    return `No proxy responds at ${base}. Start the proxy, or give its address with --url.`;
  }
  return `The connection to ${base} failed (${code ?? 'no response'}). ${afterFailure}`;
}

async function readKey(keyFile: string | undefined, dataDir: string, demoKey: DemoKey): Promise<string> {
  if (keyFile !== undefined) {
    const key = readText(keyFile, `The key file ${keyFile} cannot be read.`).trim();
    if (ONE_WORD.test(key)) return key;
    throw new ClientError(`The key file ${keyFile} must contain only the API key, on one line.`);
  }
  if (process.env.PAYOUT_PROXY_KEY) return process.env.PAYOUT_PROXY_KEY;
  const { demoKeysFile } = await import('../app/start/demo-keys.js');
  const demoKeys = demoKeysFile(dataDir);
  const missing =
    'No API key was found. Give one with --key-file or PAYOUT_PROXY_KEY. ' +
    `(The demo keys in ${demoKeys} cannot be read.)`;
  const key = (JSON.parse(readText(demoKeys, missing)) as Partial<Record<DemoKey, string>>)[demoKey];
  if (key === undefined) throw new ClientError(missing);
  return key;
}

/** Reads a file. @throws ClientError with the text `missing`. */
export function readText(file: string, missing: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new ClientError(missing);
  }
}
