import { Prisma } from '../../platform/database/generated/client';

/** A token that counts once, such as a DPoP proof or a logout token. */
export interface OneTimeToken {
  /** SHA-256 of its ID, and of who made it. */
  sha256: Buffer;
  /** Until it is refused for its age, in seconds since 1970. */
  countsUntil: number;
}

/**
 * Uses a token in the transaction of what it does, so that neither is done without the other. Of two at the same moment, the
 * second waits for the first. @returns false if it was used before.
 */
export async function useToken(tx: Prisma.TransactionClient, { sha256, countsUntil }: OneTimeToken): Promise<boolean> {
  const used = await tx.$executeRaw`
    INSERT INTO used_token (sha256, counts_until) VALUES (${new Uint8Array(sha256)}, ${new Date(countsUntil * 1_000)})
    ON CONFLICT DO NOTHING`;
  return used > 0;
}
