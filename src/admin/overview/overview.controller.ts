import { Readable } from 'node:stream';
import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import { ApiExtraModels, ApiProduces, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { AuthenticatedCall, CurrentCall } from '../../access/auth/call';
import { Allow, Shows } from '../../access/auth/route-access';
import { EVENT_STREAM, wantsEvents } from '../../http/streams/event-streams.service';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { ApiSummary } from '../../platform/schema/routes';
import {
  Overview,
  OverviewApprovals,
  OverviewClient,
  OverviewFindings,
  OverviewHistory,
  OverviewInDoubt,
  OverviewQueue,
  OverviewRun,
  OverviewSeal,
  OverviewSearch,
  OverviewStops,
  OverviewWallet,
} from './overview.dto';
import { OverviewService, OverviewStreams } from './overview.service';

/** Serves the overview, as JSON or as a stream. */
@ApiTags('Overview')
@ApiExtraModels(Overview, OverviewHistory, OverviewInDoubt, OverviewSeal, OverviewFindings, OverviewRun)
@ApiExtraModels(OverviewWallet, OverviewApprovals, OverviewClient, OverviewStops, OverviewQueue)
@Controller('v1/overview')
export class OverviewController {
  constructor(
    private readonly overviews: OverviewService,
    private readonly streams: OverviewStreams,
  ) {}

  @Get()
  @Allow('audit', 'reconcile', 'approve', 'admin')
  @Shows(() => ({ rows: 1, people: false }))
  @ApiSummary(
    'Read or follow the overview',
    'Sections outside your scopes are null. The overview is evaluated at most every two seconds, once for ' +
      'all readers, and slow sections less often. With `Accept: text/event-stream`, the response is a ' +
      'stream. It sends `overview` at once and after each change, and `current` with the newest `as_of` ' +
      'about every ten seconds without a change. It sends `unavailable` while the overview cannot be read. ' +
      'The stream ends after five minutes. Connect again, which checks your key and sends `overview` again.',
  )
  @ApiProduces('application/json', EVENT_STREAM)
  @ApiResponse({
    status: 200,
    description: 'The overview.',
    content: {
      'application/json': { schema: { $ref: getSchemaPath(Overview) } },
      [EVENT_STREAM]: { schema: { type: 'string' } },
    },
  })
  @ApiKeyProblems('invalid_request', 'readers_busy')
  async readOverview(
    @CurrentCall() call: AuthenticatedCall,
    @Query() { days }: OverviewSearch,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Overview | Readable> {
    const { scopes } = call.caller;
    return wantsEvents(accept) ? this.streams.of(scopes, days, reply) : this.overviews.read(scopes, days);
  }
}
