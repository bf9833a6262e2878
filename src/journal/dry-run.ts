import { Decimal } from 'decimal.js';
import { AdmissionRequest, Budget } from '../policy/admission';
import { dryRun } from '../policy/decide';
import { PrismaService } from '../platform/database/prisma.service';
import { AdmissionRules } from './opened';
import { readState } from './state';

/** The answer that admission would give now. */
export type DryRun = ReturnType<typeof dryRun> & { feeUsd: Decimal | null; budget: Budget };

/** Reads the same state as admission, without locks, claims or reservations. The result may change a moment later. */
export async function readDryRun(
  prisma: PrismaService,
  request: AdmissionRequest,
  { windows, fees }: AdmissionRules,
): Promise<DryRun> {
  const client = await prisma.client.findUniqueOrThrow({
    where: { id: request.clientId },
    select: {
      id: true,
      dailyCapUsd: true,
      monthlyCapUsd: true,
      maxRecipientDayUsd: true,
      approvalOverRecipientDayUsd: true,
      approvalOverDayUsd: true,
      holdDuplicatesDays: true,
      beneficiariesOnly: true,
      beneficiaryCoolOffSeconds: true,
      blocksRecipients: true,
    },
  });
  const { state, feeShares } = await readState(prisma, [request], [client], { ...windows, knownFees: fees.known });
  fees.learn(feeShares);
  const priced = fees.priced([request])[0] ?? request;
  return { ...dryRun(priced, state), feeUsd: priced.feeUsd, budget: state.budgets.get(client.id) as Budget };
}
