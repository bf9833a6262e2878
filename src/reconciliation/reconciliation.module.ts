import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module';
import { UpstreamModule } from '../gateway/upstream/upstream.module';
import { HistoryModule } from '../history/history.module';
import { MetricsModule } from '../http/metrics/metrics.module';
import { JournalModule } from '../journal/journal.module';
import { JobsModule } from '../platform/jobs/jobs.module';
import { AttributionsController } from './attributions/attributions.controller';
import { AttributionsService } from './attributions/attributions.service';
import { DecisionsController } from './findings/decisions.controller';
import { FindingsController } from './findings/findings.controller';
import { FindingsService } from './findings/findings.service';
import { RoundsController } from './in-doubt/rounds/rounds.controller';
import { ReportController, ReportService } from './report/report.controller';
import { RunMetrics } from './runs/run-metrics';
import { RunReader } from './runs/run-reader';
import { RunStreams, RunsController } from './runs/runs.controller';
import { EarlierReadsService, RunsService } from './runs/runs.service';
import { StatementsController } from './sources/statements.controller';
import { StatementsService } from './sources/statements.service';
import { EventsController, SignedEventsService } from './webhooks-in/events.controller';

/** Routes of the reconciliation. The worker does the work (src/worker/worker.module.ts). */
@Module({
  imports: [AccessModule, HistoryModule, JournalModule, JobsModule, MetricsModule, UpstreamModule],
  controllers: [
    AttributionsController,
    EventsController,
    RoundsController,
    RunsController,
    FindingsController,
    DecisionsController,
    ReportController,
    StatementsController,
  ],
  providers: [
    AttributionsService,
    SignedEventsService,
    FindingsService,
    ReportService,
    StatementsService,
    EarlierReadsService,
    RunMetrics,
    RunReader,
    RunStreams,
    RunsService,
  ],
  exports: [AttributionsService, RunReader],
})
export class ReconciliationModule {}
