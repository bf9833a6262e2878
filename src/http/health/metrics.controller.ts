import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { Allow } from '../../access/auth/allow';
import { MetricsService } from '../metrics/metrics.service';

@ApiTags('Health')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: MetricsService) {}

  @Get()
  @Allow('everyone')
  @ApiOperation({ summary: 'Return metrics for Prometheus', operationId: 'metrics' })
  @ApiResponse({
    status: 200,
    description: 'The metrics, in the Prometheus text format.',
    content: { 'text/plain': { schema: { type: 'string' } } },
  })
  async read(@Res() reply: FastifyReply): Promise<void> {
    const { contentType, body } = await this.metrics.text();
    await reply.header('content-type', contentType).send(body);
  }
}
