import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Loaded } from '../../platform/config/config.module';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { Problem } from '../../platform/errors/problem';
import { KIND_NAMES, kindOf, KindName } from './kinds';
import { leafSql } from './leaves';
import { signerFrom } from './log-key';
import { Verifier } from './note';
import { consistencyProof, HashOf, inclusionProof } from './proofs';
import { Ask, storedHashes } from './tree-store';

/** A record with its inclusion proof. */
export interface ProvedRecord {
  kind: KindName;
  /** The index of its leaf, from 0. */
  index: number;
  /** Base64. */
  leaf_hash: string;
  /** The leaf. Null if the record was pruned. */
  record: Record<string, unknown> | null;
  /** Base64 hashes (RFC 9162, section 2.1.3). */
  proof: string[];
}

interface Latest {
  size: number;
  note: string;
}

interface LeafRow {
  kind: KindName;
  id: string;
  index: number;
  hash: string;
}

/**
 * Records with their own IDs that belong to the receipt of a call, so that the receipt shows its current resolution.
 */
const OF_CORRECTIONS = ['resolution_correction', 'correction_release'] as const;

/** Proves the content of the log from the stored hashes. */
@Injectable()
export class ProofsService {
  /** Verifies notes of the log's key. */
  readonly verifier: () => Verifier;
  private readonly ask: Ask;
  private readonly hashOf: HashOf;

  constructor(prisma: ReaderPrisma, config: ConfigService<Loaded, true>) {
    let verifier: Verifier | undefined;
    this.verifier = () => (verifier ??= signerFrom(config.get('settings', { infer: true }).logSigningKey));
    // The SQL is built only from our own names (leaves.ts).
    this.ask = <Row extends object>(sql: string, values: unknown[]) => prisma.$queryRawUnsafe<Row[]>(sql, ...values);
    this.hashOf = (subtrees) => storedHashes(this.ask, subtrees);
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

  /** Returns the client of a call. Undefined if there is no such call. */
  async clientOf(call: string): Promise<string | undefined> {
    const [row] = await this.ask<{ client_id: string }>(
      `SELECT client_id::text FROM public.intent WHERE id = $1::uuid
       UNION ALL SELECT client_id::text FROM public.refusal WHERE id = $1::uuid LIMIT 1`,
      [call],
    );
    return row?.client_id;
  }

  /**
   * Proves every record with this primary key, in the order of the log. For a call, these are its records and the
   * corrections of its resolution.
   */
  async prove(id: string, { size }: Latest): Promise<ProvedRecord[]> {
    const leaves = await this.ask<LeafRow>(
      `SELECT kind, record_id::text AS id, index::float8 AS index, encode(hash, 'base64') AS hash FROM public.log_leaf
       WHERE record_id = ANY (ARRAY(
           SELECT $1::uuid UNION ALL SELECT id FROM public.resolution_correction WHERE intent_id = $1::uuid))
         AND index < $2::bigint ORDER BY log_leaf.index`,
      [id, size],
    );
    return Promise.all(
      leaves.map(async ({ kind, id: record_id, index, hash }) => {
        const [record, proof] = await Promise.all([
          this.leaf(kind, record_id),
          inclusionProof(index, size, this.hashOf),
        ]);
        return { kind, index, leaf_hash: hash, record, proof: proof.map((node) => node.toString('base64')) };
      }),
    );
  }

  /** Returns the kinds of records with this primary key that are not sealed yet. */
  async unsealed(id: string): Promise<KindName[]> {
    const kinds = KIND_NAMES.map(
      (name) => `SELECT '${name}' AS kind FROM public.${name} t WHERE t.${kindOf(name).key} = $1::uuid AND NOT EXISTS (
        SELECT FROM public.log_leaf l WHERE l.record_id = $1::uuid AND l.kind = '${name}')`,
    );
    for (const name of OF_CORRECTIONS) {
      kinds.push(`SELECT '${name}' FROM public.${name} t WHERE t.intent_id = $1::uuid AND NOT EXISTS (
        SELECT FROM public.log_leaf l WHERE l.record_id = t.${kindOf(name).key} AND l.kind = '${name}')`);
    }
    const rows = await this.ask<{ kind: KindName }>(kinds.join(' UNION ALL '), [id]);
    return [...new Set(rows.map(({ kind }) => kind))];
  }

  /** Returns base64 hashes (RFC 9162, section 2.1.4). */
  async consistency(from: number, to: number): Promise<string[]> {
    const proof = await consistencyProof(from, to, this.hashOf);
    return proof.map((node) => node.toString('base64'));
  }

  private async leaf(kind: KindName, id: string): Promise<Record<string, unknown> | null> {
    const sql = `SELECT ${leafSql(kind, 't')} AS leaf FROM public.${kind} t WHERE t.${kindOf(kind).key} = $1::uuid`;
    const [row] = await this.ask<{ leaf: string }>(sql, [id]);
    return row ? (JSON.parse(row.leaf) as Record<string, unknown>) : null;
  }
}
