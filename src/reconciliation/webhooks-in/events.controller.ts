import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import { Allow } from '../../access/auth/allow';
import { ApiProblems } from '../../platform/errors/api-problems';
import { readEvent } from '../../gateway/upstream/event';
import { insertUpstreamEvent } from '../../journal/upstream-events';
import { PrismaService } from '../../platform/database/prisma.service';
import { ReadBackService } from './read-back.service';
import { SignedEventsService } from './signed-events.service';

export class EventReceipt {
  @ApiProperty({ enum: ['recorded', 'known'], description: '`known`: it came before, and nothing more is done.' })
  status!: 'recorded' | 'known';
}

/** Where the upstream tells of what happened. It is a hint: what is believed is what it answers when it is asked. */
@ApiTags('Reconciliation')
@Controller('hooks')
export class EventsController {
  constructor(
    private readonly signed: SignedEventsService,
    private readonly prisma: PrismaService,
    private readonly readBack: ReadBackService,
  ) {}

  @Post('upstream')
  @HttpCode(200)
  @Allow('everyone')
  @ApiOperation({
    summary: "Take one of the upstream's events",
    operationId: 'takeUpstreamEvent',
    description:
      'Only with `UPSTREAM_WEBHOOK_SECRET`, which signs it instead of an API key (Standard Webhooks: `webhook-id`, ' +
      '`webhook-timestamp` and `webhook-signature`, or the same as `svix-…`). At most 64 KiB.',
  })
  @ApiHeader({ name: 'webhook-id', required: true, description: 'The same each time the event is delivered.' })
  @ApiHeader({ name: 'webhook-timestamp', required: true, description: 'Seconds since 1970, within five minutes.' })
  @ApiHeader({ name: 'webhook-signature', required: true, description: '`v1,<base64>`; several with blanks between.' })
  @ApiBody({ schema: { type: 'object', additionalProperties: true } })
  @ApiResponse({ status: 200, type: EventReceipt, description: 'It is on record, and is read back soon.' })
  @ApiProblems('invalid_request', 'stale_event', 'invalid_signature', 'not_found', 'database_unavailable')
  async take(@Req() request: FastifyRequest): Promise<EventReceipt> {
    const { id: eventId, at: signedAt } = this.signed.of(request);
    const event = { ...readEvent(request.body), id: uuidv7(), eventId, signedAt };
    const isNew = await insertUpstreamEvent(this.prisma, event);
    if (isNew) this.readBack.add(event);
    return { status: isNew ? 'recorded' : 'known' };
  }
}
