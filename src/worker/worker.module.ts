import { DynamicModule, Module } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import { ChangeRecords } from '../access/clients/changes';
import { ClientsService } from '../access/clients/clients.service';
import { ContinuityModule } from '../continuity/continuity.module';
import { ExpiryJob } from '../expiry/expiry.job';
import { UpstreamModule } from '../gateway/upstream/upstream.module';
import { SealerService } from '../history/log/sealing/sealer.service';
import { PresentService } from '../history/records/records.service';
import { IndexJob, IndexService } from '../history/search/index.service';
import { FenceMetrics, StorageMetrics } from '../http/health/gauges';
import { MetricsModule } from '../http/metrics/metrics.module';
import { ActivityJournal } from '../journal/activity/activity';
import { ExpectedFees } from '../journal/admission/expected-fees';
import { UnknownStatuses } from '../journal/outcomes/unknown-statuses';
import { DatabaseBehindStop } from '../journal/stops/stops';
import { RunningConfig } from '../platform/config/config';
import { SettingsModule } from '../platform/config/config.module';
import { DatabaseModule } from '../platform/database/database.module';
import { loggingOptions } from '../platform/logging/logging';
import { StorageModule } from '../platform/storage/storage.module';
import { BookService } from '../reconciliation/book/book.service';
import { ContradictionsService } from '../reconciliation/book/contradictions.service';
import { DeletedLinksService } from '../reconciliation/following/deleted-links.service';
import { FollowUpJob, FollowUpService } from '../reconciliation/following/follow-up.service';
import { ChangesService } from '../reconciliation/in-doubt/rounds/changes.service';
import { PollService } from '../reconciliation/in-doubt/rounds/poll.service';
import { ProbeService } from '../reconciliation/in-doubt/rounds/probe.service';
import { ReadBackService, ResolverJob } from '../reconciliation/in-doubt/rounds/resolver.job';
import {
  RefusedReservationsService,
  ResolverService,
} from '../reconciliation/in-doubt/rounds/resolver.service';
import { Execution } from '../reconciliation/runs/execution';
import { RunReader } from '../reconciliation/runs/run-reader';
import { RunsJob, ScheduleService } from '../reconciliation/runs/runs.job';
import { EarlierReadsService, RunsService } from '../reconciliation/runs/runs.service';
import { StatementProofsService } from '../reconciliation/runs/statement-proofs.service';
import { ListingsService } from '../reconciliation/sources/listings.service';
import { SourcesService } from '../reconciliation/sources/sources.service';
import { WalletsJob } from '../reconciliation/wallets/wallets.job';
import { ALL_JOBS, JobSchedulerService } from './job-scheduler.service';
import { PartitionsJob } from './partitions.job';

const EVERY_JOB = [
  SealerService,
  IndexJob,
  ResolverJob,
  FollowUpJob,
  RunsJob,
  ScheduleService,
  PartitionsJob,
  WalletsJob,
  ExpiryJob,
];

/** Background jobs with their dependencies, without product routes. */
@Module({})
export class WorkerModule {
  static with(settings: RunningConfig): DynamicModule {
    return {
      module: WorkerModule,
      imports: [
        SettingsModule.with(settings),
        LoggerModule.forRoot(loggingOptions(settings.logLevel, 'worker')),
        DatabaseModule,
        ContinuityModule,
        StorageModule,
        MetricsModule,
        UpstreamModule,
      ],
      providers: [
        ...EVERY_JOB,
        { provide: ALL_JOBS, useFactory: (...jobs: unknown[]) => jobs, inject: EVERY_JOB },
        JobSchedulerService,
        DatabaseBehindStop,
        FenceMetrics,
        StorageMetrics,
        // Client of probes, with the record of its creation
        ClientsService,
        { provide: ChangeRecords, useClass: ActivityJournal },
        // History
        IndexService,
        PresentService,
        // Reconciliation
        BookService,
        ContradictionsService,
        EarlierReadsService,
        ExpectedFees,
        Execution,
        DeletedLinksService,
        FollowUpService,
        ListingsService,
        ChangesService,
        PollService,
        ProbeService,
        ReadBackService,
        RefusedReservationsService,
        ResolverService,
        RunReader,
        RunsService,
        SourcesService,
        StatementProofsService,
        UnknownStatuses,
      ],
    };
  }
}
