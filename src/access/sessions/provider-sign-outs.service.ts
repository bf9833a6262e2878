import { Injectable } from '@nestjs/common';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { Caller } from '../callers/caller';
import { personHash } from '../people/person';
import { OneTimeToken, useToken } from '../tokens/used-proofs.service';

/** The sessions ended at a provider: one session, all sessions of a person, or one session of a person. */
export interface ProviderSignOut {
  issuer: string;
  subject: string | undefined;
  sid: string | undefined;
}

/** The session stores of a provider: the console, and the pages of clients. */
interface SessionStores {
  console: boolean;
  pages: Pick<Caller, 'clientId' | 'keyId'>[];
}

/** Handles OpenID back-channel logouts. */
@Injectable()
export class ProviderSignOutsService {
  constructor(private readonly prisma: SidePrisma) {}

  /**
   * Ends sessions by a logout token. Each token works once: a replay would end newer sessions.
   * @returns false for a used token, without effect.
   */
  async end(
    token: OneTimeToken,
    ended: ProviderSignOut,
    { console, pages }: SessionStores,
  ): Promise<boolean> {
    return this.prisma.$transaction(async (tx) => {
      if (!(await useToken(tx, token))) return false;
      if (console) await endInConsole(tx, ended);
      for (const page of pages) await endOnPages(tx, page, ended);
      return true;
    });
  }
}

async function endInConsole(
  tx: Prisma.TransactionClient,
  { issuer, subject, sid }: ProviderSignOut,
): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM console_session s USING api_key k
    WHERE k.id = s.key_id AND k.kind = 'sign_in' AND k.issuer = ${issuer}
      AND k.subject = coalesce(${subject ?? null}, k.subject)
      AND (${sid ?? null}::text IS NULL OR s.sid = ${sid ?? null})`;
}

async function endOnPages(
  tx: Prisma.TransactionClient,
  { clientId, keyId }: Pick<Caller, 'clientId' | 'keyId'>,
  { issuer, subject, sid }: ProviderSignOut,
): Promise<void> {
  const conditions = [Prisma.sql`key_id = ${keyId}::uuid`];
  if (sid !== undefined) conditions.push(Prisma.sql`sid = ${sid}`);
  if (subject !== undefined) {
    const person = Prisma.sql`SELECT id FROM person WHERE sha256 = ${personHash(clientId, issuer, subject)}`;
    conditions.push(Prisma.sql`person_id = (${person})`);
  }
  await tx.$executeRaw`DELETE FROM page_session WHERE ${Prisma.join(conditions, ' AND ')}`;
}
