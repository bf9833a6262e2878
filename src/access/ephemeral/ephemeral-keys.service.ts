import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { ChangeAuthor, ChangeRecords, ClientChange } from '../clients/changes';
import { TRANSACTION_LIMITS } from '../clients/clients.service';
import { hashKey, newEphemeralKey } from '../clients/key';
import { Beneficiary, beneficiaryHash } from '../clients/register-writes';
import { personHash } from '../people/person';
import { EphemeralKeyState, IS_ACTIVE, STATE, WITH_PARENT_AND_PERSON } from './state';

/** Maximum lifetime of an ephemeral key: 15 minutes. */
export const LONGEST_SECONDS = 900;

/** Maximum number of keys that one transaction revokes. Payments of the client wait for it. */
const MAX_AT_ONCE = 1_000;

/** The key that issues an ephemeral key, and its client. */
export interface Parent {
  clientId: string;
  clientName: string;
  keyId: string;
}

/** The rights of an ephemeral key. */
export interface EphemeralGrant {
  /** The person of the key. */
  person: { id: string; name: string };
  operations: string[];
  /** An empty list allows the countries of the client. */
  countries: string[];
  /** Null allows all. */
  recipients: Beneficiary[] | null;
  maxItemUsd: Decimal;
  maxTotalUsd: Decimal;
  expiresInSeconds: number;
}

/** An ephemeral key in the API, without its secret. */
export interface ListedEphemeralKey {
  id: string;
  /** Null if the person was erased. */
  actor: string | null;
  hint: string;
  state: EphemeralKeyState;
  operations: string[];
  countries: string[];
  /** Null allows all. */
  recipient_count: number | null;
  max_item_usd: string;
  max_total_usd: string;
  spent_usd: string;
  created_at: Date;
  expires_at: Date;
  revoked_at: Date | null;
}

/** A selection of a client's keys. */
export interface EphemeralKeyFilter {
  id?: string | undefined;
  /** The person of the keys. */
  actor?: string | undefined;
  /** The owner of the requesting personal key, who reaches only their own keys. */
  ownerId?: string | undefined;
  /** Only keys issued before the key with this ID. */
  before?: string | undefined;
}

interface Filter extends EphemeralKeyFilter {
  /** Only keys issued by this time. */
  issuedUntil?: Date | undefined;
}

type Target = NonNullable<ClientChange['client']> & { id: string };

interface RevokedKey {
  id: string;
  revokedAt: Date;
}

/** Issues, lists and revokes the ephemeral keys of clients. Records every change in its transaction. */
@Injectable()
export class EphemeralKeysService {
  constructor(
    private readonly prisma: SidePrisma,
    private readonly changes: ChangeRecords,
  ) {}

  /**
   * Issues an ephemeral key. The caller has checked the rights of its parent. The key loses every right that
   * its parent loses later (key-callers.service.ts).
   */
  async issue(
    { clientId, clientName, keyId }: Parent,
    grant: EphemeralGrant,
    author: ChangeAuthor,
  ): Promise<ListedEphemeralKey & { key: string }> {
    const key = newEphemeralKey(clientName);
    const id = newId();
    const recipients =
      grant.recipients?.map(({ key: recipient }) => beneficiaryHash(clientId, recipient)) ?? null;
    const { person, operations, countries } = grant;
    const [maxItem, maxTotal] = [grant.maxItemUsd.toFixed(), grant.maxTotalUsd.toFixed()];
    return this.prisma.$transaction(async (tx) => {
      await tx.$executeRaw`
        INSERT INTO ephemeral_key (id, key_id, person_id, sha256, hint,
          operations, countries, recipients, max_item_usd, max_total_usd, created_at, expires_at)
        VALUES (${id}::uuid, ${keyId}::uuid, ${person.id}::uuid, ${hashKey(key)}, ${key.slice(-4)},
          ${operations}::text[], ${countries}::text[], ${recipients}::bytea[],
          ${maxItem}::numeric, ${maxTotal}::numeric,
          now(), now() + make_interval(secs => ${grant.expiresInSeconds}::int))`;
      const [issued] = await read(tx, clientId, { id }, 1);
      if (!issued) throw new Error('the ephemeral key was not written');
      await this.changes.record(
        tx,
        [issuanceOf({ id: clientId, name: clientName }, issued, person.id)],
        author,
      );
      return { ...issued, key };
    }, TRANSACTION_LIMITS);
  }

  /** Lists the keys of a client, newest first. */
  list(clientId: string, filter: EphemeralKeyFilter, limit: number): Promise<ListedEphemeralKey[]> {
    return read(this.prisma, clientId, filter, limit);
  }

