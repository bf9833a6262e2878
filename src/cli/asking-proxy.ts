import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { demoKeysFile } from '../app/start/demo-keys';
import { loadConfigOf } from '../platform/config/config';
import { codeOf } from '../platform/errors/error-code';

/** Options of the commands that call the running proxy. */
export interface ProxyOptions {
  url?: string;
  keyFile?: string;
  json?: boolean;
}

type DemoKey = NonNullable<Question['demoKey']>;

export interface Question {
  /** The path with its query, such as `/v1/approvals?status=pending`. */
  path: string;
  /** The JSON body. */
  body?: object;
  /** The method. Default: POST with a body, else GET. */
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** A CSV body to send instead of JSON. A stream is sent while it is read. */
  csv?: Buffer | Readable;
  /** The person on whose behalf the request is made, if the key belongs to no person. */
  actor?: string;
  /** The key of demo-keys.json to use if none is given. Undefined: the request has no key. */
  demoKey?: 'admin' | 'app' | 'approver' | 'auditor' | 'reconciler';
  /** The media type to request, if the operation offers several. */
  accept?: string;
  /**
   * A sentence that says what to do after the connection failed. The proxy may have carried out the request.
   */
  afterFailure: string;
}

/** What the proxy answers if it refuses or fails (RFC 9457). */
interface ProblemDetails {
  detail: string;
  errors: { pointer: string; detail: string }[];
  call_id: string;
}

/** The proxy cannot be reached, or the connection to it was lost. */
export class Unreachable extends ClientError {}

/** A key without characters that headers cannot have. They would look like a failed connection. */
const ONE_WORD = /^[\x21-\x7e]+$/;

export function askingProxy(command: Command, scope: string): Command {
  return command
    .option('--url <url>', 'URL of the proxy (default: PORT on this machine)')
    .option('--key-file <file>', `file that contains only an API key with the scope ${scope}`);
}

/** Returns the help text that says where a command finds its key. */
export function keyHelp(demoKey: DemoKey): string {
  return (
    'The key comes from --key-file. Without it, it comes from PAYOUT_PROXY_KEY, or else from the demo key ' +
    `"${demoKey}" in demo-keys.json in DATA_DIR.`
  );
}

/** Calls the proxy and returns its JSON response. @throws ClientError that says why there is none. */
export async function ask(options: ProxyOptions, question: Question): Promise<object> {
  const { response, base } = await open(options, question);
  const answer = await jsonOf(response);
  if (!answer) throw notTheProxy(base, response);
  return answer;
}

/** Calls the proxy and returns the response unread, for streams. */
export async function open(
  { url, keyFile }: ProxyOptions,
  { path, body, method = body ? 'POST' : 'GET', csv, actor, demoKey, accept, afterFailure }: Question,
): Promise<{ response: Response; base: string }> {
  const { port, dataDir, publicUrls } = loadConfigOf('client');
  const base = (url ?? `http://127.0.0.1:${port}`).replace(/\/+$/, '');
  if (!URL.canParse(base)) throw new ClientError('--url must be a URL, such as http://127.0.0.1:3000.');
  const key = demoKey && readKey(keyFile, dataDir, demoKey);
  const response = await fetch(`${base}${path}`, {
    headers: {
      // Reached by its port on this machine, a proxy serves the hosts of PUBLIC_URL alone.
      ...(url === undefined && publicUrls[0] !== undefined && { Host: new URL(publicUrls[0]).host }),
      ...(key !== undefined && { 'X-API-Key': key }),
      ...((csv ?? body) && { 'Content-Type': csv ? 'text/csv' : 'application/json' }),
      ...(accept !== undefined && { Accept: accept }),
      ...(actor !== undefined && { 'X-Actor': actor }),
    },
    redirect: 'error', // a redirect would send the key to its target
    method,
    ...(body && { body: JSON.stringify(body) }),
    // the answer comes once everything is sent
    ...(csv && { method: 'POST', body: bodyOf(csv), duplex: 'half' }),
  }).catch((error: unknown) => {
    throw new Unreachable(unreachable(base, error, afterFailure));
  });
  if (response.ok) return { response, base };
  const problem = ((await jsonOf(response)) ?? {}) as Partial<ProblemDetails>;
  const { detail, errors = [], call_id: callId } = problem;
  if (detail === undefined) throw notTheProxy(base, response);
  const where =
    response.status >= 500 && callId !== undefined
      ? [`The log of the proxy has the details of call ${callId}.`]
      : [];
  throw new ClientError(
    [detail, ...errors.map((fault) => `${fault.pointer} ${fault.detail}`), ...where].join('\n'),
  );
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

function readKey(keyFile: string | undefined, dataDir: string, demoKey: DemoKey): string {
  if (keyFile !== undefined) {
    const key = readText(keyFile, `The key file ${keyFile} cannot be read.`).trim();
    if (ONE_WORD.test(key)) return key;
    throw new ClientError(`The key file ${keyFile} must contain only the API key, on one line.`);
  }
  if (process.env.PAYOUT_PROXY_KEY) return process.env.PAYOUT_PROXY_KEY;
  const demoKeys = demoKeysFile(dataDir);
  const missing =
    `No API key was found. Give one with --key-file or PAYOUT_PROXY_KEY. (The demo keys in ${demoKeys} ` +
    'cannot be read.)';
  const key = (JSON.parse(readText(demoKeys, missing)) as Partial<Record<DemoKey, string>>)[demoKey];
  if (key === undefined) throw new ClientError(missing);
  return key;
}

/** Reads a file. @throws ClientError with this text. */
export function readText(file: string, missing: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new ClientError(missing);
  }
}
