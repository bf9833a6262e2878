import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApprovalPage } from '../approvals/approvals.dto';
import { ClientError } from '../clients/client-error';
import { loadConfig } from '../config/config';
import { print } from './output';

type Approval = ApprovalPage['approvals'][number];

interface ProxyOptions {
  url?: string;
  keyFile?: string;
  json?: boolean;
}

/** What a header can carry of a key; other bytes would fail as if the connection had. */
const ONE_WORD = /^[\x21-\x7e]+$/;

const HELP = `
These commands ask the running proxy, with the key of somebody who may approve: nobody decides about what they asked for.
The key is read from --key-file, else from PAYOUT_PROXY_KEY, else it is the demo approver's of demo-keys.json in DATA_DIR.

Examples:
  npm run cli -- approvals list
  npm run cli -- approvals approve 0193… --reason "agreed with the shop"`;

export function approvalsCommands(): Command {
  const approvals = new Command('approvals')
    .description('calls that wait until somebody else agrees to them')
    .addHelpText('after', HELP);
  askingProxy(approvals.command('list'))
    .description('list them, newest first, two hundred at a time')
    .option('--status <word>', 'pending, approved, rejected or expired', 'pending')
    .option('--page-token <token>', 'the older ones that the list before ended with')
    .action(list);
  for (const [verdict, does] of [
    ['approve', 'agree to a call, which is sent at once, and show what came of it'],
    ['reject', 'refuse a call: it is never sent'],
  ] as const) {
    askingProxy(approvals.command(verdict))
      .description(does)
      .argument('<call id>', 'its id, from approvals list')
      .requiredOption('--reason <text>', 'why, for the record')
      .option('--content-hash <hash>', 'decide only if the call has this content_hash')
      .action(
        (id: string, { reason, contentHash, ...options }: ProxyOptions & { reason: string; contentHash?: string }) =>
          decide(options, `${encodeURIComponent(id)}/${verdict}`, { reason, content_hash: contentHash }),
      );
  }
  return approvals;
}

function askingProxy(command: Command): Command {
  return command
    .option('--url <url>', 'of the proxy; without it, on this machine at PORT')
    .option('--key-file <file>', 'that holds an API key with the scope approve, and nothing else')
    .option('--json', 'for machines: what the proxy answers');
}

async function list({ status, pageToken, ...options }: ProxyOptions & { status: string; pageToken?: string }) {
  const query = new URLSearchParams({ status, page_size: '200', ...(pageToken && { page_token: pageToken }) });
  const page = (await ask(options, `?${query.toString()}`)) as ApprovalPage;
  print(options.json ? page : page.approvals.map(forPeople), options.json);
  if (!options.json && page.next_page_token) process.stdout.write(`older: --page-token ${page.next_page_token}\n`);
}

async function decide(options: ProxyOptions, path: string, body: object): Promise<void> {
  const call = (await ask(options, `/${path}`, body)) as Approval;
  print(options.json ? call : forPeople(call), options.json);
}

function forPeople({ id, client, operation, total_usd, item_count, outcome, approval }: Approval) {
  return {
    ...{ id, client: client.name, operation, total_usd, items: item_count, outcome },
    ...{ held_for: approval?.held_for, expires_at: approval?.expires_at },
  };
}

/** @throws ClientError that says, in a sentence, why there is no answer to go by. */
async function ask({ url, keyFile }: ProxyOptions, path: string, body?: object): Promise<object> {
  const { port, dataDir } = loadConfig();
  const base = (url ?? `http://127.0.0.1:${port}`).replace(/\/+$/, '');
  if (!URL.canParse(base)) throw new ClientError('--url must be an address, such as http://127.0.0.1:3000');
  const key = readKey(keyFile, dataDir);
  const response = await fetch(`${base}/v1/approvals${path}`, {
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    redirect: 'error', // a redirect would carry the key to whoever is named in it
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new ClientError(unreachable(base, error));
  });
  const answer = (await response.json().catch(() => undefined)) as Record<string, unknown> | undefined;
  if (response.ok && answer) return answer;
  const { detail, errors = [] } = (answer ?? {}) as { detail?: string; errors?: { pointer: string; detail: string }[] };
  if (detail === undefined) {
    throw new ClientError(`${base} answered ${response.status}, not as the proxy does; check --url`);
  }
  throw new ClientError([detail, ...errors.map((fault) => `${fault.pointer} ${fault.detail}`)].join('\n'));
}

function unreachable(base: string, error: unknown): string {
  const { code } = ((error as Error).cause ?? {}) as { code?: string };
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') {
    return `there is no proxy at ${base}; start it, or say with --url where it is`;
  }
  // A decision may have been taken all the same.
  return `the connection to ${base} failed (${code ?? 'no answer'}); look with approvals list what was decided before you go on`;
}

function readKey(keyFile: string | undefined, dataDir: string): string {
  if (keyFile !== undefined) {
    const key = readText(keyFile, `the key file ${keyFile} cannot be read`).trim();
    if (ONE_WORD.test(key)) return key;
    throw new ClientError(`the key file ${keyFile} must hold the API key and nothing else, in one line`);
  }
  if (process.env.PAYOUT_PROXY_KEY) return process.env.PAYOUT_PROXY_KEY;
  const demoKeys = join(dataDir, 'demo-keys.json');
  const missing = `there is no key: give --key-file or PAYOUT_PROXY_KEY (${demoKeys} with the demo keys cannot be read)`;
  const { approver } = JSON.parse(readText(demoKeys, missing)) as { approver?: string };
  if (approver === undefined) throw new ClientError(missing);
  return approver;
}

function readText(file: string, missing: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new ClientError(missing);
  }
}
