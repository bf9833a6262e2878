import { applyDecorators, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { described } from '../../platform/schema/fields';
import type { FastifyRequest } from 'fastify';
import { Allow } from '../../access/auth/allow';
import { newId } from '../../platform/database/ids';
import { ApiProblems } from '../../platform/errors/api-problems';
import { readEvent } from '../../gateway/upstream/event';
import { insertUpstreamEvent } from '../../journal/worker-tasks';
import { UnheardStatuses } from '../../journal/unheard-statuses';
import { PrismaService } from '../../platform/database/prisma.service';
import { accountIn, SignedEventsService } from './signed-events.service';
import { ApiSummary } from '../../platform/schema/routes';

class EventReceipt {
  @described({ enum: ['recorded', 'known'] }, '`known`: the event was received before. Nothing was done.')
  status!: 'recorded' | 'known';
}

/** Documents what is the same for the events of every account. */
const EventHeaders = () =>
  applyDecorators(
    ApiHeader({ name: 'webhook-id', required: true, description: "The event's ID. It is the same in each delivery." }),
    ApiHeader({ name: 'webhook-timestamp', required: true, description: 'Seconds since 1970, within five minutes.' }),
    ApiHeader({
      name: 'webhook-signature',
      required: true,
      description: '`v1,<base64>`. Several are separated by spaces.',
    }),
    ApiBody({ schema: { type: 'object', additionalProperties: true } }),
    ApiResponse({
      status: 200,
      type: EventReceipt,
      description: 'The event is recorded and will be checked with the upstream.',
    }),
    ApiProblems('invalid_request', 'stale_event', 'invalid_signature', 'not_found', 'database_unavailable'),
  );

/** Receives the upstream's events. An event is only a hint: a worker asks the upstream and believes that answer. */
@ApiTags('Reconciliation')
@Controller('hooks')
export class EventsController {
  constructor(
    private readonly signed: SignedEventsService,
    private readonly prisma: PrismaService,
    private readonly statuses: UnheardStatuses,
  ) {}

  @Post('upstream')
  @HttpCode(200)
  @Allow('everyone')
  @ApiSummary(
    'Receive an event of the upstream',
    "Available only with `UPSTREAM_WEBHOOK_SECRET`. The event's signature replaces the API key (Standard " +
      'Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`, or the same with `svix-`). At most 64 ' +
      'KiB.',
  )
  @EventHeaders()
  takeUpstreamEvent(@Req() request: FastifyRequest): Promise<EventReceipt> {
    return this.record(request);
  }

  @Post('upstream/:account')
  @HttpCode(200)
  @Allow('everyone')
  @ApiSummary(
    'Receive an event of one upstream account',
    'Like `POST /hooks/upstream`, which receives those of `main`. Each account has a secret of its own.',
  )
  @ApiParam({ name: 'account', schema: { type: 'string' }, description: 'The account.' })
  @EventHeaders()
  async takeAccountEvent(@Req() request: FastifyRequest): Promise<EventReceipt> {
    return this.record(request);
  }

  private async record(request: FastifyRequest): Promise<EventReceipt> {
    const { id: eventId, at: signedAt, body } = this.signed.of(request);
    const event = { ...readEvent(body), id: newId(), account: accountIn(request), eventId, signedAt };
    const isNew = await insertUpstreamEvent(this.prisma, event);
    if (isNew) this.statuses.note(event, null);
    return { status: isNew ? 'recorded' : 'known' };
  }
}
