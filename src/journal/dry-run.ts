import { Decimal } from 'decimal.js';
import { ADMISSION_LIMIT_KEYS, AdmissionLimitKey } from '../access/clients/limit-keys';
import { AdmissionRequest } from '../policy/admission';
import { Caps } from '../policy/caps';
import { dryRun } from '../policy/decide';
import { PrismaService } from '../platform/database/prisma.service';
import { AdmissionRules } from './opened';
import { readState } from './state';

/** The answer that admission would give now. */
export type DryRun = ReturnType<typeof dryRun> & {
  feeUsd: Decimal | null;
  /** The caps that the caller may see: its client's or, for an end user, their own. Undefined if no amount is known. */
  caps: Caps | undefined;
};

const LIMITS = Object.fromEntries(ADMISSION_LIMIT_KEYS.map((key) => [key, true])) as Record<AdmissionLimitKey, true>;

/** Reads the same state as admission, without locks, claims or reservations. The result may change a moment later. */
export async function readDryRun(
  prisma: PrismaService,
  request: AdmissionRequest,
  { windows, fees }: AdmissionRules,
): Promise<DryRun> {
  const client = await prisma.client.findUniqueOrThrow({
    where: { id: request.clientId },
    select: { id: true, blocksRecipients: true, ...LIMITS },
  });
  const { state, feeShares } = await readState(prisma, [request], [client], { ...windows, knownFees: fees.known });
  fees.learn(feeShares);
  const priced = fees.priced([request])[0] ?? request;
  const { endUserId } = request;
  const caps = endUserId === null ? state.budgets.get(client.id) : state.payers?.get(endUserId);
  return { ...dryRun(priced, state), feeUsd: priced.feeUsd, caps };
}
