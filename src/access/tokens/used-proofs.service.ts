import { Injectable } from '@nestjs/common';
import { Prisma } from '../../platform/database/generated/client';
import { GroupCommit } from '../../platform/database/pools/group-commit';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { REQUEST_TIMEOUT_MS } from '../../platform/database/pools/timeouts';
import { Rows } from '../../platform/database/rows/rows';
import { invalidProof } from './refusals';

/** A one-time token, such as a DPoP proof or a logout token. */
export interface OneTimeToken {
  /** SHA-256 of its ID and its issuer. */
  sha256: Buffer;
  /** Expiry, in seconds since 1970. An older token is refused for its age. */
  countsUntil: number;
}

/**
 * Uses a token in the transaction of its effect, so both commit or neither. A concurrent use waits for the
 * first.
 * @returns false if it was used before.
 */
export async function useToken(
  tx: Prisma.TransactionClient,
  { sha256, countsUntil }: OneTimeToken,
): Promise<boolean> {
  const used = await tx.$executeRaw`
    INSERT INTO used_token (sha256, counts_until)
      VALUES (${new Uint8Array(sha256)}, ${new Date(countsUntil * 1_000)})
    ON CONFLICT DO NOTHING`;
  return used > 0;
}

/** Batch size for recording proofs. */
const MAX_AT_ONCE = 1_000;

const PROOFS = new Rows<OneTimeToken>([
  ['sha256', 'bytea', ({ sha256 }) => sha256],
  ['counts_until', 'timestamptz', ({ countsUntil }) => new Date(countsUntil * 1_000)],
]);

/** SQL: records proofs in a fixed order, so two instances with the same proofs cannot deadlock. */
const USE = `
  INSERT INTO used_token (sha256, counts_until)
  SELECT DISTINCT ON (sha256) sha256, counts_until FROM (${PROOFS.source}) AS proofs ORDER BY sha256
  ON CONFLICT DO NOTHING RETURNING encode(sha256, 'hex') AS sha256`;

/** Lets each DPoP proof be used once, over all instances. */
@Injectable()
export class UsedProofsService {
  private readonly ofPayments: GroupCommit<OneTimeToken, boolean>;
  private readonly ofOthers: GroupCommit<OneTimeToken, boolean>;

  constructor(prisma: PrismaService, side: SidePrisma) {
    this.ofPayments = usesOn(prisma);
    this.ofOthers = usesOn(side);
  }

  /**
   * Uses a proof. Resolves after the commit. An unconfirmed commit counts as used.
   * @param isPayment whether the request passes admission. Others never hold up a payment.
   * @throws Problem `invalid_dpop_proof` if it was used before.
   */
  async use(proof: OneTimeToken, isPayment: boolean, timeoutMs: number): Promise<void> {
    const isFirst = await (isPayment ? this.ofPayments : this.ofOthers).add(proof, timeoutMs);
    if (!isFirst) throw invalidProof('it was used before');
  }
}

function usesOn(prisma: PrismaService): GroupCommit<OneTimeToken, boolean> {
  const use = async (proofs: OneTimeToken[]): Promise<boolean[]> => {
    const rows = await prisma.prepared<{ sha256: string }>('use_proofs', USE, PROOFS.values(proofs));
    const used = new Set(rows.map(({ sha256 }) => sha256));
    return proofs.map(({ sha256 }) => used.delete(sha256.toString('hex'))); // of two equal ones, the first
  };
  return new GroupCommit(use, () => 1, MAX_AT_ONCE, { timeoutMs: REQUEST_TIMEOUT_MS });
}
