import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { Shows } from '../../access/auth/shows';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { ResolverRound } from './rounds.dto';
import { RoundsService } from './rounds.service';
import { ApiSummary } from '../../platform/schema/routes';

@ApiTags('Reconciliation')
@Controller('v1/reconciliation/resolver')
export class RoundsController {
  constructor(private readonly rounds: RoundsService) {}

  @Post('rounds')
  @HttpCode(200)
  @Allow('reconcile')
  @Shows(({ verdicts }: ResolverRound) => ({
    rows: verdicts.length,
    callIds: verdicts.map(({ call_id }) => call_id),
    people: false,
  }))
  @ApiSummary(
    'Resolve calls in doubt now',
    'Starts a round immediately, in a worker. A worker also starts one every ' +
      "`RESOLVER_EVERY_SECONDS`. A round reads the upstream's transactions and never sends a payout again.",
  )
  @ApiResponse({ status: 200, type: ResolverRound, description: 'The result of the round.' })
  @ApiKeyProblems('no_worker')
  async runResolverRound(): Promise<ResolverRound> {
    return this.rounds.run();
  }
}
