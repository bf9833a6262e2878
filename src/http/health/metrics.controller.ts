import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { Allow } from '../../access/auth/route-access';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { ApiProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { ApiSummary } from '../../platform/schema/routes';
import { MetricsService } from '../metrics/metrics.service';
import { hasMetricsPort } from './private-port';

@ApiTags('Health')
@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly registry: MetricsService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  @Get()
  @Allow('everyone')
  @ApiSummary('Return metrics for Prometheus', 'The page on monitoring explains each metric.')
  @ApiResponse({
    status: 200,
    description: 'The metrics, in the Prometheus text format. With `METRICS_PORT`, only that port has them.',
    content: { 'text/plain': { schema: { type: 'string' } } },
  })
  @ApiProblems('not_found')
  async metrics(@Res() reply: FastifyReply): Promise<void> {
    if (hasMetricsPort(this.settings)) throw new Problem('not_found');
    const { contentType, body } = await this.registry.text();
    await reply.header('content-type', contentType).send(body);
  }
}
