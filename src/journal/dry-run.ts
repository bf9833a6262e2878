import { AdmissionRequest, Budget, dryRun, HeldFor, Obstacle } from '../policy/admission';
import { PrismaService } from '../platform/database/prisma.service';
import { GuardWindows } from './guard-windows';
import { readState } from './state';

/** What admission would say of a request now. */
export interface DryRun {
  /** Everything that stands against it. The request would be refused, or answered as a replay, because of the first. */
  obstacles: Obstacle[];
  heldFor: HeldFor | null;
  budget: Budget;
}

/** Reads what admission reads. Nothing is locked, claimed or reserved, so a moment later the answer may differ. */
export async function readDryRun(
  prisma: PrismaService,
  request: AdmissionRequest,
  windows: GuardWindows,
): Promise<DryRun> {
  const client = await prisma.client.findUniqueOrThrow({
    where: { id: request.clientId },
    select: { id: true, dailyCapUsd: true, monthlyCapUsd: true },
  });
  const { state } = await readState(prisma, [request], [client], windows);
  return { ...dryRun(request, state), budget: state.budgets.get(client.id) as Budget };
}
