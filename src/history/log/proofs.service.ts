import { Inject, Injectable } from '@nestjs/common';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { Problem } from '../../platform/errors/problem';
import { KIND_NAMES, kindOf, KindName } from './kinds';
import { leafSql } from './leaves';
import { KeyRing } from './key-ring';
import { logRingOf } from './log-key';
import { openNote, Verifier } from './note';
import { consistencyProof, HashOf, inclusionProof } from './proofs';
import { LeafProof } from './receipt.dto';
import { Ask, storedHashes } from './tree-store';
import { RunningConfig, SETTINGS } from '../../platform/config/config';

interface Latest {
  size: number;
  note: string;
}

/** A record as it is now. */
export interface FoundRecord {
  kind: KindName;
  id: string;
  leaf: string;
}

/** The records of a call, or another record. Settlements have their own IDs and belong to the call. */
const RECORDS = KIND_NAMES.map((name) => {
  const { key } = kindOf(name);
  const ofCall = name === 'settlement' ? ' OR t.intent_id = $1::uuid' : '';
  return `SELECT '${name}' AS kind, t.${key}::text AS id, ${leafSql(name, 't')} AS leaf FROM public.${name} t
    WHERE t.${key} = $1::uuid${ofCall}`;
}).join(' UNION ALL ');

const LEAVES = `
  SELECT l.kind, r.id::text AS id, l.index::float8 AS index, encode(l.hash, 'base64') AS hash
  FROM unnest($1::uuid[]) r (id) CROSS JOIN LATERAL public.leaves_of(r.id) l WHERE l.index < $2::bigint ORDER BY l.index`;

/** Proves the content of the log from the stored hashes. */
@Injectable()
export class ProofsService {
  /** The keys of the log. */
  readonly ring: () => KeyRing;
  private readonly ask: Ask;
  private readonly hashOf: HashOf;

  constructor(prisma: ReaderPrisma, @Inject(SETTINGS) settings: RunningConfig) {
    let ring: KeyRing | undefined;
    this.ring = () => (ring ??= logRingOf(settings));
    // The SQL is built only from our own names (leaves.ts).
    this.ask = <Row extends object>(sql: string, values: unknown[]) => prisma.$queryRawUnsafe<Row[]>(sql, ...values);
    this.hashOf = (subtrees) => storedHashes(this.ask, subtrees);
  }

  /** Returns the newest key that signed a checkpoint. If none of ours did, receivers of our key will notice. */
  signerOf(note: string): Verifier {
    const { all } = this.ring();
    try {
      return openNote(note, ...all).signers[0] as Verifier;
    } catch {
      return all[0] as Verifier;
    }
  }

  /** @throws Problem not_sealed while the log is empty. */
  async latest(): Promise<Latest> {
    const rows = await this.ask<Latest>(
      'SELECT size::float8 AS size, note FROM public.checkpoint ORDER BY checkpoint.size DESC LIMIT 1',
      [],
    );
    if (!rows[0]) throw new Problem('not_sealed', { text: 'Nothing is sealed yet. Try again in a moment.' });
    return rows[0];
  }

  /** Returns every record with this primary key, and the settlements of this call. */
  recordsOf(id: string): Promise<FoundRecord[]> {
    return this.ask<FoundRecord>(RECORDS, [id]);
  }

  /**
   * Proves the records of `recordsOf`, in the order of the log, and those that were pruned.
   * @returns also the kinds of records that the newest checkpoint does not cover yet.
   */
  async prove(id: string, found: FoundRecord[]): Promise<{ note: string; proved: LeafProof[]; unsealed: KindName[] }> {
    const { size, note } = await this.latest();
    const ids = [...new Set([id, ...found.map((record) => record.id)])];
    const leaves = await this.ask<SealedLeaf>(LEAVES, [ids, size]);
    const leafOf = new Map(found.map((record) => [`${record.kind} ${record.id}`, record.leaf]));
    const proved = leaves.map(async ({ kind, id: recordId, index, hash }) => {
      const leaf = leafOf.get(`${kind} ${recordId}`);
      const proof = await inclusionProof(index, size, this.hashOf);
      return {
        kind,
        index,
        leaf_hash: hash,
        record: leaf === undefined ? null : (JSON.parse(leaf) as Record<string, unknown>),
        proof: proof.map((node) => node.toString('base64')),
      };
    });
    const sealed = new Set(leaves.map((leaf) => `${leaf.kind} ${leaf.id}`));
    const unsealed = found.filter((record) => !sealed.has(`${record.kind} ${record.id}`)).map(({ kind }) => kind);
    return { note, proved: await Promise.all(proved), unsealed: [...new Set(unsealed)] };
  }

  /** Returns base64 hashes (RFC 9162, section 2.1.4). */
  async consistency(from: number, to: number): Promise<string[]> {
    const proof = await consistencyProof(from, to, this.hashOf);
    return proof.map((node) => node.toString('base64'));
  }
}

interface SealedLeaf {
  kind: KindName;
  id: string;
  index: number;
  hash: string;
}
