import { Body, Controller, Delete, Get, HttpStatus, Logger, Param, Post, Query, Res } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { AuthenticatedCall, changeAuthorOf, CurrentCall } from '../../access/auth/call';
import { Allow } from '../../access/auth/route-access';
import { StepUp } from '../../access/auth/step-up';
import { isRequestedChange } from '../../access/dual-control/pending-changes';
import { pendingResponse, PENDING_RESPONSE, WaitingDto } from '../../access/dual-control/pending-response';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { ApiId, ApiSummary } from '../../platform/schema/routes';
import { NewStopDto, StopAuthorRecord, StopLift, StopList, StopRecord, Stops } from './stops.dto';
import { stopAuthorOf, StopLiftingService, StopsService } from './stops.service';

@ApiTags('Stops')
@ApiExtraModels(StopAuthorRecord, WaitingDto)
@Controller('v1/stops')
export class StopsController {
  private readonly logger = new Logger('Stops');

  constructor(
    private readonly stops: StopsService,
    private readonly lifting: StopLiftingService,
  ) {}

  @Post()
  @Allow('admin')
  @ApiSummary(
    'Stop everything, a client or an operation',
    'Name one target. From the response on, every instance refuses payments and writes with 503 `stopped` ' +
      'and the reason. Reads continue, and calls in progress are completed.',
  )
  @ApiResponse({ status: 201, type: StopRecord, description: 'The stop is active.' })
  @ApiResponse({ status: 200, type: StopRecord, description: 'It was already stopped. Nothing was changed.' })
  @ApiKeyProblems('invalid_request')
  async stop(
    @CurrentCall() call: AuthenticatedCall,
    @Body() { client, operation, reason }: NewStopDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StopRecord> {
    const stopped = await this.stops.stop(
      { client, operation },
      reason,
      stopAuthorOf(changeAuthorOf(call, reason)),
    );
    if (!stopped) {
      const detail = 'must be the name of a client, as GET /v1/clients lists them';
      throw new Problem('invalid_request', { faults: [{ pointer: '/client', detail }] });
    }
    const { stop, added } = stopped;
    if (added) this.logger.warn({ call_id: call.id, stop_id: stop.id }, 'stop added');
    void reply.status(added ? HttpStatus.CREATED : HttpStatus.OK);
    return stop;
  }

  @Get()
  @Allow('admin', 'approve', 'audit')
  @ApiSummary('List active stops')
  @ApiResponse({ status: 200, type: Stops, description: 'The active stops.' })
  @ApiKeyProblems('invalid_request')
  async listStops(@Query() { all }: StopList): Promise<Stops> {
    return { stops: await this.stops.list(all === 'true') };
  }

  @Delete(':id')
  @Allow('admin')
  @StepUp()
  @ApiSummary(
    'Lift a stop',
    'Other stops remain active. The stop of a recovered database can be lifted once a reconciliation run ' +
      'has read the recovery gap. With dual control, you can lift your own stop alone within ten minutes. ' +
      'Every other lift waits for a second person.',
  )
  @ApiId('ID of the stop.')
  @ApiResponse({ status: 200, type: StopRecord, description: 'The stop was lifted.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: PENDING_RESPONSE })
  @ApiKeyProblems(
    'stop_not_found',
    'recovery_required',
    'invalid_request',
    'step_up_required',
    'personal_key_required',
  )
  async liftStop(
    @CurrentCall() call: AuthenticatedCall,
    @Param('id') id: string,
    @Query() { unreconciled, reason }: StopLift,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StopRecord | WaitingDto> {
    const lifted = await this.lifting.lift(id, unreconciled === 'true', changeAuthorOf(call, reason));
    if (!lifted) throw new Problem('stop_not_found');
    if (isRequestedChange(lifted)) return pendingResponse(lifted, reply);
    this.logger.warn({ call_id: call.id, stop_id: id }, 'stop lifted');
    return lifted;
  }
}
