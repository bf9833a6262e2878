import { PrismaService } from '../platform/database/prisma.service';
import { Budget, dryRun, HeldFor, Obstacle } from '../policy/admission';
import { toAsking } from './admissions';
import { GuardWindows } from './guard-windows';
import { readState } from './state';
import { Considered } from './records';

/** What admission would say of a call now. */
export interface DryRun {
  /** All that stands against it; it is refused, or answered as a replay, with the first. */
  obstacles: Obstacle[];
  heldFor: HeldFor | null;
  budget: Budget;
}

/** Looks at what admission looks at. Nothing is locked, claimed or reserved: a moment later it may be otherwise. */
export async function readForesight(prisma: PrismaService, asking: Considered, windows: GuardWindows): Promise<DryRun> {
  const client = await prisma.client.findUniqueOrThrow({
    where: { id: asking.caller.clientId },
    select: { id: true, dailyCapUsd: true, monthlyCapUsd: true },
  });
  const { state } = await readState(prisma, [asking], [client], windows);
  return { ...dryRun(toAsking(asking), state), budget: state.budgets.get(client.id) as Budget };
}
