import { Readable } from 'node:stream';
import {
  Injectable,
  Body,
  Controller,
  Get,
  Headers,
  HttpStatus,
  Param,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import { ApiExtraModels, ApiHeader, ApiProduces, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { FastifyReply, FastifyRequest } from 'fastify';
import { AuthenticatedCall, authorOf, CurrentCall, mayReveal, maySeePeople } from '../../access/auth/call';
import { Allow, ShownHistory, Shows, showsNoPeople } from '../../access/auth/route-access';
import { ReadingsService } from '../../history/access-log/accesses.service';
import { ACCEPTED_HEADERS, runHeaders } from '../../http/answers/accepted-headers';
import { eventOf, EventStreams, EVENT_STREAM, wantsEvents } from '../../http/streams/event-streams.service';
import { SharedReads } from '../../http/streams/shared-reads';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { isUuid } from '../../platform/database/uuid';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { idBefore, rowsToRead, toPage } from '../../platform/schema/page';
import { ApiId, ApiSummary } from '../../platform/schema/routes';
import { TotalsRecord } from '../matching/totals.dto';
import { Run, RunReader } from './run-reader';
import { stateOf, toRecord, requireMayRead } from './run-record';
import {
  RunState,
  NewRunDto,
  RunAuthorRecord,
  RunPage,
  RunProgressRecord,
  RunRecord,
  RunSearch,
} from './runs.dto';
import { RunsService } from './runs.service';

/** Interval of reads, in ms. It equals the interval of progress writes. */
const EVERY_MS = 500;

/** Final states of a run. */
const LAST_STATES: RunState[] = ['interrupted', 'ended'];

/** Last-Event-ID of a client that has received everything. */
const LAST_EVENT = 'end';

/**
 * Streams the progress of a run as server-sent events: `queued` while it waits for a worker, `progress` after
 * a change, then `end`, or `interrupted` if no worker will continue the run. Every event is read from the
 * database, so a stream begins with the current state, on any instance and after any reconnect.
 */
@Injectable()
export class RunStreams {
  private readonly reads = new SharedReads<Run | undefined>(EVERY_MS / 2);

  constructor(
    private readonly reader: RunReader,
    private readonly streams: EventStreams,
  ) {}

  of(first: Run, reply: FastifyReply): Readable {
    let run: Run | undefined = first;
    return this.streams.open(reply, EVERY_MS, async () => {
      // The database may recover in a moment.
      run ??= await this.reads.read(first.id, () => this.reader.one(first.id).catch(() => undefined));
      const news = {
        event: run && newsOf(run),
        isLast: run !== undefined && LAST_STATES.includes(stateOf(run)),
      };
      run = undefined;
      return news;
    });
  }
}

function newsOf(run: Run): string | undefined {
  const { end, progress } = run;
  if (end) {
    const { result, failure, totals } = end;
    return eventOf('end', { result, failure, totals }, LAST_EVENT);
  }
  const state = stateOf(run);
  if (state === 'queued') return eventOf('queued', { detail: 'This run waits for a worker.' });
  if (state === 'interrupted') {
    return eventOf('interrupted', { detail: 'No worker continued this run within a day. Start a new run.' });
  }
  return progress ? eventOf('progress', progress) : undefined;
}

/** Starts, lists and shows comparisons of our records with the upstream's. */
@ApiTags('Reconciliation')
@ApiExtraModels(RunAuthorRecord, RunProgressRecord, TotalsRecord)
@Controller('v1/reconciliation/runs')
export class RunsController {
  constructor(
    private readonly runs: RunsService,
    private readonly reader: RunReader,
    private readonly streams: RunStreams,
    private readonly readings: ReadingsService,
  ) {}

  @Post()
  @Allow('reconcile')
  @Shows('itself')
  @ApiSummary(
    'Compare a period with the upstream',
    "Reads the upstream's transactions and wallets, and records each difference as a finding. " +
      'A worker carries it out. Over all instances, only one run of an account and period is in progress ' +
      'or queued at a time. If its worker stops, another one continues the run with the sources it had ' +
      'read, and the result is the same.',
  )
  @ApiResponse({
    status: 202,
    type: RunRecord,
    description: 'The run is recorded. A worker carries it out.',
    headers: ACCEPTED_HEADERS,
  })
  @ApiResponse({
    status: 200,
    type: RunRecord,
    description: 'The same run is already in progress or queued.',
  })
  @ApiKeyProblems('invalid_request', 'run_in_progress', 'listing_missing', 'too_many_runs')
  async startReconciliation(
    @CurrentCall() call: AuthenticatedCall,
    @Req() request: FastifyRequest,
    @Body() { account = MAIN_ACCOUNT, from, to, as_of: asOf, statement_id: statementId }: NewRunDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RunRecord> {
    if (statementId !== undefined) {
      requireMayRead({ comparesPeople: await this.reader.namesRecipients(statementId) }, call);
    }
    const question = {
      account,
      from: new Date(from),
      to: new Date(to),
      statementId: statementId ?? null,
      asOf: asOf === undefined ? null : new Date(asOf),
    };
    const { run, isNew } = await this.runs.begin(question, authorOf(call));
    await this.readings.record(request, shownOf([run]));
    void reply.status(isNew ? HttpStatus.ACCEPTED : HttpStatus.OK).headers(runHeaders(run.id));
    return toRecord(run, mayReveal(call));
  }

  @Get()
  @Allow('reconcile')
  @Shows('itself')
  @ApiSummary('List runs', 'Runs over statements that name recipients need `audit:pii`.')
  @ApiResponse({ status: 200, type: RunPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  async listReconciliations(
    @CurrentCall() call: AuthenticatedCall,
    @Req() request: FastifyRequest,
    @Query() search: RunSearch,
  ): Promise<RunPage> {
    const { account, result } = search;
    const filter = { account, below: idBefore(search), result, seesPeople: maySeePeople(call) };
    const found = await this.reader.list(filter, rowsToRead(search));
    const { rows, nextPageToken } = toPage(found, search);
    await this.readings.record(request, shownOf(rows));
    return { runs: rows.map((run) => toRecord(run, mayReveal(call))), next_page_token: nextPageToken };
  }

  @Get(':id')
  @Allow('reconcile')
  @Shows('itself')
  @ApiSummary(
    'Read or follow a run',
    'With `Accept: text/event-stream`, the response stays open until the run has ended. It sends events ' +
      '`queued` with `{detail}` while the run waits for a worker, `progress` with `{step, done, of}`, then ' +
      '`end` with `{result, failure, totals}`. If no worker will continue the run, it sends `interrupted` ' +
      'with `{detail}`. After a reconnect, it begins with the current state. With the `Last-Event-ID` of ' +
      '`end`, the response is 204.',
  )
  @ApiId("The run's ID.")
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'Sent by EventSource after a reconnect.',
  })
  @ApiProduces('application/json', EVENT_STREAM)
  @ApiResponse({
    status: 200,
    description: 'The run.',
    content: {
      'application/json': { schema: { $ref: getSchemaPath(RunRecord) } },
      [EVENT_STREAM]: { schema: { type: 'string' } },
    },
  })
  @ApiResponse({ status: 204, description: 'All events were received.' })
  @ApiKeyProblems('run_not_found', 'readers_busy')
  async readReconciliation(
    @CurrentCall() call: AuthenticatedCall,
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Headers() { accept, 'last-event-id': lastEvent }: Record<string, string | undefined>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RunRecord | Readable | undefined> {
    const run = isUuid(id) ? await this.reader.one(id) : undefined;
    if (!run) throw new Problem('run_not_found');
    requireMayRead(run, call);
    await this.readings.record(request, shownOf([run]));
    if (!wantsEvents(accept)) return toRecord(run, mayReveal(call));
    if (lastEvent === LAST_EVENT) {
      void reply.status(HttpStatus.NO_CONTENT);
      return undefined;
    }
    return this.streams.of(run, reply);
  }
}

/** Describes runs for the access log. A run over a statement of named recipients reveals who was paid. */
function shownOf(runs: Run[]): ShownHistory {
  return { ...showsNoPeople(runs), compares: runs.some(({ comparesPeople }) => comparesPeople) };
}
