import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { ClientError } from '../access/clients/client-error';
import { loadConfigOf } from '../platform/config/config';
import { demoKeysFile } from '../app/start/demo-keys';

/** How commands that ask the running proxy are told which, and with whose key. */
export interface ProxyOptions {
  url?: string;
  keyFile?: string;
}

export interface Question {
  /** With its query: `/v1/approvals?status=pending`. */
  path: string;
  /** Sent as JSON, with POST; without one it is a GET. */
  body?: object;
  /** Sent as CSV, instead; a stream as it is read. */
  csv?: Buffer | Readable;
  /** For whom it is asked, where the key is nobody's in particular. */
  actor?: string;
  /** Of demo-keys.json, the key that is used where none is given. */
  demoKey: 'approver' | 'auditor' | 'reconciler';
  /** The media type that is wanted, where there is more than one. */
  accept?: string;
  /** What to do when the connection failed, for the end of a sentence: what was asked for may have been done. */
  afterFailure: string;
}

/** There is no connection to the proxy, or it was lost. */
export class Unreachable extends ClientError {}

/** What a header can carry of a key; other bytes would fail as if the connection had. */
const ONE_WORD = /^[\x21-\x7e]+$/;

export function askingProxy(command: Command, scope: string): Command {
  return command
    .option('--url <url>', 'of the proxy; without it, on this machine at PORT')
    .option('--key-file <file>', `that holds an API key with the scope ${scope}, and nothing else`);
}

/** For a command's help. */
export function keyHelp(demoKey: Question['demoKey']): string {
  return `The key is read from --key-file, else from PAYOUT_PROXY_KEY, else it is the demo ${demoKey}'s of demo-keys.json in DATA_DIR.`;
}

/** @throws ClientError that says, in a sentence, why there is no answer to go by. */
export async function ask(options: ProxyOptions, question: Question): Promise<object> {
  const { response, base } = await open(options, question);
  const answer = await jsonOf(response);
  if (!answer) throw notTheProxy(base, response);
  return answer;
}

/** The same for an answer that is read as it comes. */
export async function open(
  { url, keyFile }: ProxyOptions,
  { path, body, csv, actor, demoKey, accept, afterFailure }: Question,
): Promise<{ response: Response; base: string }> {
  const { port, dataDir } = loadConfigOf('client');
  const base = (url ?? `http://127.0.0.1:${port}`).replace(/\/+$/, '');
  if (!URL.canParse(base)) throw new ClientError('--url must be an address, such as http://127.0.0.1:3000');
  const key = readKey(keyFile, dataDir, demoKey);
  const response = await fetch(`${base}${path}`, {
    headers: {
      'X-API-Key': key,
      'Content-Type': csv ? 'text/csv' : 'application/json',
      ...(accept !== undefined && { Accept: accept }),
      ...(actor !== undefined && { 'X-Actor': actor }),
    },
    redirect: 'error', // a redirect would carry the key to whoever is named in it
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    ...(csv && { method: 'POST', body: bodyOf(csv), duplex: 'half' }), // the answer comes when all is sent
  }).catch((error: unknown) => {
    throw new Unreachable(unreachable(base, error, afterFailure));
  });
  if (response.ok) return { response, base };
  const { detail, errors = [] } = ((await jsonOf(response)) ?? {}) as {
    detail?: string;
    errors?: { pointer: string; detail: string }[];
  };
  if (detail === undefined) throw notTheProxy(base, response);
  throw new ClientError([detail, ...errors.map((fault) => `${fault.pointer} ${fault.detail}`)].join('\n'));
}

function bodyOf(csv: Buffer | Readable): NonNullable<RequestInit['body']> {
  return csv instanceof Readable ? (Readable.toWeb(csv) as ReadableStream) : new Uint8Array(csv);
}

async function jsonOf(response: Response): Promise<object | undefined> {
  return (await response.json().catch(() => undefined)) as object | undefined;
}

function notTheProxy(base: string, { status }: Response): ClientError {
  return new ClientError(`${base} answered ${status}, not as the proxy does; check --url`);
}

function unreachable(base: string, error: unknown, afterFailure: string): string {
  const { code } = ((error as Error).cause ?? {}) as { code?: string };
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') {
    return `there is no proxy at ${base}; start it, or say with --url where it is`;
  }
  return `the connection to ${base} failed (${code ?? 'no answer'}); ${afterFailure}`;
}

function readKey(keyFile: string | undefined, dataDir: string, demoKey: Question['demoKey']): string {
  if (keyFile !== undefined) {
    const key = readText(keyFile, `the key file ${keyFile} cannot be read`).trim();
    if (ONE_WORD.test(key)) return key;
    throw new ClientError(`the key file ${keyFile} must hold the API key and nothing else, in one line`);
  }
  if (process.env.PAYOUT_PROXY_KEY) return process.env.PAYOUT_PROXY_KEY;
  const demoKeys = demoKeysFile(dataDir);
  const missing = `there is no key: give --key-file or PAYOUT_PROXY_KEY (${demoKeys} with the demo keys cannot be read)`;
  const key = (JSON.parse(readText(demoKeys, missing)) as Partial<Record<Question['demoKey'], string>>)[demoKey];
  if (key === undefined) throw new ClientError(missing);
  return key;
}

function readText(file: string, missing: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new ClientError(missing);
  }
}
