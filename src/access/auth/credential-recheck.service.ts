import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Caller } from '../callers/caller';
import { KeyCallersService } from '../callers/key-callers.service';
import { TokenCallersService } from '../callers/token-callers.service';
import { PageSessionsService } from '../sessions/page-sessions.service';
import { SessionsService } from '../sessions/sessions.service';
import { isAllowedFrom } from './authenticate';
import { Call } from './call';

/** Interval of rechecks of an open response's caller. */
const RECHECK_EVERY_MS = 3_000;

/** Validity of the last answer while the database is unreachable. */
const TRUSTED_MS = 30_000;

/** Cache size. Above the number of keys and sessions with open responses at once. */
const MAX_KNOWN = 10_000;

/** The last known state of a key or a session. Times are monotonic, in ms. */
interface CheckedCredential {
  checkedAt: number;
  /** Time of the last answer of the database. */
  answeredAt: number;
  /** Undefined if the key or session is no longer valid. */
  caller: Caller | undefined;
}

/** Rechecks callers, by any credential. */
@Injectable()
export class CredentialRecheckService {
  private readonly checks = new LRUCache<string, { checkedAt: number; check: Promise<CheckedCredential> }>({
    max: MAX_KNOWN,
  });

  constructor(
    private readonly callers: KeyCallersService,
    private readonly tokens: TokenCallersService,
    private readonly pageSessions: PageSessionsService,
    private readonly sessions: SessionsService,
  ) {}

  /**
   * Looks up the caller of a request again, for admission. Undefined if its credential is no longer valid.
   * @param timeoutMs the remaining wait of its request.
   * @throws DatabaseTooSlow
   */
  lookUpAgain(before: Caller, timeoutMs: number): Promise<Caller | undefined> {
    const { credential } = before;
    if (credential.kind === 'token') return this.tokens.lookUpAgain(before, credential, timeoutMs);
    if (credential.kind === 'session') return this.pageSessions.lookUpAgain(credential.id, timeoutMs);
    return this.callers.lookUpAgain(before, timeoutMs);
  }

  /**
   * Watches the rights of a long response's caller, such as of a stream or an export. Its credential must be
   * valid, its scopes unchanged, and its address allowed. All responses of a credential share one query.
   * @returns a check to call freely. It queries the database every few seconds.
   */
  watch(call: Call): () => Promise<boolean> {
    const startedAt = performance.now();
    let isValid = true;
    return async () => {
      if (!isValid || performance.now() - startedAt < RECHECK_EVERY_MS) return isValid;
      const { checkedAt, answeredAt, caller } = await this.lastCheckOf(call);
      isValid =
        answeredAt === checkedAt
          ? isSame(call, caller)
          : checkedAt - Math.max(answeredAt, startedAt) < TRUSTED_MS;
      return isValid;
    };
  }

  private lastCheckOf(call: Call): Promise<CheckedCredential> {
    const { caller, sessionToken } = call;
    const name = sessionToken === undefined ? nameOf(caller) : hash('sha256', sessionToken);
    const last = this.checks.get(name);
    const now = performance.now();
    if (last && now - last.checkedAt < RECHECK_EVERY_MS) return last.check;
    const check = this.recheck(call, now, last?.check);
    this.checks.set(name, { checkedAt: now, check });
    return check;
  }

  private async recheck(
    call: Call,
    checkedAt: number,
    last: Promise<CheckedCredential> | undefined,
  ): Promise<CheckedCredential> {
    try {
      return { checkedAt, answeredAt: checkedAt, caller: await this.find(call) };
    } catch {
      return { checkedAt, answeredAt: (await last)?.answeredAt ?? -Infinity, caller: undefined };
    }
  }

  private async find({ caller, sessionToken }: Call): Promise<Caller | undefined> {
    if (sessionToken !== undefined) return this.sessions.peek(sessionToken);
    const { credential } = caller ?? {};
    if (credential?.kind === 'token') return this.tokens.peek(credential);
    if (credential?.kind === 'session') return this.pageSessions.peek(credential.id);
    return caller && this.callers.peek(caller);
  }
}

function nameOf(caller: Caller | undefined): string {
  const { credential, keyId = '' } = caller ?? {};
  if (credential?.kind === 'ephemeral' || credential?.kind === 'session') return credential.id;
  if (credential?.kind !== 'token') return keyId;
  const { issuer, subject, id } = credential.claims;
  return JSON.stringify([issuer, subject, id]);
}

function isSame({ caller, clientAddress }: Call, now: Caller | undefined): boolean {
  if (!caller || !now || now.scopes.size !== caller.scopes.size) return false;
  return [...now.scopes].every((scope) => caller.scopes.has(scope)) && isAllowedFrom(now, clientAddress);
}
