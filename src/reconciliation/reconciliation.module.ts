import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { JournalModule } from '../journal/journal.module';
import { MetricsModule } from '../metrics/metrics.module';
import { UpstreamModule } from '../upstream/upstream.module';
import { DecisionsController } from './findings/decisions.controller';
import { DecisionsService } from './findings/decisions.service';
import { FindingsController } from './findings/findings.controller';
import { FindingsService } from './findings/findings.service';
import { ReportController } from './report/report.controller';
import { ReportService } from './report/report.service';
import { EarlierReadsService } from './runs/earlier-reads';
import { Execution } from './runs/execution';
import { RunMetrics } from './runs/run-metrics';
import { RunReader } from './runs/run-reader';
import { RunStreams } from './runs/run-streams.service';
import { RunsController } from './runs/runs.controller';
import { RunsService } from './runs/runs.service';
import { ScheduleService } from './runs/schedule.service';
import { SourcesService } from './sources/sources.service';

/** Compares the history with the upstream's, and settles what is in doubt. */
@Module({
  imports: [AuditModule, JournalModule, MetricsModule, UpstreamModule],
  controllers: [RunsController, FindingsController, DecisionsController, ReportController],
  providers: [
    FindingsService,
    DecisionsService,
    ReportService,
    SourcesService,
    EarlierReadsService,
    Execution,
    RunMetrics,
    RunReader,
    RunStreams,
    RunsService,
    ScheduleService,
  ],
  exports: [SourcesService],
})
export class ReconciliationModule {}
