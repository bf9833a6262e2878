import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import canonicalize from 'canonicalize';
import { formatCheckpoint } from '../../../src/history/log/head';
import { CompactRange, inclusionProof } from '../../../src/history/log/merkle';
import { newSigningKey, Signer, signerOf, signNote } from '../../../src/history/log/note';
import { leafHash } from './leaf-hash';

/** Receipts of a small log, and the stand-alone verifier. */

export const ORIGIN = 'payouts.example/log';
export const CALL = '0193a6f0-0000-7000-8000-000000000001';
export const signer = signerOf(newSigningKey(ORIGIN));
export const forger = signerOf(newSigningKey(ORIGIN));
export const SALT = '000102030405060708090a0b0c0d0e0f';
const BODY = '{"email":"ada@example.com"}';
const commit = (value: string, salt = SALT) =>
  createHash('sha256').update(Buffer.from(salt, 'hex')).update(value).digest('hex');
/** The salt of the list of recipients. */
const CALL_BYTES = CALL.replaceAll('-', '');
const RECIPIENTS = JSON.stringify([{ email_commitment: commit('ada@example.com'), position: 0 }]);
/** Returns the intent of another call. */
export const other = (id: number) => ({
  table: 'intent',
  id: `0193a6f0-0000-7000-8000-0000000000${id + 10}`,
  note: 'zażółć 😂',
});
/** Three of its records belong to CALL: 3, 5 and 8. */
export const LOG: Record<string, unknown>[] = [
  other(0),
  other(1),
  other(2),
  {
    table: 'intent',
    id: CALL,
    operation: 'POST /payouts/airtime',
    total_usd: '12.500000',
    recorded_at: '2026-11-21T14:00:00.000001Z',
    body_commitment: commit(BODY),
    attempts: 1,
    held: null,
    digest: commit('x'),
    recipients_commitment: commit(RECIPIENTS, CALL_BYTES),
    items: [{ amount_usd: '12.500000' }, { amount_usd: '0.1' }],
  },
  other(3),
  { table: 'decision', intent_id: CALL, kind: 'approved', id: other(4).id },
  other(5),
  other(6),
  { table: 'outcome', intent_id: CALL, kind: 'succeeded', upstream_status: 200 },
  other(7),
  other(8),
];

/** A receipt whose fields tests damage. */
export interface TestReceipt {
  format: string;
  call_id: string;
  log: { origin: string; key: string };
  checkpoint: string;
  records: TestRecord[];
}

interface TestRecord {
  kind: unknown;
  index: number;
  record: Record<string, unknown>;
  proof: string[];
  openings: { commitment: string; salt: string; value: string; encoding: string }[];
}

/** Facts proved by a receipt. */
interface ProvedReceipt {
  warning?: string;
  records: unknown[];
}

/** Builds a receipt over these leaves of a log of these records. Tests can change any part of it. */
export async function receiptOf(log = LOG, places = [3, 5, 8], ...by: Signer[]) {
  const signers = by.length > 0 ? by : [signer];
  const nodes = new Map<string, Buffer>();
  const tree = CompactRange.of(0, []);
  for (const [index, record] of log.entries()) {
    const hash = leafHash(canonicalize(record)!);
    nodes.set(`0/${index}`, hash);
    tree.append(hash, (level, at, node) => nodes.set(`${level}/${at}`, node));
  }
  const extensions = ['sealed 2026-11-21T14:00:01.234567Z', 'complete 2026-11-21T14:00:00.200000Z'];
  const checkpoint = signNote(
    formatCheckpoint({ origin: ORIGIN, size: tree.size, root: tree.root(), extensions }),
    ...signers,
  );
  const records = places.map(async (index) => {
    const proof = await inclusionProof(index, log.length, (all) =>
      Promise.resolve(all.map((node) => nodes.get(`${node.level}/${node.index}`)!)),
    );
    const hashes = proof.map((hash) => hash.toString('base64'));
    return { kind: log[index]!.table, index, record: log[index]!, proof: hashes, openings: [] };
  });
  const openings = [
    { commitment: 'recipients_commitment', salt: CALL_BYTES, value: RECIPIENTS, encoding: 'utf8' },
    { commitment: 'recipients/0/email_commitment', salt: SALT, value: 'ada@example.com', encoding: 'utf8' },
    {
      commitment: 'body_commitment',
      salt: SALT,
      value: Buffer.from(BODY).toString('base64'),
      encoding: 'base64',
    },
  ];
  const receipt: TestReceipt = {
    format: 'payout-proxy/receipt/1',
    call_id: CALL,
    log: { origin: ORIGIN, key: (signers[0] as Signer).verifierKey },
    checkpoint,
    records: await Promise.all(records),
  };
  if (log === LOG) receipt.records[0]!.openings = openings;
  return receipt;
}

/** Calls the tool's functions many times in one separate process. Returns the results in order. */
export function askAll(questions: { receipts?: { text: string; keys?: string[] }[]; values?: unknown[] }) {
  const tool = pathToFileURL(join('tools', 'verify-receipt.mjs')).href;
  const program = `
    import { canonical, verifyReceipt } from ${JSON.stringify(tool)};
    import { readFileSync } from 'node:fs';
    const attempt = (call) => {
      try { return call(); } catch (error) { return error.constructor.name + ': ' + error.message; }
    };
    const { receipts = [], values = [] } = JSON.parse(readFileSync(0, 'utf8'));
    process.stdout.write(JSON.stringify({
      receipts: receipts.map(({ text, keys }) => attempt(() => verifyReceipt(text, keys))),
      values: values.map((value) => attempt(() => canonical(value))),
    }));`;
  const input = JSON.stringify(questions);
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      input,
      encoding: 'utf8',
      maxBuffer: 1e9,
    }),
  ) as { receipts: (ProvedReceipt | string)[]; values: string[] };
}

/** Returns a copy, as received over the network, so that changes do not reach the original. */
export const clone = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;
