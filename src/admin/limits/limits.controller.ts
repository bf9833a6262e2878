import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { SpendingService } from '../../policy/spending.service';
import { toUsage } from './cap';
import { LimitsDto } from './limits.dto';

/** Shows an app its own limits. */
@ApiTags('Limits')
@ApiSecurity('key')
@Controller('v1/limits')
export class LimitsController {
  constructor(private readonly spending: SpendingService) {}

  @Get()
  @Allow('pay', 'write', 'read')
  @ApiOperation({
    summary: 'Read your own limits and what is left of them',
    operationId: 'readLimits',
    description: 'Scope `pay`, `write` or `read`. Returns the limits of the calling client.',
  })
  @ApiResponse({ status: 200, type: LimitsDto, description: 'The limits.' })
  @ApiKeyProblems()
  async own(@CurrentCall() { caller }: AuthenticatedCall): Promise<LimitsDto> {
    const { clientId, limits } = caller;
    const caps = { daily: limits.dailyCapUsd, monthly: limits.monthlyCapUsd };
    return {
      ...toUsage(caps, await this.spending.spentBy(clientId)),
      max_item_usd: limits.maxItemUsd?.toFixed() ?? null,
      max_call_usd: limits.maxCallUsd?.toFixed() ?? null,
      approval_over_usd: limits.approvalOverUsd?.toFixed() ?? null,
      approval_over_recipient_day_usd: limits.approvalOverRecipientDayUsd?.toFixed() ?? null,
      approval_over_day_usd: limits.approvalOverDayUsd?.toFixed() ?? null,
      max_recipient_day_usd: limits.maxRecipientDayUsd?.toFixed() ?? null,
      hold_duplicates_days: limits.holdDuplicatesDays,
      max_items: limits.maxItems,
      requests_per_minute: limits.requestsPerMinute,
      countries: limits.countries,
      require_idempotency_key: limits.requireIdempotencyKey,
      beneficiaries_only: limits.beneficiariesOnly,
      beneficiary_cool_off_seconds: limits.beneficiaryCoolOffSeconds,
    };
  }
}
