import { AdmissionRequest, Budget, dryRun } from '../policy/admission';
import { PrismaService } from '../platform/database/prisma.service';
import { GuardWindows } from './guard-windows';
import { readState } from './state';

/** The answer that admission would give now. */
export type DryRun = ReturnType<typeof dryRun> & { budget: Budget };

/** Reads the same state as admission, without locks, claims or reservations. The result may change a moment later. */
export async function readDryRun(
  prisma: PrismaService,
  request: AdmissionRequest,
  windows: GuardWindows,
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
    },
  });
  const { state } = await readState(prisma, [request], [client], windows);
  return { ...dryRun(request, state), budget: state.budgets.get(client.id) as Budget };
}
