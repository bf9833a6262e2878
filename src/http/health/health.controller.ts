import { Controller, Get } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { HealthCheckService, HealthIndicatorService } from '@nestjs/terminus';
import { Allow } from '../../access/auth/route-access';
import { ApiProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { HeldJobsService } from '../../platform/jobs/held-jobs.service';
import { JOB_NAMES } from '../../platform/jobs/job';
import { ApiSummary } from '../../platform/schema/routes';
import { ReadinessService } from './readiness.service';

const WORD = { type: 'string', enum: ['ok'] };

@ApiTags('Health')
@Controller()
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicator: HealthIndicatorService,
    private readonly readiness: ReadinessService,
    private readonly heldJobs: HeldJobsService,
  ) {}

  @Get('livez')
  @Allow('everyone')
  @ApiSummary('Report that the process is alive', 'Checks neither the database nor the upstream.')
  @ApiResponse({
    status: 200,
    description: 'The process is alive.',
    schema: { type: 'object', properties: { status: WORD }, required: ['status'] },
  })
  @ApiProblems('invalid_request')
  livez() {
    return { status: 'ok' };
  }

  /**
   * Proves that the database takes durable writes. Does not check the upstream. Without it, requests are
   * still answered and recorded.
   */
  @Get('readyz')
  @Allow('everyone')
  @ApiSummary(
    'Report whether the proxy can serve requests',
    'Checks that the database takes durable writes. Does not check the upstream.',
  )
  @ApiResponse({
    status: 200,
    description:
      'The proxy can serve requests. `details.worker` shows whether a worker is running, and the ' +
      'background jobs without a worker.',
    schema: { type: 'object', properties: { status: WORD }, required: ['status'] },
  })
  @ApiProblems('not_ready', 'invalid_request')
  async readyz() {
    const text = await this.readiness.obstacle();
    if (text !== undefined) throw new Problem('not_ready', { text });
    return this.health.check([() => this.indicator.check('database').up(), () => this.worker()]);
  }

  /** Reports the worker. Without one, the proxy stays ready and pays, and the background work waits. */
  private async worker() {
    const worker = this.indicator.check('worker');
    const held = await this.heldJobs.read().catch(() => undefined);
    if (!held) return worker.up({ running: null });
    return worker.up({ running: held.size > 0, jobs_not_held: JOB_NAMES.filter((name) => !held.has(name)) });
  }
}
