import { isUtf8 } from 'node:buffer';
import { Inject, Injectable } from '@nestjs/common';
import { isOwn, Owner } from '../../access/auth/owner';
import { actorOf } from '../../journal/records/author';
import {
  isErased,
  namesOf,
  PersonDocument,
  recipientsSalt,
  recipientsText,
  saltedPeople,
} from '../../journal/records/recipients';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { fromStored } from '../../platform/database/rows/stored-body';
import { isUuid } from '../../platform/database/uuid';
import { Problem } from '../../platform/errors/problem';
import { KIND_NAMES, kindOf, KindName, leafSql } from './kinds';
import { logRingOf } from './log-key';
import { LeafProof, Opening, Receipt, ReceiptRecord } from './log.dto';
import { consistencyProof, HashOf, inclusionProof } from './merkle';
import { KeyRing, openNote, Verifier } from './note';
import { QueryRunner, storedHashes } from './tree-store';

interface LatestCheckpoint {
  size: number;
  note: string;
}

/** A record in its current form. */
interface CurrentRecord {
  kind: KindName;
  id: string;
  leaf: string;
}

/** The records of a call, or another record. Settlements have their own IDs and belong to the call. */
const RECORDS = KIND_NAMES.map((name) => {
  const { key } = kindOf(name);
  const ofCall = name === 'settlement' ? ' OR t.intent_id = $1::uuid' : '';
  return `
    SELECT '${name}' AS kind, t.${key}::text AS id, ${leafSql(name, 't')} AS leaf
    FROM public.${name} t WHERE t.${key} = $1::uuid${ofCall}`;
}).join(' UNION ALL ');

const LEAVES = `
  SELECT l.kind, r.id::text AS id, l.index::float8 AS index, encode(l.hash, 'base64') AS hash
  FROM unnest($1::uuid[]) r (id) CROSS JOIN LATERAL public.leaves_of(r.id) l
  WHERE l.index < $2::bigint ORDER BY l.index`;

/** Proves the content of the log from the stored hashes. */
@Injectable()
export class ProofsService {
  /** Keys of the log. */
  readonly ring: () => KeyRing;
  private readonly query: QueryRunner;
  private readonly hashOf: HashOf;

  constructor(prisma: ReaderPrisma, @Inject(SETTINGS) settings: RunningConfig) {
    let ring: KeyRing | undefined;
    this.ring = () => (ring ??= logRingOf(settings));
    // The SQL contains only names of the migrations (leafSql).
    this.query = <Row extends object>(sql: string, values: unknown[]) =>
      prisma.$queryRawUnsafe<Row[]>(sql, ...values);
    this.hashOf = (subtrees) => storedHashes(this.query, subtrees);
  }

  /** Returns the newest of our keys that signed a checkpoint. Without one, the proof fails with our key. */
  signerOf(note: string): Verifier {
    const { all } = this.ring();
    try {
      return openNote(note, ...all).signers[0] as Verifier;
    } catch {
      return all[0] as Verifier;
    }
  }

  /** @throws Problem not_sealed while the log is empty. */
  async latest(): Promise<LatestCheckpoint> {
    const rows = await this.query<LatestCheckpoint>(
      'SELECT size::float8 AS size, note FROM public.checkpoint ORDER BY checkpoint.size DESC LIMIT 1',
      [],
    );
    if (!rows[0]) throw new Problem('not_sealed', { text: 'Nothing is sealed yet. Try again in a moment.' });
    return rows[0];
  }

  /** Returns every record with this primary key, and the settlements of this call. */
  recordsOf(id: string): Promise<CurrentRecord[]> {
    return this.query<CurrentRecord>(RECORDS, [id]);
  }

  /**
   * Proves the records of `recordsOf`, in the order of the log, and the pruned ones.
   * @returns also the kinds of records that the newest checkpoint does not cover yet.
   */
  async prove(
    id: string,
    found: CurrentRecord[],
  ): Promise<{ note: string; proved: LeafProof[]; unsealed: KindName[] }> {
    const { size, note } = await this.latest();
    const ids = [...new Set([id, ...found.map((record) => record.id)])];
    const leaves = await this.query<SealedLeaf>(LEAVES, [ids, size]);
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
    const unsealed = found
      .filter((record) => !sealed.has(`${record.kind} ${record.id}`))
      .map(({ kind }) => kind);
    return { note, proved: await Promise.all(proved), unsealed: [...new Set(unsealed)] };
  }

  /** Returns base64 hashes (RFC 9162, section 2.1.4). */
  async consistency(from: number, to: number): Promise<string[]> {
    const proof = await consistencyProof(from, to, this.hashOf);
    return proof.map((node) => node.toString('base64'));
  }
}

/** The columns of a body. */
interface BodyRow {
  salt: Uint8Array | null;
  body: Uint8Array | null;
  coding: string | null;
}

