import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { JournalModule } from '../journal/journal.module';
import { MetricsModule } from '../metrics/metrics.module';
import { UpstreamModule } from '../upstream/upstream.module';
import { AdmissionService } from './admission.service';
import { AnswerCache } from './answer-cache';
import { CoverageService } from './coverage.service';
import { ExchangeService } from './exchange.service';
import { ForwardingService } from './forwarding.service';
import { LocalAmountsService } from './preview/local-amounts.service';
import { PreviewInterceptor } from './preview/preview.interceptor';
import { PreviewService } from './preview/preview.service';
import { ReplyInterceptor } from './reply.interceptor';
import { RepetitionService } from './repetition.service';
import { ShapeWatch } from './shape-watch';

@Module({
  imports: [JournalModule, MetricsModule, UpstreamModule],
  providers: [
    ForwardingService,
    AdmissionService,
    RepetitionService,
    CoverageService,
    ExchangeService,
    AnswerCache,
    ShapeWatch,
    PreviewService,
    LocalAmountsService,
    { provide: APP_INTERCEPTOR, useClass: ReplyInterceptor },
    { provide: APP_INTERCEPTOR, useClass: PreviewInterceptor },
  ],
  exports: [ExchangeService, ForwardingService],
})
export class ForwardingModule {}
