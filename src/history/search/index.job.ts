import { Injectable, Logger } from '@nestjs/common';
import { MetricsService } from '../../http/metrics/metrics.service';
import { Job } from '../../platform/jobs/job';
import { Turns } from '../../platform/jobs/turns';
import { IndexService } from './index.service';

/** The time between two turns. It leaves little to index when a search begins. */
const TURN_MS = 1_000;

/**
 * After a long turn, the next one comes sooner, so that a search still has little left to index. A turn of a hundred calls
 * takes some 15 ms alone, and up to 40 ms where others need the cores. That is not long: half of it is planning, so
 * shorter turns would only take more.
 */
const SHORT_TURN_MS = 250;
const LONG_MS = 60;

/** Keeps the search index up to date, so that a search has little left to index, and rebuilds it. */
@Injectable()
export class IndexJob implements Job {
  readonly name = 'index';
  private readonly logger = new Logger('SearchIndex');

  constructor(
    private readonly index: IndexService,
    metrics: MetricsService,
  ) {
    metrics.watch(
      'payout_proxy_search_index_progress',
      'How much of the search index is there, from 0 to 1. Below 1, it is being rebuilt after a crash or a failover, and searches get 503.',
      () => index.progress,
    );
  }

  async run(turns: Turns): Promise<void> {
    let failing = false;
    while (!turns.areOver) {
      const started = performance.now();
      try {
        const { state } = await this.index.runOnce();
        if (state === 'unbuilt') await this.index.build();
        failing = false;
        if (state !== 'done') continue;
      } catch (err) {
        // Logged once. A search that needs the index reports the error itself.
        if (!failing && !turns.areOver) this.logger.warn({ err }, 'search index update failed, will retry');
        failing = true;
      }
      await turns.wait(performance.now() - started > LONG_MS ? SHORT_TURN_MS : TURN_MS);
    }
  }
}
