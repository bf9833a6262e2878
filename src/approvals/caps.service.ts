import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { CallRecord } from '../audit/record.dto';
import { PrismaService } from '../database/prisma.service';
import { CapDto, toUsage, UsageDto } from '../limits/cap';
import { SpendingService } from '../policy/spending.service';
import { CapAfterDto, CapsAfterDto } from './approvals.dto';

/** Foresees what approvals would do to the caps of who asked. */
@Injectable()
export class CapsService {
  constructor(
    private readonly prisma: PrismaService,
    private readonly spending: SpendingService,
  ) {}

  /**
   * Nothing is reserved for a call that waits, so each is counted as if it was the only one. Only what pays is ever held: its
   * total counts, as `approve` of the journal counts it.
   */
  async withCaps<Call extends CallRecord>(calls: Call[]): Promise<(Call & { caps: CapsAfterDto | null })[]> {
    const asking = calls.filter(isPending).map(({ client }) => client.id);
    if (asking.length === 0) return calls.map((call) => ({ ...call, caps: null }));
    const [clients, spending] = await Promise.all([
      this.prisma.client.findMany({ where: { id: { in: [...new Set(asking)] } } }),
      this.spending.spentByAll(),
    ]);
    const usages = new Map(
      clients.flatMap(({ id, dailyCapUsd, monthlyCapUsd }) => {
        const spent = spending.get(id);
        const caps = { daily: dailyCapUsd?.toFixed() ?? null, monthly: monthlyCapUsd?.toFixed() ?? null };
        return spent ? [[id, toUsage(caps, spent)] as const] : [];
      }),
    );
    return calls.map((call) => {
      const usage = isPending(call) && usages.get(call.client.id);
      return { ...call, caps: usage ? capsAfter(usage, call.total_usd) : null };
    });
  }
}

function isPending({ approval }: CallRecord): boolean {
  return approval?.status === 'pending';
}

function capsAfter({ daily, monthly }: UsageDto, usd: string | null): CapsAfterDto {
  const after = { daily: capAfter(daily, usd), monthly: capAfter(monthly, usd) };
  // What names no amount counts against no cap, also where nothing is left.
  return { ...after, fits: usd === null || [after.daily, after.monthly].every(isWithin) };
}

function capAfter(cap: CapDto, usd: string | null): CapAfterDto {
  const after = new Decimal(cap.spent_usd).plus(usd ?? 0);
  const left = cap.cap_usd === null ? null : Decimal.max(new Decimal(cap.cap_usd).minus(after), 0);
  return { ...cap, after_usd: after.toFixed(), left_after_usd: left?.toFixed() ?? null };
}

function isWithin({ cap_usd: cap, after_usd: after }: CapAfterDto): boolean {
  return cap === null || new Decimal(after).lessThanOrEqualTo(cap);
}
