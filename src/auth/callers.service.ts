import { Injectable, Logger } from '@nestjs/common';
import { hashKey } from '../clients/key';
import { limitsOf } from '../clients/limits';
import { allowedOperations } from '../clients/operations';
import { Scope } from '../clients/scopes';
import { PrismaService } from '../database/prisma.service';
import { Caller } from './call';

/** "Last used" is for people: to the minute is exact enough, and spares a write per request. */
const LAST_USE_RESOLUTION_MS = 60_000;

/** Tells who a key belongs to. */
@Injectable()
export class CallersService {
  private readonly logger = new Logger('Callers');
  private readonly lastUseWritten = new Map<string, number>();

  constructor(private readonly prisma: PrismaService) {}

  /** Asks the database each time, so that a revocation holds at once on every instance. */
  async identify(key: string): Promise<{ caller: Caller; person: string | null } | undefined> {
    const sha256 = new Uint8Array(hashKey(key));
    const found = await this.prisma.apiKey.findUnique({ where: { sha256 }, include: { client: true } });
    if (!found || found.revokedAt || (found.expiresAt && found.expiresAt <= new Date())) return undefined;
    this.noteUse(found.id);
    const operations = allowedOperations(found.client);
    const caller = {
      clientId: found.clientId,
      clientName: found.client.name,
      keyId: found.id,
      scopes: new Set(found.client.scopes as Scope[]),
      operations: operations && new Set(operations),
      limits: limitsOf(found.client),
    };
    return { caller, person: found.person };
  }

  private noteUse(keyId: string): void {
    const now = Date.now();
    if (now - (this.lastUseWritten.get(keyId) ?? 0) < LAST_USE_RESOLUTION_MS) return;
    this.lastUseWritten.set(keyId, now);
    this.prisma.apiKey
      .update({ where: { id: keyId }, data: { lastUsedAt: new Date(now) } })
      .catch(() => this.logger.warn({ key_id: keyId }, 'the last use of a key could not be noted'));
  }
}
