import { Controller, Get } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Decimal } from 'decimal.js';
import { AuthenticatedCall, CurrentCall } from '../../access/auth/call';
import { Allow } from '../../access/auth/route-access';
import {
  Limits,
  LimitsDocument,
  SHOWN_LIMIT_KEYS,
  ShownLimitKey,
  toLimitsDocument,
} from '../../access/clients/limits/limits';
import { isEndUser } from '../../access/people/person';
import { shownLimit, withLimits } from '../../http/validation/rules/limit-properties';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { nullable } from '../../platform/schema/fields';
import { ApiSummary } from '../../platform/schema/routes';
import { SpendingService } from '../../policy/spending.service';
import { CapDto, toCap, toUsage, UsageDto } from './cap';

class OwnUsage extends UsageDto {
  @nullable(CapDto, 'Total of your ephemeral key, which expires when the cap resets. Null for other keys.')
  total!: CapDto | null;
}

export class LimitsDto extends withLimits<OwnUsage, LimitsDocument<ShownLimitKey>>(
  OwnUsage,
  SHOWN_LIMIT_KEYS,
  shownLimit,
) {}

/** Shows an app its own limits. */
@ApiTags('Limits')
@Controller('v1/limits')
export class LimitsController {
  constructor(private readonly spending: SpendingService) {}

  @Get()
  @Allow('pay', 'write', 'read')
  @ApiSummary(
    'Read your own limits and their remainders',
    'Returns the limits of the calling client. With an ephemeral key or an access token, the caps are ' +
      'those of its person.',
  )
  @ApiResponse({ status: 200, type: LimitsDto, description: 'The limits.' })
  @ApiKeyProblems()
  async readLimits(@CurrentCall() call: AuthenticatedCall): Promise<LimitsDto> {
    const limits = ownLimits(call);
    return { ...(await this.usage(call)), ...toLimitsDocument(limits, SHOWN_LIMIT_KEYS) };
  }

  /** Reads the usage of the caps. An end user sees only their own spending. */
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
