import canonicalize from 'canonicalize';
import { ColumnType, kindOf } from './kinds';
import { signBytes, Signer, Verifier, verifyBytes } from './note';

/** What was taken out for somebody's sake: a row of `erasure`, without its signature. */
export interface Erasure {
  /** UUIDv7, of its own. */
  id: string;
  kind: 'email' | 'phone' | 'handle';
  reason: string;
  actor: string | null;
  /** `item_recipient/<call id>/<position>`, `intent_body/<call id>`, `outcome_body/<call id>`, `access_filters/<access id>`. */
  places: string[];
  erased_at: Date;
}

/** What was taken out for its age: a row of `pruning`, without its signature. */
export interface Pruning {
  /** UUIDv7, of its own. */
  id: string;
  what: 'people' | 'calls';
  /** `2026-11`, in UTC. */
  month: string;
  reason: string;
  actor: string | null;
  /** Ids of calls of that month that stay. */
  kept: string[];
  rows: bigint | number;
  /** How many leaves lost their records with it: which these were, nobody can tell from a leaf's hash. */
  leaves: bigint | number;
  /** The signed note that covers them. */
  checkpoint: string;
  pruned_at: Date;
}

/** The records that excuse what is missing, so that the database's word for them is not enough. */
export interface SignedRecords {
  erasure: Erasure;
  pruning: Pruning;
}

type Value = string | number | bigint | boolean | Date | string[] | null;

/** The signature (Ed25519) of an erasure or a pruning that is about to be written. */
export function signRecord<Kind extends keyof SignedRecords>(
  signer: Signer,
  kind: Kind,
  row: SignedRecords[Kind],
): Buffer {
  return signBytes(signer, signedBytes(kind, row));
}

/** What is signed: `payout-proxy/<table>/1`, a line end, and the record's leaf without `signature`. */
export function signedBytes<Kind extends keyof SignedRecords>(kind: Kind, row: SignedRecords[Kind]): Buffer {
  const values = row as unknown as Record<string, Value>;
  const columns = Object.entries(kindOf(kind).columns).filter(([name]) => name !== 'signature');
  return bytesOf(kind, Object.fromEntries(columns.map(([name, type]) => [name, written(type, values[name] ?? null)])));
}

/** Whether the key signed the record whose leaf this is. */
export function isSignedLeaf(verifier: Verifier, kind: keyof SignedRecords, leaf: string): boolean {
  const { signature, ...members } = JSON.parse(leaf) as { signature: string };
  return verifyBytes(verifier, bytesOf(kind, members), Buffer.from(signature, 'hex'));
}

function bytesOf(kind: keyof SignedRecords, members: object): Buffer {
  return Buffer.from(`payout-proxy/${kind}/1\n${canonicalize({ ...members, table: kind })}`);
}

/** As Postgres writes it in a leaf (leaves.ts); its timestamps have microseconds. */
function written(type: ColumnType, value: Value): Value {
  if (value instanceof Date) return value.toISOString().replace('Z', '000Z');
  return type === 'bigint' && value !== null ? String(value) : value;
}
