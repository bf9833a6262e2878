import { Injectable } from '@nestjs/common';
import { Call, Caller } from './call';
import { CallersService } from './callers.service';
import { SessionsService } from './sessions.service';
import { isAllowedFrom } from './where-from';

/** How often it is asked whether a caller may still hear what it was let in for. */
const EVERY_MS = 3_000;

/** While the database cannot be asked, the last answer counts for so long. */
const TRUSTED_MS = 30_000;

/**
 * Tells answers that go on for long, such as streams and exports, whether their caller may still have them: its key (or its
 * session) opens, its scopes are those it had, and it may call from where it does.
 */
@Injectable()
export class StandingService {
  constructor(
    private readonly callers: CallersService,
    private readonly sessions: SessionsService,
  ) {}

  /** @returns a question that may be asked often: the database is asked every few seconds. */
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
