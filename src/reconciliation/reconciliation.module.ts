import { Module } from '@nestjs/common';
import { HistoryModule } from '../history/history.module';
import { JournalModule } from '../journal/journal.module';
import { MetricsModule } from '../http/metrics/metrics.module';
import { StreamsModule } from '../http/streams/streams.module';
import { UpstreamModule } from '../gateway/upstream/upstream.module';
import { EventsController } from './webhooks-in/events.controller';
import { ReadBackService } from './webhooks-in/read-back.service';
import { SignedEventsService } from './webhooks-in/signed-events.service';
import { DecisionsController } from './findings/decisions.controller';
import { DecisionsService } from './findings/decisions.service';
import { FindingsController } from './findings/findings.controller';
import { FindingsService } from './findings/findings.service';
import { ReportController } from './report/report.controller';
import { ReportService } from './report/report.service';
import { PollService } from './in-doubt/poll.service';
import { ResolverService } from './in-doubt/resolver.service';
import { RoundsController } from './in-doubt/rounds.controller';
import { EarlierReadsService } from './runs/earlier-reads';
import { Execution } from './runs/execution';
import { RunMetrics } from './runs/run-metrics';
import { RunReader } from './runs/run-reader';
import { RunStreams } from './runs/run-streams.service';
import { RunsController } from './runs/runs.controller';
import { RunsService } from './runs/runs.service';
import { ScheduleService } from './runs/schedule.service';
import { SourcesService } from './sources/sources.service';
import { StatementsController } from './sources/statements.controller';
import { StatementsService } from './sources/statements.service';

/** Compares the history with the upstream's, and settles calls in doubt. */
@Module({
  imports: [HistoryModule, JournalModule, MetricsModule, StreamsModule, UpstreamModule],
  controllers: [
    EventsController,
    RoundsController,
    RunsController,
    FindingsController,
    DecisionsController,
    ReportController,
    StatementsController,
  ],
  providers: [
    PollService,
    ReadBackService,
    ResolverService,
    SignedEventsService,
    FindingsService,
    DecisionsService,
    ReportService,
    SourcesService,
    StatementsService,
    EarlierReadsService,
    Execution,
    RunMetrics,
    RunReader,
    RunStreams,
    RunsService,
    ScheduleService,
  ],
  exports: [RunReader, SourcesService],
})
export class ReconciliationModule {}
