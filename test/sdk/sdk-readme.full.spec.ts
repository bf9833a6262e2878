import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PayoutProxy } from '../../packages/sdk/src/index.ts';
import { signerOf } from '../../src/history/log/note';
import { startProxyWithSandbox } from '../support/processes/proxy';
import { LOG_KEY } from '../support/records/log-key';

const ROOT = resolve(__dirname, '..', '..');
const README = readFileSync(join(ROOT, 'packages/sdk/README.md'), 'utf8');

const SECRET = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** Code blocks of the README in order. The block for pages runs in example-session-page.full.spec.ts. */
const EXAMPLES = [...README.matchAll(/^```js\n([^]*?)^```$/gm)]
  .map(([, code = '']) => code)
  .filter((code) => !code.includes('location.'));

/** Declarations that the examples expect in the reader's program. */
const OWN = `
const [url, key, logKey, ended] = process.argv.slice(2);
const database = new Map();
const session = { key: ended, token: 'token' };
const limits = { max_item: '5', max_total: '20', expires_in: 600 };
const newKey = { actor: 'ada', operations: ['POST /payouts/airtime'], ...limits };
const obtainKey = async () => {
  const init = { method: 'POST', headers: { 'X-API-Key': key, 'Content-Type': 'application/json' } };
  const response = await fetch(url + '/v1/ephemeral-keys', { ...init, body: JSON.stringify(newKey) });
  return (await response.json()).key;
};
const makeProof = () => Promise.resolve('proof');
const body = JSON.stringify({ type: 'payout.settled' });
const incoming = { body, headers: JSON.parse(process.env.SIGNED) };
`;

/** Combines the examples into one module. The first is shared, and the others get separate scopes. */
function programOf([shared = '', ...others]: string[]): string {
  const imports = new Set<string>();
  const bodies = [shared, ...others].map((code) =>
    code.replace(/^import \{ ([^}]+) \} from '@payout-proxy\/sdk';\n/gm, (_, names: string) => {
      names.split(', ').forEach((name) => imports.add(name));
      return '';
    }),
  );
  const [begin = '', ...rest] = bodies.map((code) =>
    code.replaceAll("'https://payouts.example.com'", 'url').replaceAll("'pp_shop_…'", 'key'),
  );
  const numbered = rest.map((code, at) => `console.log('EXAMPLE ${at + 2}');\n{\n${code}}\n`);
  const head = `import { ${[...imports].join(', ')} } from '@payout-proxy/sdk';`;
  return `${head}\n${OWN}\n${begin}\n${numbered.join('')}`;
}

/** Runs a program with the built package. Returns the output of each example in lines. */
async function run(program: string, parameters: string[], env: Record<string, string>): Promise<string[][]> {
  const cache = join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'sdk-readme-'));
  writeFileSync(join(folder, 'examples.mjs'), program);
  const child = spawn(process.execPath, [join(folder, 'examples.mjs'), ...parameters], {
    env: { ...process.env, ...env },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise((done) => child.once('close', done));
  rmSync(folder, { recursive: true });
  expect([stderr, code]).toEqual(['', 0]);
  const [, ...examples] = stdout.split(/EXAMPLE \d+\n/);
  return examples.map((text) => text.trim().split('\n'));
}

/** Expected output of the examples, in order. */
const PRINTED: RegExp[][] = [
  [/^succeeded$/, /^paid 2\.5$/],
  [/^succeeded$/],
  [/^$/],
  [/^Paid: [0-9a-f-]{36}$/],
  [/^succeeded false$/, /^succeeded true$/],
  [/^\/airtimes\/0\/phoneNumber must be a phone number/],
  [/^be_sent 2\.5 null$/],
  [/^succeeded \d+$/],
  [/ refused null$/, / succeeded 1\.5$/, / succeeded 1$/, / succeeded 2\.5$/, /^\d+ false$/],
  [/^true true$/],
  [/^succeeded$/],
  [/^$/],
  [/^\[ 'intent', 'outcome' \]$/],
  [/^msg_1 payout\.settled$/],
];

describe("the examples of the SDK's README", () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;

  beforeAll(async () => {
    proxy = await startProxyWithSandbox();
    await proxy.startWorker(); // seals the records for receipts
  });
  afterAll(() => proxy.close());

  /** An event signed now. */
  function signed(): string {
    const at = String(Math.floor(Date.now() / 1_000));
    const text = `msg_1.${at}.${JSON.stringify({ type: 'payout.settled' })}`;
    const signature = createHmac('sha256', Buffer.from(SECRET, 'base64')).update(text).digest('base64');
    return JSON.stringify({
      'webhook-id': 'msg_1',
      'webhook-timestamp': at,
      'webhook-signature': `v1,${signature}`,
    });
  }

  it('print the documented output', async () => {
    const { key } = await proxy.client('app', 'pay', 'write', 'read', 'account');
    const server = new PayoutProxy({ baseUrl: proxy.url, apiKey: key });
    const rights = {
      operations: ['POST /payouts/airtime' as const],
      max_item: '5',
      max_total: '5',
      expires_in: 60,
    };
    const { key: ended } = await server.ephemeralKeys.create({ actor: 'ada', ...rights });
    await server.ephemeralKeys.revokeAll('ada');
    const parameters = [proxy.url, key, signerOf(LOG_KEY).verifierKey, ended];
    const output = await run(programOf(EXAMPLES), parameters, { SIGNED: signed() });
    const expected = PRINTED.map((lines) => lines.map((line): unknown => expect.stringMatching(line)));
    expect(output).toEqual(expected);
  });
});
