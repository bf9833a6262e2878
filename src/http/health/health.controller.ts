import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { HealthCheckService, HealthIndicatorService } from '@nestjs/terminus';
import { Allow } from '../../access/auth/allow';
import { PrismaService } from '../../platform/database/prisma.service';
import { ApiProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { ReadinessService } from './readiness.service';

const WORD = { type: 'string', enum: ['ok'] };

@ApiTags('Health')
@Controller()
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicator: HealthIndicatorService,
    private readonly prisma: PrismaService,
    private readonly readiness: ReadinessService,
  ) {}

  @Get('livez')
  @Allow('everyone')
  @ApiOperation({ summary: 'Report that the process is alive', operationId: 'livez' })
  @ApiResponse({
    status: 200,
    description: 'The process is alive.',
    schema: { type: 'object', properties: { status: WORD }, required: ['status'] },
  })
  live() {
    return { status: 'ok' };
  }

  /** Does not check the upstream. Without it, requests are still answered and recorded. */
  @Get('readyz')
  @Allow('everyone')
  @ApiOperation({
    summary: 'Report whether the proxy can serve requests',
    operationId: 'readyz',
  })
  @ApiResponse({
    status: 200,
    description: 'The proxy can serve requests.',
    schema: { type: 'object', properties: { status: WORD }, required: ['status'] },
  })
  @ApiProblems('not_ready')
  async ready() {
    if (this.readiness.isStopping) throw new Problem('not_ready');
    try {
      return await this.health.check([() => this.database()]);
    } catch (cause) {
      throw new Problem('not_ready', { cause });
    }
  }

  private async database() {
    const session = this.indicator.check('database');
    try {
      await this.prisma.$queryRaw`SELECT 1`;
      return session.up();
    } catch {
      return session.down();
    }
  }
}
