import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { HealthCheck, HealthCheckService, HealthIndicatorService } from '@nestjs/terminus';
import { Allow } from '../auth/allow';
import { PrismaService } from '../database/prisma.service';

@ApiTags('Health')
@Controller()
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicator: HealthIndicatorService,
    private readonly prisma: PrismaService,
  ) {}

  @Get('livez')
  @Allow('everyone')
  @ApiOperation({ summary: 'Whether the process answers; asks nothing else', operationId: 'livez' })
  @ApiResponse({ status: 200, schema: { type: 'object', properties: { status: { type: 'string', enum: ['ok'] } } } })
  live() {
    return { status: 'ok' };
  }

  /** The upstream is not asked: without it, requests are still answered and recorded. */
  @Get('readyz')
  @Allow('everyone')
  @HealthCheck({ swaggerDocumentation: false })
  @ApiOperation({ summary: 'Whether requests can be served: the database answers', operationId: 'readyz' })
  @ApiResponse({ status: 200, schema: { type: 'object' } })
  @ApiResponse({ status: 503, schema: { type: 'object' } })
  ready() {
    return this.health.check([() => this.database()]);
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
