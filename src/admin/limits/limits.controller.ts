import { Controller, Get } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { SHOWN_LIMIT_KEYS } from '../../access/clients/limit-keys';
import { Limits, toLimitsDocument } from '../../access/clients/limits';
import { isEndUser } from '../../access/people/person';
import { CurrentCall } from '../../access/auth/current-call';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { SpendingService } from '../../policy/spending.service';
import { toCap, toUsage, UsageDto } from './cap';
import { LimitsDto } from './limits.dto';
import { ApiSummary } from '../../platform/schema/routes';

/** Shows an app its own limits. */
@ApiTags('Limits')
@Controller('v1/limits')
export class LimitsController {
  constructor(private readonly spending: SpendingService) {}

  @Get()
  @Allow('pay', 'write', 'read')
  @ApiSummary(
    'Read your own limits and what is left of them',
    'Returns the limits of the calling client. With an ephemeral key or an access token, the ' +
      'caps are those of its person.',
  )
  @ApiResponse({ status: 200, type: LimitsDto, description: 'The limits.' })
  @ApiKeyProblems()
  async readLimits(@CurrentCall() call: AuthenticatedCall): Promise<LimitsDto> {
    const limits = ownLimits(call);
    return { ...(await this.usage(call)), ...toLimitsDocument(limits, SHOWN_LIMIT_KEYS) };
  }

  /** An end user sees their own spending, and not that of everybody else who uses the app. */
  private async usage({ caller, person }: AuthenticatedCall): Promise<UsageDto & Pick<LimitsDto, 'total'>> {
    const { clientId, credential, limits } = caller;
    if (!person || !isEndUser(person)) {
      const caps = { daily: limits.dailyCapUsd, monthly: limits.monthlyCapUsd };
      return { ...toUsage(caps, await this.spending.spentBy(clientId)), total: null };
    }
    const keyId = credential.kind === 'ephemeral' ? credential.id : undefined;
    const usage = await this.spending.ofPayers([person.id, ...(keyId === undefined ? [] : [keyId])]);
    const [own, ofKey] = [usage.get(person.id), usage.get(keyId ?? '')];
    if (!own) throw new Error('a person has no caps');
    return {
      ...toUsage({ daily: own.dailyCapUsd, monthly: own.monthlyCapUsd }, own),
      total: ofKey?.total ? toCap(ofKey.totalCapUsd, ofKey.total) : null,
    };
  }
}

/** Returns the limits that apply to the caller's own requests. */
function ownLimits({ caller: { limits }, person }: AuthenticatedCall): Limits {
  if (!person || !isEndUser(person)) return limits;
  const { personMaxItemUsd, personRequestsPerMinute: requestsPerMinute } = person.limits;
  const amounts = [limits.maxItemUsd, personMaxItemUsd].filter((usd) => usd !== null);
  return { ...limits, maxItemUsd: amounts.length > 0 ? Decimal.min(...amounts) : null, requestsPerMinute };
}
