import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { JournalModule } from '../../journal/journal.module';
import { MetricsModule } from '../../http/metrics/metrics.module';
import { UpstreamModule } from '../upstream/upstream.module';
import { QueryGuard } from '../../http/validation/query.guard';
import { AdmissionService } from './admission.service';
import { AnswerCache } from './answer-cache';
import { CoverageService } from './coverage.service';
import { ExchangeService } from './exchange.service';
import { ForwardingService } from './forwarding.service';
import { MovedValueService } from './moved-value.service';
import { LocalAmountsService } from '../preview/local-amounts.service';
import { PreviewService } from '../preview/preview.service';
import { ProblemFilter } from './problem.filter';
import { ReplayService } from './replay.service';
import { ShapeWatch } from './shape-watch';

@Module({
  imports: [JournalModule, MetricsModule, UpstreamModule],
  providers: [
    ForwardingService,
    AdmissionService,
    ReplayService,
    CoverageService,
    MovedValueService,
    ExchangeService,
    AnswerCache,
    ShapeWatch,
    PreviewService,
    LocalAmountsService,
    { provide: APP_FILTER, useClass: ProblemFilter },
    { provide: APP_GUARD, useClass: QueryGuard }, // after the guard of AuthModule, which is imported first
  ],
  exports: [ExchangeService, ForwardingService],
})
export class ForwardingModule {}