interface PeopleRow {
  people: string | null;
  peopleSalt: Uint8Array | null;
}

interface SealedLeaf {
  kind: KindName;
  id: string;
  index: number;
  hash: string;
}

/** Format of receipts for tools/verify-receipt.mjs. */
const RECEIPT_FORMAT = 'payout-proxy/receipt/1';

/** Requester of a call in its record. */
interface Requester {
  client_id: string;
  person_id?: string | null;
  actor_commitment?: string | null;
}

/** Creates receipts: the records of a call, their inclusion proofs, and the committed data of people. */
@Injectable()
export class ReceiptsService {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly proofs: ProofsService,
  ) {}

  /**
   * Creates the receipt of a call.
   * @param owner required owner of the call. Undefined allows any call.
   * @param reveal whether to open commitments. Otherwise the receipt looks as if people had been erased.
   * @throws Problem call_not_found for an unknown call, not_sealed while one of its records is too new.
   */
  async receipt(id: string, owner: Owner | undefined, reveal: boolean): Promise<Receipt> {
    if (!isUuid(id)) throw new Problem('call_not_found');
    const call = id.toLowerCase();
    const found = await this.proofs.recordsOf(call);
    const request = found.find(({ kind }) => kind === 'intent' || kind === 'refusal');
    if (!request) throw new Problem('call_not_found');
    const requester = JSON.parse(request.leaf) as Requester;
    const { client_id: clientId, person_id: personId = null } = requester;
    if (owner && !isOwn({ clientId, personId }, owner)) throw new Problem('call_not_found');
    const { note, proved, unsealed } = await this.proofs.prove(call, found);
    if (unsealed.length > 0) throw new Problem('not_sealed');
    const records: ReceiptRecord[] = [];
    for (const { kind, index, record, proof } of proved) {
      if (record === null) continue; // It was pruned in the meantime.
      records.push({
        kind,
        index,
        record,
        proof,
        openings: reveal ? await this.openingsOf(call, kind, requester) : [],
      });
    }
    const { name, verifierKey } = this.proofs.signerOf(note);
    const log = { origin: name, key: verifierKey };
    return { format: RECEIPT_FORMAT, call_id: call, log, checkpoint: note, records };
  }

  private async openingsOf(intentId: string, kind: KindName, request: Requester): Promise<Opening[]> {
    if (kind === 'outcome') return ofBody(await this.prisma.outcomeBody.findUnique({ where: { intentId } }));
    if (kind === 'refusal') {
      const key = await this.prisma.refusalKey.findUnique({ where: { refusalId: intentId } });
      return [...ofKey(key), ...(await this.ofActor(request))];
    }
    if (kind !== 'intent') return [];
    const row = await this.prisma.intentBody.findUnique({ where: { intentId } });
    const key = { key: row?.idempotencyKey ?? null, salt: row?.idempotencyKeySalt ?? null };
    return [...ofBody(row), ...ofPeople(intentId, row), ...ofKey(key), ...(await this.ofActor(request))];
  }

  /** Opens the commitment to the requester. A name set after an erasure does not open earlier commitments. */
  private async ofActor({ person_id: id, actor_commitment: committed }: Requester): Promise<Opening[]> {
    if (!id || !committed) return [];
    const person = await this.prisma.person.findUnique({ where: { id } });
    const name = actorOf(committed, person);
    return name !== null && person?.salt ? opening('actor_commitment', person.salt, name) : [];
  }
}

function ofBody(row: BodyRow | null): Opening[] {
  if (!row?.salt || !row.body) return [];
  return opening('body_commitment', row.salt, fromStored({ body: row.body, coding: row.coding }));
}

/** Opens the commitment to all recipients, and then those to each. */
function ofPeople(callId: string, row: PeopleRow | null): Opening[] {
  const people = JSON.parse(row?.people ?? '[]') as PersonDocument[];
  if (people.every(isErased)) return [];
  const stored = { people, peopleSalt: row?.peopleSalt ?? null };
  return [
    ...opening('recipients_commitment', recipientsSalt(callId), recipientsText(stored)),
    ...saltedPeople(stored).flatMap((person, place) =>
      namesOf(person).flatMap(([contact, name]) =>
        opening(`recipients/${place}/${contact}_commitment`, Buffer.from(person.salt ?? '', 'hex'), name),
      ),
    ),
  ];
}

/** Opens the commitment to the idempotency key. An erased key has no salt. */
function ofKey(row: { salt: Uint8Array | null; key: string | null } | null): Opening[] {
  return row?.salt && row.key !== null ? opening('idempotency_key_commitment', row.salt, row.key) : [];
}

function opening(commitment: string, salt: Uint8Array, value: string | Uint8Array): Opening[] {
  const bytes = Buffer.from(value);
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  return [{ commitment, salt: Buffer.from(salt).toString('hex'), value: bytes.toString(encoding), encoding }];
}
