import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { AccessModule } from '../access/access.module';
import { MetricsModule } from '../http/metrics/metrics.module';
import { QueryGuard, RequestValidationPipe } from '../http/validation/validation.pipe';
import { JournalModule } from '../journal/journal.module';
import { EgressModule } from '../platform/network/egress.module';
import { LoadShedderService } from './admission-control/load-shedder.service';
import { AdmissionService } from './forwarding/admission.service';
import { AnswerCache } from './forwarding/coverage/answer-cache';
import { CoverageService } from './forwarding/coverage/coverage.service';
import { ExchangeService } from './forwarding/exchange.service';
import { ForwardingService } from './forwarding/forwarding.service';
import { InternalReadsService } from './forwarding/ownership/internal-reads.service';
import { MovedValueService } from './forwarding/ownership/moved-value.service';
import { OwnershipService } from './forwarding/ownership/ownership.service';
import { ProblemFilter } from './forwarding/problem.filter';
import { QueueService } from './forwarding/queue.service';
import { ReplayService } from './forwarding/reply/replay.service';
import { ShapeWatch } from './forwarding/reply/shape-watch';
import { PreviewController } from './preview/preview.controller';
import { PreviewService } from './preview/preview.service';
import { BatchRelease } from './queue/batch-release';
import { Dispatcher } from './queue/dispatcher';
import { QueueRules } from './queue/queue-rules';
import { ScreeningService } from './screening/screening.service';
import { UpstreamModule } from './upstream/upstream.module';

/** Forwards requests to the upstream, and previews them. */
@Module({
  imports: [AccessModule, EgressModule, JournalModule, MetricsModule, UpstreamModule],
  controllers: [PreviewController],
  providers: [
    LoadShedderService,
    ForwardingService,
    AdmissionService,
    ReplayService,
    CoverageService,
    ScreeningService,
    MovedValueService,
    InternalReadsService,
    OwnershipService,
    ExchangeService,
    AnswerCache,
    ShapeWatch,
    PreviewService,
    QueueService,
    QueueRules,
    BatchRelease,
    Dispatcher,
    RequestValidationPipe,
    { provide: APP_FILTER, useClass: ProblemFilter },
    // It runs after the guard of AccessModule, which is imported first.
    { provide: APP_GUARD, useClass: QueryGuard },
  ],
  exports: [LoadShedderService, ExchangeService, ForwardingService, OwnershipService, ScreeningService],
})
export class GatewayModule {}
