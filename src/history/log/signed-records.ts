import canonicalize from 'canonicalize';
import { Form, kindOf } from './kinds';
import { signBytes, Signer, Verifier, verifyBytes } from './note';

/** Time after an erasure for which requests in progress may still commit to the name, in ms. */
export const REMEMBERED_AFTER_ERASURE_MS = 60_000;

/** An erasure: a row of `erasure` without its signature. It lists the places that lost a person. */
export interface Erasure {
  /** UUIDv7 of the erasure. */
  id: string;
  kind: 'email' | 'phone' | 'handle' | 'person';
  reason: string;
  actor: string | null;
  /**
   * `item_recipient/<call id>/<position>`, `intent_body/<call id>`, `outcome_body/<call id>`,
   * `idempotency_key/<call id>`, `access_filters/<access id>`, `person/<person id>`.
   */
  places: string[];
  erased_at: Date;
}

/** A pruning: a row of `pruning` without its signature. It documents records removed because of their age. */
export interface Pruning {
  /** UUIDv7 of the pruning. */
  id: string;
  what: 'people' | 'calls';
  /** `2026-11`, in UTC. */
  month: string;
  reason: string;
  actor: string | null;
  /** IDs of calls of that month that were kept. */
  kept: string[];
  rows: bigint | number;
  /** Number of leaves without their records. A leaf's hash does not identify its record. */
  leaves: bigint | number;
  /** Signed note that covers them. */
  checkpoint: string;
  pruned_at: Date;
}

/** Records that excuse missing data. They are signed, because the database alone is no evidence. */
export interface SignedRecords {
  erasure: Erasure;
  pruning: Pruning;
}

type Value = string | number | bigint | boolean | Date | string[] | null;

/**
 * Signs an erasure or a pruning before it is written (Ed25519): `payout-proxy/<table>/1`, a line end, and the
 * leaf of the record without `signature`.
 */
export function signRecord<Kind extends keyof SignedRecords>(
  signer: Signer,
  kind: Kind,
  row: SignedRecords[Kind],
): Buffer {
  const values = row as unknown as Record<string, Value>;
  const columns = Object.entries(kindOf(kind).columns).filter(([name]) => name !== 'signature');
  const members = columns.map(([name, form]) => [name, written(form, values[name] ?? null)]);
  return signBytes(signer, signedBytes(kind, Object.fromEntries(members) as object));
}

/** Returns whether the key signed the record of this leaf. */
export function isSignedLeaf(verifier: Verifier, kind: keyof SignedRecords, leaf: string): boolean {
  const { signature, ...members } = JSON.parse(leaf) as { signature: string };
  return verifyBytes(verifier, signedBytes(kind, members), Buffer.from(signature, 'hex'));
}

function signedBytes(kind: keyof SignedRecords, members: object): Buffer {
  return Buffer.from(`payout-proxy/${kind}/1\n${canonicalize({ ...members, table: kind })}`);
}

/** Returns the value in Postgres' format for leaves (leafSql). Its timestamps have microseconds. */
function written(form: Form, value: Value): Value {
  if (value instanceof Date) return value.toISOString().replace('Z', '000Z');
  return form === 'text' && value !== null ? String(value) : value;
}
