import { execFileSync } from 'node:child_process';
import type { CallTimeline } from '../../../api/generated/schema';
import { curlOf, warningOf } from './curl';

const timeline = (changes: Partial<CallTimeline>) =>
  ({
    operation: 'POST /payouts/airtime',
    idempotency_key: "it's 17",
    anomalies: [],
    request: {
      query: null,
      body: { airtimes: [{ phoneNumber: '+254712345678', note: `"a" 'b' $HOME \`id\`` }] },
    },
    ...changes,
  }) as CallTimeline;

/** Returns the words that a shell passes to curl. */
const wordsOf = (command: string) =>
  execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${command}`], {
    encoding: 'utf8',
    env: { PAYOUT_PROXY_KEY: 'pp_app_secret', PATH: process.env.PATH },
  })
    .split('\0')
    .slice(0, -1);

describe('curlOf', () => {
  it('quotes any request and keeps the key out of the command', () => {
    const call = timeline({});
    const command = curlOf(call, 'https://pay.example') ?? '';
    expect(command).not.toContain('pp_app_secret');
    expect(wordsOf(command)).toEqual([
      '-sS',
      '-X',
      'POST',
      'https://pay.example/api/v0.1/payouts/airtime',
      '-H',
      'X-API-Key: pp_app_secret',
      '-H',
      "Idempotency-Key: it's 17",
      '-H',
      'Content-Type: application/json',
      '--data-raw',
      JSON.stringify(call.request?.body),
    ]);
  });

  it('adds the query of a read, and no body', () => {
    const reads = timeline({
      operation: 'GET /account/transaction',
      idempotency_key: null,
      request: { query: 'id=a%20b', body: null },
    });
    expect(wordsOf(curlOf(reads, 'http://x') ?? '').slice(3)).toEqual([
      'http://x/api/v0.1/account/transaction?id=a%20b',
      '-H',
      'X-API-Key: pp_app_secret',
    ]);
    expect(warningOf(reads, true)).toBe('This call only reads.');
  });

  it('returns undefined for refused requests, and warns about requests that would pay again', () => {
    expect(curlOf(timeline({ request: null }), 'http://x')).toBeUndefined();
    expect(warningOf(timeline({ idempotency_key: null }), true)).toContain('may pay twice');
    expect(warningOf(timeline({}), false)).toMatch(/same response.*People are masked/);
  });
});
