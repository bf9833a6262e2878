import { Injectable } from '@nestjs/common';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { ChangeAuthor, ChangeRecords } from '../clients/changes';
import { ClientError } from '../clients/client-error';
import { lockClient } from '../clients/client-writes';
import { TRANSACTION_LIMITS } from '../clients/clients.service';
import { personHash } from './person';

/** A person of a client, as named by their credentials. */
export interface NamedPerson {
  /** The person's provider. Null if the client names the person. */
  issuer: string | null;
  /** The subject at the provider, or the client's name for the person. */
  name: string;
}

/** A known person of a client. */
export interface PersonRef {
  id: string;
}

export interface RevokedPerson {
  person_id: string;
  revoked_at: Date;
  /** Whether the name was new to the client. The name or the issuer may be wrong. */
  is_new: boolean;
}

/** A revocation, and the previous one. */
type WrittenRevocation = RevokedPerson & { before: Date | null };

/** Revokes the tokens, ephemeral keys and page sessions of people. */
@Injectable()
export class PersonRevocationsService {
  constructor(
    private readonly prisma: SidePrisma,
    private readonly records: ChangeRecords,
  ) {}

  /**
   * Revokes all credentials of a person issued so far. The commit takes effect on every instance. Credentials
   * issued later are accepted. The person may be new.
   * @throws ClientError for an unknown client or an unknown ID of a person.
   */
  revoke(clientName: string, person: NamedPerson | PersonRef, author: ChangeAuthor): Promise<RevokedPerson> {
    return this.prisma.$transaction(async (tx) => {
      const { id, name } = await lockClient(tx, clientName);
      const { before, ...revoked } = await ('id' in person
        ? writeKnown(tx, id, person)
        : writeNamed(tx, id, person));
      // Makes every instance look up the client's callers again.
      await tx.$executeRaw`UPDATE client SET name = name WHERE id = ${id}::uuid`;
      const { person_id, revoked_at: revokedAt } = revoked;
      const change = {
        action: 'person_revoked',
        client: { id, name },
        keyId: null,
        before: { person_id, revoked_at: before?.toISOString() ?? null },
        after: { person_id, revoked_at: revokedAt.toISOString() },
      } as const;
      await this.records.record(tx, [change], author);
      return revoked;
    }, TRANSACTION_LIMITS);
  }
}

/** Writes the time, and adds a missing person. The new row has no name until the person calls. */
async function writeNamed(
  tx: Prisma.TransactionClient,
  clientId: string,
  { issuer, name }: NamedPerson,
): Promise<WrittenRevocation> {
  const sha256 = personHash(clientId, issuer, name);
  const [known] = await tx.$queryRaw<{ before: Date | null }[]>`
    SELECT revoked_at AS before FROM person WHERE sha256 = ${sha256} FOR UPDATE`;
  const [row] = await tx.$queryRaw<Omit<RevokedPerson, 'is_new'>[]>`
    INSERT INTO person (id, client_id, sha256, issuer, revoked_at)
    VALUES (${newId()}::uuid, ${clientId}::uuid, ${sha256}, ${issuer}, clock_timestamp())
    ON CONFLICT (sha256) DO UPDATE SET revoked_at = EXCLUDED.revoked_at
    RETURNING id::text AS person_id, revoked_at`;
  if (!row) throw new Error('the upsert returned no row');
  return { ...row, is_new: known === undefined, before: known?.before ?? null };
}

async function writeKnown(
  tx: Prisma.TransactionClient,
  clientId: string,
  { id }: PersonRef,
): Promise<WrittenRevocation> {
  const [row] = await tx.$queryRaw<Omit<WrittenRevocation, 'is_new'>[]>`
    UPDATE person p SET revoked_at = clock_timestamp()
    FROM (SELECT id, revoked_at FROM person WHERE id = ${id}::uuid AND client_id = ${clientId}::uuid
      FOR UPDATE) AS was
    WHERE p.id = was.id RETURNING p.id::text AS person_id, p.revoked_at, was.revoked_at AS before`;
  if (!row) throw new ClientError(`no person of the client has the ID ${id}`, 'person_not_found');
  return { ...row, is_new: false };
}