  /** Returns the number of valid keys of a client, by the database's clock. */
  async countActive(clientId: string, filter: EphemeralKeyFilter = {}): Promise<number> {
    const [row] = await this.prisma.$queryRaw<{ active: number }[]>`
      SELECT count(*)::int AS active FROM ${Prisma.raw(WITH_PARENT_AND_PERSON)}
      WHERE ${conditions(clientId, filter)} AND ${Prisma.raw(IS_ACTIVE)}`;
    return row?.active ?? 0;
  }

  /**
   * Revokes active keys of a client that were issued by now.
   * @returns the IDs of the revoked keys.
   */
  async revoke(client: Target, filter: EphemeralKeyFilter, author: ChangeAuthor): Promise<string[]> {
    // Apps revoke at each sign-out, and each revocation evicts the client's callers on every instance.
    if ((await this.countActive(client.id, filter)) === 0) return [];
    const all: RevokedKey[] = [];
    for (;;) {
      const some = await this.revokeSome(client, { ...filter, issuedUntil: all[0]?.revokedAt }, author);
      all.push(...some);
      if (some.length < MAX_AT_ONCE) return all.map(({ id }) => id);
    }
  }

  /** Revokes a batch, on every instance, because it changes the version of the client's row. */
  private revokeSome(client: Target, filter: Filter, author: ChangeAuthor): Promise<RevokedKey[]> {
    return this.prisma.$transaction(async (tx) => {
      // The client first, in the lock order of admission.
      await tx.$executeRaw`UPDATE client SET name = name WHERE id = ${client.id}::uuid`;
      const revoked = await tx.$queryRaw<RevokedKey[]>`
        UPDATE ephemeral_key SET revoked_at = now() WHERE id IN (
          SELECT e.id FROM ${Prisma.raw(WITH_PARENT_AND_PERSON)}
          WHERE ${conditions(client.id, filter)} AND ${Prisma.raw(IS_ACTIVE)} LIMIT ${MAX_AT_ONCE})
        RETURNING id::text, revoked_at AS "revokedAt"`;
      await this.changes.record(
        tx,
        revoked.map((key) => revocationOf(client, key)),
        author,
      );
      return revoked;
    }, TRANSACTION_LIMITS);
  }
}

function read(
  tx: Pick<Prisma.TransactionClient, '$queryRaw'>,
  clientId: string,
  filter: EphemeralKeyFilter,
  limit: number,
): Promise<ListedEphemeralKey[]> {
  return tx.$queryRaw<ListedEphemeralKey[]>`
    SELECT e.id::text, p.name AS actor, 'ppe_' || c.name || '_…' || e.hint AS hint,
      ${Prisma.raw(STATE)} AS state, e.operations, e.countries, cardinality(e.recipients) AS recipient_count,
      trim_scale(e.max_item_usd)::text AS max_item_usd, trim_scale(e.max_total_usd)::text AS max_total_usd,
      e.created_at, least(e.expires_at, k.expires_at) AS expires_at, e.revoked_at,
      (SELECT trim_scale(coalesce(sum(s.usd), 0))::text
        FROM payer_spending s WHERE s.payer_id = e.id) AS spent_usd
    FROM ${Prisma.raw(WITH_PARENT_AND_PERSON)} JOIN client c ON c.id = k.client_id
    WHERE ${conditions(clientId, filter)} ORDER BY e.id DESC LIMIT ${limit}`;
}

function conditions(
  clientId: string,
  { id, actor, ownerId, before, issuedUntil: madeBy }: Filter,
): Prisma.Sql {
  const all = [Prisma.sql`k.client_id = ${clientId}::uuid`];
  if (actor !== undefined) all.push(Prisma.sql`p.sha256 = ${personHash(clientId, null, actor)}`);
  if (ownerId !== undefined) all.push(Prisma.sql`p.id = ${ownerId}::uuid`);
  if (id !== undefined) all.push(Prisma.sql`e.id = ${id}::uuid`);
  if (before !== undefined) all.push(Prisma.sql`e.id < ${before}::uuid`);
  // A Date has no microseconds.
  if (madeBy !== undefined) all.push(Prisma.sql`e.created_at < ${madeBy}::timestamptz + interval '1 ms'`);
  return Prisma.join(all, ' AND ');
}

/** Returns the record of an issued key. It names the person by ID, because it cannot be erased. */
function issuanceOf(client: ClientChange['client'], key: ListedEphemeralKey, personId: string): ClientChange {
  const { id, hint, operations, countries, recipient_count, max_item_usd, max_total_usd, expires_at } = key;
  const limits = { operations, countries, recipient_count, max_item_usd, max_total_usd };
  const after = { hint, person_id: personId, ...limits, expires_at: expires_at.toISOString() };
  return { action: 'ephemeral_key_issued', client, keyId: id, before: null, after };
}

function revocationOf(client: Target, { id, revokedAt }: RevokedKey): ClientChange {
  const [before, after] = [{ revoked_at: null }, { revoked_at: revokedAt.toISOString() }];
  return { action: 'ephemeral_key_revoked', client, keyId: id, before, after };
}
