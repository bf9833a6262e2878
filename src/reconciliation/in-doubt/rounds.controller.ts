import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { Shows } from '../../access/auth/shows';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { ResolverService } from './resolver.service';
import { ResolverRound } from './rounds.dto';

@ApiTags('Reconciliation')
@ApiSecurity('key')
@Controller('v1/reconciliation/resolver')
export class RoundsController {
  constructor(private readonly resolver: ResolverService) {}

  @Post('rounds')
  @HttpCode(200)
  @Allow('reconcile')
  @Shows(({ verdicts }: ResolverRound) => ({
    rows: verdicts.length,
    callIds: verdicts.map(({ call_id }) => call_id),
    people: false,
  }))
  @ApiOperation({
    summary: 'Resolve calls in doubt now',
    operationId: 'runResolverRound',
    description:
      'Scope `reconcile`. Starts a round immediately. The proxy also starts one every `RESOLVER_EVERY_SECONDS`. A ' +
      "round reads the upstream's transactions and never sends a payout again.",
  })
  @ApiResponse({ status: 200, type: ResolverRound, description: 'The result of the round.' })
  @ApiKeyProblems('resolver_busy')
  async round(): Promise<ResolverRound> {
    const { elsewhere, inDoubt, polled, readId, failure, verdicts } = await this.resolver.runOnce();
    if (elsewhere) throw new Problem('resolver_busy');
    return {
      in_doubt: inDoubt,
      polled,
      read_id: readId,
      failure,
      verdicts: verdicts.map(({ intentId, verdict, reason }) => ({ call_id: intentId, verdict, reason })),
    };
  }
}
