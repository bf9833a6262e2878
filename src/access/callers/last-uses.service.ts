import { Injectable, Logger } from '@nestjs/common';
import { clock } from '../../platform/database/clock';
import { SidePrisma } from '../../platform/database/side-prisma';

/** "Last used" is shown to people, so a precision of a minute suffices. It saves a write per request. */
const RESOLUTION_MS = 60_000;

/** Writes when keys were last used. */
@Injectable()
export class LastUsesService {
  private readonly logger = new Logger('Callers');
  /** By the monotonic clock, in milliseconds. */
  private readonly written = new Map<string, number>();

  constructor(private readonly side: SidePrisma) {}

  remember(keyId: string): void {
    const now = performance.now();
    if (now - (this.written.get(keyId) ?? -Infinity) < RESOLUTION_MS) return;
    this.written.set(keyId, now);
    this.side.apiKey
      .update({ where: { id: keyId }, data: { lastUsedAt: clock.now() } })
      .catch(() => this.logger.warn({ key_id: keyId }, 'last use of a key not recorded'));
  }
}
