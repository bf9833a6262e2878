import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { hash, randomBytes } from 'node:crypto';
import { Loaded } from '../../platform/config/config.module';
import { REQUEST_PATIENCE_MS, withPatience } from '../../platform/database/patience';
import { SidePrisma } from '../../platform/database/side-prisma';
import { isUnavailable } from '../../platform/database/unavailable';
import { Caller } from './call';
import { OPENS } from '../clients/key';
import { CALLER_COLUMNS, callerOf, CallerRow } from './callers.service';

/** The secret in the cookie has as many bytes as a key. */
const TOKEN_BYTES = 32;

/** The longest session: a working day and its evening. */
const LONGEST_HOURS = 12;

/** Within a minute, further uses are not written. */
const USE_RESOLUTION_SECONDS = 60;

const FIND_SESSION = `
  SELECT ${CALLER_COLUMNS}, now() - s.used_at > interval '${USE_RESOLUTION_SECONDS} seconds' AS "isUseOld"
  FROM console_session s JOIN api_key k ON k.id = s.key_id JOIN client c ON c.id = k.client_id
  WHERE s.sha256 = $1::bytea AND s.used_at > now() - make_interval(mins => $2::int)
    AND s.created_at > now() - interval '${LONGEST_HOURS} hours' AND ${OPENS}`;

type SessionRow = CallerRow & { isUseOld: boolean };

/** Manages the console sessions. Instead of a key, the browser holds a secret that is valid for a short time. */
@Injectable()
export class SessionsService {
  private readonly idleMinutes: number;

  constructor(
    private readonly prisma: SidePrisma,
    config: ConfigService<Loaded, true>,
  ) {
    this.idleMinutes = config.get('settings', { infer: true }).consoleIdleMinutes;
  }

  /**
   * Starts a session.
   * @returns the secret for the cookie, which is stored nowhere.
   */
  async begin(keyId: string): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    await this.prisma.$executeRaw`
      DELETE FROM console_session WHERE used_at < now() - make_interval(mins => ${this.idleMinutes}::int)
        OR created_at < now() - make_interval(hours => ${LONGEST_HOURS}::int)`;
    await this.prisma.consoleSession.create({ data: { sha256: new Uint8Array(sha256(token)), keyId } });
    return token;
  }

  /**
   * Finds the caller of a session. It queries the database each time, as for a key. A session therefore ends with its
   * key, at once and on every instance.
   * @param patienceMs how long its request may still wait.
   * @throws DatabaseTooSlow
   */
  async identify(token: string, patienceMs: number): Promise<Caller | undefined> {
    const row = await this.find(token, patienceMs);
    if (!row) return undefined;
    if (row.isUseOld) await this.recordUse(token);
    return callerOf(row);
  }

  /** While the database takes no writes, sessions go on, and end as if they were idle. */
  private async recordUse(token: string): Promise<void> {
    try {
      await this.prisma.$executeRaw`UPDATE console_session SET used_at = now() WHERE sha256 = ${sha256(token)}`;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
  }

  /** Finds the caller without counting a use, so that an open stream does not prolong the session. */
  async peek(token: string): Promise<Caller | undefined> {
    const row = await this.find(token, REQUEST_PATIENCE_MS);
    return row && callerOf(row);
  }

  private async find(token: string, patienceMs: number): Promise<SessionRow | undefined> {
    const values = [sha256(token), this.idleMinutes];
    const finding = this.prisma.prepared<SessionRow>('find_session', FIND_SESSION, values);
    const [row] = await withPatience(finding, patienceMs);
    return row;
  }

  async end(token: string): Promise<void> {
    await this.prisma.consoleSession.deleteMany({ where: { sha256: new Uint8Array(sha256(token)) } });
  }
}

function sha256(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
