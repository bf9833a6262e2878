import { Injectable } from '@nestjs/common';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { isUuid } from '../../platform/database/uuid';
import { Problem } from '../../platform/errors/problem';
import { ChangeAuthor, ChangeRecords } from '../clients/changes';
import { TRANSACTION_LIMITS } from '../clients/clients.service';
import { hashKey, isWellFormedClaimCode, newKey, OPENS } from '../clients/key';
import { hintOf } from '../clients/listed';
import { haveSameOwner } from '../people/same-person';

/** An unclaimed key, with its requester and its approver. */
interface UnclaimedKey {
  id: string;
  client: string;
  clientId: string;
  person: string;
  expiresAt: Date | null;
  requestedBy: string;
  approvedBy: string;
}

/** A claimed key. */
export interface ClaimedKey extends UnclaimedKey {
  /** The key. It is available only once. */
  key: string;
  claimedBy: string[];
}

/** The claimant of a key. */
export interface Claimant {
  /** The owner of the request's credential. Null without a credential, or for a shared one. */
  person: string | null;
  /** Whether the person signed in at the OpenID provider, so no other person knows the credential. */
  isSignedIn: boolean;
}

/**
 * Creates the secret of an approved personal key when its person claims it. Of concurrent claims, one wins.
 */
@Injectable()
export class ClaimsService {
  constructor(
    private readonly prisma: SidePrisma,
    private readonly records: ChangeRecords,
  ) {}

  /** Claims a key by its claim code. @throws Problem `claim_not_found` */
  byCode(code: string, claimant: Claimant, author: ChangeAuthor): Promise<ClaimedKey> {
    if (!isWellFormedClaimCode(code)) throw new Problem('claim_not_found');
    return this.claim(Prisma.sql`k.claim_sha256 = ${hashKey(code)}`, claimant, author, (key) => {
      // Only the approver saw the code, so the sender may be the approver.
      return [...new Set([key.approvedBy, ...(claimant.person === null ? [] : [claimant.person])])];
    });
  }

  /** Claims a key by a sign-in of its person. @throws Problem `claim_not_found` */
  bySignIn(keyId: string, claimant: Claimant, author: ChangeAuthor): Promise<ClaimedKey> {
    if (!isUuid(keyId)) throw new Problem('claim_not_found');
    return this.claim(Prisma.sql`k.id = ${keyId}::uuid`, claimant, author, () => {
      throw new Problem('claim_not_found');
    });
  }

  /** @param others people who may know the secret, unless its person has signed in. */
  private claim(
    where: Prisma.Sql,
    { isSignedIn }: Claimant,
    author: ChangeAuthor,
    others: (key: UnclaimedKey) => string[],
  ): Promise<ClaimedKey> {
    return this.prisma.$transaction(async (tx) => {
      const [found] = await tx.$queryRaw<UnclaimedKey[]>`
        SELECT k.id::text, c.name AS client, c.id::text AS "clientId", k.person, k.expires_at AS "expiresAt",
          p.person AS "requestedBy", p.decider_person AS "approvedBy"
        FROM api_key k JOIN client c ON c.id = k.client_id JOIN pending_change p ON p.id = k.change_id
        WHERE ${where} AND k.claim_sha256 IS NOT NULL AND k.claim_until > now() AND ${Prisma.raw(OPENS)}
        FOR UPDATE OF k`;
      if (!found) throw new Problem('claim_not_found');
      const isTheirOwn = isSignedIn && (await haveSameOwner(tx, found.id, author.keyId));
      const claimedBy = isTheirOwn ? [found.person] : others(found);
      const claimed = { ...found, key: newKey(found.client), claimedBy };
      await makeSecret(tx, claimed);
      await this.records.record(tx, [claimOf(claimed)], author);
      return claimed;
    }, TRANSACTION_LIMITS);
  }
}

async function makeSecret(tx: Prisma.TransactionClient, { id, key, claimedBy }: ClaimedKey): Promise<void> {
  await tx.$executeRaw`
    UPDATE api_key SET sha256 = ${hashKey(key)}, hint = ${key.slice(-4)},
      claim_sha256 = NULL, claimed_at = clock_timestamp(), claimed_by = ${claimedBy}::text[]
    WHERE id = ${id}::uuid`;
}

/** Returns the record of a claim. */
function claimOf({ id, client, clientId, person, key, requestedBy, approvedBy, claimedBy }: ClaimedKey) {
  const hint = hintOf(client, { hint: key.slice(-4) });
  const after = { person, hint, requested_by: requestedBy, approved_by: approvedBy, claimed_by: claimedBy };
  const target = { id: clientId, name: client };
  return { action: 'key_claimed', client: target, keyId: id, before: null, after } as const;
}
