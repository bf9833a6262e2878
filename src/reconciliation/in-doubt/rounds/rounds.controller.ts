import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, HttpCode, OnModuleDestroy, Post } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow, Shows } from '../../../access/auth/route-access';
import { askForRound, deleteTasks, readTaskResult } from '../../../journal/reconciliation/worker-tasks';
import { SidePrisma } from '../../../platform/database/pools/side-prisma';
import { ApiKeyProblems } from '../../../platform/errors/api-problems';
import { Problem } from '../../../platform/errors/problem';
import { HeldJobsService } from '../../../platform/jobs/held-jobs.service';
import { ApiSummary } from '../../../platform/schema/routes';
import { ResolverRound } from './rounds.dto';

const LOOK_EVERY_MS = 100;

/** Time that the resolver's job may be unheld. A restarted worker takes it within seconds. */
const NO_WORKER_MS = 5_000;

/** Requests a round of the resolver from a worker, and waits for its result. */
@ApiTags('Reconciliation')
@Controller('v1/reconciliation/resolver')
export class RoundsController implements OnModuleDestroy {
  private isStopped = false;

  constructor(
    private readonly prisma: SidePrisma,
    private readonly heldJobs: HeldJobsService,
  ) {}

  onModuleDestroy(): void {
    this.isStopped = true;
  }

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
    const id = await askForRound(this.prisma);
    try {
      let heldAt = performance.now();
      for (;;) {
        await sleep(LOOK_EVERY_MS);
        const result = await readTaskResult<ResolverRound>(this.prisma, id);
        if (result) return result;
        if (this.isStopped) throw new Problem('not_ready', { text: 'The proxy is shutting down.' });
        if ((await this.heldJobs.read()).has('resolve')) heldAt = performance.now();
        else if (performance.now() - heldAt > NO_WORKER_MS) throw new Problem('no_worker');
      }
    } finally {
      await deleteTasks(this.prisma, [id]);
    }
  }
}
