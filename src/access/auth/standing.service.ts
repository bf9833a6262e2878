import { Injectable } from '@nestjs/common';
import { Call, Caller } from './call';
import { CallersService } from './callers.service';
import { SessionsService } from './sessions.service';
import { isAllowedFrom } from './where-from';

/** How often the caller of an open response is checked again. */
const EVERY_MS = 3_000;

/** How long the last answer counts while the database cannot be queried. */
const TRUSTED_MS = 30_000;

/**
 * Tells long responses, such as streams and exports, whether their caller may still have them. Its key or session must
 * be valid, its scopes unchanged, and its address allowed.
 */
@Injectable()
export class StandingService {
  constructor(
    private readonly callers: CallersService,
    private readonly sessions: SessionsService,
  ) {}

  /** @returns a check that may be called often. It queries the database every few seconds. */
  watch(call: Call): () => Promise<boolean> {
    let askedAt = performance.now();
    let heldAt = askedAt;
    let holds = true;
    return async () => {
      if (!holds || performance.now() - askedAt < EVERY_MS) return holds;
      askedAt = performance.now();
      try {
        holds = isSame(call, await this.find(call));
        heldAt = askedAt;
      } catch {
        holds = askedAt - heldAt < TRUSTED_MS;
      }
      return holds;
    };
  }

  private async find({ caller, sessionToken }: Call): Promise<Caller | undefined> {
    if (sessionToken !== undefined) return this.sessions.peek(sessionToken);
    return caller && this.callers.byKeyId(caller.keyId);
  }
}

function isSame({ caller, clientAddress }: Call, now: Caller | undefined): boolean {
  if (!caller || !now || now.scopes.size !== caller.scopes.size) return false;
  return [...now.scopes].every((scope) => caller.scopes.has(scope)) && isAllowedFrom(now, clientAddress);
}
