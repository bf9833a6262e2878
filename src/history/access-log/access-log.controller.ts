import { Readable } from 'node:stream';
import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, ApiTags, ApiProduces } from '@nestjs/swagger';
import { FastifyReply, FastifyRequest } from 'fastify';
import { AuthenticatedCall, CurrentCall, mayReveal } from '../../access/auth/call';
import { Allow, Shows } from '../../access/auth/route-access';
import { csvAnswer } from '../../http/answers/csv';
import { HoldsSlot } from '../../http/quotas/turn-interceptors';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { ApiSummary } from '../../platform/schema/routes';
import { RecordClient } from '../records/record-parts.dto';
import {
  AccessEndRecord,
  AccessPage,
  AccessSearch,
  ActivityCsvSearch,
  ActivityPage,
  ActivitySearch,
} from './access-log.dto';
import { AccessesService, ReadingsService } from './accesses.service';
import { ActivityService } from './activity.service';

@ApiTags('Audit')
@ApiExtraModels(AccessEndRecord, RecordClient)
@Controller('v1/audit/accesses')
export class AccessesController {
  constructor(private readonly accesses: AccessesService) {}

  @Get()
  @Allow('audit')
  @Shows(({ accesses }: AccessPage) => ({ rows: accesses.length, people: accesses.length > 0 }))
  @ApiSummary('List reads of the history', 'The list also records its own reads.')
  @ApiResponse({ status: 200, type: AccessPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  async listAccesses(
    @CurrentCall() call: AuthenticatedCall,
    @Query() search: AccessSearch,
  ): Promise<AccessPage> {
    const { rows, nextPageToken } = await this.accesses.search(search, mayReveal(call));
    return { accesses: rows, next_page_token: nextPageToken };
  }
}

@ApiTags('Audit')
@ApiExtraModels(RecordClient)
@Controller('v1')
export class ActivityController {
  constructor(
    private readonly activity: ActivityService,
    private readonly readings: ReadingsService,
  ) {}

  @Get('activity')
  @Allow('audit', 'admin')
  @Shows(({ activity }: ActivityPage) => ({ rows: activity.length, people: activity.length > 0 }))
  @ApiSummary(
    'List administrative acts',
    'Lists stops, deletions from the history, and changes of clients and keys with the states before and ' +
      'after. The log seals every act.',
  )
  @ApiResponse({ status: 200, type: ActivityPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  async listActivity(
    @CurrentCall() call: AuthenticatedCall,
    @Query() search: ActivitySearch,
  ): Promise<ActivityPage> {
    return this.activity.search(search, mayReveal(call));
  }

  @Get('activity.csv')
  @Allow('audit', 'admin')
  @HoldsSlot('reports')
  @Shows('itself')
  @ApiSummary(
    'Export administrative acts',
    'All acts that match the filters of the list, newest first. `before` and `after` are JSON. A cell that ' +
      'a spreadsheet would read as a formula gets a leading apostrophe.',
  )
  @ApiProduces('text/csv')
  @ApiResponse({ status: 200, description: 'The acts, with a byte order mark.', schema: { type: 'string' } })
  @ApiKeyProblems('invalid_request', 'readers_busy')
  async exportActivity(
    @Req() request: FastifyRequest,
    @Query() search: ActivityCsvSearch,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const rows = await this.activity.count(search);
    await this.readings.record(request, { rows, people: rows > 0 });
    return csvAnswer(reply, 'payout-proxy-activity.csv', this.activity.csv(search, mayReveal(request.call)));
  }
}
