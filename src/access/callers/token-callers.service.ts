import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { TYPES } from '../../platform/database/binary-array';
import { GroupCommit } from '../../platform/database/group-commit';
import { REQUEST_PATIENCE_MS, withPatience } from '../../platform/database/patience';
import { PrismaService } from '../../platform/database/prisma.service';
import { SidePrisma } from '../../platform/database/side-prisma';
import { databaseUnavailable } from '../../platform/errors/problem';
import { afterClient } from '../people/person-hash';
import { ReadToken, readToken } from '../tokens/authorization';
import { invalidToken } from '../tokens/refusals';
import { Named, TokenCredential } from '../tokens/token-credential';
import { TokensService } from '../tokens/tokens.service';
import { Caller } from './caller';
import { MAX_SEEN, Purpose } from './key-look-ups';
import { LastUsesService } from './last-uses.service';
import { RememberedCallers } from './remembered-callers';
import { FIND_TOKEN_CLIENTS, sourceOf, tokenCallerOf, TokenRow } from './token-row';

/** More tokens than ever arrive at once. */
const MAX_LOOK_UPS = 1_000;

type LookUps = GroupCommit<Named, TokenRow | undefined>;

/** Finds the caller that an access token belongs to. */
@Injectable()
export class TokenCallersService {
  /** SHA-256 of tokens that were valid when last looked up. Forged ones never hold them up. */
  private readonly seen = new LRUCache<string, true>({ max: MAX_SEEN });
  private readonly lookUps: Record<Purpose, { seen: LookUps; unseen: LookUps }>;
  private readonly remembered = new RememberedCallers();

  constructor(
    private readonly prisma: PrismaService,
    private readonly side: SidePrisma,
    private readonly tokens: TokensService,
    private readonly uses: LastUsesService,
  ) {
    const on = (database: PrismaService) => ({ seen: lookUpsOn(database), unseen: lookUpsOn(database) });
    this.lookUps = { forPayments: on(prisma), forOthers: on(side) };
  }

  /**
   * Finds the caller of a token in the database, so that a revocation or a changed limit takes effect at once.
   * @param patienceMs how long its request may still wait.
   * @throws Problem if the token is not valid, or cannot be verified.
   */
  identify(token: string, patienceMs: number): Promise<Caller> {
    return this.lookUp(token, hash('sha256', token, 'base64'), 'forOthers', patienceMs);
  }

  /** The same without the database if it is remembered. See `RememberedCallers`. */
  identifyForAdmission(token: string, patienceMs: number, mayAsk: (caller: Caller) => boolean): Promise<Caller> {
    const sha256 = hash('sha256', token, 'base64');
    return this.remembered.find(sha256, mayAsk, () => this.lookUp(token, sha256, 'forPayments', patienceMs));
  }

  /** Looks up a caller again, for admission. Undefined if its token is no longer valid. */
  async lookUpAgain(before: Caller, credential: TokenCredential, patienceMs: number): Promise<Caller | undefined> {
    const caller = await findAgain(this.prisma, credential, patienceMs);
    this.remembered.compare(before, caller);
    return caller;
  }

  /** Finds the caller of a long response again. Undefined if its token is no longer valid. */
  peek(credential: TokenCredential): Promise<Caller | undefined> {
    return findAgain(this.side, credential, REQUEST_PATIENCE_MS);
  }

  private async lookUp(token: string, sha256: string, purpose: Purpose, patienceMs: number): Promise<Caller> {
    const until = performance.now() + patienceMs;
    const read = readToken(token);
    const named = namedIn(read);
    const { seen, unseen } = this.lookUps[purpose];
    const finding = (this.seen.has(sha256) ? seen : unseen).add(named, patienceMs);
    const row = await finding.catch(databaseUnavailable);
    if (!row) throw invalidToken(await this.whyUnknown(named, patienceMs));
    const left = Math.max(0, until - performance.now());
    const claims = await this.tokens.verify({ token, sha256, ...read }, sourceOf(row, named), left);
    const caller = tokenCallerOf(row, named, claims);
    this.seen.set(sha256, true);
    this.uses.remember(row.keyId);
    return caller;
  }

  /** Providers and their documentation often differ by a slash, and then nobody sees the cause. */
  private async whyUnknown(named: Named, patienceMs: number): Promise<string> {
    const other = { ...named, issuer: otherSpelling(named.issuer) };
    const isKnown = await this.lookUps.forOthers.unseen.add(other, patienceMs).catch(databaseUnavailable);
    return isKnown
      ? 'its issuer (iss) and the token_issuer of its client differ by the slash at their end. The operator must set token_issuer to exactly what the token names'
      : 'no client of this API takes tokens of this provider and app (iss, client_id)';
  }
}

/** Returns the issuer with a final slash if it has none, else without it. */
function otherSpelling(issuer: string): string {
  return issuer.endsWith('/') ? issuer.slice(0, -1) : `${issuer}/`;
}

function namedIn({ issuer, clientId, subject }: ReadToken): Named {
  return { issuer, clientId, person: afterClient(issuer, subject) };
}

async function findAgain(
  prisma: PrismaService,
  { named, claims, source, validUntil }: TokenCredential,
  patienceMs: number,
): Promise<Caller | undefined> {
  const left = validUntil - performance.now();
  const [row] = left > 0 ? await withPatience(findClients(prisma, [named]), patienceMs) : [];
  // The token was verified for another provider, audience or algorithm.
  if (!row || JSON.stringify(sourceOf(row, named)) !== source) return undefined;
  return tokenCallerOf(row, named, claims);
}

function findClients(prisma: PrismaService, named: Named[]): Promise<TokenRow[]> {
  const values = (['issuer', 'clientId', 'person'] as const).map((name) =>
    TYPES.text.array(named.map((one) => one[name])),
  );
  return prisma.prepared<TokenRow>('find_token_clients', FIND_TOKEN_CLIENTS, values);
}

/** Looks up all waiting tokens in one statement, because every request waits for it. */
function lookUpsOn(prisma: PrismaService): LookUps {
  const lookUp = async (named: Named[]) => {
    const rows = await findClients(prisma, named);
    const byPlace = new Map(rows.map((row) => [row.place, row]));
    return named.map((_each, index) => byPlace.get(index + 1));
  };
  return new GroupCommit<Named, TokenRow | undefined>(lookUp, () => 1, MAX_LOOK_UPS, {
    patienceMs: REQUEST_PATIENCE_MS,
  });
}
