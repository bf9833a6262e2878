import { newId } from '../../platform/database/ids';
import { PrismaService } from '../../platform/database/pools/prisma.service';

/** An answer with a new structure. */
interface NewShape {
  operation: string;
  httpStatus: number;
  /** SHA-256. */
  fingerprint: Buffer;
  /** Names no value (src/gateway/upstream/answers/shape.ts). */
  shape: unknown;
  callId: string;
}

/**
 * Writes a shape unless it exists. Safe against concurrent instances.
 * @returns whether it was new.
 */
export async function insertShape(prisma: PrismaService, shape: NewShape): Promise<boolean> {
  const inserted = await prisma.$executeRaw`
    INSERT INTO answer_shape (id, operation, http_status, fingerprint, shape, first_call_id)
    VALUES (${newId()}::uuid, ${shape.operation}, ${shape.httpStatus}, ${shape.fingerprint},
      ${JSON.stringify(shape.shape)}::jsonb, ${shape.callId}::uuid)
    ON CONFLICT (operation, http_status, fingerprint) DO NOTHING`;
  return inserted === 1;
}
